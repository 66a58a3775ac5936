// Owns the lines of advise_lines.def: which a framework has, and their values.

#include "calc/answer/advise_lines.h"

#include "calc/model/family.h"
#include "calc/model/model.h"

struct line_row {
    const char *change;
    uint64_t framework;
    const char *text;
};

static const struct line_row ROWS[] = {
#define FRAMEWORK_ANY FRAMEWORK_AUTO
#define LINE(change, framework, text) {#change, FRAMEWORK_##framework, text},
#include "calc/answer/advise_lines.def"
#undef FRAMEWORK_ANY
};

enum { ROW_COUNT = sizeof ROWS / sizeof *ROWS };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// Length of an id without the number at its end: that of "micro_batch" in "micro_batch_4".
static size_t stem(const char *id)
{
    size_t len = text_len(id), n = len;
    while (n > 0 && is_digit(id[n - 1]))
        n--;
    return n < len && n > 1 && id[n - 1] == '_' ? n - 1 : len;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || c == '_' || is_digit(c);
}

#ifndef VRAM_SMALL
// target_modules: layers of latent attention have names of their own.
static void append_modules(const struct vram_config *c, struct text_line *line)
{
    static const char *const plain[] = {"q_proj",    "k_proj",  "v_proj",   "o_proj",
                                        "gate_proj", "up_proj", "down_proj"};
    bool latent = family_has(c) & HAS_LATENT, any = false;
    if (c->lora_targets == CONFIG_SET_ALL_LINEAR) {
        text_append(line, "\"all-linear\"");
        return;
    }
    text_append(line, "[");
    for (unsigned i = 0; i < sizeof plain / sizeof *plain; i++) {
        const char *name = plain[i];
        if (latent && i <= TARGET_V)
            name = i == TARGET_Q   ? c->q_lora_rank ? "q_a_proj\", \"q_b_proj" : "q_proj"
                   : i == TARGET_K ? "kv_a_proj_with_mqa\", \"kv_b_proj"
                                   : "";
        if (!(c->lora_targets & CONFIG_BIT(i)) || !*name)
            continue;
        text_append(line, any ? ", \"" : "\"");
        text_append(line, name);
        text_append(line, "\"");
        any = true;
    }
    text_append(line, "]");
}
#endif

// The value of {name}, for config_write; `length` is what a sequence has, `alloc_conf` and
// `target_modules` are no fields. false: it is neither.
static bool value_of(const char *name, size_t len, const struct vram_config *c,
                     struct text_line *line)
{
    struct vram_config of = *c;
    if (text_equal(name, len, "alloc_conf")) {
        text_append(line, config_alloc_conf(c));
        return true;
    }
#ifndef VRAM_SMALL
    if (text_equal(name, len, "target_modules")) {
        append_modules(c, line);
        return true;
    }
#endif
    int field = text_equal(name, len, "length") ? FIELD_seq_len : config_field(name, len);
    if (field < 0)
        return false;
    of.seq_len = config_longest(c);
    config_append_value(line, &of, (size_t)field);
    return true;
}

static void fill(const char *text, const struct vram_config *c, struct text_line *line)
{
    while (*text) {
        size_t n = 1;
        while (*text == '{' && is_word(text[n]))
            n++;
        bool hole = n > 1 && text[n] == '}' && value_of(text + 1, n - 1, c, line);
        if (!hole)
            text_append(line, (char[]){*text, 0});
        text += hole ? n + 1 : 1;
    }
}

bool advise_line(const char *id, uint64_t framework, const struct vram_config *c,
                 struct text_line *line)
{
    *line = (struct text_line){{0}, 0};
    for (size_t i = 0; i < ROW_COUNT; i++) {
        const struct line_row *r = &ROWS[i];
        if (!text_equal(id, stem(id), r->change) ||
            (r->framework != FRAMEWORK_AUTO && r->framework != framework))
            continue;
        fill(r->text, c, line);
        return true;
    }
    return false;
}
