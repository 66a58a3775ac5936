// Owns low-rank adapters: the way around the frozen weight, in the number formats of PEFT.
// SRC: peft src/peft/tuners/lora/layer.py (Linear.forward, Embedding.forward), bnb.py
// (Linear4bit.forward), gptq.py.

#include "calc/trace/layers_lora.h"

#include "calc/trace/adapter.h"
#include "calc/trace/layers.h"
#include "calc/trace/layers_dora.h"
#include "calc/trace/quantized.h"

bool lora_is_adapted(const struct graph *g, bool global, uint16_t weight)
{
    return layout_find(&g->layout, !global, (uint16_t)(weight + LAYOUT_A)) != NULL;
}

static uint8_t lora_dtype(struct graph *g, bool global, uint16_t weight)
{
    struct value a = graph_param(g, global, (uint16_t)(weight + LAYOUT_A));
    graph_drop(g, a);
    return a.dtype;
}

// One adapter for those of query, key and value that have one.
static bool lora_together(const struct graph *g, bool global, uint16_t weight)
{
    return !global && weight == P_QKV && graph_has(g, TRAIT_ADAPTERS_TOGETHER);
}

// zero_pad: zeros(...).index_copy_(-1, index, x), which keeps x for its size. Uses x up.
static struct value lora_pad(struct graph *g, struct value x, shape_id shape)
{
    enum { ALL = 3 };
    if (model_adapted_parts(&g->m->c) == ALL)
        return x;
    struct value out = graph_make(g, OP_ZEROS, x.role, PART_TEMP, x.dtype, shape);
    int32_t n = graph_node(g, NODE_INDEX_COPY, &out, 0);
    graph_save(g, n, x.storage);
    graph_edge(g, n, x);
    graph_drop(g, x);
    return out;
}

// B(A(dropout(x))) * scaling
static struct value lora_path(struct graph *g, struct value x, struct value base, bool global,
                              uint16_t weight)
{
    bool together = lora_together(g, global, weight);
    struct value dropped = adapter_dropout(g, x);
    struct value rank = adapter_half(g, dropped, global, (uint16_t)(weight + LAYOUT_A),
                                     together ? SHAPE_RANK_PARTS : SHAPE_RANK);
    graph_drop(g, dropped);
    struct value wide = adapter_half(g, rank, global, (uint16_t)(weight + LAYOUT_B),
                                     together ? SHAPE_PARTS : base.shape);
    graph_drop(g, rank);
    if (together)
        wide = lora_pad(g, wide, base.shape);
    struct value scaled = adapter_scaling(g, wide, base.role);
    graph_drop(g, wide);
    return scaled;
}

// The path goes to the result's format first; DoRA's by itself does not, their sum does.
static struct value lora_to_bits(struct graph *g, struct value path, struct value result)
{
    struct value fit =
        g->autocast ? graph_copy(g, path) : graph_to(g, path, result.dtype, PART_OUTPUT_CAST);
    graph_drop(g, path);
    struct value sum = layer_add(g, result, fit, result.role);
    graph_drop(g, fit);
    return sum;
}

// Under autocast the sum stays as wide as DoRA's lengths. SRC: peft tuners/lora/bnb.py, up to 0.13
// with the path cast alone.
static struct value dora_over_bits(struct graph *g, struct value x, struct value result,
                                   bool global, uint16_t weight)
{
    struct value path = dora_path(g, x, result, global, weight);
    if (graph_has(g, TRAIT_DORA_AGAIN))
        return lora_to_bits(g, path, result);
    struct value sum = layer_add(g, result, path, result.role);
    graph_drop(g, path);
    struct value fit =
        g->autocast ? graph_copy(g, sum) : graph_to(g, sum, result.dtype, PART_OUTPUT_CAST);
    graph_drop(g, sum);
    return fit;
}

// Over bitsandbytes' four bits: the result is copied first; under autocast x stays as it is. The
// sum is in the result's format without a cast of its own.
static struct value lora_over_bits(struct graph *g, struct value x, struct value base, bool global,
                                   uint16_t weight)
{
    struct value result =
        quantized_copies(g) ? graph_make(g, OP_CLONE, base.role, PART_COPY, base.dtype, base.shape)
                            : graph_copy(g, base);
    if (quantized_copies(g) && graph_needs(g, base))
        graph_edge(g, graph_node(g, NODE_CLONE, &result, 0), base);
    graph_drop(g, base);
    struct value own =
        g->autocast ? graph_copy(g, x) : graph_to(g, x, lora_dtype(g, global, weight), PART_UPCAST);
    struct value sum = MODEL_IS_WHOLE && g->m->c.adapter == ADAPTER_DORA
                           ? dora_over_bits(g, own, result, global, weight)
                           : lora_to_bits(g, lora_path(g, own, result, global, weight), result);
    graph_drop(g, result);
    graph_drop(g, own);
    return sum;
}

static bool lora_is_over_bits(const struct graph *g, bool global, uint16_t weight)
{
#ifndef VRAM_SMALL
    if (global)
        return quantized_is_outside(g, weight);
#endif
    return !global && quantized_by_bitsandbytes(g, weight) &&
           !graph_has(g, TRAIT_ADAPTERS_TOGETHER);
}

// The adapters take x in their own format, which is a variable until the layer returns; the sum
// goes back to the result's.
struct value lora_add(struct graph *g, struct value x, struct value base, bool global,
                      uint16_t weight)
{
    if (lora_is_over_bits(g, global, weight))
        return lora_over_bits(g, x, base, global, weight);
    struct value own = graph_to(g, x, lora_dtype(g, global, weight), PART_UPCAST);
    struct value path = g->m->c.adapter == ADAPTER_DORA ? dora_path(g, own, base, global, weight)
                                                        : lora_path(g, own, base, global, weight);
    struct value sum = layer_add(g, base, path, base.role);
    graph_drop(g, path);
    struct value out = graph_to(g, sum, base.dtype, PART_OUTPUT_CAST);
    graph_drop(g, sum);
    graph_drop(g, base);
    graph_drop(g, own);
    return out;
}

// base + (embedding(ids, A') @ B') * scaling, in the result's format. Uses base up.
struct value lora_embed(struct graph *g, uint32_t ids, struct value base)
{
    if (!lora_is_adapted(g, true, P_WTE))
        return base;
    struct value a = graph_param(g, true, P_WTE + LAYOUT_A);
    struct value rank = graph_make(g, OP_EMBEDDING, a.role, PART_TEMP, a.dtype, SHAPE_RANK);
    graph_follow_saving(g, NODE_EMBEDDING, &rank, a, ids);
    graph_drop(g, a);
    struct value wide = adapter_half(g, rank, true, P_WTE + LAYOUT_B, base.shape);
    struct value scaled = adapter_scaling(g, wide, base.role);
    graph_drop(g, wide);
    struct value sum = layer_add(g, base, scaled, base.role);
    graph_drop(g, scaled);
    graph_drop(g, rank);
    struct value out = graph_to(g, sum, base.dtype, PART_OUTPUT_CAST);
    graph_drop(g, sum);
    graph_drop(g, base);
    return out;
}
