// Owns the sizes of a server: weights, cache, work memory.

#include "calc/answer/serve.h"

#include "calc/base/size.h"
#include "calc/model/gguf.h"
#include "calc/model/names.h"
#include "calc/model/quantization.h"

// Of a tensor that every GPU of tensor_parallel has a part of.
static uint64_t part(uint64_t bytes, const struct model *m)
{
    return (bytes + m->c.tensor_parallel - 1) / m->c.tensor_parallel;
}

// SRC: vllm model_executor/layers/quantization: linear layers of the blocks are quantized,
// embedding, output layer and router are not.
static uint64_t stored(const struct model *m, uint64_t quantization, const struct layout_param *p,
                       bool block)
{
    struct quantization_tensor tensors[QUANTIZATION_TENSORS];
    uint64_t width = m->c.dtype == DTYPE_FLOAT32 ? 4 : 2, sum = 0;
    bool quantized =
        quantization && block && p->matrix && p->part == PART_WEIGHT && p->number != P_ROUTER;
    if (!quantized)
        return size_mul(width, size_mul(p->rows, p->cols ? p->cols : 1));
    struct vram_config c = m->c;
    c.quantization = quantization;
    unsigned count = quantization_tensors(&c, false, p->rows, p->cols, tensors);
    for (unsigned i = 0; i < count; i++)
        sum = size_add(sum, tensors[i].bytes);
    return sum;
}

static uint64_t parameter(const struct model *m, uint64_t quantization,
                          const struct layout_param *p, bool block, uint64_t layer)
{
    bool llama = gguf_is(quantization), embedding = !block && p->number == P_WTE;
    if (llama && embedding && !m->c.tie_embeddings)
        return 0;  // stays with the processor
    uint64_t bytes =
        llama ? gguf_bytes(m, quantization, p, block, layer) : stored(m, quantization, p, block);
    return p->matrix ? part(bytes, m) : bytes;
}

static uint64_t ends(const struct model *m, uint64_t quantization, const struct layout_param *p,
                     unsigned count)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < count; i++)
        sum = size_add(sum, parameter(m, quantization, &p[i], false, 0));
    return sum;
}

uint64_t serve_weights(const struct model *m, uint64_t quantization)
{
    struct layout l;
    layout_make(&l, m);
    uint64_t sum = size_add(ends(m, quantization, l.before, l.before_count),
                            ends(m, quantization, l.after, l.after_count));
    for (uint64_t layer = 0; layer < m->c.n_layer; layer++)
        for (unsigned i = 0; i < l.block_count; i++)
            if (layout_here(&l.block[i], m, layer))
                sum = size_add(sum, parameter(m, quantization, &l.block[i], true, layer));
    return sum;
}

// SRC: vllm v1/kv_cache_interface.py (FullAttentionSpec.page_size_bytes; at least one key head a
// GPU); llama.cpp src/llama-kv-cache.cpp, ggml block_q8_0 and block_q4_0.
uint64_t serve_token_bytes(const struct model *m, uint64_t kv_dtype)
{
    uint64_t heads =
        m->c.n_kv_head > m->c.tensor_parallel ? m->c.n_kv_head / m->c.tensor_parallel : 1;
    uint64_t numbers = size_mul(2 * m->c.n_layer, size_mul(heads, m->c.head_dim));
    switch (kv_dtype) {
    case KV_DTYPE_INT8: return numbers;
    case KV_DTYPE_Q8_0: return numbers / 32 * 34;
    case KV_DTYPE_Q4_0: return numbers / 32 * 18;
    default: return size_mul(numbers, m->c.dtype == DTYPE_FLOAT32 ? 4 : 2);
    }
}

// A step of max_num_batched_tokens without a cache, its tensors two bytes a number: the residual
// stream, what gate and up make of it, and their product; or the logits of every sequence with the
// sampler's float32 copy, their sorted values, indices of eight bytes, probabilities, and the copy
// that goes back. SRC: vllm v1/worker/gpu_model_runner.py (profile_run, _dummy_sampler_run),
// model_executor/models/llama.py (LlamaMLP), v1/sample/sampler.py,
// v1/sample/ops/topk_topp_sampler.py (apply_top_k_top_p in PyTorch).
static uint64_t profile(const struct model *m, uint64_t tokens, uint64_t sequences)
{
    uint64_t inner = m->c.n_expert ? m->c.n_expert_active * m->c.expert_inner : m->c.n_inner;
    uint64_t gates = m->features & HAS_GATE ? 2 : 1, width = m->c.n_embd;
    uint64_t layer = size_mul(tokens, 2 * width + part(2 * (gates + 1) * inner, m));
    uint64_t sampler =
        size_add(size_mul(tokens, 2 * width),
                 size_mul(sequences, size_mul(2 + 4 + 4 + 8 + 4 + 4, m->c.vocab_size)));
    return layer > sampler ? layer : sampler;
}

enum { MICRO_BATCH = 512 };  // SRC: llama.cpp common/common.h, n_ubatch

// SRC: llama.cpp src/llama-context.cpp (graph_reserve for n_ubatch tokens): logits and the last
// hidden states in float32.
static uint64_t compute_buffer(const struct model *m)
{
    return size_mul(4 * MICRO_BATCH, m->c.vocab_size + m->c.n_embd);
}

uint64_t serve_work(const struct model *m, bool vllm, uint64_t batched_tokens, uint64_t sequences)
{
    return vllm
               ? profile(m, batched_tokens, sequences < batched_tokens ? sequences : batched_tokens)
               : compute_buffer(m);
}
