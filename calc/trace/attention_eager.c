// Owns attention by single operations, with the T x T scores as tensors: what transformers does
// where no kernel knows a family's scores. SRC: transformers
// src/transformers/models/gemma2/modeling_gemma2.py (eager_attention_forward; _supports_sdpa is
// False), masking_utils.py (eager_mask: two masks, of the layers that see all and of those with a
// window).

#include "calc/trace/attention_eager.h"

#include "calc/trace/attention.h"
#include "calc/trace/layers.h"
#include "calc/trace/layers_llama.h"

void attention_masks_open(struct graph *g)
{
    for (unsigned i = 0; i < 2; i++)
        g->masks[i] = graph_scratch(g, OP_WHERE, ROLE_SCORES, PART_MASK, g->residual, SHAPE_MASKS);
}

struct value eager_scores(struct graph *g, struct value q, struct value k)
{
    struct value qc = graph_input_cast(g, q, ROLE_Q, PART_INPUT_CAST),
                 kc = graph_input_cast(g, k, ROLE_K, PART_INPUT_CAST);
    struct value raw = attention_product(g, qc, kc, ROLE_SCORES, SHAPE_SCORES);
    graph_drop(g, qc);
    graph_drop(g, kc);
    struct value scaled = layer_scale(g, raw, ROLE_SCORES);
    graph_drop(g, raw);
    if (g->m->features & HAS_SOFT_CAP)
        scaled = layer_soft_cap(g, scaled);
    struct value out = graph_make(g, OP_ADD, ROLE_SCORES, PART_SELF, g->residual, SHAPE_SCORES);
    graph_follow(g, NODE_ADD, &out, scaled);
    graph_drop(g, scaled);
    return out;
}

// matmul of a view by head of (batch, sequence, heads * width): a copy, and the gradient's is one,
// too. Or of what is contiguous.
static struct value eager_operand(struct graph *g, struct value x, uint8_t role, bool view)
{
    if (!view)
        return graph_input_cast(g, x, role, PART_INPUT_CAST);
    struct value by_head = layer_view(g, graph_copy(g, x), NODE_VIEW), out = layer_copy(g, by_head);
    graph_drop(g, by_head);
    return out;
}

static struct value eager_scores_of_views(struct graph *g, struct value q, struct value k)
{
    struct value by_head[2] = {eager_operand(g, q, ROLE_Q, true),
                               eager_operand(g, k, ROLE_K, true)};
    struct value out = eager_scores(g, by_head[0], by_head[1]);
    graph_drop(g, by_head[0]);
    graph_drop(g, by_head[1]);
    return out;
}

// softmax(scores, dtype=float32).to(query.dtype) @ v
static struct value eager_attend(struct graph *g, struct value q, struct value k, struct value v,
                                 bool views)
{
    struct value scores = views ? eager_scores_of_views(g, q, k) : eager_scores(g, q, k);
    struct value wide = graph_to(g, scores, DT_F32, PART_UPCAST);
    struct value sure = layer_softmax(g, wide, ROLE_SCORES);
    graph_drop(g, wide);
    struct value shares = graph_to(g, sure, q.dtype, PART_OUTPUT_CAST);
    graph_drop(g, sure);
    graph_drop(g, scores);
    struct value low = graph_input_cast(g, shares, ROLE_SCORES, PART_INPUT_CAST),
                 values = eager_operand(g, v, ROLE_V, views);
    struct value y = attention_product(g, low, values, ROLE_ATTENTION, SHAPE_Q);
    graph_drop(g, low);
    graph_drop(g, values);
    struct value out = layer_copy(g, y);  // transpose(1, 2).contiguous()
    graph_drop(g, y);
    graph_drop(g, g->shares);
    g->shares = shares;
    return out;
}

struct value layer_attention_eager(struct graph *g, struct value q, struct value k, struct value v)
{
    return eager_attend(g, q, k, v, false);
}

struct value layer_attention_eager_views(struct graph *g, struct value q, struct value k,
                                         struct value v)
{
    return eager_attend(g, q, k, v, true);
}
