// Owns the forward side of layers: what each allocates and saves, under autocast's rules.
// SRC: pytorch aten/src/ATen/autocast_mode.cpp (lists of operations),
// tools/autograd/derivatives.yaml (what is saved).

#include "calc/trace/layers.h"

#include "calc/trace/sequence.h"

struct value layer_embedding(struct graph *g, uint32_t ids, uint16_t weight, shape_id out_shape)
{
    bool saved = weight == P_WTE && layout_find(&g->layout, false, P_WTE_SAVED);
    struct value w = graph_param(g, true, saved ? P_WTE_SAVED : weight);
    struct value out = graph_make(g, OP_EMBEDDING, w.role, PART_OUTPUT, g->residual, out_shape);
    graph_follow_saving(g, NODE_EMBEDDING, &out, w, ids);
    graph_drop(g, w);
    return out;
}

struct value layer_add(struct graph *g, struct value a, struct value b, uint8_t role)
{
    uint8_t dtype = a.dtype == DT_F32 || b.dtype == DT_F32 ? DT_F32 : a.dtype;
    struct value out = graph_make(g, OP_ADD, role, PART_SELF, dtype, a.shape);
    graph_follow_both(g, NODE_ADD, &out, a, b);
    return out;
}

// A traced graph has no updates in place: the sum is a tensor of its own. SRC: pytorch
// torch/_functorch/_aot_autograd/functional_utils.py.
struct value layer_add_into(struct graph *g, struct value whole, struct value part)
{
    struct value sum = whole;
    if (graph_is_traced(g))
        sum = graph_make(g, OP_ADD, whole.role, PART_SELF, whole.dtype, whole.shape);
    graph_follow_both(g, NODE_ADD, &sum, whole, part);
    if (graph_is_traced(g))
        graph_drop(g, whole);
    return sum;
}

struct value layer_softmax(struct graph *g, struct value x, uint8_t role)
{
    struct value out = graph_make(g, OP_SOFTMAX, role, PART_SOFTMAX, x.dtype, x.shape);
    graph_follow_saving(g, NODE_SOFTMAX, &out, x, out.storage);
    return out;
}

// Uses in, w and b up; w is none where the norm has no weights.
static struct value norm_of(struct graph *g, struct value in, struct value w, struct value b,
                            uint8_t role)
{
    struct value out = graph_make(g, OP_LAYER_NORM, role, PART_OUTPUT, in.dtype, in.shape);
    uint32_t mean = graph_scratch(g, OP_LAYER_NORM, role, PART_MEAN, DT_F32, SHAPE_TOKENS);
    uint32_t rstd = graph_scratch(g, OP_LAYER_NORM, role, PART_RSTD, DT_F32, SHAPE_TOKENS);
    if (graph_needs(g, in) || graph_needs(g, w)) {
        int32_t n = graph_node(g, NODE_LAYER_NORM, &out, 0);
        graph_save(g, n, in.storage);
        graph_save(g, n, mean);
        graph_save(g, n, rstd);
        graph_edge(g, n, in);
        graph_edge(g, n, w);
        graph_edge(g, n, b);
    }
    tape_unref(g->t, mean);
    tape_unref(g->t, rstd);
    graph_drop(g, in);
    graph_drop(g, w);
    graph_drop(g, b);
    return out;
}

#ifndef VRAM_SMALL
// F.layer_norm(x.float(), None, None).to(x.dtype). SRC: transformers models/olmo/modeling_olmo.py,
// OlmoLayerNorm.forward.
static struct value norm_bare(struct graph *g, struct value x, uint16_t weight)
{
    uint8_t role = weight == P_LN1 ? ROLE_LN1 : weight == P_LN2 ? ROLE_LN2 : ROLE_LN_F;
    struct value wide =
        norm_of(g, graph_to(g, x, DT_F32, PART_UPCAST), graph_none(), graph_none(), role);
    struct value out = graph_to(g, wide, x.dtype, PART_OUTPUT_CAST);
    graph_drop(g, wide);
    return out;
}

// F.layer_norm(x, weight + 1, bias), all three in autocast's format where it is on. SRC:
// transformers models/nemotron/modeling_nemotron.py, NemotronLayerNorm1P.forward.
static struct value norm_moved(struct graph *g, struct value x, bool global, uint16_t weight)
{
    struct value w = graph_param(g, global, weight);
    struct value b = graph_param(g, global, (uint16_t)(weight + LAYOUT_BIAS));
    struct value sum = graph_make(g, OP_ADD, w.role, PART_SCALED, w.dtype, w.shape);
    graph_follow(g, NODE_PASS, &sum, w);
    struct value in = graph_input_cast(g, x, w.role, PART_INPUT_CAST);
    struct value plus = graph_input_cast(g, sum, w.role, PART_WEIGHT_CAST);
    struct value bias = graph_input_cast(g, b, w.role, PART_BIAS_CAST);
    graph_drop(g, sum);
    graph_drop(g, w);
    graph_drop(g, b);
    struct value out = norm_of(g, in, graph_copy(g, plus), graph_copy(g, bias), w.role);
    if (graph_needs(g, out)) {
        graph_save(g, out.node, plus.storage);
        graph_save(g, out.node, bias.storage);
    }
    graph_drop(g, plus);
    graph_drop(g, bias);
    return out;
}
#endif

