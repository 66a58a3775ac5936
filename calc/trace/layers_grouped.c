// Owns the feed-forward part whose experts are one grouped product: router, sorting by expert, the
// products, the way back. SRC: transformers src/transformers/integrations/moe.py
// (grouped_mm_experts_forward), models/mixtral/modeling_mixtral.py (MixtralTopKRouter),
// models/gpt_oss/modeling_gpt_oss.py (GptOssTopKRouter, GptOssExperts._apply_gate); pytorch
// aten/src/ATen/native/cuda/Indexing.cu (index_put_with_sort_kernel).

#include "calc/trace/layers_grouped.h"

#include "calc/trace/layers.h"
#include "calc/trace/layers_llama.h"
#include "calc/trace/layers_mixer.h"
#include "calc/trace/layers_spread.h"
#include "calc/trace/layers_wrapped.h"
#include "calc/trace/linear.h"

// Gemma 4's experts take parts of it, which the small module does not have.
#ifdef VRAM_SMALL
#define GROUPED_APART static
#else
#define GROUPED_APART
#endif

// What the router hands over, and its variables that live until the experts are done.
struct routing {
    struct value weights, held;
    uint32_t chosen;
};

GROUPED_APART struct value layer_route_topk(struct graph *g, struct value x, uint32_t *chosen)
{
    struct value best = graph_make(g, OP_TOPK, ROLE_ROUTER, PART_OUTPUT, x.dtype, SHAPE_TOPK);
    *chosen = graph_scratch(g, OP_TOPK, ROLE_ROUTER, PART_MASK, DT_I64, SHAPE_TOPK);
    graph_follow_saving(g, NODE_TOPK, &best, x, *chosen);
    return best;
}

// best /= best.sum(): in place, so autograd keeps a copy of what it was. The way to the sum stays
// out. Uses best up.
GROUPED_APART struct value layer_route_normalized(struct graph *g, struct value best)
{
    uint32_t sum = graph_scratch(g, OP_SUM, ROLE_ROUTER, PART_SCRATCH, best.dtype, SHAPE_TOKENS);
    struct value out = best;
    if (graph_needs(g, best)) {
        uint32_t before =
            graph_scratch(g, OP_CLONE, ROLE_ROUTER, PART_COPY, best.dtype, SHAPE_TOPK);
        int32_t n = graph_node(g, NODE_DIV, &out, 0);
        graph_save(g, n, before);
        graph_save(g, n, sum);
        graph_edge(g, n, best);
        tape_unref(g->t, before);
    }
    tape_unref(g->t, sum);
    return out;
}

// Shares of all experts in float32, of which the best are taken; Mixtral leaves them so.
static struct routing route_shares(struct graph *g, struct value x, struct wrapped *w)
{
    struct routing r = {.held = wrapped_router_linear(g, x, w)};
    struct value wide = graph_to(g, r.held, DT_F32, PART_UPCAST);
    struct value share = layer_softmax(g, wide, ROLE_ROUTER);
    graph_drop(g, wide);
    struct value best = layer_route_topk(g, share, &r.chosen);
    if (!(g->m->features & HAS_RAW_SHARES))
        best = layer_route_normalized(g, best);
    graph_drop(g, share);
    r.weights = graph_to(g, best, g->m->c.family == FAMILY_MIXTRAL ? DT_F32 : r.held.dtype,
                         PART_OUTPUT_CAST);
    graph_drop(g, best);
    return r;
}

// Shares among the best alone.
static struct routing route_best(struct graph *g, struct value x, struct wrapped *w)
{
    struct routing r = {.held = wrapped_router_linear(g, x, w)};
    struct value best = layer_route_topk(g, r.held, &r.chosen);
    r.weights = layer_softmax(g, best, ROLE_ROUTER);
    graph_drop(g, best);
    return r;
}

// The same in float32. SRC: transformers models/granitemoe/modeling_granitemoe.py,
// GraniteMoeTopKRouter.forward.
static struct routing route_best_wide(struct graph *g, struct value x, struct wrapped *w)
{
    struct value logits = wrapped_router_linear(g, x, w);
    struct routing r = {.held = graph_to(g, logits, DT_F32, PART_UPCAST)};
    graph_drop(g, logits);
    struct value best = layer_route_topk(g, r.held, &r.chosen),
                 share = layer_softmax(g, best, ROLE_ROUTER);
    r.weights = graph_to(g, share, x.dtype, PART_OUTPUT_CAST);
    graph_drop(g, share);
    graph_drop(g, best);
    return r;
}

