// Owns the table of sizes: every shape of shapes.def for the dimensions of one GPU.

#include "calc/model/shape.h"

#include "calc/base/size.h"
#include "calc/model/experts.h"
#include "calc/model/framework.h"
#include "calc/model/scheme.h"
#include "calc/model/unsloth.h"
#include "calc/model/wrapped.h"

// Liger's rule: as many chunks as make each about as large as the hidden states.
// SRC: linkedin/Liger-Kernel src/liger_kernel/ops/fused_linear_cross_entropy.py.
static uint64_t dims_chunk_liger(const struct dims *d)
{
    uint64_t inc = (d->V + d->C - 1) / d->C, rows = (d->N + inc - 1) / inc, chunk = 1;
    while (chunk < rows)
        chunk *= 2;
    return chunk < d->N ? chunk : d->N;
}

// LitGPT cuts 128 tokens: of each sequence where the head does, else of all. SRC: litgpt
// finetune/lora.py (lm_head_chunk_size), utils.py (chunked_cross_entropy). torchtune cuts each
// sequence into a number of chunks. SRC: torchtune modules/transformer.py, chunked_output.
static uint64_t dims_chunk(const struct dims *d, const struct model *m)
{
    enum { LITGPT_CHUNK = 128 };
    uint64_t chunks = config_loss_chunks(&m->c);
    const struct vram_config *c = &m->c;
    uint64_t chunk = c->cross_entropy_chunk;
#ifndef VRAM_SMALL
    if (!chunk && unsloth_patches(c))
        return unsloth_chunk(m, d->N);
#endif
    if (!chunk && c->cross_entropy != CROSS_ENTROPY_CHUNKED_OUTPUT)
        return dims_chunk_liger(d);
    if (!chunk && model_has_trait(m, TRAIT_OUTPUT_IN_FLOAT32))
        chunk = c->lora_rank ? LITGPT_CHUNK * d->B : LITGPT_CHUNK;
    else if (!chunk)
        chunk = d->B * ((d->T + chunks - 1) / chunks);
    return chunk < d->N ? chunk : d->N;
}

#ifndef VRAM_SMALL
// SRC: litgpt lora.py, GPT.forward: self.lm_head(x_i) for each 128 tokens.
static uint64_t dims_heads(const struct dims *d, const struct model *m)
{
    const struct vram_config *c = &m->c;
    bool cut = c->cross_entropy == CROSS_ENTROPY_CHUNKED_OUTPUT && c->lora_rank &&
               model_has_trait(m, TRAIT_OUTPUT_IN_FLOAT32);
    return cut ? (d->N + d->chunk - 1) / d->chunk - 1 : 0;
}
#endif

// A tile of the head in TRL's loss: tokens and words. SRC: trl 1.16 kernels/chunked_logprob.py
// (TOKEN_CHUNK_SIZE), trainer/utils.py (_CHUNKED_LOGPROB_CHUNK_SIZE).
#define DIMS_TILE_ROWS UINT64_C(4096)
#define DIMS_TILE_COLUMNS UINT64_C(32768)

#ifndef VRAM_SMALL
// Rows whose entropy is computed together. SRC: trl 1.0 trainer/utils.py, entropy_from_logits.
#define DIMS_ENTROPY_ROWS UINT64_C(128)
#endif

static uint64_t dims_share(uint64_t n, uint64_t parts)
{
    return n / parts ? n / parts : 1;
}

// How much of a gradient the norm is taken of at once: ZeRO-1 and ZeRO-2 take what is in this GPU's
// part of all weights, ZeRO-3 this number of its share. SRC: DeepSpeed
// runtime/zero/stage_1_and_2.py (set_norm_for_param_grad_in_gpu), runtime/utils.py
// (constant_buffered_norm2).
#define DIMS_NORM UINT64_C(250000000)

#ifndef VRAM_SMALL
// SRC: transformers models/qwen3_5/modeling_qwen3_5.py, torch_chunk_gated_delta_rule (chunk_size).
static void dims_delta(struct dims *d, const struct vram_config *c)
{
    enum { DELTA_CHUNK = 64 };
    d->dk = c->linear_key_head_dim;
    d->dv = c->linear_value_head_dim;
    d->LH = c->linear_num_value_heads;
    d->LK = c->linear_num_key_heads * d->dk;
    d->LV = d->LH * d->dv;
    d->LW = c->linear_conv_kernel_dim;
    d->LT = size_ceil_to(d->T, DELTA_CHUNK);
    d->chunks = d->LT / DELTA_CHUNK;
}
#endif

