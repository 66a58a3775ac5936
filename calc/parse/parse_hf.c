// Owns the reading of a Hugging Face config.json, whose keys the caller has flattened: model_type
// picks the defaults.

#include "calc/parse/parse.h"

#include "calc/base/text.h"
#include "calc/model/family.h"
#include "calc/model/model.h"
#include "calc/model/unmodelled.h"
#include "calc/parse/hf_conclude.h"
#include "calc/parse/towers.h"

enum { HF_SEQ = 2048 };

static const struct family {
    const char *type, *defaults;
} FAMILIES[] = {
#define HF_FAMILY(type, defaults) {type, defaults},
#include "calc/parse/hf_keys.def"
#undef HF_FAMILY
};

static const struct key {
    const char *hf, *field;
} KEYS[] = {
#define HF_KEY(hf, field) {hf, field},
#include "calc/parse/hf_keys.def"
#undef HF_KEY
};

static const struct only {
    const char *hf, *value;
    unsigned family;  // family_COUNT: any
} ONLY[] = {
#define HF_ONLY_OF(family, hf, value) {hf, value, FAMILY_##family},
#include "calc/parse/hf_keys.def"
#undef HF_ONLY_OF
#define HF_ONLY(hf, value) {hf, value, family_COUNT},
#include "calc/parse/hf_keys.def"
#undef HF_ONLY
};

static const struct own_key {
    unsigned family;
    const char *hf, *field;
} OWN_KEYS[] = {
#define HF_KEY_OF(family, hf, field) {FAMILY_##family, hf, field},
#include "calc/parse/hf_keys.def"
#undef HF_KEY_OF
    {family_COUNT, "", ""},
};

static const struct variant {
    unsigned family;
    const char *hf, *value;
    unsigned other;
} VARIANTS[] = {
#define HF_VARIANT(family, hf, value, other) {FAMILY_##family, hf, value, FAMILY_##other},
#include "calc/parse/hf_keys.def"
#undef HF_VARIANT
    {family_COUNT, "", "", 0},
};

enum { FAMILY_ROWS = sizeof FAMILIES / sizeof *FAMILIES, KEY_ROWS = sizeof KEYS / sizeof *KEYS };

static const char IGNORED[] =
#define HF_IGNORE(words) words
#include "calc/parse/hf_keys.def"
#undef HF_IGNORE
    ;

static int unknown_type(struct parse *p, const struct entry *type)
{
    const char *names[FAMILY_ROWS];
    struct text_line known = {{0}, 0};
    for (size_t i = 0; i < FAMILY_ROWS; i++) {
        names[i] = FAMILIES[i].type;
        text_append(&known, i ? ", " : "");
        text_append(&known, names[i]);
    }
    const char *near = unmodelled_near(type->value);
    if (!near)
        near = vram_nearest(type->value.at, type->value.len, names, FAMILY_ROWS);
    struct arg value = arg_part("type", type->value.at, type->value.len),
               list = arg_text("types", known.text);
    if (near)
        return err_set(&p->v->err, MESSAGE_unknown_model_type_near, type->value_pos,
                       ABOUT("family"), ARGS(value, arg_text("near", near), list));
    return err_set(&p->v->err, MESSAGE_unknown_model_type, type->value_pos, ABOUT("family"),
                   ARGS(value, list));
}

int parse_model_fields(struct parse *p, const char *fields)
{
    const struct vram_field *f;
    for (size_t k = 0; (f = vram_field_at(k)) != NULL; k++)
        if (text_equal(f->group, text_len(f->group), "model"))
            config_put(&p->v->config, k, f->initial);
    p->v->facts.model = true;
    int rc = handle_imply(p->v, fields);
    return rc ? rc : handle_imply(p->v, "cross_entropy=upcast keep_logits=no evaluation=0");
}

static int apply_family(struct parse *p, const struct entry *type)
{
    for (size_t i = 0; i < FAMILY_ROWS; i++)
        if (span_is(type->value, FAMILIES[i].type))
            return parse_model_fields(p, FAMILIES[i].defaults);
    return unknown_type(p, type);
}

static int no_type(struct parse *p)
{
    return err_set(&p->v->err, MESSAGE_no_model_type, (struct err_pos){p->file, 1, 1}, NO_FIELD,
                   NO_ARGS);
}

