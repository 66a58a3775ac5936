// A Hugging Face config.json, flattened by the caller to `key = value` lines: model_type picks the defaults.

#include "calc/parse/parse.h"

#include "calc/base/text.h"
#include "calc/model/presets.h"

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

enum { FAMILY_ROWS = sizeof FAMILIES / sizeof *FAMILIES, KEY_ROWS = sizeof KEYS / sizeof *KEYS };

static const char IGNORED[] =
#define HF_IGNORE(words) words
#include "calc/parse/hf_keys.def"
#undef HF_IGNORE
    ;

// One `key = value` line; values may be in quotes.
static bool split(struct span line, struct span *key, struct span *value)
{
    size_t eq = span_find(line, "=");
    *key = span_trim((struct span){line.at, eq});
    *value = span_trim(span_skip(line, eq + 1));
    if (value->len > 1 && value->at[0] == '"' && value->at[value->len - 1] == '"')
        *value = (struct span){value->at + 1, value->len - 2};
    return eq < line.len && key->len > 0;
}

// Models that hold a language model inside (Gemma 3) put its keys under text_config.
static struct span inner(struct span key)
{
    return span_starts(key, "text_config.") ? span_skip(key, 12) : key;
}

static int unknown_type(struct parse *p, struct span type)
{
    const char *names[FAMILY_ROWS];
    for (size_t i = 0; i < FAMILY_ROWS; i++)
        names[i] = FAMILIES[i].type;
    const char *near = err_nearest(type.at, type.len, names, FAMILY_ROWS);
    return err_set(&p->v->err, VRAM_EUNSUPPORTED, parse_at(p, type.at),
                   "model_type '%.*s' is not modelled%s%s; known are gpt2, gpt_neox, llama, "
                   "mistral, qwen2, qwen3, gemma, "
                   "gemma2, gemma3_text, mixtral, qwen3_moe",
                   type.len > 60 ? 60 : (int)type.len, type.at, near ? ": the nearest is " : "",
                   near ? near : "");
}

static int apply_family(struct parse *p, struct span type)
{
    for (size_t i = 0; i < FAMILY_ROWS; i++) {
        if (!span_is(type, FAMILIES[i].type))
            continue;
        const struct vram_field *f;
        for (size_t k = 0; (f = vram_field_at(k)) != NULL; k++)
            if (text_equal(f->group, text_len(f->group), "model"))
                config_put(&p->v->config, k, f->initial);
        int rc = preset_fields(p->v, FAMILIES[i].defaults);
        return rc ? rc : preset_fields(p->v, "cross_entropy=upcast keep_logits=no evaluation=0");
    }
    return unknown_type(p, type);
}

// The deepest model_type that is ours: text_config.model_type wins over the outer one.
static int find_family(struct parse *p)
{
    struct span line, key, value, type = {NULL, 0};
    struct parse at = *p;
    while (parse_line(p, &line)) {
        if (!split(span_trim(line), &key, &value) || !span_is(inner(key), "model_type"))
            continue;
        if (type.len == 0 || key.len != inner(key).len) {
            type = value;
            at = *p;
        }
    }
    p->pos = p->line_start = 0;
    p->line = 0;
    if (type.len == 0)
        return err_set(&p->v->err, VRAM_EPARSE, (struct err_pos){p->file, 1, 1},
                       "there is no model_type: is this a model's config.json?");
    return apply_family(&at, type);
}

// Formats in which the weights are stored; float16 takes the bytes of bfloat16.
static int on_dtype(struct parse *p, struct span value)
{
    struct vram_config *c = &p->v->config;
    if (span_is(value, "float32"))
        c->dtype = DTYPE_FLOAT32;
    else if (span_is(value, "bfloat16") || span_is(value, "float16"))
        c->dtype = DTYPE_BFLOAT16_PURE;
    if (c->dtype == DTYPE_BFLOAT16_PURE)
        parse_note(p, "dtype = bfloat16_pure, from torch_dtype: weights, gradients and moments in two bytes; "
                      "dtype=bfloat16 is autocast over float32 weights");
    return VRAM_OK;
}

