// Owns the changes of advise.def that are about the step, as edits of a configuration, and the
// table of all.

#include "calc/answer/advise_changes.h"

#include "calc/base/text.h"
#include "calc/model/framework.h"
#include "calc/model/model.h"
#include "calc/model/preference.h"

// Divides the micro-batch and multiplies accumulation, so that a step sees the same sequences.
static enum advice_applied micro_batch(struct change *k, uint64_t divide)
{
    if (k->c->batch_size < divide || divide < 2)
        return ADVICE_NOT_HERE;
    uint64_t sequences = k->c->batch_size * k->c->gradient_accumulation_steps;
    uint64_t batch = k->c->batch_size / divide;
    while (sequences % batch)
        batch--;
    advise_say(k, FIELD_batch_size, batch);
    if (sequences / batch > 1000000)
        return ADVICE_NOT_HERE;
    advise_say(k, FIELD_gradient_accumulation_steps, sequences / batch);
    return ADVICE_APPLIED;
}

enum advice_applied change_micro_batch(struct change *k)
{
    return micro_batch(k, 2);
}

enum advice_applied change_micro_batch_4(struct change *k)
{
    return k->c->batch_size >= 8 ? micro_batch(k, 4) : ADVICE_NOT_HERE;
}

enum advice_applied change_micro_batch_1(struct change *k)
{
    return k->c->batch_size > 3 ? micro_batch(k, k->c->batch_size) : ADVICE_NOT_HERE;
}

enum advice_applied change_chunked(struct change *k)
{
    if (config_fuses_head(k->c))
        return ADVICE_NOT_HERE;
    advise_say(k, FIELD_cross_entropy, CROSS_ENTROPY_CHUNKED);
    return ADVICE_APPLIED;
}

enum advice_applied change_cce(struct change *k)
{
    if (config_fuses_head(k->c))
        return ADVICE_NOT_HERE;
    advise_say(k, FIELD_cross_entropy, CROSS_ENTROPY_CCE);
    return ADVICE_APPLIED;
}

#ifndef VRAM_SMALL
enum advice_applied change_eval_batch(struct change *k)
{
    if (k->c->eval_batch_size <= k->c->batch_size)
        return ADVICE_NOT_HERE;
    advise_say(k, FIELD_eval_batch_size, k->c->batch_size);
    return ADVICE_APPLIED;
}

enum advice_applied change_precompute_ref(struct change *k)
{
    if (!preference_refers(k->c))
        return ADVICE_NOT_HERE;
    advise_say(k, FIELD_precompute_ref_log_probs, true);
    return ADVICE_APPLIED;
}

enum advice_applied change_eval_moved(struct change *k)
{
    if (k->c->eval_accumulation_steps < 2)
        return ADVICE_NOT_HERE;
    advise_say(k, FIELD_eval_accumulation_steps, 1);
    return ADVICE_APPLIED;
}
#endif

enum advice_applied change_compile(struct change *k)
{
    if (k->c->compile == COMPILE_TORCH25 || k->c->family != FAMILY_GPT2 || k->c->lora_rank ||
        framework_goes(k->c, BY_BLOCKS))
        return ADVICE_NOT_HERE;
    advise_say(k, FIELD_compile, COMPILE_TORCH25);
    return ADVICE_APPLIED;
}

#ifndef VRAM_SMALL
enum advice_applied change_compile_whole(struct change *k)
{
    if (k->c->compile != COMPILE_NONE || !model_compiles_whole(k->c))
        return ADVICE_NOT_HERE;
    advise_say(k, FIELD_compile, COMPILE_TORCH25);
    return ADVICE_APPLIED;
}
#endif

enum advice_applied change_loss_only(struct change *k)
{
    if (k->c->compile == COMPILE_NONE || !k->c->compile_logits || config_fuses_head(k->c))
        return ADVICE_NOT_HERE;
    advise_say(k, FIELD_compile_logits, 0);
    return ADVICE_APPLIED;
}

