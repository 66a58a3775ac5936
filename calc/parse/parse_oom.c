// Reads PyTorch's out-of-memory message, in the wordings of 1.x and 2.x.

#include "calc/parse/parse_oom.h"

#include "calc/base/span.h"
#include "calc/base/text.h"

enum { KIB = 1024, MIB = 1048576 };

// SRC: c10/cuda/CUDACachingAllocator.cpp. BEFORE: the size is before the words, AFTER: after them.
enum side { BEFORE, AFTER };

static const struct phrase {
    const char *words;
    enum side side;
    size_t member;
} PHRASES[] = {
    {"ried to allocate", AFTER, offsetof(struct oom_message, tried)},
    {"total capacity of", AFTER, offsetof(struct oom_message, total)},
    {"total capacty of", AFTER, offsetof(struct oom_message, total)}, // so in 2.1
    {"total capacity", BEFORE, offsetof(struct oom_message, total)},
    {"already allocated", BEFORE, offsetof(struct oom_message, allocated)},
    {"Of the allocated memory", AFTER, offsetof(struct oom_message, allocated)},
    {"is free", BEFORE, offsetof(struct oom_message, free)},
    {"free", BEFORE, offsetof(struct oom_message, free)},
    {"reserved in total by PyTorch", BEFORE, offsetof(struct oom_message, reserved)},
    {"cached", BEFORE, offsetof(struct oom_message, reserved)},
    {"is reserved by PyTorch but unallocated", BEFORE, offsetof(struct oom_message, unallocated)},
    {"this process has", AFTER, offsetof(struct oom_message, in_use)},
    {"memory in use", BEFORE, offsetof(struct oom_message, in_use)},
};

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static struct span skip_space(struct span s)
{
    while (s.len > 0 && is_space(s.at[0]))
        s = span_skip(s, 1);
    return s;
}

static uint64_t unit_of(struct span s)
{
    static const struct {
        const char *name;
        uint64_t bytes;
    } units[] = {{"bytes", 1},
                 {"KiB", KIB},
                 {"MiB", MIB},
                 {"GiB", (uint64_t)MIB * KIB},
                 {"KB", KIB},
                 {"MB", MIB},
                 {"GB", (uint64_t)MIB * KIB},
                 {"TiB", (uint64_t)MIB * KIB * KIB}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t n = text_len(units[i].name);
        if (s.len >= n && text_equal_nocase(s.at, n, units[i].name))
            return units[i].bytes;
    }
    return 0;
}

// "6.14 GiB" at the start of s. Two decimal places are what PyTorch prints; fewer widen the range.
static struct vram_size read_size(struct span s)
{
    struct vram_size none = {0, 0, 0, false};
    uint64_t n = 0, scale = 1;
    size_t i = 0;
    bool point = false;
    s = skip_space(s);
    for (; i < s.len && ((s.at[i] >= '0' && s.at[i] <= '9') || (s.at[i] == '.' && !point)); i++) {
        if (s.at[i] == '.') {
            point = true;
            continue;
        }
        n = n * 10 + (uint64_t)(s.at[i] - '0');
        scale *= point ? 10 : 1;
        if (n > 100000000 || scale > 10000)
            return none;
    }
    uint64_t unit = i ? unit_of(skip_space(span_skip(s, i))) : 0;
    if (unit == 0)
        return none;
    uint64_t half = unit / scale / 2;
    uint64_t bytes = n * unit / scale;
    return (struct vram_size){bytes, bytes > half ? bytes - half : 0, bytes + half, true};
}

