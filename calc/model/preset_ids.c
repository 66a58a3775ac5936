// Owns which preset an id of the Hub, a folder of a checkpoint or a framework's own name of a model
// means.

#include "calc/model/preset_ids.h"

#include "calc/base/text.h"
#include "calc/vram.h"

// Endings that change the training of a model and not its shape.
static const char *const ENDINGS[] = {"bnb4bit", "unsloth", "instruct", "chat", "base", "hf",
                                      "it",      "v01",     "v02",      "v10",  "2507", "4k"};

// Models of the same sizes under another name, by their letters and digits.
static const struct {
    const char *name, *preset;
} SAME[] = {
    {"llama3370b", "llama-3.1-70b"},
    {"deepseekr1distillllama8b", "llama-3.1-8b"},
    {"deepseekr1distillllama70b", "llama-3.1-70b"},
    {"deepseekr1distillqwen7b", "qwen2.5-7b"},
    {"deepseekr1distillqwen14b", "qwen2.5-14b"},
    {"deepseekr1distillqwen32b", "qwen2.5-32b"},
    {"qwen25coder05b", "qwen2.5-0.5b"},
    {"qwen25coder15b", "qwen2.5-1.5b"},
    {"qwen25coder3b", "qwen2.5-3b"},
    {"qwen25coder7b", "qwen2.5-7b"},
    {"qwen25coder14b", "qwen2.5-14b"},
    {"qwen25coder32b", "qwen2.5-32b"},
    {"qwen25math15b", "qwen2.5-1.5b"},
    {"qwen25math7b", "qwen2.5-7b"},
    {"qwen25math72b", "qwen2.5-72b"},
    {"smollm135m", "smollm2-135m"},
    {"smollm360m", "smollm2-360m"},
    {"smollm17b", "smollm2-1.7b"},
    {"phi414b", "phi-4"},
    {"tinyllamav11", "tinyllama-1.1b"},
    {"tinyllama11bintermediatestep1431k", "tinyllama-1.1b"},
    {"tinyllama11bintermediatestep1431k3t", "tinyllama-1.1b"},
    {"tinyllama11bchatv10", "tinyllama-1.1b"},
#ifndef __wasm__
    {"bloomz560m", "bloom-560m"},
    {"bloomz1b1", "bloom-1b1"},
    {"bloomz1b7", "bloom-1b7"},
    {"bloomz3b", "bloom-3b"},
    {"bloomz7b1", "bloom-7b1"},
    {"bloomz7b1mt", "bloom-7b1"},
    {"bloomz", "bloom"},
#endif
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
static bool letters(struct span s, char out[96], size_t *len)
{
    *len = 0;
    for (size_t i = 0; i < s.len; i++) {
        if (!counts(s.at[i]))
            continue;
        if (*len + 1 >= 96)
            return false;
        out[(*len)++] = plain(s.at[i]);
    }
    out[*len] = 0;
    return *len > 0;
}

static const char *preset_of_letters(const char *name, size_t len)
{
    const struct vram_preset *preset;
    for (size_t i = 0; i < sizeof SAME / sizeof *SAME; i++)
        if (text_equal(name, len, SAME[i].name))
            return SAME[i].preset;
    for (size_t i = 0; (preset = vram_preset_at(i)) != NULL; i++) {
        char own[96];
        size_t n;
        bool hub = !preset->run[0] ? span_starts(span_of(preset->name), "hf-") : true;
        struct span named = span_of(preset->name);
        if (hub && letters(span_starts(named, "hf-") ? span_skip(named, 3) : named, own, &n) &&
            text_equal(name, len, own))
            return preset->name;
    }
    return NULL;
}

static bool drop_ending(const char *name, size_t *len)
{
    for (size_t i = 0; i < sizeof ENDINGS / sizeof *ENDINGS; i++) {
        size_t n = text_len(ENDINGS[i]);
        if (*len > n && text_equal(name + *len - n, n, ENDINGS[i])) {
            *len -= n;
            return true;
        }
    }
    return false;
}

const char *preset_of_id(struct span id)
{
    char name[96];
    size_t len, slash;
    while (id.len > 0 && id.at[id.len - 1] == '/')
        id.len--;
    while ((slash = span_find(id, "/")) < id.len)
        id = span_skip(id, slash + 1);
    if (span_starts(id, "Meta-"))
        id = span_skip(id, 5);
    if (!letters(id, name, &len))
        return NULL;
    for (;;) {
        const char *preset = preset_of_letters(name, len);
        if (preset || !drop_ending(name, &len))
            return preset;
    }
}
