// Owns Falcon's layer: which variable of which function holds what, and until when.
// SRC: transformers src/transformers/models/falcon/modeling_falcon.py (FalconDecoderLayer,
// FalconAttention._split_heads, FalconMLP); traces falcon_* and falcon11_* of
// tests/calc/truth/frameworks.

#include "calc/trace/block_falcon.h"

#include "calc/trace/attention.h"
#include "calc/trace/layers.h"
#include "calc/trace/layers_llama.h"
#include "calc/trace/layers_rotary.h"
#include "calc/trace/linear.h"

struct heads {
    struct value q, k, v;
};

// projection[..., [n], :]: a copy, by an index of its own.
static struct value falcon_pick(struct graph *g, struct value qkv, uint8_t role)
{
    return layer_unary(g, qkv, OP_INDEX, NODE_INDEX, role, PART_COPY, SHAPE_KV, SAVES_NOTHING);
}

// Queries are a slice. With more than one key for a group, keys and values are spread over its
// queries, and all are made flat (new_decoder_architecture).
static struct heads falcon_split(struct graph *g, struct value qkv)
{
    struct heads h = {.q = layer_view(g, graph_copy(g, qkv), NODE_SLICE)};
    h.q.shape = SHAPE_Q;
    h.q.role = ROLE_Q;
    h.k = falcon_pick(g, qkv, ROLE_K);
    h.v = falcon_pick(g, qkv, ROLE_V);
    if (g->m->c.n_kv_head == 1)
        return h;
    struct heads flat = {layer_copy(g, h.q), layer_repeat(g, h.k, SHAPE_Q),
                         layer_repeat(g, h.v, SHAPE_Q)};
    graph_drop(g, h.q);
    graph_drop(g, h.k);
    graph_drop(g, h.v);
    return flat;
}

static void falcon_rotate(struct graph *g, struct heads *h)
{
    struct value q = layer_rotary(g, h->q, SHAPE_Q_HALF);
    struct value k = layer_rotary(g, h->k, h->k.shape == SHAPE_Q ? SHAPE_Q_HALF : SHAPE_KV_HALF);
    graph_drop(g, h->q);
    graph_drop(g, h->k);
    h->q = q;
    h->k = k;
}

static struct value falcon_attention(struct graph *g, struct value x)
{
    struct value qkv = layer_linear(g, x, P_QKV, SHAPE_QKV);
    struct heads h = falcon_split(g, qkv);
    falcon_rotate(g, &h);
    struct value k = graph_input_cast(g, h.k, ROLE_K, PART_INPUT_CAST),
                 q = graph_input_cast(g, h.q, ROLE_Q, PART_INPUT_CAST);
    struct value v = graph_input_cast(g, h.v, ROLE_V, PART_INPUT_CAST);
    struct value y = layer_attention_masked(g, q, k, v);
    graph_drop(g, q);
    graph_drop(g, k);
    graph_drop(g, v);
    struct value out = layer_linear(g, y, P_O, SHAPE_U);
    graph_drop(g, y);
    graph_drop(g, qkv);
    graph_drop(g, h.q);
    graph_drop(g, h.k);
    graph_drop(g, h.v);
    return out;
}

static struct value falcon_mlp(struct graph *g, struct value x)
{
    struct value wide = layer_linear(g, x, P_UP, SHAPE_FF);
    struct value active = layer_gelu(g, wide);
    graph_drop(g, wide);
    struct value out = layer_linear(g, active, P_DOWN, SHAPE_U);
    graph_drop(g, active);
    return out;
}

struct value block_falcon(struct graph *g, struct value x)
{
    struct value first = layer_norm(g, x, false, P_LN1);
    struct value second = layout_find(&g->layout, true, P_LN2) ? layer_norm(g, x, false, P_LN2)
                                                               : graph_copy(g, first);
    struct value attention = falcon_attention(g, first);
    // mlp_output += attention_output
    struct value both = layer_add_into(g, falcon_mlp(g, second), attention);
    struct value dropped = layer_dropout(g, both, ROLE_MLP_DROP);
    struct value out = layer_add(g, x, dropped, ROLE_RESID2);
    graph_drop(g, dropped);
    graph_drop(g, both);
    graph_drop(g, attention);
    graph_drop(g, second);
    graph_drop(g, first);
    return out;
}