static struct value route_widened(struct graph *g, struct value x, struct value *wide)
{
    *wide = graph_to(g, x, DT_F32, PART_UPCAST);
    return g->autocast ? graph_to(g, *wide, g->compute, PART_INPUT_CAST) : graph_copy(g, *wide);
}

// In float32, which autocast takes back: what was in two bytes is copied twice.
static struct value route_wide(struct graph *g, struct value x, struct wrapped *wrapped)
{
    if (g->autocast && x.dtype != g->compute)
        return wrapped_router_linear(g, x, wrapped);
    uint8_t dtype = g->autocast ? g->compute : DT_F32;
    struct value w = wrapped_router_weight(g, wrapped), wide_x, wide_w;
    struct value in = route_widened(g, x, &wide_x), by = route_widened(g, w, &wide_w);
    struct value out = graph_make(g, OP_MM, ROLE_ROUTER, PART_OUTPUT, dtype, SHAPE_ROUTER);
    graph_follow_product(g, NODE_MM, &out, in, by);
    graph_drop(g, wide_x);
    graph_drop(g, wide_w);
    graph_drop(g, in);
    graph_drop(g, by);
    graph_drop(g, w);
    return out;
}

// masked_fill(~mask, 0.0): of the experts outside of the groups that are chosen. Uses share up.
static struct value route_groups(struct graph *g, struct value share)
{
    uint32_t mask = graph_scratch(g, OP_EQ, ROLE_ROUTER, PART_MASK, DT_BYTE, SHAPE_ROUTER);
    struct value out =
        graph_make(g, OP_MASKED_FILL, ROLE_ROUTER, PART_SCALED, share.dtype, SHAPE_ROUTER);
    graph_follow_saving(g, NODE_MASKED_FILL, &out, share, mask);
    tape_unref(g->t, mask);
    graph_drop(g, share);
    return out;
}

// Shares of all experts, of which the best are taken, times a number. SRC: transformers
// models/deepseek_v2/modeling_deepseek_v2.py, DeepseekV2TopkRouter.forward.
static struct routing route_wide_shares(struct graph *g, struct value x, struct wrapped *w)
{
    struct routing r = {.held = route_wide(g, x, w)};
    struct value wide = graph_to(g, r.held, DT_F32, PART_UPCAST);
    struct value share = layer_softmax(g, wide, ROLE_ROUTER);
    graph_drop(g, wide);
    if (g->m->features & HAS_SHARE_GROUPS)
        share = route_groups(g, share);
    struct value best = layer_route_topk(g, share, &r.chosen);
    r.weights = layer_scale(g, best, ROLE_ROUTER);
    graph_drop(g, best);
    graph_drop(g, share);
    return r;
}

// MiniMax-M2's logits are in the weights' format, and no number is on its shares. SRC: transformers
// models/minimax_m2/modeling_minimax_m2.py, MiniMaxM2TopKRouter.forward.
static bool route_is_bare(const struct graph *g)
{
#ifndef VRAM_SMALL
    return g->m->c.family == FAMILY_MINIMAX_M2;
#else
    (void)g;
    return false;
#endif
}

// Each expert's own share; which are chosen goes by groups, in tensors that are gone again.
static struct routing route_sigmoid(struct graph *g, struct value x, struct wrapped *w)
{
    bool bare = route_is_bare(g);
    struct routing r = {.held = bare ? wrapped_router_linear(g, x, w) : route_wide(g, x, w)};
    struct value wide = bare ? graph_to(g, r.held, DT_F32, PART_UPCAST) : r.held;
    struct value share = layer_unary(g, wide, OP_SIGMOID, NODE_SIGMOID, ROLE_ROUTER, PART_OUTPUT,
                                     SHAPE_ROUTER, SAVES_RESULT);
    if (bare)
        graph_drop(g, wide);
    r.chosen = graph_scratch(g, OP_TOPK, ROLE_ROUTER, PART_MASK, DT_I64, SHAPE_TOPK);
    struct value best = graph_make(g, OP_INDEX, ROLE_ROUTER, PART_OUTPUT, share.dtype, SHAPE_TOPK);
    graph_follow_saving(g, NODE_TOPK, &best, share, r.chosen);
    graph_drop(g, share);
    best = layer_route_normalized(g, best);
    if (bare) {
        r.weights = best;
        return r;
    }
    r.weights = layer_scale(g, best, ROLE_ROUTER);
    graph_drop(g, best);
    return r;
}

