// Reads out-of-memory messages: PyTorch's in the wordings of 1.x and 2.x, those of the driver, of
// libraries and of servers.

#include "calc/parse/parse_oom.h"

#include "calc/base/span.h"
#include "calc/base/text.h"
#include "calc/parse/parse.h"

enum { KIB = 1024, MIB = 1048576, BARE_LEAST = 65536 };
#define KIB64 ((uint64_t)MIB)  // KIB * KIB64 is a GiB
#define SIZE_MOST ((uint64_t)1 << 50)
#define TOKENS_MOST ((uint64_t)1 << 40)
#define DIGITS_MOST ((uint64_t)1000000000000000)

// The size is before the words, after them, after them as the second in brackets, as a share of the
// total, or in GiB without a unit; or a count of tokens is after them, or a shape with its type.
enum side { BEFORE, AFTER, LIST, SHARE, GIBS, TOKENS, SHAPE };

static const struct phrase {
    enum oom_source source;
    const char *words;
    enum side side;
    size_t member;
} PHRASES[] = {
#define PHRASE(source, words, side, member) \
    {OOM_##source, words, side, offsetof(struct oom_message, member)},
#include "calc/parse/oom_sources.def"
#undef PHRASE
};

static const struct {
    enum oom_source source;
    const char *words;
} WORDS_OF[] = {
#define WORDS(source, words) {OOM_##source, words},
#include "calc/parse/oom_sources.def"
#undef WORDS
};

static const struct {
    const char *name;
    message_id sentence;
} SOURCES[] = {
#define SOURCE(id, name, sentence) {name, MESSAGE_##sentence},
#include "calc/parse/oom_sources.def"
#undef SOURCE
};

const char *oom_source_name(enum oom_source source)
{
    return SOURCES[source].name;
}

message_id oom_source_sentence(enum oom_source source)
{
    return SOURCES[source].sentence;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

// A blank, a line end, or the mark of a quotation at a line's beginning. at is no first byte where
// it is such a mark.
static bool is_blank(const char *at, bool first)
{
    return is_space(*at) || (*at == '>' && !first && at[-1] == '\n');
}

static struct span skip_space(struct span s)
{
    for (bool first = true; s.len > 0 && is_blank(s.at, first); first = false)
        s = span_skip(s, 1);
    return s;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit_at(struct span s, size_t i)
{
    return i < s.len && s.at[i] >= '0' && s.at[i] <= '9';
}

// Of the word at the start of s; 0: it is none of these.
static uint64_t unit_of(struct span s)
{
    static const struct {
        const char *name;
        uint64_t bytes;
    } units[] = {{"bytes", 1},        {"byte", 1},         {"B", 1},
                 {"K", KIB},          {"KB", KIB},         {"KiB", KIB},
                 {"M", MIB},          {"MB", MIB},         {"MiB", MIB},
                 {"G", KIB * KIB64},  {"GB", KIB * KIB64}, {"GiB", KIB * KIB64},
                 {"TB", MIB * KIB64}, {"TiB", MIB * KIB64}};
    size_t n = 0;
    while (n < s.len && is_letter(s.at[n]))
        n++;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (text_equal_nocase(s.at, n, units[i].name))
            return units[i].bytes;
    return 0;
}

// At s.at[i] a number goes on behind its point. llama.cpp prints "1900,00" where the system's
// language has it so; three digits behind a comma are thousands.
static bool is_point(struct span s, size_t i)
{
    size_t digits = 0;
    while (is_digit_at(s, i + 1 + digits))
        digits++;
    return digits > 0 && (s.at[i] == '.' || (s.at[i] == ',' && digits < 3));
}

// "1,073,741,824", as CuPy prints it.
static bool is_thousand(struct span s, size_t i)
{
    size_t digits = 0;
    while (digits < 4 && is_digit_at(s, i + 1 + digits))
        digits++;
    return i > 0 && s.at[i] == ',' && digits == 3;
}

// A number at the start of s, of this unit, or of its own where that is 0. Two decimal places are
// what PyTorch prints; fewer widen the range.
static struct vram_size read_number(struct span s, uint64_t unit)
{
    struct vram_size none = {0, 0, 0, false};
    uint64_t n = 0, scale = 1;
    size_t i = 0;
    bool point = false;
    s = skip_space(s);
    for (; i < s.len && (is_digit_at(s, i) || (!point && (is_point(s, i) || is_thousand(s, i))));
         i++) {
        if (!is_digit_at(s, i) && is_thousand(s, i))
            continue;
        if (!is_digit_at(s, i)) {
            point = true;
            continue;
        }
        if (scale == 10000)  // PaddlePaddle prints six
            continue;
        n = n * 10 + (uint64_t)(s.at[i] - '0');
        scale *= point ? 10 : 1;
        if (n > DIGITS_MOST)
            return none;
    }
    if (unit == 0)
        unit = unit_of(skip_space(span_skip(s, i)));
    bool ends = i == s.len || !(is_letter(s.at[i]) || s.at[i] == '.');
    if (unit == 0 && scale == 1 && n >= BARE_LEAST && ends)  // llama.cpp's "of size 14822711296"
        unit = 1;
    if (i == 0 || unit == 0 || n / scale > SIZE_MOST / unit || n > UINT64_MAX / unit)
        return none;
    uint64_t half = unit / scale / 2;
    uint64_t bytes = n * unit / scale;
    return (struct vram_size){bytes, bytes > half ? bytes - half : 0, bytes + half, true};
}

static struct vram_size read_size(struct span s)
{
    return read_number(s, 0);
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
        struct vram_size size = read_size((struct span){text.at + at, text.len - at});
        if (size.present)  // "15.75G" is one word
            return size;
        words++;
    }
    return (struct vram_size){0};
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

// Where the words end that begin at byte i of text; 0: others stand there. Words may be broken over
// lines, by a narrow terminal in their midst, too, and typed without capitals.
static size_t match_words(struct span text, size_t i, const char *words)
{
    size_t k = i;
    for (const char *w = words; *w; w++) {
        if (k == text.len)
            return 0;
        if (*w == ' ') {
            if (!is_space(text.at[k]))
                return 0;
            while (k < text.len && is_blank(text.at + k, k == 0))
                k++;
            continue;
        }
        while (k > i && k + 1 < text.len && (text.at[k] == '\n' || text.at[k] == '\r'))
            k++;
        if (lower(text.at[k++]) != lower(*w))
            return 0;
    }
    return k;
}

static size_t find_words(struct span text, const char *words)
{
    char first = lower(*words);
    for (size_t i = 0; i < text.len; i++)
        if (lower(text.at[i]) == first && match_words(text, i, words))
            return i;
    return text.len;
}

// What follows the words at the start of s, and a colon behind them.
static struct span behind(struct span s, const char *words)
{
    s = skip_space(span_skip(s, match_words(s, 0, words)));
    return s.len && s.at[0] == ':' ? span_skip(s, 1) : s;
}

// "(7.2/8.0 GiB)", as vLLM says it.
static void read_share(struct oom_message *m, struct span s)
{
    struct span share = span_skip(s, span_find(s, "(") + 1);
    m->free = read_number(share, KIB * KIB64);
    m->total = read_number(span_skip(share, span_find(share, "/") + 1), KIB * KIB64);
}

// "(39024)"; no more digits than a context can have.
static uint64_t read_tokens(struct span s)
{
    uint64_t n = 0;
    s = skip_space(s);
    if (s.len && s.at[0] == '(')
        s = span_skip(s, 1);
    for (size_t i = 0; i < s.len && s.at[i] >= '0' && s.at[i] <= '9'; i++)
        if ((n = n * 10 + (uint64_t)(s.at[i] - '0')) > TOKENS_MOST)
            return 0;
    return n;
}

// TensorFlow's names of types; 0: none of them.
static uint64_t element_of(struct span s)
{
    static const struct {
        const char *name;
        uint64_t bytes;
    } types[] = {{"float", 4}, {"half", 2},      {"bfloat16", 2}, {"double", 8}, {"int32", 4},
                 {"int64", 8}, {"complex64", 8}, {"bool", 1},     {"uint8", 1},  {"int8", 1}};
    size_t n = 0;
    while (n < s.len && (is_letter(s.at[n]) || is_digit_at(s, n)))
        n++;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (text_equal_nocase(s.at, n, types[i].name))
            return types[i].bytes;
    return 0;
}

// "[16,112,112,147] and type float"; nothing where the type is not said.
static struct vram_size read_shape(struct span s)
{
    static const char type[] = "] and type ";
    uint64_t bytes = 1, n = 0;
    if (!s.len || s.at[0] != '[')
        return (struct vram_size){0};
    for (s = span_skip(s, 1); s.len && (is_digit_at(s, 0) || s.at[0] == ','); s = span_skip(s, 1)) {
        if (s.at[0] != ',') {
            n = n * 10 + (uint64_t)(s.at[0] - '0');
            if (n > SIZE_MOST)
                return (struct vram_size){0};
            continue;
        }
        if (n && bytes > SIZE_MOST / n)
            return (struct vram_size){0};
        bytes *= n;
        n = 0;
    }
    uint64_t element = element_of(span_skip(s, match_words(s, 0, type)));
    if (!match_words(s, 0, type) || !element || (n && bytes > SIZE_MOST / n / element))
        return (struct vram_size){0};
    bytes *= n * element;
    return (struct vram_size){bytes, bytes, bytes, true};
}

static void read_phrase(struct oom_message *m, const struct phrase *p, struct span text)
{
    if (p->side == TOKENS) {
        size_t found = find_words(text, p->words);
        if (found < text.len)
            *(uint64_t *)(void *)((char *)m + p->member) =
                read_tokens(behind(span_skip(text, found), p->words));
        return;
    }
    struct vram_size *out = (struct vram_size *)(void *)((char *)m + p->member);
    size_t at = find_words(text, p->words);
    if (out->present || at == text.len)
        return;
    if (p->side == BEFORE) {
        *out = read_before(text, at);
        return;
    }
    struct span rest = behind(span_skip(text, at), p->words);
    if (p->side == SHARE) {
        read_share(m, rest);
        return;
    }
    if (p->side == LIST)
        rest = span_skip(rest, span_find(rest, ",") + 1);
    *out =
        p->side == SHAPE ? read_shape(rest) : read_number(rest, p->side == GIBS ? KIB * KIB64 : 0);
}

// In a container a process does not know itself by its number ("Process 42 has"): one that uses
// less than this one's tensors take is another. Of several that use as much it is not known which
// is this.
static void find_in_use(struct oom_message *m, struct span text)
{
    static const char words[] = "memory in use";
    uint64_t tensors = (m->allocated.present ? m->allocated.low : 0) +
                       (m->unallocated.present ? m->unallocated.low : 0);
    bool itself = find_words(text, "this process has") < text.len;
    size_t large = 0;
    for (size_t at = 0; !itself && (at += find_words(span_skip(text, at), words)) < text.len;
         at++) {
        struct vram_size size = read_before(text, at);
        if (!size.present || size.high < tensors)
            continue;
        m->in_use = size;
        large++;
    }
    if ((!itself && large != 1) || m->in_use.high < tensors)
        m->in_use.present = false;
}

// Whose message it is; OOM_SOURCE_COUNT: no one's that is known.
static enum oom_source source_of(struct span text)
{
    for (size_t i = 0; i < sizeof WORDS_OF / sizeof *WORDS_OF; i++)
        if (find_words(text, WORDS_OF[i].words) < text.len)
            return WORDS_OF[i].source;
    return OOM_SOURCE_COUNT;
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
        if (PHRASES[i].source == m->source)
            read_phrase(m, &PHRASES[i], text);
}

int oom_parse(struct oom_message *m, struct message *e, const char *text, size_t len)
{
    struct span all = {text, len};
    if (parse_is_utf16(all))
        return err_set(e, MESSAGE_text_is_utf16, (struct err_pos){NULL, 1, 1}, NO_FIELD, NO_ARGS);
    *m = (struct oom_message){.source = source_of(all)};
    if (m->source == OOM_SOURCE_COUNT)
        return err_set(e, MESSAGE_oom_no_message, (struct err_pos){NULL, 1, 1}, NO_FIELD, NO_ARGS);
    if (m->source != OOM_PYTORCH) {
        read_phrases(m, all);
        return m->tried.present || !oom_is_tensor(m) ? VRAM_OK : no_size(e, all, 0);
    }
    size_t start = find_words(all, "out of memory");
    start = start < len ? start : find_words(all, "ried to allocate");
    struct span message = last_message(span_skip(all, start < len ? start : 0));
    read_phrases(m, message);
    if (!m->tried.present)  // quoted the other way round
        read_phrases(m, all);
    find_in_use(m, message);
    return m->tried.present ? VRAM_OK : no_size(e, all, (size_t)(message.at - text));
}
