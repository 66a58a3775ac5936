// Owns which preset an id of the Hub, a folder of a checkpoint or a framework's own name of a model
// means.

#include "calc/model/preset_ids.h"

#include "calc/base/text.h"
#include "calc/model/config.h"
#include "calc/vram.h"

// Endings that change nothing of a model's sizes but how its weights are stored.
// SRC: quantization_config of the config.json of unsloth's and Qwen's repositories
static const struct {
    char name[12];
    uint8_t stored;
} ENDINGS[] = {
    {"bnb4bit", QUANTIZATION_NF4_DOUBLE},
    {"unsloth", QUANTIZATION_NONE},
    {"instruct", QUANTIZATION_NONE},
    {"chat", QUANTIZATION_NONE},
    {"base", QUANTIZATION_NONE},
    {"hf", QUANTIZATION_NONE},
    {"it", QUANTIZATION_NONE},
    {"v01", QUANTIZATION_NONE},
    {"v02", QUANTIZATION_NONE},
    {"v10", QUANTIZATION_NONE},
    {"2507", QUANTIZATION_NONE},
    {"4k", QUANTIZATION_NONE},
#ifndef VRAM_SMALL
    {"awq", QUANTIZATION_AWQ},
    {"gptqint4", QUANTIZATION_GPTQ},
    {"gptqint8", QUANTIZATION_GPTQ_INT8},
    {"fp8", QUANTIZATION_FP8},
    {"gptq", QUANTIZATION_GPTQ},  // TheBloke's and ModelCloud's, of 4 bits
    {"4bits", QUANTIZATION_AWQ},  // Yi's cards
    {"8bits", QUANTIZATION_GPTQ_INT8},
    {"fp16", QUANTIZATION_NONE},
    {"128k", QUANTIZATION_NONE},
    {"1m", QUANTIZATION_NONE},
    {"deduped", QUANTIZATION_NONE},
    {"dpo", QUANTIZATION_NONE},
    {"plus", QUANTIZATION_NONE},
    {"preview", QUANTIZATION_NONE},
    {"reasoning", QUANTIZATION_NONE},
    {"sft", QUANTIZATION_NONE},
    {"thinking", QUANTIZATION_NONE},
    {"think", QUANTIZATION_NONE},
    {"pt", QUANTIZATION_NONE},
    {"bf16", QUANTIZATION_NONE},
    {"2410", QUANTIZATION_NONE},  // months of Mistral AI's
    {"2501", QUANTIZATION_NONE},
    {"2503", QUANTIZATION_NONE},
    {"2505", QUANTIZATION_NONE},
    {"2506", QUANTIZATION_NONE},
    {"2509", QUANTIZATION_NONE},
    {"2512", QUANTIZATION_NONE},
#endif
};

// Models of the same sizes under another name, by their letters and digits.
static const struct {
    const char *name, *preset;
} SAME[] = {
#define SAME_SIZES(name, preset) {name, preset},
#include "calc/model/preset_ids.def"
#undef SAME_SIZES
};

static char plain(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 32) : c;
}

static bool counts(char c)
{
    c = plain(c);
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

// Letters and digits of a name, small; false where there are too many.
static bool letters(struct span s, char out[ID_LETTERS], size_t *len)
{
    *len = 0;
    for (size_t i = 0; i < s.len; i++) {
        if (!counts(s.at[i]))
            continue;
        if (*len + 1 >= ID_LETTERS)
            return false;
        out[(*len)++] = plain(s.at[i]);
    }
    out[*len] = 0;
    return *len > 0;
}

static const char *same_sizes(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof SAME / sizeof *SAME; i++)
        if (text_equal(name, len, SAME[i].name))
            return SAME[i].preset;
    return NULL;
}

// Of models as published: presets with a run of the Hub's, and "hf-" of the others.
static bool has_letters(const struct vram_preset *preset, const char *name, size_t len)
{
    char own[ID_LETTERS];
    size_t n;
    struct span named = span_of(preset->name);
    bool is_hf = span_starts(named, "hf-");
    return (is_hf || preset->run[0]) && letters(is_hf ? span_skip(named, 3) : named, own, &n) &&
           text_equal(name, len, own);
}

static const struct vram_preset *preset_of_letters(const char *name, size_t len)
{
    const char *same = same_sizes(name, len);
    const struct vram_preset *preset;
    for (size_t i = 0; (preset = vram_preset_at(i)) != NULL; i++)
        if (same ? span_is(span_of(same), preset->name) : has_letters(preset, name, len))
            return preset;
    return NULL;
}

static bool drop_ending(const char *name, size_t *len, uint8_t *stored)
{
    for (size_t i = 0; i < sizeof ENDINGS / sizeof *ENDINGS; i++) {
        size_t n = text_len(ENDINGS[i].name);
        if (*len > n && text_equal(name + *len - n, n, ENDINGS[i].name)) {
            *len -= n;
            if (ENDINGS[i].stored != QUANTIZATION_NONE)
                *stored = ENDINGS[i].stored;
            return true;
        }
    }
    return false;
}

#ifdef VRAM_SMALL
static struct span last_name(struct span id)
{
    size_t slash;
    while (id.len > 0 && id.at[id.len - 1] == '/')
        id.len--;
    while ((slash = span_find(id, "/")) < id.len)
        id = span_skip(id, slash + 1);
    return id;
}
#else
// Folders within a model's own: of the Hub's cache ("models--Qwen--Qwen2.5-7B/snapshots/d14914...",
// a revision), of a run's output and of Meta's files.
static bool is_within(struct span name)
{
    size_t hex = 0;
    for (; hex < name.len; hex++)
        if (!(name.at[hex] >= '0' && name.at[hex] <= '9') &&
            !(name.at[hex] >= 'a' && name.at[hex] <= 'f'))
            break;
    return (name.len >= 7 && hex == name.len) || span_is(name, "snapshots") ||
           span_is(name, "original") || span_starts(name, "checkpoint-");
}

// The last name of an id or a path, of Windows too, that is a model's.
static struct span last_name(struct span id)
{
    for (;;) {
        size_t at = id.len;
        while (at > 0 && id.at[at - 1] != '/' && id.at[at - 1] != '\\')
            at--;
        struct span name = span_skip(id, at);
        if (at == 0 || (name.len > 0 && !is_within(name))) {
            size_t dashes;
            bool cached = span_starts(name, "models--");
            while (cached && (dashes = span_find(name, "--")) < name.len)
                name = span_skip(name, dashes + 2);
            return name;
        }
        id.len = at - 1;
    }
}
#endif

bool id_letters(struct span id, char out[ID_LETTERS], size_t *len)
{
    id = last_name(id);
    return letters(span_starts(id, "Meta-") ? span_skip(id, 5) : id, out, len);
}

const struct vram_preset *preset_of_id(struct span id, uint8_t *stored)
{
    char name[ID_LETTERS];
    size_t len;
    *stored = QUANTIZATION_NONE;
    if (!id_letters(id, name, &len))
        return NULL;
    for (;;) {
        const struct vram_preset *preset = preset_of_letters(name, len);
        if (preset || !drop_ending(name, &len, stored))
            return preset;
    }
}
