// Owns the layers that PEFT gives adapters, where a file has no list of their names: a pattern over
// the names of all modules, names that are left out, or PEFT's own choice for the family.
// SRC: peft 0.21 src/peft/tuners/tuners_utils.py, check_target_module_exists.

#include "calc/parse/targets.h"

#include "calc/base/text.h"
#include "calc/model/config.h"
#include "calc/parse/lookup.h"
#include "calc/parse/pattern.h"

// The layers that PEFT gives adapters where a LoraConfig, or TRL's, names none. SRC: peft 0.20
// src/peft/utils/constants.py, TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING.
static const struct {
    const char *families, *targets;
} PEFT_TARGETS[] = {
    {"llama llama4 mistral mixtral stablelm gemma gemma2 gemma3 qwen2 qwen3 opt opt_late gptj "
     "gpt_neo bert roberta",
     "lora_targets=q+v"},
    {"phi", "lora_targets=q+v+up+down"},
    {"gpt2 gpt_neox gpt_bigcode bloom falcon mpt codegen", "lora_targets=q+k+v"},
};

static const struct modules {
    const char *families, *layers, *inside, *beside, *outside;
} MODULES_OF[] = {
#define MODULES(families, layers, inside, beside, outside) \
    {families, layers, inside, beside, outside},
#include "calc/parse/modules.def"
};

#define ROWS(table) (sizeof(table) / sizeof *(table))

static const char *family_of(const struct parse *p)
{
    return vram_field_at(FIELD_family)->values[p->v->config.family];
}

static const struct modules *modules_of(const struct parse *p)
{
    const char *family = family_of(p);
    for (size_t i = 0; i < ROWS(MODULES_OF); i++)
        if (text_has_word(MODULES_OF[i].families, family, text_len(family)))
            return &MODULES_OF[i];
    return NULL;
}

// ---- names -----------------------------------------------------------------------------------

// What a value finds of a model: members of lora_targets in every layer, and in some alone.
struct found {
    uint64_t every, some;
    bool unread, left_out;
};

static bool ends_with(struct span name, struct span end)
{
    struct span rest = span_skip(name, name.len - end.len);
    return end.len && end.len < name.len && span_same(rest, end) &&
           name.at[name.len - end.len - 1] == '.';
}

// A list has the names themselves, or their ends behind a point.
static bool matches(struct span value, struct span name, struct found *out)
{
    if (pattern_is_one(value)) {
        enum pattern_found found = pattern_match(value, name);
        out->unread = out->unread || found == PATTERN_UNREAD;
        return found == PATTERN_YES;
    }
    while (value.len > 0) {
        struct span item = {value.at, span_find(value, ",")};
        value = span_skip(value, item.len + 1);
        item = span_trim(item);
        if (span_same(item, name) || ends_with(name, item))
            return true;
    }
    return false;
}

static void append_span(struct text_line *to, struct span s)
{
    char one[2] = {0};
    for (size_t i = 0; i < s.len; i++) {
        one[0] = s.at[i];
        text_append(to, one);
    }
}

static void append_number(struct text_line *to, uint64_t n)
{
    char digits[TEXT_DIGITS + 1];
    digits[TEXT_DIGITS] = 0;
    text_append(to, text_digits(digits + TEXT_DIGITS, n));
}

// "q+k+v" as bits.
static uint64_t members_of(const struct parse *p, struct span words)
{
    struct vram_config with = p->v->config;
    struct message e;
    message_clear(&e);
    config_set(&with, &e, NO_POS, "lora_targets", 12, words.at, words.len);
    return with.lora_targets;
}

// Of one module, "q=self_attn.q_proj", in all layers.
static void find_inside(const struct parse *p, struct span value, struct span layers,
                        struct span word, struct found *out)
{
    size_t eq = span_find(word, "=");
    uint64_t members = members_of(p, (struct span){word.at, eq}), count = 0;
    for (uint64_t i = 0; i < p->v->config.n_layer && !out->unread; i++) {
        struct text_line name = {{0}, 0};
        append_span(&name, layers);
        append_number(&name, i);
        text_append(&name, ".");
        append_span(&name, span_skip(word, eq + 1));
        count += matches(value, (struct span){name.text, name.len}, out);
    }
    if (count == p->v->config.n_layer)
        out->every |= members;
    else if (count)
        out->some |= members;
}

static struct found find_in_layers(const struct parse *p, struct span value, const char *paths,
                                   const char *words)
{
    struct found out = {0};
    for (struct span left = span_of(paths); left.len > 0 && !out.every && !out.some;) {
        struct span layers = {left.at, span_find(left, " ")};
        left = span_skip(left, layers.len + 1);
        for (struct span rest = span_of(words); rest.len > 0;) {
            struct span word = {rest.at, span_find(rest, " ")};
            rest = span_skip(rest, word.len + 1);
            find_inside(p, value, layers, word, &out);
        }
    }
    return out;
}

static void find_outside(const struct parse *p, struct span value, const char *words,
                         struct found *out)
{
    for (struct span rest = span_of(words); rest.len > 0;) {
        struct span word = {rest.at, span_find(rest, " ")};
        size_t eq = span_find(word, "=");
        rest = span_skip(rest, word.len + 1);
        if (matches(value, span_skip(word, eq + 1), out))
            out->every |= members_of(p, (struct span){word.at, eq});
    }
}

