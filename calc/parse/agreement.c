// Owns the comparison of a DeepSpeed file with the trainer's before it. SRC: transformers
// integrations/deepspeed.py, HfTrainerDeepSpeedConfig.fill_match and trainer_config_finalize.

#include "calc/parse/agreement.h"

#include "calc/base/text.h"
#include "calc/parse/lookup.h"
#include "calc/parse/pairs.h"

enum { MIXED_BFLOAT16 = 2, MIXED_FLOAT16 };  // of facts.def

// What the trainer's file has for the key, as DeepSpeed's would have it.
static uint64_t trainers(const struct vram *v, const char *own)
{
    if (text_equal(own, text_len(own), "bf16"))
        return v->facts.mixed == MIXED_BFLOAT16;
    if (text_equal(own, text_len(own), "fp16"))
        return v->facts.mixed == MIXED_FLOAT16;
    if (text_equal(own, text_len(own), "gradient_accumulation_steps"))
        return v->config.gradient_accumulation_steps;
    return v->facts.micro ? v->facts.micro : v->config.batch_size;
}

// A number or a word for yes or no; false: "auto", or what the table of keys refuses.
static bool read_value(struct span value, uint64_t *out)
{
    uint64_t n = 0;
    *out = value_is_true(value);
    if (value_is_true(value) || value_is_false(value))
        return true;
    for (size_t i = 0; i < value.len; i++) {
        if (value.at[i] < '0' || value.at[i] > '9' || n > 1000000)
            return false;
        n = n * 10 + (uint64_t)(value.at[i] - '0');
    }
    *out = n;
    return value.len > 0;
}

int check_agreement(struct parse *p)
{
    static const struct {
        const char *key, *own;
    } same[] = {{"train_micro_batch_size_per_gpu", "per_device_train_batch_size"},
                {"gradient_accumulation_steps", "gradient_accumulation_steps"},
                {"bf16.enabled", "bf16"},
                {"fp16.enabled", "fp16"}};
    struct entry e;
    int rc = VRAM_OK;
    uint64_t said;
    while (rc == VRAM_OK && p->v->facts.trainer && parse_entry(p, &e))
        for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
            if (!span_is(e.key, same[i].key) || !read_value(e.value, &said) ||
                said == trainers(p->v, same[i].own))
                continue;
            err_set(&p->v->err, MESSAGE_deepspeed_differs, e.value_pos, NO_FIELD,
                    ARGS(arg_part("key", e.key.at, e.key.len),
                         arg_part("value", e.value.at, e.value.len), arg_text("own", same[i].own),
                         arg_u64("trainers", trainers(p->v, same[i].own))));
            rc = parse_report(p);
        }
    parse_rewind(p);
    return rc;
}
