// Owns the comparison of a DeepSpeed file with the trainer's before it, and what "auto" is in one.
// SRC: transformers integrations/deepspeed.py, HfTrainerDeepSpeedConfig.trainer_config_process and
// fill_match.

#include "calc/parse/agreement.h"

#include "calc/base/text.h"
#include "calc/parse/lookup.h"
#include "calc/parse/pairs.h"

enum { MIXED_NONE = 1, MIXED_BFLOAT16, MIXED_FLOAT16 };  // of facts.def

// What both files say: DeepSpeed's key, the trainer's name for it.
enum agreement { MICRO, ACCUMULATION, BATCH, CLIPPING, BF16, FP16, AGREEMENTS };

static const struct {
    const char *key, *own;
} SAME[AGREEMENTS] = {
    [MICRO] = {"train_micro_batch_size_per_gpu", "per_device_train_batch_size"},
    [ACCUMULATION] = {"gradient_accumulation_steps", "gradient_accumulation_steps"},
    [BATCH] = {"train_batch_size",
               "n_gpu x per_device_train_batch_size x gradient_accumulation_steps"},
    [CLIPPING] = {"gradient_clipping", "max_grad_norm"},
    [BF16] = {"bf16.enabled", "bf16"},
    [FP16] = {"fp16.enabled", "fp16"},
};

static uint64_t micro(const struct vram *v)
{
    return v->facts.micro ? v->facts.micro : v->config.batch_size;
}

// What the trainer's file has for the key, as DeepSpeed's would have it.
static uint64_t trainers(const struct vram *v, enum agreement which)
{
    const struct vram_config *c = &v->config;
    switch (which) {
    case BF16: return v->facts.mixed == MIXED_BFLOAT16;
    case FP16: return v->facts.mixed == MIXED_FLOAT16;
    case ACCUMULATION: return c->gradient_accumulation_steps;
    case CLIPPING: return c->grad_clip;
    case BATCH: return c->n_gpu * micro(v) * c->gradient_accumulation_steps;
    default: return micro(v);
    }
}

// A number or a word for yes or no; false: "auto", or what the table of keys refuses.
static bool read_value(struct span value, enum agreement which, uint64_t *out)
{
    bool overflow = false, whole = which != CLIPPING;
    *out = value_is_true(value);
    if (value_is_true(value) || value_is_false(value))
        return true;
    if (!text_to_millionths(value.at, value.len, out, &overflow) || overflow ||
        (whole && *out % 1000000))
        return false;
    *out /= whole ? 1000000 : 1;
    return true;
}

// A step's sequences are the product that the trainer calculates, by the number of GPUs that it is
// started on. Where nothing says that number, this does.
static bool take_gpus(struct vram *v, uint64_t said)
{
    uint64_t one = micro(v) * v->config.gradient_accumulation_steps;
    bool known = v->places[FIELD_n_gpu].line || v->facts.processes || v->config.n_gpu > 1;
    if (known || said % one || said / one < 1 || said / one > vram_field_at(FIELD_n_gpu)->max)
        return false;
    v->config.n_gpu = said / one;
    return true;
}

// The trainer's value as its file would have it.
static void write_trainers(const struct vram *v, enum agreement which, struct text_line *line)
{
    char digits[TEXT_DIGITS + 1];
    uint64_t n = trainers(v, which);
    *line = (struct text_line){{0}, 0};
    if (which == CLIPPING) {
        config_append_value(line, &v->config, FIELD_grad_clip);
        return;
    }
    digits[TEXT_DIGITS] = 0;
    text_append(line, text_digits(digits + TEXT_DIGITS, n));
}

static int differs(struct parse *p, const struct entry *e, enum agreement which)
{
    struct text_line own;
    write_trainers(p->v, which, &own);
    err_set(&p->v->err, MESSAGE_deepspeed_differs, e->value_pos, NO_FIELD,
            ARGS(arg_part("key", e->key.at, e->key.len),
                 arg_part("value", e->value.at, e->value.len), arg_text("own", SAME[which].own),
                 arg_text("trainers", own.text)));
    return parse_report(p);
}

static int check_entry(struct parse *p, const struct entry *e)
{
    uint64_t said;
    for (int i = 0; i < AGREEMENTS; i++)
        if (span_is(e->key, SAME[i].key) && read_value(e->value, (enum agreement)i, &said) &&
            said != trainers(p->v, (enum agreement)i) && !(i == BATCH && take_gpus(p->v, said)))
            return differs(p, e, (enum agreement)i);
    return VRAM_OK;
}

int check_agreement(struct parse *p)
{
    struct entry e;
    int rc = VRAM_OK;
    while (rc == VRAM_OK && p->v->facts.trainer && parse_entry(p, &e))
        rc = check_entry(p, &e);
    parse_rewind(p);
    return rc;
}

// ---- "auto" ----------------------------------------------------------------------------------

#ifdef __wasm__
bool auto_is_said(struct parse *p, const char *target)
{
    (void)target;
    return p->v->facts.trainer != 0;  // the page has no words beside a file
}

int auto_alone(struct parse *p, const char *target, const struct entry *e)
{
    (void)target;
    return err_set(&p->v->err, MESSAGE_auto_alone, e->value_pos, NO_FIELD,
                   ARGS(arg_part("key", e->key.at, e->key.len)));
}
#else
// The field that says what the trainer's file would have said.
static int field_of_target(const char *target)
{
    size_t n = text_len(target);
    return text_equal(target, n, "@mixed")        ? FIELD_dtype
           : text_equal(target, n, "@zero_stage") ? FIELD_parallel
                                                  : config_field(target, n);
}

// Fields that words have set say it as well.
bool auto_is_said(struct parse *p, const char *target)
{
    int field = field_of_target(target);
    if (p->v->facts.trainer)
        return true;
    if (field < 0 || !p->v->places[field].line)
        return false;
    struct span format = span_of(vram_field_at(FIELD_dtype)->values[p->v->config.dtype]);
    if (field == FIELD_dtype)
        p->v->facts.mixed = span_starts(format, "bfloat16")  ? MIXED_BFLOAT16
                            : span_starts(format, "float16") ? MIXED_FLOAT16
                                                             : MIXED_NONE;
    return true;
}

int auto_alone(struct parse *p, const char *target, const struct entry *e)
{
    int field = field_of_target(target);
    const char *value = field == FIELD_dtype      ? "bfloat16_deepspeed"
                        : field == FIELD_parallel ? "zero3"
                                                  : "1";
    return err_set(&p->v->err, MESSAGE_auto_unsaid, e->value_pos, NO_FIELD,
                   ARGS(arg_part("key", e->key.at, e->key.len),
                        arg_text("word", vram_field_at((size_t)field)->key),
                        arg_text("value", value)));
}
#endif
