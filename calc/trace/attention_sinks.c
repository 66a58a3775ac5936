// Owns attention with a sink: one learned score of each head beside the T x T others, by single
// operations. SRC: transformers src/transformers/models/gpt_oss/modeling_gpt_oss.py
// (eager_attention_forward), masking_utils.py (eager_mask: two masks, of the layers that see all
// and of those with a window).

#include "calc/trace/attention_sinks.h"

#include "calc/trace/layers.h"
#include "calc/trace/layers_llama.h"

void attention_masks_open(struct graph *g)
{
    for (unsigned i = 0; i < 2; i++)
        g->masks[i] = graph_scratch(g, OP_WHERE, ROLE_SCORES, PART_MASK, g->residual, SHAPE_MASKS);
}

static struct value sinks_product(struct graph *g, struct value a, struct value b, uint8_t role,
                                  uint8_t shape)
{
    struct value out = graph_make(g, OP_BMM, role, PART_OUTPUT, a.dtype, shape);
    if (graph_needs(g, a) || graph_needs(g, b)) {
        int32_t n = graph_node(g, NODE_BMM, &out, 0);
        graph_save(g, n, a.storage);
        graph_save(g, n, b.storage);
        graph_edge(g, n, a);
        graph_edge(g, n, b);
    }
    return out;
}

// q k' * scaling + mask
static struct value sinks_scores(struct graph *g, struct value q, struct value k)
{
    struct value qc = graph_input_cast(g, q, ROLE_Q, PART_INPUT_CAST),
                 kc = graph_input_cast(g, k, ROLE_K, PART_INPUT_CAST);
    struct value raw = sinks_product(g, qc, kc, ROLE_SCORES, SHAPE_SCORES);
    graph_drop(g, qc);
    graph_drop(g, kc);
    struct value scaled = layer_scale(g, raw, ROLE_SCORES);
    graph_drop(g, raw);
    struct value out = graph_make(g, OP_ADD, ROLE_SCORES, PART_SELF, g->residual, SHAPE_SCORES);
    if (graph_needs(g, scaled))
        graph_edge(g, graph_node(g, NODE_ADD, &out, 0), scaled);
    graph_drop(g, scaled);
    return out;
}

// cat(scores, sinks), less its largest of each row. *combined stays a variable of the function.
static struct value sinks_combined(struct graph *g, struct value scores)
{
    struct value w = graph_param(g, false, P_SINKS),
                 sinks = layer_view(g, graph_copy(g, w), NODE_REPEAT);
    struct value all =
        graph_make(g, OP_CAT, ROLE_SCORES, PART_COPY, scores.dtype, SHAPE_SINK_SCORES);
    if (graph_needs(g, scores) || graph_needs(g, sinks)) {
        int32_t n = graph_node(g, NODE_JOIN, &all, 0);
        graph_edge(g, n, scores);
        graph_edge(g, n, sinks);
    }
    graph_drop(g, sinks);
    graph_drop(g, w);
    struct value most = graph_make(g, OP_MAX, ROLE_SCORES, PART_MEAN, all.dtype, SHAPE_LSE);
    uint32_t where = graph_scratch(g, OP_MAX, ROLE_SCORES, PART_MASK, DT_I64, SHAPE_LSE);
    if (graph_needs(g, all)) {
        int32_t n = graph_node(g, NODE_MAX, &most, 0);
        graph_save(g, n, where);
        graph_edge(g, n, all);
    }
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

static struct value sinks_softmax(struct graph *g, struct value x)
{
    struct value out = graph_make(g, OP_SOFTMAX, ROLE_SCORES, PART_SOFTMAX, x.dtype, x.shape);
    if (graph_needs(g, x)) {
        int32_t n = graph_node(g, NODE_SOFTMAX, &out, 0);
        graph_save(g, n, out.storage);
        graph_edge(g, n, x);
    }
    return out;
}

struct value layer_attention_sinks(struct graph *g, struct value q, struct value k, struct value v)
{
    struct value scores = sinks_scores(g, q, k), combined = sinks_combined(g, scores);
    struct value shares = sinks_softmax(g, combined),
                 without = layer_view(g, graph_copy(g, shares), NODE_SLICE);
    without.shape = SHAPE_SCORES;
    struct value low = graph_to(g, without, v.dtype, PART_OUTPUT_CAST);
    graph_drop(g, without);
    graph_drop(g, shares);
    graph_drop(g, scores);
    struct value y = sinks_product(g, low, v, ROLE_ATTENTION, SHAPE_Q), out = layer_copy(g, y);
    graph_drop(g, y);
    graph_drop(g, g->shares);
    g->shares = low;
    graph_drop(g, combined);
    return out;
}