static int on_quantization(struct parse *p, struct span key, struct span value)
{
    struct vram_config *c = &p->v->config;
    if (!span_is(value, "true"))
        return VRAM_OK;
    if (span_is(key, "quantization_config.load_in_4bit") && c->quantization == QUANTIZATION_NONE)
        c->quantization = QUANTIZATION_NF4;
    if (span_is(key, "quantization_config.load_in_8bit"))
        c->quantization = QUANTIZATION_INT8;
    if (span_is(key, "quantization_config.bnb_4bit_use_double_quant"))
        c->quantization = QUANTIZATION_NF4_DOUBLE;
    return VRAM_OK;
}

// One or two letters wrong in one place: a config.json may hold anything, and only a slip of the finger is an error.
static bool is_slip(struct span a, struct span b)
{
    size_t longer = a.len > b.len ? a.len : b.len, head = 0, tail = 0;
    while (head < a.len && head < b.len && a.at[head] == b.at[head])
        head++;
    while (tail < a.len - head && tail < b.len - head &&
           a.at[a.len - 1 - tail] == b.at[b.len - 1 - tail])
        tail++;
    return head + tail + 2 >= longer;
}

static int unknown_key(struct parse *p, struct span key)
{
    const char *names[KEY_ROWS];
    for (size_t i = 0; i < KEY_ROWS; i++)
        names[i] = KEYS[i].hf;
    const char *near = key.len > 5 ? err_nearest(key.at, key.len, names, KEY_ROWS) : NULL;
    if (!near || !is_slip(key, span_of(near)))
        return VRAM_OK;
    return err_set(&p->v->err, VRAM_EKEY, parse_at(p, key.at),
                   "unknown key '%.*s': did you mean '%s'?", (int)key.len, key.at, near);
}

static int read_pair(struct parse *p, struct span key, struct span value)
{
    key = inner(key);
    if (span_is(value, "null") || span_is(key, "model_type"))
        return VRAM_OK;
    if (span_is(key, "torch_dtype") || span_is(key, "dtype"))
        return on_dtype(p, value);
    if (span_starts(key, "quantization_config."))
        return on_quantization(p, key, value);
    for (size_t i = 0; i < KEY_ROWS; i++)
        if (span_is(key, KEYS[i].hf))
            return parse_set(p, span_of(KEYS[i].field), value);
    if (span_find(key, ".") < key.len || text_has_word(IGNORED, key.at, key.len))
        return VRAM_OK;
    return unknown_key(p, key);
}

// A model knows more positions than anybody trains on; one that has no position table need not be as long.
static void choose_length(struct parse *p, bool length_given)
{
    struct vram_config *c = &p->v->config;
    if (c->family == FAMILY_GPT2 || length_given || c->block_size <= HF_SEQ)
        return;
    c->seq_len = HF_SEQ;
    parse_note(p, "seq_len = %u of the %u positions that the model knows: set seq_len to yours",
               (uint64_t)HF_SEQ, c->block_size);
}

int parse_hf(struct parse *p)
{
    struct span line, key, value;
    struct vram_config *c = &p->v->config;
    bool length_given = c->seq_len != 0,
         batch_given = c->batch_size != vram_field_find("batch_size")->initial;
    int rc = find_family(p);
    while (rc == VRAM_OK && parse_line(p, &line))
        if (split(span_trim(line), &key, &value))
            rc = read_pair(p, key, value);
    if (rc != VRAM_OK)
        return rc;
    if (!batch_given)
        c->batch_size = 1;
    choose_length(p, length_given);
    if (c->family != FAMILY_GPT2 && p->v->places[config_field("n_inner", 7)].line == 0)
        parse_note(p, "n_inner = %u: intermediate_size is not there, this is the default", c->n_inner ? c->n_inner : 4 * c->n_embd);
    // transformers: a missing num_key_value_heads means as many as heads, a missing head_dim hidden / heads
    if (c->family == FAMILY_GPT_NEOX)
        c->n_kv_head = 0;
    return VRAM_OK;
}