// The size whose unit ends just before byte `end` of text.
static struct vram_size read_before(struct span text, size_t end)
{
    size_t at = end, words = 0;
    while (at > 0 && words < 2) {
        while (at > 0 && is_space(text.at[at - 1]))
            at--;
        while (at > 0 && !is_space(text.at[at - 1]) && text.at[at - 1] != ';' &&
               text.at[at - 1] != '(')
            at--;
        words++;
    }
    return read_size((struct span){text.at + at, text.len - at});
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

// Words of the message may be broken over lines by a terminal, and typed without capitals.
static size_t find_words(struct span text, const char *words)
{
    for (size_t i = 0; i < text.len; i++) {
        size_t k = i;
        const char *w = words;
        for (; *w && k < text.len; w++) {
            if (*w == ' ') {
                if (!is_space(text.at[k]))
                    break;
                while (k < text.len && is_space(text.at[k]))
                    k++;
            } else if (lower(text.at[k++]) != lower(*w)) {
                break;
            }
        }
        if (!*w)
            return i;
    }
    return text.len;
}

static void read_phrase(struct oom_message *m, const struct phrase *p, struct span text)
{
    struct vram_size *out = (struct vram_size *)(void *)((char *)m + p->member);
    size_t at = find_words(text, p->words);
    if (out->present || at == text.len)
        return;
    if (p->side == BEFORE) {
        *out = read_before(text, at);
        return;
    }
    struct span rest = span_skip(text, at);
    for (const char *w = p->words; *w; w++) {
        if (*w != ' ')
            rest = span_skip(rest, 1);
        else
            rest = skip_space(rest);
    }
    *out = read_size(rest);
}

// In a container a process does not know itself by its number ("Process 42 has"); one that uses less than this one's
// tensors take is another.
static void check_in_use(struct oom_message *m)
{
    uint64_t tensors = m->allocated.present ? m->allocated.low : 0;
    if (m->in_use.high < tensors + (m->unallocated.present ? m->unallocated.low : 0))
        m->in_use.present = false;
}

// What the driver and NVIDIA's libraries say when they have no memory: no size, and no figures of PyTorch's.
static bool is_of_driver(struct span text)
{
    static const char *const words[] = {"CUDA error: out of memory", "HIP error: out of memory",
                                        "CUDA driver error: out of memory", "_STATUS_ALLOC_FAILED",
                                        "CUDA_ERROR_OUT_OF_MEMORY"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (find_words(text, words[i]) < text.len)
            return true;
    return false;
}

// There is no size that can be read: says where one should stand.
static int no_size(struct message *e, struct span all, size_t message)
{
    size_t tried = find_words(all, "ried to allocate");
    if (tried < all.len)
        return err_set(e, MESSAGE_oom_cut_off, err_pos_of(NULL, all.at, tried), NO_FIELD, NO_ARGS);
    return err_set(e, MESSAGE_oom_no_size, err_pos_of(NULL, all.at, message), NO_FIELD, NO_ARGS);
}

// The last message of the text is the one that ended the run.
static struct span last_message(struct span message)
{
    for (size_t more = find_words(span_skip(message, 1), "out of memory"); more + 1 < message.len;
         more = find_words(span_skip(message, 1), "out of memory")) {
        struct span next = span_skip(message, more + 1);
        if (find_words(next, "ried to allocate") == next.len)
            break;
        message = next;
    }
    return message;
}

static void read_phrases(struct oom_message *m, struct span text)
{
    for (size_t i = 0; i < sizeof PHRASES / sizeof *PHRASES; i++)
        read_phrase(m, &PHRASES[i], text);
}

int oom_parse(struct oom_message *m, struct message *e, const char *text, size_t len)
{
    struct span all = {text, len};
    size_t start = find_words(all, "out of memory");
    *m = (struct oom_message){.driver = is_of_driver(all) && find_words(all, "ried to allocate") == len};
    if (m->driver)
        return VRAM_OK;
    if (start == len)
        return err_set(e, MESSAGE_oom_no_message, (struct err_pos){NULL, 1, 1}, NO_FIELD, NO_ARGS);
    struct span message = last_message(span_skip(all, start));
    read_phrases(m, message);
    if (!m->tried.present)  // quoted the other way round
        read_phrases(m, all);
    check_in_use(m);
    return m->tried.present ? VRAM_OK : no_size(e, all, (size_t)(message.at - text));
}
