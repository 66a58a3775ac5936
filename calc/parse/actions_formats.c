// Owns the keys that mean number formats and more than one field: float8, four bits.

#include "calc/parse/actions_formats.h"

#include "calc/base/text.h"
#include "calc/parse/lookup.h"

static int set(struct parse *p, const struct entry *e, const char *field, struct span value)
{
    return handle_set(p->v, e->value_pos, field, text_len(field), value.at, value.len);
}

// Linear layers in float8: torchtitan's list of converters or its older switch, torchtune's switch.
// A recipe by name gathers weights as they are. SRC: torchtitan components/quantization/float8.py;
// torchtune training/quantization.py, convert_to_float8_training.
int action_float8(struct parse *p, const char *map, const struct entry *e, struct delegate *as)
{
    static const char *const recipes[] = {"quantize.linear.float8.recipe_name",
                                          "float8.recipe_name", "fp8_recipe_name"};
    static const char *const gathers[] = {"quantize.linear.float8.enable_fsdp_float8_all_gather",
                                          "float8.enable_fsdp_float8_all_gather"};
    (void)map;
    (void)as;
    if (!value_is_true(e->value) && span_find(e->value, "float8") == e->value.len) {
        if (span_find(e->value, "mx") < e->value.len)
            parse_warn(p, MESSAGE_takes_less, e->value_pos,
                       ARGS(arg_part("key", e->key.at, e->key.len),
                            arg_part("value", e->value.at, e->value.len)));
        return VRAM_OK;
    }
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++)
        if (pair_find(p, recipes[i]))
            return set(p, e, "float8", span_of(pair_find(p, recipes[i])->value));
    int rc = set(p, e, "float8", span_of("tensorwise"));
    if (rc == VRAM_OK && span_is(e->key, "enable_fp8_training"))
        rc = set(p, e, "float8_all_gather", span_of("true"));
    for (size_t i = 0; i < sizeof gathers / sizeof *gathers && rc == VRAM_OK; i++)
        if (pair_find(p, gathers[i]))
            rc = set(p, e, "float8_all_gather", span_of(pair_find(p, gathers[i])->value));
    return rc;
}

// axolotl's load_in_4bit: with another adapter than qlora it stood for bitsandbytes' own defaults
// up to 0.12, and stands for nothing since. SRC: axolotl loaders/model.py,
// _set_quantization_config.
int action_bits(struct parse *p, const char *map, const struct entry *e, struct delegate *as)
{
    enum { NO_LONGER = 13 };  // 0.13
    const struct vram_pair *adapter = pair_find(p, "adapter");
    uint64_t version = config_own_version(&p->v->config);
    bool own = adapter && text_equal(adapter->value, text_len(adapter->value), "qlora");
    (void)map;
    (void)as;
    if (!value_is_true(e->value))
        return VRAM_OK;
    if (own || (version && version < NO_LONGER))
        return set(p, e, "quantization", span_of(own ? "nf4_double" : "nf4"));
    parse_warn(p, MESSAGE_bits_unused, e->value_pos, ARGS(arg_part("key", e->key.at, e->key.len)));
    return VRAM_OK;
}

// accelerate's mixed precision counts where the trainer has none of its own. SRC: transformers
// training_args.py, ACCELERATE_MIXED_PRECISION.
int action_launched(struct parse *p, const char *map, const struct entry *e, struct delegate *as)
{
    enum { MIXED_BFLOAT16 = 2 };  // of facts.def
    (void)map;
    if (p->v->facts.mixed < MIXED_BFLOAT16)
        as->format = FORMAT_LAUNCH;
    as->e = *e;
    return VRAM_OK;
}