#ifndef VRAM_SMALL
// Of Gemma 3n and Gemma 4, once the others are there.
static void dims_gemma(struct dims *d, const struct model *m)
{
    const struct vram_config *c = &m->c;
    d->GD = c->global_head_dim;
    d->GKH = model_global_keys(c);
    d->L = c->n_layer;
    d->P = c->hidden_size_per_layer_input;
    d->VP = c->vocab_size_per_layer_input;
    d->GQ = d->H * d->GD;
    d->GK = d->GKH * d->GD;
    d->l = c->laurel_rank;
    if (model_has_streams(m))
        d->E = MODEL_STREAMS;
}
#endif

#ifndef VRAM_SMALL
// Rows of the experts that this GPU has; FSDP2's parts of their weights.
static void dims_permuted(struct dims *d, const struct model *m)
{
    d->EH = d->E / m->c.expert_parallel;
    d->rows = model_permuted_rows(m);
    d->joined = 3;
    d->every[0] = size_mul(d->rows, d->C);
    d->sorted = size_mul(d->N, d->A) / model_sorting_ways(&m->c);
    d->every[1] = size_mul(d->sorted + 1, d->C);
    d->every[2] = d->rows;
    d->expert_share = model_expert_share(m, size_mul3(d->EH, d->C, d->X));
    d->expert_whole = size_mul(d->expert_share, d->expert_parts);  // each as long as the first
}

static void dims_spread(struct dims *d, const struct model *m)
{
    d->rows = model_spread_rows(m);
    d->every[0] = size_mul(d->rows, d->C);
    d->every[1] = size_mul(model_spread_tokens(m), d->C);
    d->every[2] = d->rows;
}

static void dims_experts(struct dims *d, const struct model *m)
{
    if (model_sorting_ways(&m->c) > 1)
        d->X = m->c.expert_inner;
    d->XS = dims_share(d->XS, m->c.tensor_parallel);
    d->EH = model_spreads_experts(m) ? d->E / m->c.expert_parallel : d->E;
    d->ru = wrapped_up_rank(&m->c);
    d->rows = d->sorted = size_mul(d->N, d->A);
    d->joined = 2;
    d->every[0] = size_mul3(d->E, d->N, d->C);
    d->every[1] = size_mul3(d->E, d->N, d->X);
    d->every[2] = 2 * d->every[1];
    d->expert_parts = model_expert_parts(m);
    d->expert_whole = size_mul3(d->EH, d->C, d->X);
    d->router_share = model_router_share(m, size_mul(d->E, d->C));
    d->expert_share = model_expert_share(m, d->expert_whole);
    if (model_permutes_experts(m))
        dims_permuted(d, m);
    if (model_spreads_experts(m))
        dims_spread(d, m);
}

uint64_t dims_share_of(const struct dims *d, unsigned shape, uint64_t elements)
{
    if (shape == SHAPE_W_EXPERTS)
        return d->expert_share;
    if (shape == SHAPE_W_ROUTER)
        return d->router_share;
    bool experts =
        shape == SHAPE_W_EXPERTS2 || shape == SHAPE_EXPERTS_C || shape == SHAPE_EXPERTS_FF2;
    if (experts && d->expert_parts != d->parts)
        return elements / d->EH * ((d->EH + d->expert_parts - 1) / d->expert_parts);
    uint64_t parts = shape == SHAPE_LAYER_EXPERTS ? d->expert_parts : d->parts;
    return (elements + parts - 1) / parts;
}
#endif

#ifndef VRAM_SMALL
// Labels are shifted before they are divided; of a divided row a GPU can have all that count.
// PyTorch's backward of an embedding of more than 3072 tokens adds up rows in float32: ten tokens
// of one word, and the rest of each word's. SRC: pytorch
// aten/src/ATen/native/cuda/EmbeddingBackwardKernel.cu (NROWS_PER_THREAD, grad_weight_per_segment),
// Embedding.cu (embedding_dense_backward_cuda).
static uint64_t dims_word_sums(const struct dims *d)
{
    uint64_t rows = d->N / 10 + (d->N < d->words ? d->N : d->words);
    return d->N > 3072 ? size_mul(rows, d->C) : 0;
}

