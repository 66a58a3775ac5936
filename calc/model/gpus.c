// The table of cards: lookup by number and by any of the names that people and drivers use.

#include "calc/model/gpus.h"

#include "calc/base/err.h"
#include "calc/base/text.h"

enum { MIB = 1048576, GPU_KEY_MAX = 40 };

// Addresses and remarks stay out of the pages' modules: they are half of the table's bytes.
#ifdef __wasm__
#define ADDRESS(id) NULL
#define REMARK(id) NULL
#else
#define GPU_SOURCE(id, address, what) \
    static const char ADDRESS_##id[] = address; \
    static const char REMARK_##id[] = what;
#include "calc/model/gpus.def"
#undef GPU_SOURCE
#define ADDRESS(id) ADDRESS_##id
#define REMARK(id) REMARK_##id
#endif

enum basis { NOMINAL, REPORTED };

static const struct vram_gpu GPUS[] = {
#define GPU(name, arch, cc, sms, mib, basis, mem_src, bandwidth, fp16, bf16, fp32, src) \
    {name, \
     (uint64_t)mib * MIB, \
     bandwidth, \
     fp16, \
     bf16, \
     fp32, \
     cc, \
     sms, \
     basis == REPORTED, \
     arch, \
     ADDRESS(src), \
     REMARK(src), \
     ADDRESS(mem_src), \
     REMARK(mem_src)},
#include "calc/model/gpus.def"
#undef GPU
};

enum { GPU_COUNT = sizeof GPUS / sizeof *GPUS };

static const struct alias {
    const char *other, *name;
} ALIASES[] = {
#define GPU_ALIAS(other, name) {other, name},
#include "calc/model/gpus.def"
#undef GPU_ALIAS
};

// A name with the noise taken out: "NVIDIA GeForce RTX 4070" -> "4070".
struct key {
    char text[GPU_KEY_MAX];
    size_t len;
};

static const char *const NOISE[] = {"nvidia", "geforce",  "rtx",    "gtx", "tesla",     "quadro",
                                    "amd",    "instinct", "radeon", "gpu", "generation"};

static bool is_noise(const char *word, size_t len)
{
    for (size_t i = 0; i < sizeof NOISE / sizeof *NOISE; i++)
        if (text_equal_nocase(word, len, NOISE[i]))
            return true;
    return false;
}

static bool is_gap(char c)
{
    return c == ' ' || c == '-' || c == '_' || c == '\t';
}

// "80GB" is 80 to people: the length without the unit of a size.
static size_t without_unit(const char *word, size_t len)
{
    static const char *const units[] = {"gib", "gb", "g"};
    for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
        size_t unit = text_len(units[u]), digits = 0;
        while (digits < len && word[digits] >= '0' && word[digits] <= '9')
            digits++;
        if (digits && digits + unit == len && text_equal_nocase(word + digits, unit, units[u]))
            return digits;
    }
    return len;
}

