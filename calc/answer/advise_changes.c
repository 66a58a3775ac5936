// The changes of advise.def, each as an edit of a configuration.

#include "calc/answer/advise.h"

#include "calc/answer/emit.h"
#include "calc/base/text.h"

struct change {
    struct vram_config *c;
    struct writer *what; // "key=value key=value"
    struct writer *refusal;
};

static void say(struct change *k, const char *key, uint64_t n)
{
    if (k->what->len)
        writer_char(k->what, ' ');
    int field = config_field(key, text_len(key));
    config_put(k->c, (size_t)field, n);
    writer_f(k->what, "%s=", key);
    config_write(k->what, k->c, (size_t)field);
}

// Divides the micro-batch and multiplies accumulation, so that a step sees the same sequences.
static enum advice_applied micro_batch(struct change *k, uint64_t divide)
{
    if (k->c->batch_size < divide || divide < 2)
        return ADVICE_NOT_HERE;
    uint64_t sequences = k->c->batch_size * k->c->gradient_accumulation_steps;
    uint64_t batch = k->c->batch_size / divide;
    while (sequences % batch)
        batch--;
    say(k, "batch_size", batch);
    if (sequences / batch > 1000000)
        return ADVICE_NOT_HERE;
    say(k, "gradient_accumulation_steps", sequences / batch);
    return ADVICE_APPLIED;
}

static enum advice_applied change_MICRO_BATCH(struct change *k)
{
    return micro_batch(k, 2);
}

static enum advice_applied change_MICRO_BATCH_4(struct change *k)
{
    return k->c->batch_size >= 8 ? micro_batch(k, 4) : ADVICE_NOT_HERE;
}

static enum advice_applied change_MICRO_BATCH_1(struct change *k)
{
    return k->c->batch_size > 3 ? micro_batch(k, k->c->batch_size) : ADVICE_NOT_HERE;
}

static bool whole_logits(const struct vram_config *c)
{
    return c->cross_entropy != CROSS_ENTROPY_CHUNKED && c->cross_entropy != CROSS_ENTROPY_CCE;
}

static enum advice_applied change_CHUNKED(struct change *k)
{
    if (!whole_logits(k->c))
        return ADVICE_NOT_HERE;
    say(k, "cross_entropy", CROSS_ENTROPY_CHUNKED);
    return ADVICE_APPLIED;
}

static enum advice_applied change_CCE(struct change *k)
{
    if (!whole_logits(k->c))
        return ADVICE_NOT_HERE;
    say(k, "cross_entropy", CROSS_ENTROPY_CCE);
    return ADVICE_APPLIED;
}

static enum advice_applied change_COMPILE(struct change *k)
{
    if (k->c->compile == COMPILE_TORCH25 || k->c->family != FAMILY_GPT2 || k->c->lora_rank)
        return ADVICE_NOT_HERE;
    say(k, "compile", COMPILE_TORCH25);
    return ADVICE_APPLIED;
}

static enum advice_applied change_LOSS_ONLY(struct change *k)
{
    if (k->c->compile == COMPILE_NONE || !k->c->compile_logits || !whole_logits(k->c))
        return ADVICE_NOT_HERE;
    say(k, "compile_logits", 0);
    return ADVICE_APPLIED;
}

static enum advice_applied change_DROP_LOGITS(struct change *k)
{
    bool kept = k->c->keep_logits == KEEP_LOGITS_YES ||
                (k->c->keep_logits == KEEP_LOGITS_AUTO && k->c->family == FAMILY_GPT2);
    if (!kept || !whole_logits(k->c))
        return ADVICE_NOT_HERE;
    say(k, "keep_logits", KEEP_LOGITS_NO);
    return ADVICE_APPLIED;
}

static enum advice_applied change_FLASH(struct change *k)
{
    if (k->c->attention != ATTENTION_MATH)
        return ADVICE_NOT_HERE;
    say(k, "attention", ATTENTION_FLASH);
    return ADVICE_APPLIED;
}

