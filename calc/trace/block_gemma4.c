// Owns what Gemma 4's layers have of their own: norms on queries, keys and values, layers without a
// window whose heads are wider and whose values may be their keys. SRC: transformers 5.23
// src/transformers/models/gemma4/modeling_gemma4.py (Gemma4TextAttention.forward,
// apply_rotary_pos_emb).
#ifndef VRAM_SMALL

#include "calc/trace/block_gemma4.h"

#include "calc/trace/layers.h"
#include "calc/trace/layers_grouped.h"
#include "calc/trace/layers_llama.h"
#include "calc/trace/layers_rotary.h"
#include "calc/trace/linear.h"

// Which weights and shapes a kind of layer has.
static const struct gemma4_kind {
    uint16_t q, k, v, q_norm, k_norm;
    shape_id queries, keys, query_halves, key_halves, key_stats;
} gemma4_kinds[2] = {
    {P_Q, P_K, P_V, P_Q_NORM, P_K_NORM, SHAPE_Q, SHAPE_KV, SHAPE_Q_HALF, SHAPE_KV_HALF,
     SHAPE_KV_STATS},
    {P_GLOBAL_Q, P_GLOBAL_K, P_GLOBAL_V, P_GLOBAL_Q_NORM, P_GLOBAL_K_NORM, SHAPE_G_Q, SHAPE_G_KV,
     SHAPE_G_Q_HALF, SHAPE_G_KV_HALF, SHAPE_G_KV_STATS},
};

// The norm, then the rotation. Uses x up.
static struct value gemma4_turned(struct graph *g, struct value x, uint16_t norm, shape_id stats,
                                  shape_id half)
{
    bool global = model_layer_is_global(g->m, graph_layer(g));
    struct value normed = layer_powered_norm(g, x, graph_param(g, false, norm), stats);
    graph_drop(g, x);
    struct value out = rotary_turn(g, normed, global ? g->global_cos : g->cos,
                                   global ? g->global_sin : g->sin, half);
    graph_drop(g, normed);
    return out;
}

// Whether a layer is the last of its kind with keys and values of its own.
static bool gemma4_gives(const struct graph *g)
{
    uint64_t layer = graph_layer(g), own = g->m->c.n_layer - g->m->c.num_kv_shared_layers;
    bool last = layer < own;
    for (uint64_t next = layer + 1; next < own; next++)
        last = last && model_layer_is_global(g->m, next) != model_layer_is_global(g->m, layer);
    return last;
}

// A projection seen by head: gradients of copies for every query head come by head.
static struct value gemma4_seen(struct graph *g, struct value x, bool repeats)
{
    return repeats ? layer_view(g, x, NODE_VIEW) : x;
}

// What layers without keys and values of their own will take: each layer that has some leaves its
// own in the place of the last one's.
static void gemma4_give(struct graph *g, bool global, struct value k, struct value v)
{
    struct value *given = g->given[global];
    if (!g->m->c.num_kv_shared_layers || !gemma4_gives(g))
        return;
    graph_drop(g, given[0]);
    graph_drop(g, given[1]);
    given[0] = graph_copy(g, k);
    given[1] = graph_copy(g, v);
}

void gemma4_heads(struct graph *g, struct value x, bool repeats, struct value *q, struct value *k,
                  struct value *v)
{
    bool global = model_layer_is_global(g->m, graph_layer(g));
    const struct gemma4_kind *kind = &gemma4_kinds[global];
    struct value raw = layer_linear(g, x, kind->q, kind->queries);
    *q = gemma4_turned(g, raw, kind->q_norm, SHAPE_Q_STATS, kind->query_halves);
    if (model_layer_shares(g->m, graph_layer(g))) {
        *k = graph_copy(g, g->given[global][0]);
        *v = graph_copy(g, g->given[global][1]);
        return;
    }
    raw = gemma4_seen(g, layer_linear(g, x, kind->k, kind->keys), repeats);
    bool early = model_has_streams(g->m);  // keys are done before values begin
    if (early)
        *k = gemma4_turned(g, raw, kind->k_norm, kind->key_stats, kind->key_halves);
    struct value values = global && model_keys_are_values(&g->m->c)
                              ? graph_copy(g, raw)
                              : gemma4_seen(g, layer_linear(g, x, kind->v, kind->keys), repeats);
    if (!early)
        *k = gemma4_turned(g, raw, kind->k_norm, kind->key_stats, kind->key_halves);
    values.role = ROLE_V;
    *v = layer_powered_norm(g, values, graph_none(), kind->key_stats);
    graph_drop(g, values);
    gemma4_give(g, global, *k, *v);
}

// What a router hands over: shares of all, of the chosen ones, and their numbers.
struct gemma4_route {
    struct value shares, weights;
    uint32_t chosen;
};

// Gemma4TextRouter.forward
static struct gemma4_route gemma4_route(struct graph *g, struct value x)
{
    struct gemma4_route r;
    struct value by = graph_param(g, false, P_ROUTER_SCALE), normed, scaled, in;
    normed = layer_powered_norm(g, x, graph_none(), SHAPE_TOKENS_SHARE);
    scaled = layer_mul(g, normed, by, ROLE_ROUTER, PART_SCALED);
    graph_drop(g, normed);
    graph_drop(g, by);
    in = layer_scale(g, scaled, ROLE_ROUTER);
    graph_drop(g, scaled);
    struct value scores = layer_linear(g, in, P_ROUTER, SHAPE_ROUTER);
    struct value wide = graph_to(g, scores, DT_F32, PART_UPCAST);
    r.shares = layer_softmax(g, wide, ROLE_ROUTER);
    graph_drop(g, wide);
    struct value best = layer_route_topk(g, r.shares, &r.chosen);
    best = layer_route_normalized(g, best);
    struct value each = graph_param(g, false, P_EXPERT_SCALE);
    struct value chosen = layer_rows(g, each, r.chosen, PART_OUTPUT, SHAPE_TOPK);
    r.weights = layer_mul(g, best, chosen, ROLE_ROUTER, PART_SCALED);
    graph_drop(g, each);
    graph_drop(g, chosen);
    graph_drop(g, best);
    graph_drop(g, scores);
    graph_drop(g, in);
    return r;
}

// The dense part's result and that of the experts, each normalized. Uses dense up.
struct value gemma4_beside(struct graph *g, struct value stream, struct value dense)
{
    struct value first = layer_rms_norm(g, dense, false, P_DENSE_POST, SHAPE_TOKENS_SHARE);
    struct gemma4_route r = gemma4_route(g, stream);
    struct value in = layer_rms_norm(g, stream, false, P_EXPERTS_PRE, SHAPE_TOKENS_SHARE);
    struct value y = layer_experts_routed(g, in, r.weights);
    graph_drop(g, in);
    struct value second = layer_rms_norm(g, y, false, P_EXPERTS_POST, SHAPE_TOKENS_SHARE);
    graph_drop(g, y);
    struct value out = layer_add(g, first, second, ROLE_EXPERTS);
    graph_drop(g, dense);
    g->beside[0] = first;
    g->beside[1] = second;
    g->beside[2] = r.weights;
    g->beside[3] = r.shares;
    g->routed = r.chosen;
    return out;
}

void gemma4_beside_go(struct graph *g)
{
    for (unsigned i = 0; i < 4; i++) {
        graph_drop(g, g->beside[i]);
        g->beside[i] = graph_none();
    }
    tape_unref(g->t, g->routed);
    g->routed = TAPE_NONE;
}

#endif
