// Owns the keys of training frameworks that mean more than one field.

#include "calc/parse/actions.h"

#include "calc/base/text.h"
#include "calc/model/model.h"
#include "calc/parse/actions_deepspeed.h"
#include "calc/parse/actions_formats.h"
#include "calc/parse/actions_fsdp.h"
#include "calc/parse/actions_liger.h"
#include "calc/parse/actions_serving.h"
#include "calc/parse/actions_torchtitan.h"
#include "calc/parse/lookup.h"
#include "calc/parse/model_by_name.h"
#include "calc/parse/pattern.h"

static int set(struct parse *p, const struct entry *e, const char *field, struct span value)
{
    return handle_set(p->v, e->value_pos, field, text_len(field), value.at, value.len);
}

static int set_word(struct parse *p, const struct entry *e, const char *field, const char *value)
{
    return set(p, e, field, span_of(value));
}

// ---- adapters --------------------------------------------------------------------------------

// Our name of a layer by the name that any project gives it; "" is the name itself.
static const char *module_of(struct span name)
{
    static const struct {
        const char *theirs, *ours;
    } names[] = {{"output_proj", "o"},         {"out_proj", "o"},  {"all-linear", "all"},
                 {"qkv_proj", "q+k+v"},        {"Wqkv", "q+k+v"},  {"gate_up_proj", "gate+up"},
                 {"query_key_value", "q+k+v"}, {"c_attn", "q+k+v"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (span_is(name, names[i].theirs))
            return names[i].ours;
    return "";
}

// "self_attn.q_proj" without what it is part of, where that is every block's attention or
// feed-forward.
static struct span last_name(struct span name)
{
    static const char *const parts[] = {"self_attn.", "attn.", "attention.", "mlp."};
    for (size_t i = name.len; i-- > 0;) {
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
            struct span rest = span_skip(name, i);
            bool begins = i == 0 || name.at[i - 1] == '.';
            if (begins && span_starts(rest, parts[k]) &&
                parse_is_name(span_skip(rest, text_len(parts[k]))))
                return span_skip(rest, text_len(parts[k]));
        }
    }
    return name;
}

enum { NAME_ROOM = 64 };

static void copy_name(char room[NAME_ROOM], struct span name)
{
    size_t n = name.len < NAME_ROOM - 1 ? name.len : NAME_ROOM - 1;
    mem_copy(room, name.at, n);
    room[n] = 0;
}

static void append_word(struct text_line *out, const char *word)
{
    text_append(out, out->len ? "+" : "");
    text_append(out, word);
}

// Whether the set of targets has a word for it.
static bool is_target(const struct parse *p, const char *word)
{
    struct vram_config with = p->v->config;
    struct message e;
    message_clear(&e);
    return config_set(&with, &e, (struct err_pos){0}, "lora_targets", 12, word, text_len(word)) ==
           VRAM_OK;
}

// Layers of modelled families that the set has no word for: adapters there would be left out of the
// estimate.
static bool is_other_layer(struct span name)
{
    return text_has_word("q_a_proj q_b_proj kv_a_proj_with_mqa kv_b_proj w1 w2 w3 router wpe",
                         name.at, name.len);
}

// Layers with adapters; a fused one is all that it holds. A pattern, where the map says that there
// may be one, is concluded from the model. A name that no layer has is passed over where another
// one has adapters. SRC: peft src/peft/tuners/tuners_utils.py, inject_adapter
// (targeted_module_names is empty: ValueError).
static int on_modules(struct parse *p, const char *map, const struct entry *e, struct delegate *as)
{
    struct text_line all = {{0}, 0}, known = {{0}, 0};
    struct span rest = e->value, unknown = {"", 0};
    // axolotl's switch adds all to the list. SRC: axolotl loaders/adapter.py, load_lora
    const struct vram_pair *linear = pair_find(p, "lora_target_linear");
    bool other = false;
    (void)as;
    if (linear && value_is_true(span_of(linear->value)))
        append_word(&all, "all");
    if (*map && pattern_is_one(e->value))
        return all.len ? set_word(p, e, "lora_targets", all.text) : VRAM_OK;
    while (rest.len > 0) {
        struct span name = {rest.at, span_find(rest, ",")};
        char own[NAME_ROOM];
        rest = span_skip(rest, name.len + 1);
        name = span_trim(name);
        copy_name(own, name);
        if (!is_target(p, own))  // "mlp.c_proj" is one
            copy_name(own, name = last_name(name));
        const char *ours = module_of(name);
        append_word(&all, ours[0] ? ours : own);
        if (is_target(p, ours[0] ? ours : own)) {
            append_word(&known, ours[0] ? ours : own);
        } else {
            other = other || is_other_layer(name);
            unknown = unknown.len ? unknown : name;
        }
    }
    bool passed = unknown.len && known.len && !other;
    if (passed)
        parse_warn(p, MESSAGE_no_such_target, e->value_pos,
                   ARGS(arg_part("name", unknown.at, unknown.len)));
    return set_word(p, e, "lora_targets", passed ? known.text : all.text);
}

// Modules that are trained as they are. The heads of classifiers, which PEFT adds by itself for
// their tasks, are no part of a language model.
static int on_saved(struct parse *p, const char *map, const struct entry *e, struct delegate *as)
{
    struct text_line kept = {{0}, 0};
    struct span rest = e->value;
    (void)map;
    (void)as;
    while (rest.len > 0) {
        struct span name = {rest.at, span_find(rest, ",")};
        rest = span_skip(rest, name.len + 1);
        name = span_trim(name);
        if (span_is(name, "classifier") || span_is(name, "score")) {
            parse_warn(p, MESSAGE_no_such_target, e->value_pos,
                       ARGS(arg_part("name", name.at, name.len)));
            continue;
        }
        char own[NAME_ROOM];
        copy_name(own, name);
        append_word(&kept, own);
    }
    return kept.len ? set_word(p, e, "modules_to_save", kept.text) : VRAM_OK;
}

// Weights that are trained are none of few bits: a file that asks for these has adapters.
static bool is_quantized(const struct parse *p)
{
    static const char *const keys[] = {"load_in_4bit", "load_in_8bit"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct vram_pair *bits = pair_find(p, keys[i]);
        if (bits && value_is_true(span_of(bits->value)))
            return true;
    }
    return false;
}

// A rank counts only where the key in the map says that there is an adapter; with a ? also where
// that key is not there.
static int on_rank(struct parse *p, const char *map, const struct entry *e, struct delegate *as)
{
    size_t n = span_find(span_of(map), "?");
    (void)as;
    const struct vram_pair *kind = pair_among(p, (struct span){map, n});
    struct span value = kind ? span_of(kind->value) : (struct span){"", 0};
    bool adapter =
        kind ? !value_is_false(value) && !span_is(value, "full") : map[n] == '?' || is_quantized(p);
    bool said = pair_find(p, "use_lora") || pair_find(p, "lora_enable") ||
                pair_find(p, "use_peft_lora") || span_is(e->value, "0");
    if (!kind && !adapter && !said && text_equal(map, n, "use_peft"))
        parse_warn(p, MESSAGE_rank_unused, e->value_pos,
                   ARGS(arg_part("key", e->key.at, e->key.len),
                        arg_part("value", e->value.at, e->value.len), arg_text("with", map)));
    return adapter ? set(p, e, "lora_rank", e->value) : VRAM_OK;
}

// TRL's adapters, with its ModelConfig's defaults, or a script's own rank.
static int on_peft(struct parse *p, const char *map, const struct entry *e, struct delegate *as)
{
    int rc = VRAM_OK;
    (void)as;
    if (!value_is_true(e->value))
        return rc;
    if (!pair_find(p, "lora_r") && !pair_find(p, "lora_rank"))
        rc = set_word(p, e, "lora_rank", *map ? map : "16");
    return rc || pair_find(p, "lora_dropout") ? rc : set_word(p, e, "lora_dropout", "0.05");
}

// One member of the set, in or out.
static int on_lora(struct parse *p, const char *map, const struct entry *e, struct delegate *as)
{
    struct vram_config *c = &p->v->config, with = *c;
    int rc = config_set(&with, &p->v->err, e->value_pos, "lora_targets", 12, map, text_len(map));
    (void)as;
    if (rc == VRAM_OK)
        c->lora_targets = value_is_true(e->value) ? c->lora_targets | with.lora_targets
                                                  : c->lora_targets & ~with.lora_targets;
    return rc;
}

// axolotl's fused functions: those that the file names; all where it names none and the model's
// code is transformers' own. SRC: axolotl src/axolotl/utils/schemas/config.py,
// check_auto_enable_lora_kernels.
static int on_fused(struct parse *p, const char *map, const struct entry *e, struct delegate *as)
{
    struct vram_config *c = &p->v->config, with = *c;
    struct handle_place *said = &p->v->places[FIELD_lora_kernels];
    bool all = span_is(e->value, "auto"), on = value_is_true(e->value);
    int rc = config_set(&with, &p->v->err, e->value_pos, "lora_kernels", 12, map, text_len(map));
    (void)as;
    if (rc == VRAM_OK && (all ? said->line == 0 : on))
        c->lora_kernels |= with.lora_kernels;
    if (!all && (on || map[0]))
        said->line = e->value_pos.line;
    return rc;
}

// LLaMA-Factory's kinds: full, or lora with its own defaults.
static int on_finetuning(struct parse *p, const char *map, const struct entry *e,
                         struct delegate *as)
{
    struct arg key = arg_part("key", e->key.at, e->key.len),
               value = arg_part("value", e->value.at, e->value.len);
    (void)map;
    (void)as;
    if (pair_among(p, span_of(map)) && !pair_find(p, "tuner_type") && span_is(e->key, "tuner_type"))
        return VRAM_OK;  // swift's default, of its older names, too
    if (span_is(e->value, "full"))
        p->v->facts.trained = p->v->facts.trained ? p->v->facts.trained : 2;
    else if (!span_is(e->value, "lora"))
        return err_set(&p->v->err, MESSAGE_not_modelled, e->value_pos, NO_FIELD, ARGS(key, value));
    else if (!pair_find(p, "lora_rank"))
        return set_word(p, e, "lora_rank", "8");
    return VRAM_OK;
}

static int on_double(struct parse *p, const char *map, const struct entry *e, struct delegate *as)
{
    (void)map;
    (void)as;
    if (value_is_false(e->value) && p->v->config.quantization == QUANTIZATION_NF4_DOUBLE)
        return set_word(p, e, "quantization", "nf4");
    return VRAM_OK;
}

// Is one of the keys there?
static bool any_pair(const struct parse *p, const char *keys)
{
    for (size_t i = 0; i < p->pair_count; i++)
        if (text_has_word(keys, p->pairs[i].key, text_len(p->pairs[i].key)))
            return true;
    return false;
}

// accelerate divides optimizer and gradients where neither its file nor one of DeepSpeed's names
// the stage. SRC: accelerate utils/dataclasses.py, DeepSpeedPlugin.__post_init__.
static int on_stage(struct parse *p, const char *map, const struct entry *e, struct delegate *as)
{
    (void)as;
    if ((span_is(e->value, "DEEPSPEED") || value_is_true(e->value)) && !any_pair(p, map))
        facts_set(&p->v->facts, FACT_zero_stage, "2", 1);
    return VRAM_OK;
}

// A length that counts where none of the map's keys is there.
static int on_cut(struct parse *p, const char *map, const struct entry *e, struct delegate *as)
{
    (void)as;
    return any_pair(p, map) ? VRAM_OK : set(p, e, "seq_len", e->value);
}

// nanotron refuses a key that its LlamaConfig has not: with one, the file is of another model. Said
// once. SRC: nanotron config/config.py, strict=True; config/models_config.py.
static int on_other_model(struct parse *p, const char *map, const struct entry *e,
                          struct delegate *as)
{
    struct arg key = arg_part("key", e->key.at, e->key.len),
               value = arg_part("value", e->value.at, e->value.len);
    bool said = p->other_model;
    (void)map;
    (void)as;
    p->other_model = true;
    return said ? VRAM_OK
                : err_set(&p->v->err, MESSAGE_not_modelled, e->value_pos, NO_FIELD,
                          ARGS(key, value));
}

// ---- axolotl ---------------------------------------------------------------------------------

static int on_plugins(struct parse *p, const char *map, const struct entry *e, struct delegate *as)
{
    (void)map;
    (void)as;
    if (span_find(e->value, "CutCrossEntropyPlugin") < e->value.len)
        return set_word(p, e, "cross_entropy", "cce");
    return VRAM_OK;
}

// FSDP's settings go by accelerate's names, with and without fsdp_ before them. Where axolotl's
// list of its options is not there, they are the sign of it. SRC: axolotl 0.19
// utils/schemas/config.py (is_fsdp = data.get("fsdp_config") is not None).
static int on_fsdp(struct parse *p, const char *map, const struct entry *e, struct delegate *as)
{
    static const char path[] = "fsdp_config.fsdp_";
    size_t before = sizeof path - 1;
    struct span name = span_skip(e->key, span_find(e->key, ".") + 1);
    name = name.len ? name : e->key;
    if (*map && !pair_find(p, map))
        facts_set(&p->v->facts, FACT_engine, "fsdp", 4);
    if (span_starts(name, "fsdp_"))
        name = span_skip(name, 5);
    if (before + name.len >= sizeof as->key)
        return VRAM_OK;
    mem_copy(as->key, path, before);
    mem_copy(as->key + before, name.at, name.len);
    as->e.key = (struct span){as->key, before + name.len};
    as->format = FORMAT_ACCELERATE;
    return VRAM_OK;
}

// ---- models ----------------------------------------------------------------------------------

static int on_model(struct parse *p, const char *map, const struct entry *e, struct delegate *as)
{
    (void)as;
    if (*map && pair_find(p, map))
        return VRAM_OK;
    return pair_find(p, "model_config.n_layer") ? VRAM_OK : model_by_name(p, e);
}

// A sequence is a question and its answer, each cut to a length of its own: the map has the key of
// the other one and what it is where nothing says it.
static int on_both_lengths(struct parse *p, const char *map, const struct entry *e,
                           struct delegate *as)
{
    char name[32], digits[TEXT_DIGITS];
    struct span key = {map, span_find(span_of(map), " ")},
                other = span_skip(span_of(map), key.len + 1);
    uint64_t one, two;
    bool overflow;
    (void)as;
    mem_copy(name, key.at, key.len);
    name[key.len] = 0;
    const struct vram_pair *said = pair_find(p, name);
    other = said ? span_of(said->value) : other;
    if (!text_to_u64(e->value.at, e->value.len, &one, &overflow) ||
        !text_to_u64(other.at, other.len, &two, &overflow) || one > UINT32_MAX || two > UINT32_MAX)
        return set(p, e, "seq_len", e->value);
    return set(p, e, "seq_len", span_of_number(one + two, digits));
}

// LitGPT's model_config, a model of one's own: what is not there is as litgpt/config.py has it.
static int on_own_model(struct parse *p, const char *map, const struct entry *e,
                        struct delegate *as)
{
    static const struct {
        const char *key, *field;
    } sizes[] = {
        {"model_config.n_layer", "n_layer"},       {"model_config.n_head", "n_head"},
        {"model_config.n_embd", "n_embd"},         {"model_config.n_query_groups", "n_kv_head"},
        {"model_config.block_size", "block_size"}, {"model_config.padded_vocab_size", "vocab_size"},
        {"model_config.head_size", "head_dim"},    {"model_config.intermediate_size", "n_inner"}};
    const struct vram_pair *mlp = pair_find(p, "model_config.mlp_class_name");
    bool gated = mlp && span_is(span_of(mlp->value), "LLaMAMLP");
    struct text_line out = {{0}, 0};
    (void)map;
    (void)as;
    (void)e;
    text_append(&out, gated ? "family=llama" : "family=gpt_neox");
    text_append(&out, " tie_embeddings=false");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const struct vram_pair *size = pair_find(p, sizes[i].key);
        if (!size)
            continue;
        text_append(&out, " ");
        text_append(&out, sizes[i].field);
        text_append(&out, "=");
        text_append(&out, size->value);
    }
    p->v->facts.model = true;
    return parse_model_fields(p, out.text);
}

