// Owns transformers' words for what FSDP divides, several in one key.

#include "calc/parse/actions_fsdp.h"

#include "calc/base/text.h"
#include "calc/parse/lookup.h"

static bool sharding_word(struct parse *p, struct span word)
{
    static const struct {
        const char *word, *value;
        int fact;
    } words[] = {{"full_shard", "full", FACT_sharding},
                 {"shard_grad_op", "gradients", FACT_sharding},
                 {"no_shard", "none", FACT_sharding},
                 {"hybrid_shard", "hybrid", FACT_sharding},
                 {"hybrid_shard_zero2", "hybrid_gradients", FACT_sharding},
                 {"auto_wrap", "layers", FACT_wrap}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (span_is(word, words[i].word))
            return facts_set(&p->v->facts, words[i].fact, words[i].value, text_len(words[i].value));
    return word.len == 0 || span_is(word, "true") || span_is(word, "false");
}

// transformers' fsdp: words in any order. SRC: transformers trainer_utils.py, FSDPOption.
int action_sharding(struct parse *p, const char *map, const struct entry *e, struct delegate *as)
{
    int rc = VRAM_OK;
    (void)map;
    (void)as;
    for (struct span rest = e->value; rest.len > 0 && rc == VRAM_OK;) {
        size_t comma = span_find(rest, ","), blank = span_find(rest, " ");
        struct span word = {rest.at, comma < blank ? comma : blank};
        rest = span_skip(rest, word.len + 1);
        if (span_is(word, "offload"))
            rc = handle_set(p->v, e->value_pos, "offload_params", 14, "true", 4);
        else if (!sharding_word(p, word))
            rc = err_set(
                &p->v->err, MESSAGE_not_modelled, e->value_pos, NO_FIELD,
                ARGS(arg_part("key", e->key.at, e->key.len), arg_part("value", word.at, word.len)));
    }
    return rc;
}
