// Owns the feed-forward part that is split into experts: router, gathering, the experts, adding up.
//
// Tokens are taken to be spread evenly, and what the experts do one after the other is written as one operation over
// all their rows: the sums of what is saved are right, a temporary of one expert appears as large as all of them.
// SRC: transformers src/transformers/models/mixtral/modeling_mixtral.py, MixtralSparseMoeBlock.forward.

#include "calc/trace/layers_experts.h"

#include "calc/trace/layers_llama.h"
#include "calc/trace/linear.h"

// softmax in float32, then the weights of the chosen experts; *chosen gets their numbers.
static struct value experts_route(struct graph *g, struct value x, uint32_t *chosen)
{
    struct value logits = layer_linear(g, x, P_ROUTER, SHAPE_ROUTER);
    struct value share = graph_make(g, OP_SOFTMAX, ROLE_ROUTER, PART_SOFTMAX, DT_F32, SHAPE_ROUTER);
    if (graph_needs(g, logits)) {
        int32_t n = graph_node(g, NODE_SOFTMAX, &share, 0);
        graph_save(g, n, share.storage);
        graph_edge(g, n, logits);
    }
    graph_drop(g, logits);
    struct value best = graph_make(g, OP_TOPK, ROLE_ROUTER, PART_OUTPUT, DT_F32, SHAPE_TOPK);
    *chosen = graph_scratch(g, OP_TOPK, ROLE_ROUTER, PART_MASK, DT_I64, SHAPE_TOPK);
    if (graph_needs(g, share)) {
        int32_t n = graph_node(g, NODE_TOPK, &best, SHAPE_ROUTER);
        graph_save(g, n, *chosen);
        graph_edge(g, n, share);
    }
    graph_drop(g, share);
    struct value low = graph_to(g, best, x.dtype, PART_OUTPUT_CAST);
    graph_drop(g, best);
    return low;
}

// hidden[rows of the expert], for all experts.
static struct value experts_gather(struct graph *g, struct value x, uint32_t chosen)
{
    struct value out = graph_make(g, OP_INDEX, ROLE_EXPERTS, PART_INPUT, x.dtype, SHAPE_ROUTED_U);
    if (graph_needs(g, x)) {
        int32_t n = graph_node(g, NODE_INDEX, &out, SHAPE_U);
        graph_save(g, n, chosen);
        graph_edge(g, n, x);
    }
    return out;
}

static struct value experts_gated(struct graph *g, struct value x)
{
    struct value gate = layer_linear(g, x, P_GATE, SHAPE_ROUTED_FF);
    struct value active = layer_activation(g, gate, false);
    graph_drop(g, gate);
    struct value up = layer_linear(g, x, P_UP, SHAPE_ROUTED_FF);
    struct value product = layer_mul(g, active, up, ROLE_EXPERTS, PART_INPUT);
    graph_drop(g, active);
    graph_drop(g, up);
    struct value out = layer_linear(g, product, P_DOWN, SHAPE_ROUTED_U);
    graph_drop(g, product);
    return out;
}

// final.index_add_(0, rows, y): into zeros of the residual stream's size.
static struct value experts_scatter(struct graph *g, struct value y, uint32_t chosen)
{
    struct value out = graph_make(g, OP_ZEROS, ROLE_EXPERTS, PART_OUTPUT, y.dtype, SHAPE_U);
    if (graph_needs(g, y)) {
        int32_t n = graph_node(g, NODE_INDEX_ADD, &out, 0);
        graph_save(g, n, chosen);
        graph_edge(g, n, y);
    }
    return out;
}

struct value layer_experts(struct graph *g, struct value x)
{
    uint32_t chosen;
    struct value weights = experts_route(g, x, &chosen);
    struct value rows = experts_gather(g, x, chosen);
    struct value y = experts_gated(g, rows);
    graph_drop(g, rows);
    struct value weighted = layer_mul(g, y, weights, ROLE_EXPERTS, PART_SCALED);
    graph_drop(g, y);
    graph_drop(g, weights);
    struct value out = experts_scatter(g, weighted, chosen);
    graph_drop(g, weighted);
    tape_unref(g->t, chosen);
    return out;
}