static enum advice_applied change_FUSED(struct change *k)
{
    if (k->c->optimizer != OPTIMIZER_ADAMW_FOREACH)
        return ADVICE_NOT_HERE;
    say(k, "optimizer", OPTIMIZER_ADAMW_FUSED);
    return ADVICE_APPLIED;
}

static enum advice_applied change_CHECKPOINT(struct change *k)
{
    if (k->c->checkpointing == CHECKPOINTING_BLOCK || k->c->compile != COMPILE_NONE)
        return ADVICE_NOT_HERE;
    say(k, "checkpointing", CHECKPOINTING_BLOCK);
    return ADVICE_APPLIED;
}

static enum advice_applied change_CHECKPOINT_HALF(struct change *k)
{
    if (k->c->checkpointing != CHECKPOINTING_NONE || k->c->compile != COMPILE_NONE ||
        k->c->n_layer < 2)
        return ADVICE_NOT_HERE;
    say(k, "checkpointing", CHECKPOINTING_EVERY);
    say(k, "checkpoint_every", 2);
    return ADVICE_APPLIED;
}

static enum advice_applied change_EXPANDABLE(struct change *k)
{
    if (k->c->expandable_segments)
        return ADVICE_NOT_HERE;
    say(k, "expandable_segments", 1);
    return ADVICE_APPLIED;
}

static enum advice_applied change_BFLOAT16(struct change *k)
{
    if (k->c->dtype != DTYPE_FLOAT32 || model_lacks_bfloat16(k->c))
        return ADVICE_NOT_HERE;
    say(k, "dtype", DTYPE_BFLOAT16);
    return ADVICE_APPLIED;
}

static enum advice_applied change_FLOAT16(struct change *k)
{
    if (k->c->dtype != DTYPE_FLOAT32 || !model_lacks_bfloat16(k->c))
        return ADVICE_NOT_HERE;
    say(k, "dtype", DTYPE_FLOAT16);
    return ADVICE_APPLIED;
}

static enum advice_applied change_ADAM_8BIT(struct change *k)
{
    if (k->c->optimizer != OPTIMIZER_ADAMW_FUSED && k->c->optimizer != OPTIMIZER_ADAMW_FOREACH)
        return ADVICE_NOT_HERE;
    say(k, "optimizer", OPTIMIZER_ADAMW_8BIT);
    return ADVICE_APPLIED;
}

static enum advice_applied change_BFLOAT16_PURE(struct change *k)
{
    if (k->c->dtype == DTYPE_BFLOAT16_PURE || k->c->lora_rank || k->c->compile != COMPILE_NONE)
        return ADVICE_NOT_HERE;
    say(k, "dtype", DTYPE_BFLOAT16_PURE);
    return ADVICE_APPLIED;
}

static enum advice_applied change_KV_INT8(struct change *k)
{
    if (k->c->kv_dtype == KV_DTYPE_INT8)
        return ADVICE_NOT_HERE;
    say(k, "kv_dtype", KV_DTYPE_INT8);
    return ADVICE_APPLIED;
}

static enum advice_applied weights(struct change *k, uint64_t format)
{
    if (k->c->quantization != QUANTIZATION_NONE)
        return ADVICE_NOT_HERE;
    say(k, "quantization", format);
    return ADVICE_APPLIED;
}

static enum advice_applied change_WEIGHTS_INT8(struct change *k)
{
    return weights(k, QUANTIZATION_INT8);
}

static enum advice_applied change_WEIGHTS_NF4(struct change *k)
{
    return weights(k, QUANTIZATION_NF4);
}

static enum advice_applied change_HALF_BATCH(struct change *k)
{
    if (k->c->batch_size < 2)
        return ADVICE_NOT_HERE;
    say(k, "batch_size", k->c->batch_size / 2);
    return ADVICE_APPLIED;
}

static enum advice_applied change_HALF_PROMPT(struct change *k)
{
    uint64_t seq = k->c->seq_len ? k->c->seq_len : k->c->block_size;
    if (seq < 128)
        return ADVICE_NOT_HERE;
    say(k, "seq_len", seq / 2);
    return ADVICE_APPLIED;
}

