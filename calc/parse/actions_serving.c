// Owns the keys of servers' command lines that mean more than one field.

#include "calc/parse/actions_serving.h"

#include "calc/base/text.h"
#include "calc/model/gguf.h"
#include "calc/parse/model_by_name.h"

static int set(struct parse *p, const struct entry *e, const char *field, struct span value)
{
    return handle_set(p->v, e->value_pos, field, text_len(field), value.at, value.len);
}

// 32768, 32k, 32K: vLLM takes small letters for powers of ten. SRC: vllm engine/arg_utils.py,
// human_readable_int.
int action_tokens(struct parse *p, const char *map, const struct entry *e, struct delegate *as)
{
    struct span digits = e->value;
    char text[TEXT_DIGITS], last = digits.at[digits.len - 1];
    uint64_t n, factor = last == 'k'   ? 1000
                         : last == 'K' ? 1024
                         : last == 'm' ? 1000000
                         : last == 'M' ? 1048576
                                       : 1;
    bool overflow;
    (void)as;
    if (span_is(digits, "auto") || span_is(digits, "-1"))
        return VRAM_OK;
    digits.len -= factor > 1;
    if (factor == 1 || !text_to_u64(digits.at, digits.len, &n, &overflow) || n > UINT32_MAX)
        return set(p, e, map, e->value);
    return set(p, e, map, span_of_number(n * factor, text));
}

// "Llama-3.1-8B-Instruct-Q4_K_M.gguf", "org/Llama-3.1-8B-Instruct-GGUF:Q4_K_M": the model and the
// type that its weights have.
int action_gguf(struct parse *p, const char *map, const struct entry *e, struct delegate *as)
{
    struct entry named = *e;
    struct span name = e->value, type;
    struct vram_config with = p->v->config;
    struct message error;
    (void)map;
    (void)as;
    if (name.len > 5 && span_is(span_skip(name, name.len - 5), ".gguf"))
        name.len -= 5;
    size_t at = name.len;
    while (at > 0 && name.at[at - 1] != '-' && name.at[at - 1] != '.' && name.at[at - 1] != ':')
        at--;
    type = span_skip(name, at);
    message_clear(&error);
    if (at < 2 ||
        config_set(&with, &error, (struct err_pos){0}, "quantization", 12, type.at, type.len) !=
            VRAM_OK ||
        !gguf_is(with.quantization))
        return err_set(&p->v->err, MESSAGE_no_gguf_type, e->value_pos, ABOUT("quantization"),
                       ARGS(arg_part("value", e->value.at, e->value.len)));
    named.value = (struct span){name.at, at - 1};
    if (named.value.len > 5 && span_is(span_skip(named.value, named.value.len - 5), "-GGUF"))
        named.value.len -= 5;
    int rc = set(p, e, "quantization", type);
    return rc ? rc : model_by_name(p, &named);
}

static int unmodelled(struct parse *p, const struct entry *e)
{
    return err_set(
        &p->v->err, MESSAGE_not_modelled, e->value_pos, NO_FIELD,
        ARGS(arg_part("key", e->key.at, e->key.len), arg_part("value", e->value.at, e->value.len)));
}

// The values' cache, which has to be as the keys'.
int action_same_cache(struct parse *p, const char *map, const struct entry *e, struct delegate *as)
{
    struct span keys = span_of("f16");
    (void)as;
    for (size_t i = 0; i < p->pair_count; i++)
        if (text_has_word(map, p->pairs[i].key, text_len(p->pairs[i].key)))
            keys = span_of(p->pairs[i].value);
    return span_same(keys, e->value) ? VRAM_OK : unmodelled(p, e);
}

// Layers on the card: all, or fewer, which take less.
int action_on_gpu(struct parse *p, const char *map, const struct entry *e, struct delegate *as)
{
    uint64_t n;
    bool overflow,
        all = text_has_word("all auto -1", e->value.at, e->value.len) ||
              (text_to_u64(e->value.at, e->value.len, &n, &overflow) && n >= p->v->config.n_layer);
    (void)map;
    (void)as;
    if (!all)
        parse_warn(p, MESSAGE_takes_less, e->value_pos,
                   ARGS(arg_part("key", e->key.at, e->key.len),
                        arg_part("value", e->value.at, e->value.len)));
    return VRAM_OK;
}
