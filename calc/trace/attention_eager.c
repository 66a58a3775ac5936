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
    for (unsigned i = 0; i < (MODEL_IS_WHOLE ? model_mask_kinds(g->m) : 2); i++)
        g->masks[i] = graph_scratch(g, OP_WHERE, ROLE_SCORES, PART_MASK, g->residual, SHAPE_MASKS);
}

// matmul's operand in the compute format: of a view by head a copy, and of a projection that is
// viewed here the gradient's is one, too.
static struct value eager_operand(struct graph *g, struct value x, uint8_t role,
                                  enum eager_form form)
{
    struct value cast = graph_input_cast(g, x, role, PART_INPUT_CAST);
    if (!MODEL_IS_WHOLE || form == EAGER_CONTIGUOUS)
        return cast;
    struct value by_head = form == EAGER_BY_HEAD ? cast : layer_view(g, cast, NODE_VIEW);
    struct value out = layer_copy(g, by_head);
    graph_drop(g, by_head);
    return out;
}

struct value eager_scores(struct graph *g, struct value q, struct value k,
                          const struct eager_forms *forms)
{
    struct value qc = eager_operand(g, q, ROLE_Q, forms->q),
                 kc = eager_operand(g, k, ROLE_K, forms->k);
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

// softmax(scores, dtype=float32).to(query.dtype) @ v
struct value layer_attention_eager(struct graph *g, struct value q, struct value k, struct value v,
                                   const struct eager_forms *forms)
{
    struct value scores = eager_scores(g, q, k, forms);
    struct value wide = graph_to(g, scores, DT_F32, PART_UPCAST);
    struct value sure = layer_softmax(g, wide, ROLE_SCORES);
    graph_drop(g, wide);
    struct value shares = graph_to(g, sure, q.dtype, PART_OUTPUT_CAST);
    graph_drop(g, sure);
    graph_drop(g, scores);
    if (g->m->features & HAS_BRANCH_DROPOUT) {  // of the shares, too
        struct value whole = shares;
        shares = layer_dropout(g, whole, ROLE_SCORES);
        graph_drop(g, whole);
    }
    struct value low = graph_input_cast(g, shares, ROLE_SCORES, PART_INPUT_CAST),
                 values = eager_operand(g, v, ROLE_V, forms->v);
    struct value y = attention_product(g, low, values, ROLE_ATTENTION, SHAPE_Q);
    graph_drop(g, low);
    graph_drop(g, values);
    struct value out = layer_copy(g, y);  // transpose(1, 2).contiguous()
    graph_drop(g, y);
    graph_drop(g, g->shares);
    g->shares = shares;
    return out;
}