struct value layer_norm(struct graph *g, struct value x, bool global, uint16_t weight)
{
#ifndef VRAM_SMALL
    if (model_norms_bare(g->m))
        return norm_bare(g, x, weight);
    if (g->m->c.family == FAMILY_NEMOTRON)
        return norm_moved(g, x, global, weight);
#endif
    struct value in = graph_to(g, x, g->autocast ? DT_F32 : x.dtype, PART_UPCAST);
    struct value w = graph_param(g, global, weight);
    return norm_of(g, in, w, graph_param(g, global, (uint16_t)(weight + LAYOUT_BIAS)), w.role);
}

struct value layer_gelu(struct graph *g, struct value x)
{
    struct value out = graph_make(g, OP_GELU, ROLE_ACT, PART_OUTPUT, x.dtype, x.shape);
    graph_follow_saving(g, NODE_GELU, &out, x, x.storage);
    return out;
}

struct value layer_mul(struct graph *g, struct value a, struct value b, uint8_t role, uint8_t part)
{
    uint8_t dtype = a.dtype == DT_F32 || b.dtype == DT_F32 ? DT_F32 : a.dtype;
    struct value out = graph_make(g, OP_MUL, role, part, dtype, a.shape);
    graph_follow_product(g, NODE_MUL, &out, a, b);
    return out;
}

struct value layer_dropout(struct graph *g, struct value x, uint8_t role)
{
    if (g->m->c.dropout == 0 || !g->training)
        return graph_copy(g, x);
    struct value out = graph_make(g, OP_DROPOUT, role, PART_OUTPUT, x.dtype, x.shape);
    uint32_t mask = graph_scratch(g, OP_DROPOUT, role, PART_MASK, DT_BYTE, x.shape);
    graph_follow_saving(g, NODE_DROPOUT, &out, x, mask);
    tape_unref(g->t, mask);
    return out;
}

// One more name for the same memory. Uses x up.
struct value layer_view(struct graph *g, struct value x, enum node_kind kind)
{
    struct value in = x;
    if (graph_needs(g, x))
        graph_edge(g, graph_node(g, kind, &x, 0), in);
    return x;
}

struct value layer_copy(struct graph *g, struct value x)
{
    struct value out = graph_make(g, OP_CLONE, x.role, PART_COPY, x.dtype, x.shape);
    graph_follow(g, NODE_CLONE, &out, x);
    return out;
}

struct value layer_put(struct graph *g, struct value whole, struct value part)
{
    struct value out = whole;
    if (graph_needs(g, whole) || graph_needs(g, part)) {
        int32_t n = graph_node(g, NODE_COPY_SLICE, &out, part.shape);
        graph_edge(g, n, whole);
        graph_edge(g, n, part);
    }
    return out;
}

void layer_split2(struct graph *g, struct value x, shape_id shape, struct value out[2])
{
    struct value view = layer_view(g, graph_copy(g, x), NODE_SPLIT);
    for (uint8_t k = 0; k < 2; k++) {
        out[k] = graph_copy(g, view);
        out[k].output = k;
        out[k].shape = shape;
    }
    graph_drop(g, view);
}

void layer_split(struct graph *g, struct value x, uint8_t count, const shape_id shapes[],
                 struct value out[])
{
    struct value view = graph_copy(g, x);
    if (graph_needs(g, x)) {
        int32_t n = graph_node(g, NODE_SPLIT, &view, 0);
        graph_edge(g, n, x);
    }
    for (uint8_t k = 0; k < count; k++) {
        out[k] = graph_copy(g, view);
        out[k].output = k;
        out[k].shape = shapes[k];
    }
    graph_drop(g, view);
}

struct value layer_cross_entropy(struct graph *g, struct value logits, uint32_t targets,
                                 bool upcast)
{
    struct value in = upcast ? graph_to(g, logits, DT_F32, PART_UPCAST) : graph_copy(g, logits);
    bool divided = MODEL_IS_WHOLE && sequence_loss_is_divided(g);
    struct value log =
        divided ? sequence_log_softmax(g, in)
                : graph_make(g, OP_LOG_SOFTMAX, ROLE_LOGITS, PART_LOG_SOFTMAX, in.dtype, in.shape);
    graph_follow_saving(g, NODE_LOG_SOFTMAX, &log, in, log.storage);
    graph_drop(g, in);
    struct value wide = graph_to(g, log, g->autocast ? DT_F32 : log.dtype, PART_LOG_SOFTMAX_F32);
    graph_drop(g, log);
    struct value loss = graph_make(g, OP_NLL, ROLE_LOSS, PART_SELF, wide.dtype, SHAPE_ONE);
    uint32_t total = graph_scratch(g, OP_NLL, ROLE_LOSS, PART_TOTAL_WEIGHT, wide.dtype, SHAPE_ONE);
    if (graph_needs(g, wide)) {
        int32_t n = graph_node(g, NODE_NLL, &loss, 0);
        graph_save(g, n, wide.storage);
        graph_save(g, n, targets);
        graph_save(g, n, total);
        graph_edge(g, n, wide);
    }
    tape_unref(g->t, total);
    graph_drop(g, wide);
    return loss;
}