// Is this class named after the model_type: GPTBigCodeForCausalLM, of gpt_bigcode?
static bool is_class_of(struct span class, const char *type)
{
    size_t at = 0;
    for (; *type; type++) {
        if (*type == '_' || *type == '-')
            continue;
        if (at == class.len || !text_equal_nocase(class.at + at, 1, (char[]){*type, 0}))
            return false;
        at++;
    }
    struct span rest = span_skip(class, at);
    return span_starts(rest, "For") || span_is(rest, "LMHeadModel") || span_is(rest, "Model");
}

// A file without a model_type, of a class whose name has it, or has it but for "_text".
static int by_class(struct parse *p, const struct entry *class)
{
    for (size_t i = 0; i < FAMILY_ROWS; i++) {
        char type[40];
        size_t n = text_len(FAMILIES[i].type);
        bool inner = n > 5 && text_equal(FAMILIES[i].type + n - 5, 5, "_text");
        n -= inner ? 5 : 0;
        mem_copy(type, FAMILIES[i].type, n);
        type[n] = 0;
        bool causal = span_find(class->value, "ForCausalLM") < class->value.len;
        if (is_class_of(class->value, type) && (!inner || causal))
            return parse_model_fields(p, FAMILIES[i].defaults);
    }
    return no_type(p);
}

// The deepest model_type that is ours: text_config.model_type wins over the outer one.
static int find_family(struct parse *p)
{
    struct entry e, type = {{NULL, 0}, {NULL, 0}, NO_POS, NO_POS}, class = type;
    while (parse_entry(p, &e)) {
        if (span_is(hf_inner(e.key), "model_type") &&
            (type.value.len == 0 || e.key.len != hf_inner(e.key).len))
            type = e;
        if (span_is(e.key, "architectures"))
            class = e;
    }
    parse_rewind(p);
    if (type.value.len)
        return apply_family(p, &type);
    return class.value.len ? by_class(p, &class) : no_type(p);
}

// Formats in which the weights are stored; float16 takes the bytes of bfloat16.
static int on_dtype(struct parse *p, struct span value)
{
    struct vram_config *c = &p->v->config;
    facts_set(&p->v->facts, FACT_checkpoint, value.at, value.len);
    if (span_is(value, "float32"))
        c->dtype = DTYPE_FLOAT32;
    else if (span_is(value, "bfloat16") || span_is(value, "float16"))
        c->dtype = DTYPE_BFLOAT16_PURE;
    if (c->dtype == DTYPE_BFLOAT16_PURE)
        message_list_add(&p->v->notes, MESSAGE_weights_in_two_bytes, ABOUT("dtype"), NO_ARGS);
    return VRAM_OK;
}

static int quantize(struct parse *p, const struct entry *e, const char *as)
{
    struct entry set = *e;
    set.key = span_of("quantization");
    set.value = span_of(as);
    return parse_set_entry(p, &set);
}

// What a quantizer's name and its number of bits are here. SRC: transformers
// utils/quantization_config.py.
static int on_quantizer(struct parse *p, const struct entry *e)
{
    struct vram_config *c = &p->v->config;
    if (span_is(e->value, "gptq"))
        return quantize(p, e, "gptq");
    if (span_is(e->value, "awq"))
        return quantize(p, e, "awq");
    if (span_is(e->value, "fp8"))
        return quantize(p, e, "fp8");
    if (span_is(e->value, "mxfp4") && c->family == FAMILY_GPT_OSS)
        message_list_add(&p->v->notes, MESSAGE_mxfp4_expanded, ABOUT("quantization"), NO_ARGS);
    else if (!span_is(e->value, "bitsandbytes"))
        return err_set(&p->v->err, MESSAGE_not_modelled, e->value_pos, ABOUT("quantization"),
                       ARGS(arg_part("key", e->key.at, e->key.len),
                            arg_part("value", e->value.at, e->value.len)));
    return VRAM_OK;
}

static int on_bits(struct parse *p, const struct entry *e)
{
    struct vram_config *c = &p->v->config;
    if (span_is(e->value, "8") && c->quantization != QUANTIZATION_AWQ)
        return quantize(p, e, "gptq_int8");
    if (!span_is(e->value, "4"))
        return err_set(&p->v->err, MESSAGE_not_modelled, e->value_pos, ABOUT("quantization"),
                       ARGS(arg_part("key", e->key.at, e->key.len),
                            arg_part("value", e->value.at, e->value.len)));
    return VRAM_OK;
}