// Rows of biases, which are by expert.
static struct value grouped_bias(struct graph *g, uint16_t number, uint32_t rows, shape_id shape)
{
    struct value b = graph_param(g, false, number);
    struct value out = layer_rows(g, b, rows, PART_BIAS, shape);
    graph_drop(g, b);
    return out;
}

// No operation of autocast's list: in the input's format. offsets: where each expert's rows end.
static struct value grouped_mm(struct graph *g, struct value x, struct value w, uint32_t offsets,
                               shape_id shape)
{
    struct value out = graph_make(g, OP_GROUPED_MM, w.role, PART_OUTPUT, x.dtype, shape);
    if (graph_needs(g, x) || graph_needs(g, w)) {
        int32_t n = graph_node(g, NODE_GROUPED_MM, &out, 0);
        graph_save(g, n, graph_needs(g, w) ? x.storage : TAPE_NONE);
        graph_save(g, n, graph_needs(g, x) ? w.storage : TAPE_NONE);
        graph_save(g, n, offsets);
        graph_edge(g, n, x);
        graph_edge(g, n, w);
    }
    graph_drop(g, w);
    return out;
}

#ifndef VRAM_SMALL
struct value layer_grouped_mm(struct graph *g, struct value x, uint16_t number, uint32_t offsets,
                              shape_id shape)
{
    return grouped_mm(g, x, graph_param(g, false, number), offsets, shape);
}
#endif

static struct value grouped_clamp(struct graph *g, struct value x, uint8_t sides)
{
    struct value out = graph_make(g, OP_CLAMP, x.role, PART_SCALED, x.dtype, x.shape);
    if (graph_needs(g, x)) {
        int32_t n = graph_node(g, NODE_CLAMP, &out, sides);
        graph_save(g, n, x.storage);
        graph_edge(g, n, x);
    }
    return out;
}

// Gate and up lie between each other: out[..., ::2], out[..., 1::2]. (up + 1) * gate * sigmoid(gate
// * alpha), both limited.
static struct value grouped_limited(struct graph *g, struct value both)
{
    struct value half[2], gate, up, scaled, open, glu, more, out;
    for (unsigned k = 0; k < 2; k++) {
        half[k] = layer_view(g, graph_copy(g, both), NODE_SLICE);
        half[k].shape = SHAPE_ROUTED_FF;
    }
    gate = grouped_clamp(g, half[0], 1);
    graph_drop(g, half[0]);
    up = grouped_clamp(g, half[1], 2);
    graph_drop(g, half[1]);
    scaled = layer_scale(g, gate, ROLE_ACT);
    open = layer_unary(g, scaled, OP_SIGMOID, NODE_SIGMOID, ROLE_ACT, PART_OUTPUT, SHAPE_ROUTED_FF,
                       SAVES_RESULT);
    graph_drop(g, scaled);
    glu = layer_mul(g, gate, open, ROLE_ACT, PART_OUTPUT);
    graph_drop(g, open);
    more =
        layer_unary(g, up, OP_ADD, NODE_PASS, ROLE_UP, PART_SCALED, SHAPE_ROUTED_FF, SAVES_NOTHING);
    out = layer_mul(g, more, glu, ROLE_EXPERTS, PART_INPUT);
    graph_drop(g, more);
    graph_drop(g, glu);
    graph_drop(g, up);
    graph_drop(g, gate);
    return out;
}

// act(gate) * up
static struct value grouped_gated(struct graph *g, struct value both)
{
    struct value half[2];
    layer_split2(g, both, SHAPE_ROUTED_FF, half);
    struct value active = layer_activation(g, half[0], g->m->features & HAS_GELU_GATE);
    struct value out = layer_mul(g, active, half[1], ROLE_EXPERTS, PART_INPUT);
    graph_drop(g, active);
    graph_drop(g, half[0]);
    graph_drop(g, half[1]);
    return out;
}

// What sorting by expert leaves: the experts' numbers in order, the order, the counts and where
// each ends.
enum { SORTED, ORDER, NUMBERS, COUNTS, OFFSETS, GROUPED_TABLES };

