// Owns the feed-forward part of the rotary families' layers: gated or not, whole or split into
// experts. SRC: transformers models/llama/modeling_llama.py (LlamaMLP), models/phi3, models/phi,
// models/mixtral (MixtralSparseMoeBlock).

#include "calc/trace/block_mlp.h"

#include "calc/model/experts.h"
#include "calc/trace/block_llama4.h"
#include "calc/trace/layers.h"
#include "calc/trace/layers_experts.h"
#include "calc/trace/layers_fused.h"
#include "calc/trace/layers_grouped.h"
#include "calc/trace/layers_llama.h"
#include "calc/trace/layers_lora_fused.h"
#include "calc/trace/layers_mixer.h"
#include "calc/trace/layers_permuted.h"
#include "calc/trace/layers_xielu.h"
#include "calc/trace/linear.h"
#include "calc/trace/sequence.h"

static bool has(const struct graph *g, uint64_t feature)
{
    return g->m->features & feature;
}

// down(LigerSiLUMulFunction(gate(x), up(x))). Uses gate up.
static struct value mlp_gated_liger(struct graph *g, struct value x, struct value gate)
{
    struct value up = layer_linear(g, x, P_UP, SHAPE_FF);
    struct value product = fused_swiglu(g, gate, up);
    graph_drop(g, gate);
    graph_drop(g, up);
    struct value out = layer_linear(g, product, P_DOWN, SHAPE_U);
    graph_drop(g, product);
    return out;
}

// down(act(gate(x)) * up(x)); up and down have the next numbers.
static struct value mlp_gated_by(struct graph *g, struct value x, uint16_t first, shape_id shape)
{
    struct value gate = layer_linear(g, x, first, shape);
    if (g->m->c.kernels == KERNELS_LIGER)
        return mlp_gated_liger(g, x, gate);
    struct value active = layer_activation(g, gate, has(g, HAS_GELU_GATE));
    graph_drop(g, gate);
    struct value up = layer_linear(g, x, (uint16_t)(first + LAYOUT_LINEAR), shape);
    struct value product = layer_mul(g, active, up, ROLE_MLP_PROJ, PART_INPUT);
    graph_drop(g, active);
    graph_drop(g, up);
    struct value out = layer_linear(g, product, (uint16_t)(first + 2 * LAYOUT_LINEAR), SHAPE_U);
    graph_drop(g, product);
    return out;
}

static struct value mlp_gated(struct graph *g, struct value x)
{
#ifndef VRAM_SMALL
    if (g->m->c.use_double_wide_mlp && model_layer_shares(g->m, graph_layer(g)))
        return mlp_gated_by(g, x, P_WIDE_GATE, SHAPE_FF2);
#endif
    struct value out[LORA_FUSED_OUTPUTS];
    if (lora_fused_has(g, P_GATE)) {
        lora_fused(g, P_GATE, x, out);
        return out[0];
    }
    return mlp_gated_by(g, x, P_GATE, SHAPE_FF);
}

static struct value mlp_shared(struct graph *g, struct value x)
{
#ifndef VRAM_SMALL
    if (sequence_is_gathered(g))
        return layer_shared_divided(g, x);
#endif
    return mlp_gated_by(g, x, P_SHARED_GATE, SHAPE_SHARED);
}

// gate, up = gate_up_proj(x).chunk(2)
static struct value mlp_gated_once(struct graph *g, struct value x)
{
    struct value half[2], both = layer_linear(g, x, P_UP, SHAPE_FF2);
    layer_split2(g, both, SHAPE_FF, half);
    graph_drop(g, both);
    struct value active = layer_activation(g, half[0], has(g, HAS_GELU_GATE));
    struct value product = layer_mul(g, half[1], active, ROLE_MLP_PROJ, PART_INPUT);
    graph_drop(g, active);
    struct value out = layer_linear(g, product, P_DOWN, SHAPE_U);
    graph_drop(g, product);
    graph_drop(g, half[0]);
    graph_drop(g, half[1]);
    return out;
}

static bool mlp_is_xielu(const struct graph *g)
{
#ifndef VRAM_SMALL
    return g->m->c.family == FAMILY_APERTUS;
#else
    (void)g;
    return false;
#endif
}

static struct value mlp_experts(struct graph *g, struct value x)
{
    block_fn *shared = layout_find(&g->layout, true, P_SHARED_GATE) ? mlp_shared : NULL;
    if (MODEL_IS_WHOLE && has(g, HAS_EVERY_TOKEN) && g->m->c.n_expert)
        return llama4_experts(g, x, shared);
#ifndef VRAM_SMALL
    if (model_permutes_experts(g->m))
        return layer_experts_permuted(g, x, shared);
    if (g->m->c.family == FAMILY_PHIMOE && model_groups_experts(g->m)) {
        struct value noisy = mixer_input(g, x), out = layer_experts_grouped(g, noisy, shared);
        graph_drop(g, noisy);
        return out;
    }
#endif
    return model_groups_experts(g->m) ? layer_experts_grouped(g, x, shared) : layer_experts(g, x);
}

struct value block_mlp(struct graph *g, struct value x)
{
    if (has(g, HAS_EXPERTS) && !model_layer_is_dense(g->m, graph_layer(g)))
        return mlp_experts(g, x);
    if (has(g, HAS_FUSED_GATE))
        return mlp_gated_once(g, x);
    if (has(g, HAS_GATE))
        return mlp_gated(g, x);
    struct value wide = layer_linear(g, x, P_UP, SHAPE_FF);
    bool steps = g->m->c.family == FAMILY_PHI && graph_has(g, TRAIT_INNER_MODEL);
    struct value active = mlp_is_xielu(g)            ? layer_xielu(g, wide)
                          : has(g, HAS_SQUARED_RELU) ? layer_squared_relu(g, wide)
                          : steps                    ? layer_gelu_new(g, wide)
                                                     : layer_activation(g, wide, true);
    graph_drop(g, wide);
    struct value out = layer_linear(g, active, P_DOWN, SHAPE_U);
    graph_drop(g, active);
    return out;
}