static void key_add(struct key *k, const char *word, size_t len)
{
    // "rtx4070": the maker's letters without a gap
    if (len > 3 && (text_equal_nocase(word, 3, "rtx") || text_equal_nocase(word, 3, "gtx"))) {
        word += 3;
        len -= 3;
    }
    len = without_unit(word, len);
    for (size_t i = 0; i < len && k->len < GPU_KEY_MAX; i++) {
        char c = word[i];
        k->text[k->len++] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
}

static struct key key_of(const char *name, size_t len)
{
    struct key k = {{0}, 0};
    for (size_t i = 0; i < len;) {
        size_t start = i;
        while (i < len && !is_gap(name[i]))
            i++;
        if (i > start && !is_noise(name + start, i - start))
            key_add(&k, name + start, i - start);
        while (i < len && is_gap(name[i]))
            i++;
    }
    return k;
}

static bool key_is(const struct key *k, const char *name)
{
    struct key other = key_of(name, text_len(name));
    if (other.len != k->len)
        return false;
    for (size_t i = 0; i < k->len; i++)
        if (other.text[i] != k->text[i])
            return false;
    return true;
}

static int find_key(const struct key *k)
{
    for (int i = 0; i < GPU_COUNT; i++)
        if (key_is(k, GPUS[i].name))
            return i;
    return -1;
}

int gpu_index(const char *name, size_t len)
{
    struct key k = key_of(name, len);
    if (k.len == 0)
        return -1;
    int found = find_key(&k);
    for (size_t i = 0; found < 0 && i < sizeof ALIASES / sizeof *ALIASES; i++)
        if (key_is(&k, ALIASES[i].other)) {
            struct key real = key_of(ALIASES[i].name, text_len(ALIASES[i].name));
            found = find_key(&real);
        }
    return found;
}

void gpu_write_others(struct writer *w, const char *name, size_t len, int index)
{
    struct key k = key_of(name, len);
    const char *between = "";
    if (key_is(&k, GPUS[index].name))
        return;
    for (int i = 0; i < GPU_COUNT; i++) {
        struct key other = key_of(GPUS[i].name, text_len(GPUS[i].name));
        if (i == index || other.len <= k.len)
            continue;
        size_t same = 0;
        while (same < k.len && other.text[same] == k.text[same])
            same++;
        if (same < k.len)
            continue;
        writer_f(w, "%s%s", between, GPUS[i].name);
        between = ", ";
    }
}

const char *gpu_name(const struct vram_config *c)
{
    return c->gpu >= 0 ? GPUS[c->gpu].name : c->gpu_memory || c->cuda_memory ? "card" : NULL;
}

#ifndef __wasm__  // the page offers a list of them
static bool has_digit(const struct key *k, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (k->text[i] >= '0' && k->text[i] <= '9')
            return true;
    return false;
}

// The card whose name begins like this one for longest, its number included: "a10080x" is an A100.
// NULL: none does.
static const char *gpu_of_series(const char *name, size_t len)
{
    struct key k = key_of(name, len);
    const char *best = NULL;
    size_t most = 0;
    for (int i = 0; i < GPU_COUNT; i++) {
        struct key other = key_of(GPUS[i].name, text_len(GPUS[i].name));
        size_t same = 0;
        while (same < k.len && same < other.len && other.text[same] == k.text[same])
            same++;
        size_t whole = same == other.len;  // "a10x" is an A10 and no A100
        if (2 * same + whole <= most || same * 2 < k.len || !has_digit(&k, same))
            continue;
        most = 2 * same + whole;
        best = GPUS[i].name;
    }
    return best;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_times(char c)
{
    return c == 'x' || c == 'X';
}

// The error of "2x4090", "8 x H100", "H100 x8"; VRAM_OK: it counts no cards.
static int gpu_counted(struct message *e, struct err_pos pos, const char *name, size_t len)
{
    size_t n = 0, x, back = len;
    uint64_t count = 0;
    bool over;
    int one = -1;
    while (n < len && is_digit(name[n]))
        n++;
    for (x = n; x < len && name[x] == ' ';)
        x++;
    while (back > 0 && is_digit(name[back - 1]))
        back--;
    if (n && x < len && is_times(name[x]) && text_to_u64(name, n, &count, &over))
        one = gpu_index(name + x + 1, len - x - 1);
    else if (back && is_times(name[back - 1]) &&
             text_to_u64(name + back, len - back, &count, &over))
        one = gpu_index(name, back - 1);
    if (one < 0)
        return VRAM_OK;
    return err_set(
        e, MESSAGE_gpus_counted, pos, ABOUT("gpu"),
        ARGS(arg_part("name", name, len), arg_u64("n", count), arg_text("near", GPUS[one].name)));
}
#else
#define gpu_counted(e, pos, name, len) VRAM_OK

static const char *gpu_of_series(const char *name, size_t len)
{
    (void)name;
    (void)len;
    return NULL;
}
#endif

static int unknown_gpu(struct message *e, struct err_pos pos, const char *name, size_t len)
{
    const char *names[GPU_COUNT];
    if (gpu_counted(e, pos, name, len) != VRAM_OK)
        return VRAM_EGPU;
    for (int i = 0; i < GPU_COUNT; i++)
        names[i] = GPUS[i].name;
    const char *near = vram_nearest(name, len, names, GPU_COUNT);
    near = near ? near : gpu_of_series(name, len);
    if (near)
        return err_set(e, MESSAGE_unknown_gpu_near, pos, ABOUT("gpu"),
                       ARGS(arg_part("name", name, len), arg_text("near", near)));
    return err_set(e, MESSAGE_unknown_gpu, pos, ABOUT("gpu"), ARGS(arg_part("name", name, len)));
}

int gpu_choose(struct vram_config *c, struct message *e, struct err_pos pos, const char *value,
               size_t len)
{
    int index = gpu_index(value, len);
    bool none = text_has_word("none", value, len);
    uint64_t mib = 0;
    if (index < 0)
        text_to_mib(value, len, &mib);
    if (index < 0 && !mib && !none)
        return unknown_gpu(e, pos, value, len);
    if (mib || none) {
        c->gpu_memory = mib;
        c->cuda_memory = 0;
    }
    c->gpu = mib ? -1 : index;
    return VRAM_OK;
}

const struct vram_gpu *vram_gpu_at(size_t index)
{
    return index < GPU_COUNT ? &GPUS[index] : NULL;
}

const struct vram_gpu *vram_gpu_find(const char *name)
{
    int i = name ? gpu_index(name, text_len(name)) : -1;
    return i < 0 ? NULL : &GPUS[i];
}