// Both products of the sorted rows; *bias stays a variable to the end, where there is one. mask: of
// rows of others' experts, or TAPE_NONE.
static struct value grouped_products(struct graph *g, struct value rows, const uint32_t table[],
                                     uint32_t mask, struct value *bias, struct wrapped_experts *w)
{
    uint32_t sorted = table[SORTED], offsets = table[OFFSETS];
    bool biases = g->m->features & HAS_SINKS;
    if (biases)
        *bias = grouped_bias(g, P_EXPERTS_UP_BIAS, sorted, SHAPE_ROUTED_FF2);
    struct value both =
        grouped_mm(g, rows, wrapped_weight(g, P_EXPERTS_UP, w), offsets, SHAPE_ROUTED_FF2);
    if (biases)
        both = layer_add_into(g, both, *bias);
    both = grouped_masked(g, both, mask);
    struct value product = biases ? grouped_limited(g, both) : grouped_gated(g, both);
    graph_drop(g, both);
    if (biases) {
        struct value next = grouped_bias(g, P_EXPERTS_DOWN_BIAS, sorted, GROUPED_ROWS(g));
        graph_drop(g, *bias);
        *bias = next;
    }
    struct value out =
        grouped_mm(g, product, wrapped_weight(g, P_EXPERTS_DOWN, w), offsets, GROUPED_ROWS(g));
    graph_drop(g, product);
    return grouped_masked(g, biases ? layer_add_into(g, out, *bias) : out, mask);
}

// Rows in their old order again, and the sum over the experts of a token.
static struct value grouped_back(struct graph *g, struct value weighted, struct value *unsorted)
{
    uint32_t order =
        graph_scratch(g, OP_NEW_EMPTY, ROLE_ROUTER, PART_MASK, DT_I64, GROUPED_LIST(g));
    *unsorted = layer_rows(g, weighted, order, PART_OUTPUT, GROUPED_ROWS(g));
    tape_unref(g->t, order);
    graph_drop(g, weighted);
    return layer_rows_sum(g, *unsorted, GROUPED_SUM(g), GROUPED_OUT(g));
}

static void grouped_sort(struct graph *g, uint32_t table[GROUPED_TABLES])
{
    for (unsigned i = SORTED; i <= ORDER; i++)
        table[i] = graph_scratch(g, OP_SORT, ROLE_ROUTER, PART_MASK, DT_I64, GROUPED_LIST(g));
}

static void grouped_count(struct graph *g, uint32_t table[GROUPED_TABLES])
{
    table[NUMBERS] = graph_scratch(g, OP_TO_COPY, ROLE_ROUTER, PART_MASK, DT_F32, GROUPED_LIST(g));
    table[COUNTS] = graph_scratch(g, OP_ZEROS, ROLE_ROUTER, PART_MASK, DT_F32, SHAPE_EXPERTS);
    table[OFFSETS] = graph_scratch(g, OP_SUM, ROLE_ROUTER, PART_MASK, DT_F32, SHAPE_EXPERTS);
}

GROUPED_APART struct value layer_experts_routed(struct graph *g, struct value x,
                                                struct value weights)
{
    uint32_t table[GROUPED_TABLES];
    struct value bias = graph_none(), unsorted;
    struct wrapped_experts wrapped = wrapped_open(g);
    grouped_sort(g, table);
    uint32_t tokens = graph_scratch(g, OP_DIV, ROLE_ROUTER, PART_MASK, DT_I64, GROUPED_LIST(g));
    struct value rows = layer_rows(g, x, tokens, PART_INPUT, GROUPED_ROWS(g));
    tape_unref(g->t, tokens);
    struct value shares = layer_rows(g, weights, table[ORDER], PART_OUTPUT, GROUPED_LIST(g));
    grouped_count(g, table);
    uint32_t mask = spread_mask(g, &rows);
    struct value y = grouped_products(g, rows, table, mask, &bias, &wrapped);
    struct value weighted = layer_mul(g, y, shares, ROLE_EXPERTS, PART_SCALED);
    struct value sum = grouped_back(g, weighted, &unsorted),
                 out = graph_to(g, sum, x.dtype, PART_OUTPUT_CAST);
    for (unsigned i = 0; i < GROUPED_TABLES; i++)
        tape_unref(g->t, table[i]);
    tape_unref(g->t, mask);
    graph_drop(g, unsorted);
    graph_drop(g, sum);
    graph_drop(g, bias);
    graph_drop(g, y);
    graph_drop(g, shares);
    graph_drop(g, rows);
    wrapped_close(g, &wrapped);
    return out;
}

// sigmoid(shared_expert_gate(x)) * y. Uses y up. SRC: transformers
// models/qwen2_moe/modeling_qwen2_moe.py, Qwen2MoeSparseMoeBlock.forward.
static struct value grouped_weighed(struct graph *g, struct value x, struct value y)
{
    struct value logits = layer_linear(g, x, P_SHARED_SHARE, SHAPE_TOKENS);
    struct value share = layer_unary(g, logits, OP_SIGMOID, NODE_SIGMOID, ROLE_ROUTER, PART_OUTPUT,
                                     SHAPE_TOKENS, SAVES_RESULT);
    graph_drop(g, logits);
    struct value out = layer_mul(g, y, share, ROLE_EXPERTS, PART_SCALED);
    graph_drop(g, share);
    graph_drop(g, y);
    return out;
}

