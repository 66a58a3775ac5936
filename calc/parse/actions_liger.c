// Owns use_liger_kernel and the liger_kernel_config beside it: which of Liger's kernels are on, and
// which loss that makes.

#include "calc/parse/actions_liger.h"

#include "calc/base/text.h"
#include "calc/model/config.h"
#include "calc/parse/lookup.h"

static const char LINEAR[] = "liger_kernel_config.fused_linear_cross_entropy",
                  LOSS[] = "liger_kernel_config.cross_entropy";

static bool says(const struct parse *p, const char *key, bool otherwise)
{
    const struct vram_pair *pair = pair_find(p, key);
    return pair ? value_is_true(span_of(pair->value)) : otherwise;
}

// TRL's own head and loss take the place of Liger's. SRC: trl 1.15 and 1.16 trainer/sft_trainer.py.
static bool has_own_loss(const struct parse *p, const char *whose)
{
    enum { SINCE = 1015 };
    uint64_t version = config_own_version(&p->v->config);
    return span_is(span_of(whose), "trl") && (!version || version >= SINCE);
}

static int refuse(struct parse *p, const struct entry *e)
{
    return err_set(
        &p->v->err, MESSAGE_not_modelled, e->value_pos, NO_FIELD,
        ARGS(arg_part("key", e->key.at, e->key.len), arg_part("value", e->value.at, e->value.len)));
}

static int set(struct parse *p, const struct entry *e, const char *field, const char *word)
{
    return handle_set(p->v, e->value_pos, field, text_len(field), word, text_len(word));
}

// The map says whose loss it is. The model's own kernels are modelled together or not at all. SRC:
// liger_kernel 0.8.5 transformers/monkey_patch.py (apply_liger_kernel_to_llama's defaults);
// transformers integrations/liger.py.
int action_liger(struct parse *p, const char *map, const struct entry *e, struct delegate *as)
{
    bool rope = says(p, "liger_kernel_config.rope", true),
         norm = says(p, "liger_kernel_config.rms_norm", true),
         gate = says(p, "liger_kernel_config.swiglu", true) &&
                says(p, "liger_kernel_config.geglu", true);
    bool own = has_own_loss(p, map), linear = says(p, LINEAR, true), loss = says(p, LOSS, false);
    bool config = span_starts(e->key, "liger_kernel_config.");
    (void)as;
    if (!says(p, "use_liger_kernel", false) && !says(p, "use_liger", false))
        return VRAM_OK;
    if (config && span_is(e->key, LOSS) && loss && linear && !own)
        return err_set(&p->v->err, MESSAGE_run_ends, e->value_pos, NO_FIELD,
                       ARGS(arg_text("key", LOSS), arg_text("value", "true"),
                            arg_text("other", LINEAR), arg_text("with", "true")));
    bool all = rope && norm && gate, none = !rope && !norm && !gate;
    if (!all && !none)
        return config && value_is_false(e->value) && !span_is(e->key, LOSS) &&
                       !span_is(e->key, LINEAR)
                   ? refuse(p, e)
                   : VRAM_OK;
    int rc = set(p, e, "kernels", all ? "liger" : "none");
    const char *as_loss = own || linear ? "chunked" : loss ? "inplace" : "upcast";
    return rc ? rc : set(p, e, "cross_entropy", as_loss);
}