static enum advice_applied change_LORA(struct change *k)
{
    if (k->c->lora_rank || k->c->compile != COMPILE_NONE || k->c->family == FAMILY_GPT2)
        return ADVICE_NOT_HERE;
    say(k, "lora_rank", 16);
    return ADVICE_APPLIED;
}

static enum advice_applied change_QLORA(struct change *k)
{
    if (k->c->quantization != QUANTIZATION_NONE || k->c->compile != COMPILE_NONE ||
        k->c->family == FAMILY_GPT2)
        return ADVICE_NOT_HERE;
    if (!k->c->lora_rank)
        say(k, "lora_rank", 16);
    say(k, "quantization", QUANTIZATION_NF4);
    return ADVICE_APPLIED;
}

static enum advice_applied change_BLOCK_SIZE(struct change *k)
{
    uint64_t seq = k->c->seq_len ? k->c->seq_len : k->c->block_size;
    if (seq < 128 || k->c->gradient_accumulation_steps > 500000)
        return ADVICE_NOT_HERE;
    if (k->c->seq_len)
        say(k, "seq_len", seq / 2);
    else
        say(k, "block_size", seq / 2);
    say(k, "gradient_accumulation_steps", k->c->gradient_accumulation_steps * 2);
    return ADVICE_APPLIED;
}

static enum advice_applied change_VOCABULARY(struct change *k)
{
    static const uint64_t sizes[] = {128256, 65536, 50304, 32768, 16384, 8192};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i] * 10 < k->c->vocab_size * 8) {
            say(k, "vocab_size", sizes[i]);
            return ADVICE_APPLIED;
        }
    return ADVICE_NOT_HERE;
}

static enum advice_applied change_LAYERS(struct change *k)
{
    if (k->c->n_layer < 4)
        return ADVICE_NOT_HERE;
    say(k, "n_layer", k->c->n_layer * 3 / 4);
    return ADVICE_APPLIED;
}

// Two thirds of the width, a multiple of 64; only if the heads divide it.
static enum advice_applied change_WIDTH(struct change *k)
{
    uint64_t width = k->c->n_embd * 2 / 3 / 64 * 64;
    if (k->c->family != FAMILY_GPT2 || width < 64)
        return ADVICE_NOT_HERE;
    uint64_t heads = k->c->n_head;
    if (width % heads == 0) {
        say(k, "n_embd", width);
        return ADVICE_APPLIED;
    }
    writer_f(k->what, "n_embd=%u", width);
    writer_f(k->refusal, "%u is not divisible by n_head = %u; with n_head=%u it would be", width,
             heads, width / 64);
    return ADVICE_REFUSED;
}

static const struct row {
    struct advice_change change;
    enum advice_applied (*apply)(struct change *k);
} ROWS[] = {
#define CHANGE(id, task, effect, how, result, basis) \
    {{ADVICE_##effect, ADVICE_##task, how, result, basis}, change_##id},
#include "calc/answer/advise.def"
#undef CHANGE
};

enum { ROW_COUNT = sizeof ROWS / sizeof *ROWS };

static void *no_memory(void *ctx, size_t bytes)
{
    (void)ctx;
    (void)bytes;
    return NULL;
}

struct writer advice_writer(struct vram_mem *mem, char *text, size_t cap)
{
    *mem = (struct vram_mem){no_memory, NULL, NULL};
    text[0] = 0;
    return (struct writer){.mem = mem, .text = text, .cap = cap};
}

enum advice_applied advice_apply(size_t number, struct vram_config *config, struct advice *a)
{
    char what[ADVICE_WHAT], refusal[ADVICE_WHY];
    struct vram_mem mem, mem2;
    struct writer w = advice_writer(&mem, a ? a->what : what, ADVICE_WHAT);
    struct writer r = advice_writer(&mem2, a ? a->refusal : refusal, ADVICE_WHY);
    struct change k = {config, &w, &r};
    return ROWS[number].apply(&k);
}

const struct advice_change *advice_change_at(size_t number)
{
    return number < ROW_COUNT ? &ROWS[number].change : NULL;
}