static int on_quantization(struct parse *p, const struct entry *e)
{
    struct vram_config *c = &p->v->config;
    struct span key = span_skip(e->key, span_find(e->key, ".") + 1);
    if (span_is(key, "quant_method"))
        return on_quantizer(p, e);
    if (span_is(key, "bits") || span_is(key, "w_bit"))
        return on_bits(p, e);
    if (!span_is(e->value, "true"))
        return VRAM_OK;
    if ((span_is(key, "load_in_4bit") || span_is(key, "_load_in_4bit")) &&
        c->quantization == QUANTIZATION_NONE)
        return quantize(p, e, "nf4");
    if (span_is(key, "load_in_8bit") || span_is(key, "_load_in_8bit"))
        return quantize(p, e, "int8");
    return span_is(key, "bnb_4bit_use_double_quant") ? quantize(p, e, "nf4_double") : VRAM_OK;
}

static int unknown_key(struct parse *p, const struct entry *e)
{
    const char *names[KEY_ROWS];
    for (size_t i = 0; i < KEY_ROWS; i++)
        names[i] = KEYS[i].hf;
    const char *near = e->key.len > 5 ? vram_nearest(e->key.at, e->key.len, names, KEY_ROWS) : NULL;
    if (!near || !parse_is_slip(e->key, span_of(near)))
        return VRAM_OK;
    return err_set(&p->v->err, MESSAGE_unknown_key_near, e->key_pos, NO_FIELD,
                   ARGS(arg_part("key", e->key.at, e->key.len), arg_text("near", near)));
}