enum advice_applied change_drop_logits(struct change *k)
{
    bool kept = k->c->keep_logits == KEEP_LOGITS_YES ||
                (k->c->keep_logits == KEEP_LOGITS_AUTO && k->c->family == FAMILY_GPT2);
    if (!kept || config_fuses_head(k->c))
        return ADVICE_NOT_HERE;
    advise_say(k, FIELD_keep_logits, KEEP_LOGITS_NO);
    return ADVICE_APPLIED;
}

enum advice_applied change_flash(struct change *k)
{
    if (k->c->attention != ATTENTION_MATH)
        return ADVICE_NOT_HERE;
    advise_say(k, FIELD_attention, ATTENTION_FLASH);
    return ADVICE_APPLIED;
}

enum advice_applied change_fused(struct change *k)
{
    if (k->c->optimizer != OPTIMIZER_ADAMW_FOREACH)
        return ADVICE_NOT_HERE;
    advise_say(k, FIELD_optimizer, OPTIMIZER_ADAMW_FUSED);
    return ADVICE_APPLIED;
}

enum advice_applied change_checkpoint(struct change *k)
{
    if (k->c->checkpointing == CHECKPOINTING_BLOCK)
        return ADVICE_NOT_HERE;
    advise_say(k, FIELD_checkpointing, CHECKPOINTING_BLOCK);
    return ADVICE_APPLIED;
}

enum advice_applied change_checkpoint_half(struct change *k)
{
    if (k->c->checkpointing != CHECKPOINTING_NONE || k->c->n_layer < 2)
        return ADVICE_NOT_HERE;
    advise_say(k, FIELD_checkpointing, CHECKPOINTING_EVERY);
    advise_say(k, FIELD_checkpoint_every, 2);
    return ADVICE_APPLIED;
}

enum advice_applied change_expandable(struct change *k)
{
    if (k->c->expandable_segments)
        return ADVICE_NOT_HERE;
    advise_say(k, FIELD_expandable_segments, 1);
    return ADVICE_APPLIED;
}

enum advice_applied change_bfloat16(struct change *k)
{
    if (k->c->dtype != DTYPE_FLOAT32 || model_lacks_bfloat16(k->c))
        return ADVICE_NOT_HERE;
    advise_say(k, FIELD_dtype, DTYPE_BFLOAT16);
    return ADVICE_APPLIED;
}

enum advice_applied change_float16(struct change *k)
{
    if (k->c->dtype != DTYPE_FLOAT32 || !model_lacks_bfloat16(k->c))
        return ADVICE_NOT_HERE;
    advise_say(k, FIELD_dtype, DTYPE_FLOAT16);
    return ADVICE_APPLIED;
}

enum advice_applied change_bfloat16_pure(struct change *k)
{
    if (k->c->dtype == DTYPE_BFLOAT16_PURE || k->c->lora_rank || k->c->compile != COMPILE_NONE)
        return ADVICE_NOT_HERE;
    advise_say(k, FIELD_dtype, DTYPE_BFLOAT16_PURE);
    return ADVICE_APPLIED;
}

enum advice_applied change_kv_int8(struct change *k)
{
    if (k->c->kv_dtype == KV_DTYPE_INT8)
        return ADVICE_NOT_HERE;
    advise_say(k, FIELD_kv_dtype, KV_DTYPE_INT8);
    return ADVICE_APPLIED;
}

static enum advice_applied weights(struct change *k, uint64_t format)
{
    if (k->c->quantization != QUANTIZATION_NONE)
        return ADVICE_NOT_HERE;
    advise_say(k, FIELD_quantization, format);
    return ADVICE_APPLIED;
}

enum advice_applied change_weights_int8(struct change *k)
{
    return weights(k, QUANTIZATION_INT8);
}

enum advice_applied change_weights_nf4(struct change *k)
{
    return weights(k, QUANTIZATION_NF4);
}

enum advice_applied change_half_batch(struct change *k)
{
    if (k->c->batch_size < 2)
        return ADVICE_NOT_HERE;
    advise_say(k, FIELD_batch_size, k->c->batch_size / 2);
    return ADVICE_APPLIED;
}

