// Operations of a training step, for the predicted slowdown of a change.

#include "calc/model/cost.h"

#include "calc/model/precision.h"
#include "calc/model/preference.h"
#include "calc/model/stage.h"
#include "calc/vram.h"

// An assumption for ratios: what well-fed training reaches. SRC: nanoGPT's own mfu lines are at 0.3
// to 0.5
static const double REACHED = 0.4;

void cost_of(struct cost *out, const struct model *m)
{
    const struct vram_config *c = &m->c;
    double tokens = (double)m->tokens, width = (double)c->n_embd, layers = (double)c->n_layer;
    double seq = (double)config_longest(c);
    double head = width * (double)c->vocab_size, rows = head;
    if (c->family == FAMILY_GPT2)
        rows += width * (double)c->block_size;
    if (!c->tie_embeddings)
        rows += head;
    if (preference_scores(c)) {
        rows = head;
        head = width;
    }
    double blocks = (double)m->params - rows;
    if (c->n_expert > c->n_expert_active)
        blocks *= (double)c->n_expert_active / (double)c->n_expert;
    out->micro_steps = (double)c->gradient_accumulation_steps;
    // two operations a weight and token; attention: q k and scores v, two operations each, half of
    // it causal
    out->block_forward = tokens * out->micro_steps * (2 * blocks + 2 * layers * width * seq);
    out->head_forward = tokens * out->micro_steps * 2 * head;
    out->flops = 3 * (out->block_forward + out->head_forward);
    if (checkpointing_is_of_all(c))
        out->flops += out->block_forward;
#ifndef VRAM_SMALL
    if (c->checkpointing == CHECKPOINTING_ATTENTION)
        out->flops -= tokens * out->micro_steps * 2 * layers * width * seq;
#endif
    if (c->checkpointing == CHECKPOINTING_EVERY)
        out->flops += out->block_forward / (double)c->checkpoint_every;
    if (c->checkpointing == CHECKPOINTING_SELECTIVE)
        out->flops += out->block_forward / 2;  // every second product
    if (c->cross_entropy == CROSS_ENTROPY_CCE || c->cross_entropy == CROSS_ENTROPY_TILED)
        out->flops += out->head_forward;
    double bytes = c->dtype == DTYPE_FLOAT32 ? 4 : 2;
    out->weight_bytes = out->micro_steps * (double)m->params * (3 * bytes + 2 * 4);
    if (preference_refers(c)) {  // a forward pass more, of weights of the same size
        out->flops += out->block_forward + out->head_forward;
        out->weight_bytes += out->micro_steps * (double)m->params * bytes;
    }
}

double cost_seconds(const struct cost *c, const struct vram_config *config)
{
    const struct vram_gpu *gpu =
        config->gpu < 0 ? vram_gpu_find("RTX 4070") : vram_gpu_at((size_t)config->gpu);
    bool bfloat16 = config->dtype != DTYPE_FLOAT32 && !precision_is_float16(config);
    double rate = (double)(config->dtype == DTYPE_FLOAT32 ? gpu->fp32_gflops
                           : bfloat16                     ? gpu->bf16_gflops
                                                          : gpu->fp16_gflops);
    if (rate < (double)gpu->fp32_gflops)
        rate = (double)gpu->fp32_gflops;
    return c->flops / (rate * 1e9 * REACHED) +
           c->weight_bytes / ((double)gpu->bandwidth_mb_s * 1e6);
}

#ifndef VRAM_SMALL
// Whole hidden states that a card of a group gathers or reduces and scatters in a layer: two of
// each in the forward pass, the same of their gradients, and both inputs once more for the weights'
// gradients. SRC: nanotron parallel/tensor_parallel/functional.py (_ColumnLinearAsyncCommunication,
// _RowLinearAsyncCommunication).
static const double LAYER_COLLECTIVES = 10;
static const double NVLINK = 450e9;  // B/s each way. SRC: NVIDIA's data sheet of the H100 SXM

double cost_layer_seconds(const struct model *m)
{
    const struct vram_config *c = &m->c;
    double products = (double)stage_layer_products(c),
           scores = (double)config_longest(c) * (double)c->n_embd;
    struct cost layer = {.flops = 6 * (double)m->tokens * (products + scores)};
    double group = (double)c->tensor_parallel,
           whole = 2 * (double)m->tokens * (double)c->n_embd;  // hidden states in 16 bits
    double moved = c->sequence_parallel ? LAYER_COLLECTIVES * whole * (group - 1) / group : 0;
    return cost_seconds(&layer, c) / group + moved / NVLINK;
}
#endif