#ifndef VRAM_SMALL
// Everything in float32, out of a weight that is. SRC: transformers
// models/{ernie4_5_moe,hunyuan_v1_moe}/modeling_*.py (Ernie4_5_MoeTopKRouter, HunYuanMoEV1Gate).
static struct routing route_in_float(struct graph *g, struct value x, struct wrapped *wrapped)
{
    bool ernie = g->m->c.family == FAMILY_ERNIE_MOE;
    struct value w = ernie ? wrapped_router_weight(g, wrapped) : graph_param(g, false, P_ROUTER),
                 wide = graph_to(g, x, DT_F32, PART_UPCAST);
    struct value share, best;
    struct routing r = {
        .held = ernie ? graph_make(g, OP_MM, ROLE_ROUTER, PART_OUTPUT, DT_F32, SHAPE_ROUTER)
                      : wrapped_router_linear(g, wide, wrapped)};
    if (ernie)
        graph_follow_product(g, NODE_MM, &r.held, wide, w);
    struct value in = graph_to(g, r.held, DT_F32, PART_UPCAST);
    share = layer_softmax(g, in, ROLE_ROUTER);
    graph_drop(g, in);
    if (ernie) {
        r.chosen = graph_scratch(g, OP_TOPK, ROLE_ROUTER, PART_MASK, DT_I64, SHAPE_TOPK);
        struct value some = graph_make(g, OP_INDEX, ROLE_ROUTER, PART_OUTPUT, DT_F32, SHAPE_TOPK);
        graph_follow_saving(g, NODE_TOPK, &some, share, r.chosen);
        graph_drop(g, share);
        share = some;
        struct value sum = layer_unary(g, some, OP_SUM, NODE_SUM, ROLE_ROUTER, PART_SCRATCH,
                                       SHAPE_TOKENS, SAVES_NOTHING);
        best = graph_make(g, OP_DIV, ROLE_ROUTER, PART_SCALED, DT_F32, SHAPE_TOPK);
        graph_follow_product(g, NODE_DIV_BOTH, &best, some, sum);
        graph_drop(g, sum);
    } else {
        best = layer_route_normalized(g, layer_route_topk(g, share, &r.chosen));
    }
    graph_drop(g, share);
    r.weights = graph_to(g, best, ernie ? x.dtype : r.held.dtype, PART_OUTPUT_CAST);
    graph_drop(g, best);
    graph_drop(g, wide);
    graph_drop(g, w);
    return r;
}
#endif

static struct routing route_by(struct graph *g, struct value x, struct wrapped *w)
{
    uint64_t has = g->m->features;
#ifndef VRAM_SMALL
    if (model_routes_wide(g->m))
        return route_in_float(g, x, w);
    if (g->m->c.family == FAMILY_PHIMOE) {
        struct routing r = {.held = wrapped_router_linear(g, x, w)};
        r.weights = mixer_route(g, r.held, &r.chosen);
        return r;
    }
#endif
    if (has & HAS_SINKS)
        return route_best(g, x, w);
    if (has & HAS_BEST_SHARES)
        return route_best_wide(g, x, w);
    if (has & HAS_WIDE_SHARES)
        return route_wide_shares(g, x, w);
    return has & HAS_SIGMOID_ROUTER ? route_sigmoid(g, x, w) : route_shares(g, x, w);
}

static struct routing route(struct graph *g, struct value x)
{
    struct wrapped w = wrapped_router_open(g);
    struct routing r = route_by(g, x, &w);
    wrapped_router_close(g, &w);
    return r;
}

struct value layer_experts_grouped(struct graph *g, struct value x, block_fn *shared)
{
    bool gate = g->m->features & HAS_SHARED_GATE, first = gate || model_routes_wide(g->m);
    struct value beside = shared && first ? shared(g, x) : graph_none();
    struct routing r = route(g, x);
    struct value out = spread_experts(g, x, &r.weights, &r.chosen, layer_experts_routed);
    if (shared) {
        struct value y = gate ? grouped_weighed(g, x, beside) : first ? beside : shared(g, x);
        struct value sum = layer_add(g, out, y, ROLE_EXPERTS);
        graph_drop(g, y);
        graph_drop(g, out);
        out = sum;
    }
    graph_drop(g, r.held);
    graph_drop(g, r.weights);
    tape_unref(g->t, r.chosen);
    return out;
}