enum advice_applied change_half_prompt(struct change *k)
{
    uint64_t seq = config_longest(k->c);
    if (seq < 128)
        return ADVICE_NOT_HERE;
    advise_say(k, FIELD_seq_len, seq / 2);
    return ADVICE_APPLIED;
}

enum advice_applied change_block_size(struct change *k)
{
    uint64_t seq = config_longest(k->c);
    if (seq < 128 || k->c->gradient_accumulation_steps > 500000)
        return ADVICE_NOT_HERE;
    if (k->c->seq_lens)
        advise_cap(k, seq / 2);
    else if (k->c->seq_len)
        advise_say(k, FIELD_seq_len, seq / 2);
    else
        advise_say(k, FIELD_block_size, seq / 2);
    advise_say(k, FIELD_gradient_accumulation_steps, k->c->gradient_accumulation_steps * 2);
    return ADVICE_APPLIED;
}

// Adapters are on a model that is there already.
static bool is_fixed(const struct vram_config *c)
{
    return c->lora_rank || c->quantization;
}

enum advice_applied change_vocabulary(struct change *k)
{
    static const uint64_t sizes[] = {128256, 65536, 50304, 32768, 16384, 8192};
    for (size_t i = 0; !is_fixed(k->c) && i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i] * 10 < k->c->vocab_size * 8) {
            advise_say(k, FIELD_vocab_size, sizes[i]);
            return ADVICE_APPLIED;
        }
    return ADVICE_NOT_HERE;
}

enum advice_applied change_layers(struct change *k)
{
    if (k->c->n_layer < 4 || is_fixed(k->c))
        return ADVICE_NOT_HERE;
    advise_say(k, FIELD_n_layer, k->c->n_layer * 3 / 4);
    return ADVICE_APPLIED;
}

// Two thirds of the width, a multiple of 64; only if the heads divide it.
enum advice_applied change_width(struct change *k)
{
    uint64_t width = k->c->n_embd * 2 / 3 / 64 * 64;
    if (k->c->family != FAMILY_GPT2 || width < 64)
        return ADVICE_NOT_HERE;
    uint64_t heads = k->c->n_head;
    if (width % heads == 0) {
        advise_say(k, FIELD_n_embd, width);
        return ADVICE_APPLIED;
    }
    advise_say(k, FIELD_n_embd, width);
    message_set(k->refusal, MESSAGE_width_refused, ABOUT("n_embd", "n_head"),
                ARGS(arg_u64("n_embd", width), arg_u64("n_head", heads),
                     arg_u64("near_heads", width / 64)));
    return ADVICE_REFUSED;
}

enum { COST_OPEN = false, COST_PREDICTED = true };

static const struct row {
    const char *id;
    enum vram_effect effect;
    enum advice_task task;
    message_id how, result, basis;
    bool predicted;
    enum advice_applied (*apply)(struct change *k);
} ROWS[] = {
#define CHANGE(id, task, effect, edit, result, cost, basis) \
    {#id, \
     VRAM_EFFECT_##effect, \
     ADVICE_##task, \
     MESSAGE_##edit, \
     MESSAGE_##result, \
     MESSAGE_##basis, \
     COST_##cost, \
     change_##id},
#include "calc/answer/advise.def"
#undef CHANGE
};

enum { ROW_COUNT = sizeof ROWS / sizeof *ROWS };

enum advice_applied advice_apply(size_t number, struct vram_config *config, struct text_line *what,
                                 struct message *refusal)
{
    struct change k = {config, what, refusal};
    *what = (struct text_line){{0}, 0};
    return ROWS[number].apply(&k);
}

bool advice_change_at(size_t number, struct advice_change *out)
{
    if (number >= ROW_COUNT)
        return false;
    const struct row *r = &ROWS[number];
    *out = (struct advice_change){r->id,     r->effect, r->task,     r->how,
                                  r->result, r->basis,  r->predicted};
    return true;
}