// Layers that only all linear ones together bring: those that are left out of all are some that get
// none, and there is no word for those that come without.
static struct found find_modules(const struct parse *p, struct span value, const struct modules *m)
{
    struct found out = find_in_layers(p, value, m->layers, m->inside),
                 beside = find_in_layers(p, value, m->layers, m->beside);
    bool all = out.every == CONFIG_SET_ALL_LINEAR;
    if (*m->beside && all && beside.every != CONFIG_SET_ALL_LINEAR)
        out.left_out = true;
    out.unread = out.unread || (!all && (beside.every || beside.some));
    find_outside(p, value, m->outside, &out);
    return out;
}

// ---- what a file says ------------------------------------------------------------------------

static struct err_pos place_of(const struct parse *p, const struct vram_pair *pair)
{
    return (struct err_pos){p->file, pair->value_line, pair->value_col};
}

int targets_set(struct parse *p, const struct vram_pair *pair, uint64_t members)
{
    struct text_line words = {{0}, 0};
    config_set_text(FIELD_lora_targets, members, &words);
    return handle_set(p->v, place_of(p, pair), "lora_targets", 12, words.text, words.len);
}

static void warn_some(struct parse *p, const struct vram_pair *pair)
{
    parse_warn(p, MESSAGE_takes_less, place_of(p, pair),
               ARGS(arg_text("key", pair->key), arg_text("value", pair->value)));
}

// The pattern over names of modules that the file has, or NULL. axolotl's switch for all linear
// layers goes before.
static const struct vram_pair *pattern_pair(const struct parse *p)
{
    const struct vram_pair *pair =
        pair_among(p, span_of("target_regex target_modules lora_config.target_modules "
                              "lora_target_modules"));
    const struct vram_pair *linear = pair_find(p, "lora_target_linear");
    if (!pair || !pattern_is_one(span_of(pair->value)) ||
        (linear && value_is_true(span_of(linear->value))))
        return NULL;
    return pair;
}

static int conclude_pattern(struct parse *p)
{
    const struct vram_pair *pair = pattern_pair(p);
    if (!pair)
        return VRAM_OK;
    const struct modules *m = modules_of(p);
    struct arg key = arg_text("key", pair->key), value = arg_text("value", pair->value),
               family = arg_text("family", family_of(p));
    struct found found = {.unread = true};
    if (m)
        found = find_modules(p, span_of(pair->value), m);
    if (found.unread)
        return err_set(&p->v->err, MESSAGE_pattern_unread, place_of(p, pair), NO_FIELD,
                       ARGS(key, value, family));
    if (!found.every && !found.some)
        return err_set(&p->v->err, MESSAGE_pattern_of_none, place_of(p, pair), NO_FIELD,
                       ARGS(key, value, family));
    if (found.left_out || (found.some & ~found.every))
        warn_some(p, pair);
    return targets_set(p, pair, found.every | found.some);
}

// What is excluded of some layers alone, or of a family whose names are not known or not all have
// words, is counted.
static int conclude_excluded(struct parse *p)
{
    const struct vram_pair *pair =
        pair_among(p, span_of("exclude_modules lora_config.exclude_modules"));
    if (!pair)
        return VRAM_OK;
    const struct modules *m = modules_of(p);
    uint64_t targets = p->v->config.lora_targets;
    struct found found = {.unread = true};
    if (m && !*m->beside)
        found = find_modules(p, span_of(pair->value), m);
    if (found.unread || (found.some & ~found.every & targets))
        warn_some(p, pair);
    targets &= ~found.every;
    if (!found.unread && !targets)
        return err_set(&p->v->err, MESSAGE_targets_without_layer, place_of(p, pair),
                       ABOUT("lora_targets"), NO_ARGS);
    return found.unread || targets == p->v->config.lora_targets ? VRAM_OK
                                                                : targets_set(p, pair, targets);
}

static void conclude_unnamed(struct parse *p)
{
    struct vram *v = p->v;
    const struct vram_pair *trl = pair_find(p, "use_peft");
    bool call = pair_find(p, "lora_config.r") && pair_is_there(p, "_LoraConfig"),
         peft = call || pair_find(p, "peft_type") || (trl && value_is_true(span_of(trl->value)));
    const char *family = family_of(p);
    if (!peft || !v->config.lora_rank || v->config.adapter == ADAPTER_IA3 ||
        v->places[FIELD_lora_targets].line || pair_find(p, "lora_config.target_modules") ||
        pair_find(p, "lora_target_modules"))
        return;
    for (size_t i = 0; i < ROWS(PEFT_TARGETS); i++)
        if (text_has_word(PEFT_TARGETS[i].families, family, text_len(family)))
            handle_imply(v, PEFT_TARGETS[i].targets);
}

int conclude_targets(struct parse *p)
{
    int rc = conclude_pattern(p);
    if (rc != VRAM_OK)
        return rc;
    conclude_unnamed(p);
#ifndef VRAM_SMALL
    rc = conclude_experts(p);
    if (rc != VRAM_OK)
        return rc;
#endif
    return conclude_excluded(p);
}
