// Owns what of a layer of Llama 4 is its own: norms without weights behind the rotation, experts
// that all get all tokens. SRC: transformers src/transformers/models/llama4/modeling_llama4.py.
#ifndef VRAM_SMALL

#include "calc/trace/block_llama4.h"

#include "calc/trace/layers.h"
#include "calc/trace/layers_llama.h"
#include "calc/trace/layers_rotary.h"
#include "calc/trace/linear.h"

// (q * scales).to(q.dtype), the scales in float32, one a position. Uses x up. SRC:
// Llama4TextAttention.forward, attn_temperature_tuning.
static struct value llama4_tempered(struct graph *g, struct value x)
{
    struct value scales = graph_make(g, OP_ADD, ROLE_Q, PART_SCALED, DT_F32, SHAPE_T);
    struct value product = layer_mul(g, x, scales, x.role, PART_SCALED);
    struct value out = graph_to(g, product, x.dtype, PART_OUTPUT_CAST);
    graph_drop(g, product);
    graph_drop(g, scales);
    graph_drop(g, x);
    return out;
}

static struct value llama4_normed(struct graph *g, struct value x, shape_id stats)
{
    struct value out = layer_l2_norm(g, x, stats);
    graph_drop(g, x);
    return out;
}

void llama4_heads(struct graph *g, struct value *q, struct value *k, bool plain)
{
    if (plain) {
        *q = llama4_tempered(g, *q);
        return;
    }
    layer_rotary_complex(g, q, k);
    if (g->m->c.family == FAMILY_LLAMA4_BARE)
        return;
    *q = llama4_normed(g, *q, SHAPE_Q_STATS);
    *k = llama4_normed(g, *k, SHAPE_KV_STATS);
}

// sigmoid(full_like(logits, -inf).scatter_(1, chosen, best).float()).to(...). SRC: Llama4Router.
static struct value llama4_shares(struct graph *g, struct value logits)
{
    struct value best = graph_make(g, OP_TOPK, ROLE_ROUTER, PART_OUTPUT, logits.dtype, SHAPE_TOPK);
    uint32_t chosen = graph_scratch(g, OP_TOPK, ROLE_ROUTER, PART_MASK, DT_I64, SHAPE_TOPK);
    struct value full =
        graph_make(g, OP_NEW_EMPTY, ROLE_ROUTER, PART_SCALED, logits.dtype, SHAPE_ROUTER);
    if (graph_needs(g, logits)) {
        int32_t n = graph_node(g, NODE_TOPK, &best, 0);
        graph_save(g, n, chosen);
        graph_edge(g, n, logits);
        n = graph_node(g, NODE_GATHER_SHARES, &full, 0);
        graph_save(g, n, chosen);
        graph_edge(g, n, best);
    }
    struct value wide = graph_to(g, full, DT_F32, PART_UPCAST);
    struct value open = layer_unary(g, wide, OP_SIGMOID, NODE_SIGMOID, ROLE_ROUTER, PART_OUTPUT,
                                    SHAPE_ROUTER, SAVES_RESULT);
    graph_drop(g, wide);
    struct value out = graph_to(g, open, logits.dtype, PART_OUTPUT_CAST);
    graph_drop(g, open);
    graph_drop(g, full);
    tape_unref(g->t, chosen);
    graph_drop(g, best);
    return out;
}

// bmm(x, weights of all experts)
static struct value llama4_bmm(struct graph *g, struct value x, uint16_t number, shape_id shape)
{
    struct value w = graph_param(g, false, number);
    struct value by = graph_weight_cast(g, false, number, w);
    struct value in = graph_input_cast(g, x, w.role, PART_INPUT_CAST);
    struct value out = graph_make(g, OP_BMM, w.role, PART_OUTPUT, in.dtype, shape);
    graph_follow_product(g, NODE_EXPERTS_BMM, &out, in, by);
    graph_drop(g, in);
    graph_drop(g, by);
    graph_drop(g, w);
    return out;
}

// SRC: Llama4TextExperts.forward.
static struct value llama4_products(struct graph *g, struct value x)
{
    struct value half[2], both = llama4_bmm(g, x, P_EXPERTS_UP, SHAPE_EVERY_FF2);
    layer_split2(g, both, SHAPE_EVERY_FF, half);
    struct value active = layer_activation(g, half[0], false);
    struct value product = layer_mul(g, half[1], active, ROLE_EXPERTS, PART_INPUT);
    graph_drop(g, active);
    struct value out = llama4_bmm(g, product, P_EXPERTS_DOWN, SHAPE_EVERY_U);
    graph_drop(g, product);
    graph_drop(g, half[0]);
    graph_drop(g, half[1]);
    graph_drop(g, both);
    return out;
}

// x once for each expert, times its shares: which are not chosen count as zeros.
static struct value llama4_routed(struct graph *g, struct value x, struct value shares)
{
    struct value all = layer_repeat(g, x, SHAPE_EVERY_U), turned = layer_copy(g, shares);
    struct value out = layer_mul(g, all, turned, ROLE_EXPERTS, PART_SCALED);
    graph_drop(g, turned);
    graph_drop(g, all);
    return out;
}

// out.add_(routed.sum(dim=0)): the sum is where out was, if it is there. Uses out up.
static struct value llama4_sum(struct graph *g, struct value out, struct value routed)
{
    struct value part =
        layer_unary(g, routed, OP_SUM, NODE_SUM, ROLE_EXPERTS, PART_OUTPUT, SHAPE_U, SAVES_NOTHING);
    if (out.storage == TAPE_NONE)
        return part;
    struct value sum = layer_add_into(g, out, part);
    graph_drop(g, part);
    return sum;
}

// SRC: Llama4TextMoe.forward.
struct value llama4_experts(struct graph *g, struct value x, block_fn *shared)
{
    struct value logits = layer_linear(g, x, P_ROUTER, SHAPE_ROUTER);
    struct value shares = llama4_shares(g, logits), in = llama4_routed(g, x, shares);
    struct value routed = llama4_products(g, in);
    struct value out = llama4_sum(g, shared ? shared(g, x) : graph_none(), routed);
    graph_drop(g, routed);
    graph_drop(g, in);
    graph_drop(g, shares);
    graph_drop(g, logits);
    return out;
}

// Edges: self, mat2.
void node_experts_bmm(struct graph *g, const struct node *n, uint32_t results[])
{
    static const uint8_t parts[2] = {PART_GRAD, PART_WEIGHT_GRAD};
    for (unsigned k = 2; k-- > 0;)
        if (n->edges[k].to != GRAPH_NO_NODE)
            results[k] = graph_scratch(g, OP_BMM, n->edges[k].role, parts[k], n->edges[k].dtype,
                                       n->edges[k].shape);
}

// grad.gather(1, index)
void node_gather_shares(struct graph *g, const struct node *n, uint32_t results[])
{
    if (n->edge_count > 0 && n->edges[0].to != GRAPH_NO_NODE)
        results[0] = graph_scratch(g, OP_INDEX, n->role, PART_GRAD, n->dtype, n->edges[0].shape);
}
#endif
