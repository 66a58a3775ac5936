// Owns attention with a sink: one learned score of each head beside the T x T others.
// SRC: transformers src/transformers/models/gpt_oss/modeling_gpt_oss.py (eager_attention_forward).

#include "calc/trace/attention_sinks.h"

#include "calc/trace/attention.h"
#include "calc/trace/attention_eager.h"
#include "calc/trace/layers.h"
#include "calc/trace/layers_llama.h"

// cat(scores, sinks), less its largest of each row. *combined stays a variable of the function.
static struct value sinks_combined(struct graph *g, struct value scores)
{
    struct value w = graph_param(g, false, P_SINKS),
                 sinks = layer_view(g, graph_copy(g, w), NODE_REPEAT);
    struct value all =
        graph_make(g, OP_CAT, ROLE_SCORES, PART_COPY, scores.dtype, SHAPE_SINK_SCORES);
    graph_follow_both(g, NODE_JOIN, &all, scores, sinks);
    graph_drop(g, sinks);
    graph_drop(g, w);
    struct value most = graph_make(g, OP_MAX, ROLE_SCORES, PART_MEAN, all.dtype, SHAPE_LSE);
    uint32_t where = graph_scratch(g, OP_MAX, ROLE_SCORES, PART_MASK, DT_I64, SHAPE_LSE);
    graph_follow_saving(g, NODE_MAX, &most, all, where);
    tape_unref(g->t, where);
    struct value less =
        graph_make(g, OP_SUB, ROLE_SCORES, PART_NORMALIZED, all.dtype, SHAPE_SINK_SCORES);
    if (graph_needs(g, all)) {
        int32_t n = graph_node(g, NODE_SUB, &less, 0);
        graph_edge(g, n, all);
        graph_edge(g, n, most);
    }
    graph_drop(g, most);
    graph_drop(g, all);
    return less;
}

struct value layer_attention_sinks(struct graph *g, struct value q, struct value k, struct value v)
{
    struct value scores = eager_scores(g, q, k, &(struct eager_forms){0}),
                 combined = sinks_combined(g, scores);
    struct value shares = layer_softmax(g, combined, ROLE_SCORES),
                 without = layer_view(g, graph_copy(g, shares), NODE_SLICE);
    without.shape = SHAPE_SCORES;
    struct value low = graph_to(g, without, v.dtype, PART_OUTPUT_CAST);
    graph_drop(g, without);
    graph_drop(g, shares);
    graph_drop(g, scores);
    struct value y = attention_product(g, low, v, ROLE_ATTENTION, SHAPE_Q), out = layer_copy(g, y);
    graph_drop(g, y);
    graph_drop(g, g->shares);
    g->shares = low;
    graph_drop(g, combined);
    return out;
}