// "LLLG": local layers and a global one, by letters; else as it is. SRC: transformers
// models/exaone4/configuration_exaone4.py.
static struct span pattern_of(struct span value)
{
    static const char *const lengths[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
    size_t local = 0;
    while (local < value.len && value.at[local] == 'L')
        local++;
    bool letters = local > 0 && local + 1 == value.len && value.at[local] == 'G';
    return letters && value.len < 10 ? span_of(lengths[value.len]) : value;
}

// Of a list of one number for each layer, all the same, that number; else as it is.
static struct span each_of(struct span value)
{
    struct span first = span_trim((struct span){value.at, span_find(value, ",")}), rest = value;
    while (rest.len) {
        size_t comma = span_find(rest, ",");
        struct span one = span_trim((struct span){rest.at, comma});
        if (!span_same(one, first))
            return value;
        rest = span_skip(rest, comma < rest.len ? comma + 1 : rest.len);
    }
    return first;
}

static bool only_here(const struct parse *p, const struct only *row)
{
    return row->family == family_COUNT || row->family == p->v->config.family;
}

static void read_variant(struct parse *p, const struct entry *e)
{
    uint64_t *family = &p->v->config.family;
    for (const struct variant *row = VARIANTS; row->family != family_COUNT; row++)
        if (row->family == *family && span_is(e->key, row->hf) && span_is(e->value, row->value))
            *family = row->other;
}

// The field that a key means for this family alone; e's key is its name then.
static bool find_own_key(const struct parse *p, struct entry *e)
{
    for (const struct own_key *row = OWN_KEYS; row->family != family_COUNT; row++)
        if (row->family == p->v->config.family && span_is(e->key, row->hf)) {
            e->key = span_of(row->field);
            return true;
        }
    return false;
}

static int read_entry(struct parse *p, struct entry e)
{
    e.key = hf_inner(e.key);
    read_variant(p, &e);
    if (span_is(e.key, "sliding_window_pattern"))
        e.value = pattern_of(e.value);
    if (span_in_words("intermediate_size moe_intermediate_size num_experts moe_topk", e.key))
        e.value = each_of(e.value);
    if (span_is(e.value, "null") &&
        (span_is(e.key, "q_lora_rank") || span_is(e.key, "sliding_window")))
        e.value = span_of("0");
    if (span_is(e.value, "null") || span_is(e.key, "model_type"))
        return VRAM_OK;
    if (span_is(e.key, "torch_dtype") || span_is(e.key, "dtype"))
        return on_dtype(p, e.value);
    if (span_is(e.key, "use_cache"))
        facts_set(&p->v->facts, FACT_cached, "no", span_is(e.value, "false") ? 2 : 0);
    if (span_starts(e.key, "quantization_config."))
        return on_quantization(p, &e);
    if (find_own_key(p, &e))
        return parse_set_entry(p, &e);
    for (size_t i = 0; i < sizeof ONLY / sizeof *ONLY; i++)
        if (span_is(e.key, ONLY[i].hf) && only_here(p, &ONLY[i]))
            return span_is(e.value, ONLY[i].value) ? VRAM_OK : hf_not_modelled(p, &e);
    for (size_t i = 0; i < KEY_ROWS; i++)
        if (span_is(e.key, KEYS[i].hf)) {
            e.key = span_of(KEYS[i].field);
            return parse_set_entry(p, &e);
        }
    if (span_find(e.key, ".") < e.key.len || text_has_word(IGNORED, e.key.at, e.key.len))
        return VRAM_OK;
    return unknown_key(p, &e);
}

// A model knows more positions than anybody trains on; one that has no position table need not be
// as long.
void parse_choose_length(struct parse *p)
{
    struct vram_config *c = &p->v->config;
    if (c->family == FAMILY_GPT2 || c->seq_len != 0 || c->block_size <= HF_SEQ)
        return;
    c->seq_len = HF_SEQ;
    message_list_add(&p->v->notes, MESSAGE_length_chosen, ABOUT("seq_len"),
                     ARGS(arg_u64("seq_len", HF_SEQ), arg_u64("positions", c->block_size)));
}

// Parts for images and sound beside the language model, each said once.
static void note_towers(struct parse *p)
{
    static const char *const parts[] = {"vision_config", "audio_config"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct entry e;
        bool found = false;
        parse_rewind(p);
        while (!found && parse_entry(p, &e))
            found = span_starts(e.key, parts[i]) && !span_is(e.value, "null");
        uint64_t weights = found && i == 0 ? tower_weights(p) : 0;
        p->v->config.tower_params += weights;
        if (found)
            parse_warn(p, weights ? MESSAGE_tower_frozen : MESSAGE_tower_outside, e.key_pos,
                       ARGS(arg_text("key", parts[i]), arg_u64("weights", weights)));
    }
}

// A file with a model's type alone is no model's: what transformers takes then is one of many
// sizes.
static int check_sizes(struct parse *p)
{
    static const uint8_t sizes[] = {FIELD_n_embd, FIELD_n_layer, FIELD_n_head, FIELD_n_inner,
                                    FIELD_vocab_size};
    bool old = p->v->config.family == FAMILY_GPT2;
    for (size_t i = 0; i < sizeof sizes; i++)
        if (p->v->places[sizes[i]].line)
            return VRAM_OK;
    return err_set(&p->v->err, MESSAGE_sizes_missing, (struct err_pos){p->file, 1, 1},
                   ABOUT("n_embd"),
                   ARGS(arg_text("keys", old ? "n_embd, n_layer, n_head, vocab_size"
                                             : "hidden_size, num_hidden_layers, "
                                               "num_attention_heads, vocab_size")));
}

// The feed-forward part is four times as wide as the rest where no key says otherwise, or whatever
// a key says.
static bool inner_is_fixed(const struct vram_config *c)
{
    if (c->family == FAMILY_BLOOM || (family_has(c) & HAS_OLD_SCORES))
        return true;
    return c->family == FAMILY_GPT2;
}

int parse_hf(struct parse *p)
{
    struct entry e;
    struct vram_config *c = &p->v->config;
    bool batch_given = c->batch_size != vram_field_find("batch_size")->initial;
    int rc = find_family(p);
    while (rc == VRAM_OK && parse_entry(p, &e))
        if (read_entry(p, e) != VRAM_OK)
            rc = parse_report(p);
    if (rc == VRAM_OK && !err_is_set(&p->first))
        rc = check_sizes(p);
    if (rc != VRAM_OK)
        return rc;
    if (!batch_given)
        c->batch_size = 1;
    if (!p->v->places[FIELD_n_embd].line && !p->v->places[FIELD_n_layer].line)
        message_list_add(&p->v->notes, MESSAGE_sizes_assumed, ABOUT("n_embd"),
                         ARGS(arg_u64("n_layer", c->n_layer), arg_u64("n_embd", c->n_embd)));
    parse_choose_length(p);
    if (!inner_is_fixed(c) && p->v->places[FIELD_n_inner].line == 0)
        message_list_add(&p->v->notes, MESSAGE_inner_assumed, ABOUT("n_inner"),
                         ARGS(arg_u64("n_inner", c->n_inner ? c->n_inner : 4 * c->n_embd)));
    // transformers: a missing num_key_value_heads means as many as heads, a missing head_dim hidden
    // / heads
    if (c->family == FAMILY_GPT_NEOX)
        c->n_kv_head = 0;
    note_towers(p);
    return hf_conclude(p);
}