// The file has the model's sizes itself.
static int on_shape(struct parse *p, const char *map, const struct entry *e, struct delegate *as)
{
    (void)map;
    (void)as;
    (void)e;
    p->v->facts.model = true;
    return VRAM_OK;
}

// LoraConfig's arguments, in the words of its file.
static int on_adapter(struct parse *p, const char *map, const struct entry *e, struct delegate *as)
{
    (void)p;
    (void)map;
    as->e.key = span_skip(e->key, span_find(e->key, ".") + 1);
    as->format = FORMAT_ADAPTER;
    return VRAM_OK;
}

// DeepSpeed's configuration within a trainer's. SRC: transformers training_args.py, deepspeed: dict
// or str; axolotl utils/schemas/config.py.
static int on_deepspeed(struct parse *p, const char *map, const struct entry *e,
                        struct delegate *as)
{
    int rc = on_adapter(p, map, e, as);
    facts_set(&p->v->facts, FACT_engine, "deepspeed", 9);
    as->format = FORMAT_DEEPSPEED;
    return rc;
}

// "torchtune.models.llama3_2.lora_llama3_2_3b": the function that makes the model.
static int on_component(struct parse *p, const char *map, const struct entry *e,
                        struct delegate *as)
{
    struct entry named = *e;
    (void)map;
    (void)as;
    for (size_t i; (i = span_find(named.value, ".")) < named.value.len;)
        named.value = span_skip(named.value, i + 1);
    if (span_starts(named.value, "qlora_"))
        p->v->config.quantization = QUANTIZATION_NF4;
    if (span_starts(named.value, "lora_") || span_starts(named.value, "qlora_"))
        named.value = span_skip(named.value, named.value.at[0] == 'q' ? 6 : 5);
    return model_by_name(p, &named);
}