static void dims_labels(struct dims *d, const struct vram_config *c)
{
    d->scored = d->T - (c->context_parallel == 1);
    bool some = c->label_tokens && c->label_tokens < d->scored;
    d->labels = size_mul(d->B, some ? c->label_tokens : d->scored);
    d->pieces = size_min(config_loss_chunks(c), d->labels ? d->labels : 1);
    d->linear[0] = (d->labels + d->pieces - 1) / d->pieces;
    d->linear[1] = d->labels / d->pieces;
}
#endif

void dims_make(struct dims *d, const struct model *m)
{
    const struct vram_config *c = &m->c;
    uint64_t tp = c->tensor_parallel;
    *d = (struct dims){
        .B = c->batch_size, .T = c->seq_len / c->context_parallel, .C = c->n_embd, .N = m->tokens};
#ifndef VRAM_SMALL
    d->CE = model_embedding_width(m);
    d->words = c->vocab_size;
    d->seen = c->attention_mask == ATTENTION_MASK_PACKED ? d->N : d->T;
    bool cut = c->context_parallel > 1 && framework_goes(c, BY_TRANSFORMERS);
    d->turned = cut ? d->N : d->T;
    dims_labels(d, c);
    dims_delta(d, c);
#endif
    d->S = c->sequence_parallel ? (d->N + tp - 1) / tp : d->N;
    d->V = framework_goes(c, BY_WHOLE_ENDS) ? c->vocab_size : (c->vocab_size + tp - 1) / tp;
    d->H = dims_share(c->n_head, tp);
    d->KH = dims_share(c->n_kv_head, tp);
    d->D = c->head_dim;
    d->Q = d->H * d->D;
    d->K = d->KH * d->D;
    d->R = c->head_dim * c->partial_rotary_factor / 1000000;
    d->KR = d->KH * d->R;
    if (m->features & HAS_LATENT)
        d->R = d->KR = c->qk_rope_head_dim;  // one for all heads
    d->QA = c->q_lora_rank;
    d->KA = c->kv_lora_rank;
    d->W = d->H * c->v_head_dim;
    d->KW = d->H * (c->qk_nope_head_dim + c->v_head_dim);
    d->XS = c->n_shared_experts * c->expert_inner;
    d->F = dims_share(c->n_inner, tp);
    d->X = dims_share(c->expert_inner, tp);
    d->block = model_position_rows(m);
    d->E = c->n_expert;
#ifndef VRAM_SMALL
    dims_gemma(d, m);
#endif
    d->A = c->n_expert_active;
    d->runs = model_expert_runs(m);
#ifndef VRAM_SMALL
    dims_experts(d, m);
#endif
    d->r = c->lora_rank;
    d->tower = c->tower_params;
    d->parts_adapted = model_adapted_parts(c);
    d->width_adapted = dims_share(model_adapted_width(c), tp);
    d->eye = c->adapter == ADAPTER_DORA;
    d->chunk = dims_chunk(d, m);
#ifndef VRAM_SMALL
    d->heads = dims_heads(d, m);
#endif
    d->cp = c->context_parallel;
    d->parts = scheme_parts(c);
    d->sent = scheme_bucket(c);
    d->norm_of_share = c->parallel == PARALLEL_ZERO3;
    d->normed = d->norm_of_share ? DIMS_NORM : (m->trained_params + d->parts - 1) / d->parts;
    d->card = scratch_card_of(c);
    d->cache = c->seq_len + c->max_new_tokens;
}

// Partial sums, and their locks, of a gradient that is summed over rows.
static uint64_t dims_partial(const struct dims *d, uint64_t rows, uint64_t cols)
{
    return scratch_sum(&d->card, rows, cols).bytes;
}

static uint64_t dims_locks(const struct dims *d, uint64_t rows, uint64_t cols)
{
    return scratch_sum(&d->card, rows, cols).locks;
}

int shape_fill(const struct dims *d, uint64_t elements[SHAPE_COUNT])
{
#define SHAPE(id, value) elements[SHAPE_##id] = value;
#include "calc/model/shapes.def"
    for (unsigned i = 0; i < SHAPE_COUNT; i++)
        if (!size_ok(elements[i]) || elements[i] > SIZE_LIMIT / 8)
            return VRAM_EOVERFLOW;
    return VRAM_OK;
}
