// Owns the feed-forward part that is split into experts: router, gathering, the experts, adding up.
//
// Tokens are taken to be spread evenly. Experts whose weights are frozen run one after the other,
// more than MODEL_EXPERT_RUNS of them in as many groups. With trained weights what they do is
// written as one operation over all their rows: the sums of what is saved are right, a temporary of
// one expert appears as large as all of them. SRC: transformers
// src/transformers/models/mixtral/modeling_mixtral.py, MixtralSparseMoeBlock.forward.

#include "calc/trace/layers_experts.h"

#include "calc/trace/layers_llama.h"
#include "calc/trace/linear.h"

// softmax in float32, then the weights of the chosen experts; *chosen gets their numbers.
static struct value experts_route(struct graph *g, struct value x, uint32_t *chosen)
{
    struct value logits = layer_linear(g, x, P_ROUTER, SHAPE_ROUTER);
    struct value share = graph_make(g, OP_SOFTMAX, ROLE_ROUTER, PART_SOFTMAX, DT_F32, SHAPE_ROUTER);
    graph_follow_saving(g, NODE_SOFTMAX, &share, logits, share.storage);
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

// final.index_add_(0, rows, y): in place; the gradient goes to what was added and to the sum
// before.
static void experts_scatter(struct graph *g, struct value *sum, struct value y, uint32_t chosen)
{
    struct value before = *sum;
    if (!graph_needs(g, y))
        return;
    int32_t n = graph_node(g, NODE_INDEX_ADD, sum, 0);
    graph_save(g, n, chosen);
    graph_edge(g, n, y);
    graph_edge(g, n, before);
}

// One expert, or a group of them: its rows of the hidden states, times their share, are added to
// the sum.
static void experts_run(struct graph *g, struct value x, struct value weights, uint32_t chosen,
                        struct value *sum)
{
    struct value rows = experts_gather(g, x, chosen);
    struct value y = experts_gated(g, rows);
    graph_drop(g, rows);
    struct value weighted = layer_mul(g, y, weights, ROLE_EXPERTS, PART_SCALED);
    graph_drop(g, y);
    experts_scatter(g, sum, weighted, chosen);
    graph_drop(g, weighted);
}

struct value layer_experts(struct graph *g, struct value x)
{
    uint32_t chosen;
    struct value weights = experts_route(g, x, &chosen);
    struct value sum = graph_make(g, OP_ZEROS, ROLE_EXPERTS, PART_OUTPUT, x.dtype, SHAPE_U);
    for (uint64_t i = 0; i < model_expert_runs(g->m) && graph_ok(g); i++)
        experts_run(g, x, weights, chosen, &sum);
    graph_drop(g, weights);
    tape_unref(g->t, chosen);
    return sum;
}