// ---- all -------------------------------------------------------------------------------------

int action_run(struct parse *p, const char *name, const char *map, const struct entry *e,
               struct delegate *as)
{
    static const struct {
        const char *name;
        int (*run)(struct parse *, const char *, const struct entry *, struct delegate *);
    } actions[] = {{"model", on_model},
                   {"modules", on_modules},
                   {"rank", on_rank},
                   {"lora", on_lora},
                   {"fused", on_fused},
                   {"double", on_double},
                   {"finetuning", on_finetuning},
                   {"plugins", on_plugins},
                   {"fsdp", on_fsdp},
                   {"component", on_component},
                   {"flavor", action_flavor},
                   {"selective", action_selective},
                   {"float8", action_float8},
                   {"shape", on_shape},
                   {"own_model", on_own_model},
                   {"adapter", on_adapter},
                   {"schedule", action_schedule},
                   {"peft", on_peft},
                   {"saved", on_saved},
                   {"stage", on_stage},
                   {"slots", action_slots},
                   {"replicas", action_replicas},
                   {"among", action_among},
                   {"tokens", action_tokens},
                   {"gguf", action_gguf},
                   {"same_cache", action_same_cache},
                   {"on_gpu", action_on_gpu},
                   {"other_model", on_other_model},
                   {"bits", action_bits},
                   {"launched", action_launched},
                   {"sharding", action_sharding},
                   {"limit", action_limit},
                   {"deepspeed", on_deepspeed},
                   {"both_lengths", on_both_lengths},
                   {"cut", on_cut},
                   {"liger", action_liger}};
    as->format = FORMAT_NONE;
    as->e = *e;
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (span_is(span_of(name), actions[i].name))
            return actions[i].run(p, map, e, as);
    return VRAM_OK;
}
