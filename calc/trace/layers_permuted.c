// Owns torchtitan's experts: a router in float32, rows that are sent to the GPUs that have their
// experts (expert_parallel), permuted and padded by expert, the products, and the way back. Tokens
// are taken to be spread evenly: a GPU gets as many rows as it sends. SRC: torchtitan
// torchtitan/models/moe/moe.py (TokenChoiceTopKRouter, TokenReorderer, MoE.forward), moe/utils.py
// (_permute, _unpermute), distributed/expert_parallel.py (ExpertParallel); traces titan_moe_*,
// titan_llama4_* of tests/calc/truth/frameworks.
#ifndef VRAM_SMALL

#include "calc/trace/layers_permuted.h"

#include "calc/model/experts.h"
#include "calc/trace/layers.h"
#include "calc/trace/layers_grouped.h"
#include "calc/trace/layers_llama.h"
#include "calc/trace/linear.h"
#include "calc/trace/parallel.h"
#include "calc/trace/sequence.h"

// Variables of MoE.forward: a token's shares and the same by expert, experts' numbers in order
// (among this GPU's tokens, among all), the tokens of all rows.
struct permuted {
    struct value shares, sorted;
    uint32_t own, order, tokens, counts;
};

// Of each family as torchtitan's flavors have it. SRC: torchtitan
// models/{qwen3,llama4,deepseek_v3}/__init__.py (MoEArgs).
static bool permuted_scores_first(const struct graph *g)
{
    return g->m->c.family == FAMILY_LLAMA4 || g->m->c.family == FAMILY_LLAMA4_BARE;
}

static bool permuted_by_sigmoid(const struct graph *g)
{
    return permuted_scores_first(g) || g->m->c.family == FAMILY_DEEPSEEK_V3;
}

static bool permuted_normalizes(const struct graph *g)
{
    enum family_value family = (enum family_value)g->m->c.family;
    return family == FAMILY_QWEN3_MOE || family == FAMILY_DEEPSEEK_V3;
}

static struct value permuted_all_shares(struct graph *g, struct value x)
{
    struct value logits = layer_linear(g, x, P_ROUTER, SHAPE_ROUTER);
    struct value wide = graph_to(g, logits, DT_F32, PART_UPCAST);
    struct value out = permuted_by_sigmoid(g)
                           ? layer_unary(g, wide, OP_SIGMOID, NODE_SIGMOID, ROLE_ROUTER,
                                         PART_OUTPUT, SHAPE_ROUTER, SAVES_RESULT)
                           : layer_softmax(g, wide, ROLE_ROUTER);
    graph_drop(g, wide);
    graph_drop(g, logits);
    return out;
}

// best / (best.sum() + 1e-20). Uses best up.
static struct value permuted_normalized(struct graph *g, struct value best)
{
    struct value sum = layer_unary(g, best, OP_SUM, NODE_SUM, ROLE_ROUTER, PART_SCRATCH,
                                   SHAPE_TOKENS, SAVES_NOTHING);
    struct value by = layer_unary(g, sum, OP_ADD, NODE_PASS, ROLE_ROUTER, PART_SCRATCH,
                                  SHAPE_TOKENS, SAVES_NOTHING);
    graph_drop(g, sum);
    struct value out = graph_make(g, OP_DIV, ROLE_ROUTER, PART_SCALED, DT_F32, SHAPE_TOPK);
    graph_follow_product(g, NODE_DIV_BOTH, &out, best, by);
    graph_drop(g, by);
    graph_drop(g, best);
    return out;
}

// The best go by shares with a bias that no gradient knows.
static struct value permuted_route(struct graph *g, struct value x, uint32_t *chosen)
{
    struct value share = permuted_all_shares(g, x);
    uint32_t moved = graph_scratch(g, OP_ADD, ROLE_ROUTER, PART_SCRATCH, DT_F32, SHAPE_ROUTER);
    uint32_t values = graph_scratch(g, OP_TOPK, ROLE_ROUTER, PART_SCRATCH, DT_F32, SHAPE_TOPK);
    *chosen = graph_scratch(g, OP_TOPK, ROLE_ROUTER, PART_MASK, DT_I64, SHAPE_TOPK);
    struct value best = graph_make(g, OP_GATHER, ROLE_ROUTER, PART_OUTPUT, DT_F32, SHAPE_TOPK);
    graph_follow_saving(g, NODE_TOPK, &best, share, *chosen);
    graph_drop(g, share);
    if (permuted_normalizes(g))
        best = permuted_normalized(g, best);
    struct value out = layer_scale(g, best, ROLE_ROUTER);
    graph_drop(g, best);
    tape_unref(g->t, values);
    tape_unref(g->t, moved);
    return out;
}

// argsort, which takes two lists more while it runs.
static uint32_t permuted_sort(struct graph *g)
{
    uint32_t sorted = graph_scratch(g, OP_SORT, ROLE_ROUTER, PART_SCRATCH, DT_I64, SHAPE_SORTED);
    uint32_t order = graph_scratch(g, OP_SORT, ROLE_ROUTER, PART_MASK, DT_I64, SHAPE_SORTED);
    uint32_t places = graph_scratch(g, OP_SORT, ROLE_ROUTER, PART_SCRATCH, DT_I64, SHAPE_SORTED);
    tape_unref(g->t, places);
    tape_unref(g->t, sorted);
    return order;
}

static struct permuted permuted_open(struct graph *g, struct value x)
{
    uint32_t chosen;
    struct permuted p = {.shares = permuted_route(g, x, &chosen)};
    p.counts = graph_scratch(g, OP_ZEROS, ROLE_ROUTER, PART_MASK, DT_I64, SHAPE_EXPERTS);
    p.own = permuted_sort(g);
    p.sorted = permuted_scores_first(g)
                   ? layer_rows(g, p.shares, p.own, PART_OUTPUT, SHAPE_SORTED)
                   : graph_make(g, OP_INDEX, ROLE_ROUTER, PART_OUTPUT, DT_F32, SHAPE_SORTED);
    p.order = p.own;
    if (model_sorting_ways(&g->m->c) > 1)
        p.order = graph_scratch(g, OP_ADD, ROLE_ROUTER, PART_MASK, DT_I64, SHAPE_SORTED);
    else
        tape_ref(g->t, p.order);
    p.tokens = graph_scratch(g, OP_DIV, ROLE_ROUTER, PART_MASK, DT_I64, SHAPE_SORTED);
    tape_unref(g->t, chosen);
    return p;
}

static void permuted_close(struct graph *g, const struct permuted *p)
{
    tape_unref(g->t, p->counts);
    tape_unref(g->t, p->tokens);
    tape_unref(g->t, p->order);
    tape_unref(g->t, p->own);
    graph_drop(g, p->sorted);
    graph_drop(g, p->shares);
}

// (rows.float() * shares).to(rows.dtype). Uses rows up.
static struct value permuted_scored(struct graph *g, struct value rows, struct value shares)
{
    struct value wide = graph_to(g, rows, DT_F32, PART_UPCAST);
    struct value product = layer_mul(g, wide, shares, ROLE_EXPERTS, PART_SCALED);
    graph_drop(g, wide);
    struct value out = graph_to(g, product, rows.dtype, PART_INPUT);
    graph_drop(g, product);
    graph_drop(g, rows);
    return out;
}

static struct value permuted_gated(struct graph *g, struct value rows, uint32_t offsets)
{
    struct value gate = layer_grouped_mm(g, rows, P_GATE, offsets, SHAPE_ROUTED_FF);
    struct value active = layer_activation(g, gate, false);
    graph_drop(g, gate);
    struct value up = layer_grouped_mm(g, rows, P_UP, offsets, SHAPE_ROUTED_FF);
    struct value product = layer_mul(g, active, up, ROLE_EXPERTS, PART_INPUT);
    graph_drop(g, active);
    graph_drop(g, up);
    struct value out = layer_grouped_mm(g, product, P_DOWN, offsets, SHAPE_GROUPED_U);
    graph_drop(g, product);
    return out;
}

static uint32_t permuted_wide_places(struct graph *g)
{
    return graph_scratch(g, OP_TO_COPY, ROLE_ROUTER, PART_SCRATCH, DT_I64, SHAPE_ROWS);
}

// vstack((x, zeros))[places]
static struct value permuted_in(struct graph *g, struct value x, uint32_t places)
{
    struct value stacked = graph_make(g, OP_CAT, ROLE_EXPERTS, PART_COPY, x.dtype, SHAPE_STACKED_U);
    graph_follow(g, NODE_NARROWED, &stacked, x);
    uint32_t wide = permuted_wide_places(g);
    struct value out = layer_rows(g, stacked, places, PART_INPUT, SHAPE_GROUPED_U);
    tape_unref(g->t, wide);
    graph_drop(g, stacked);
    return out;
}

// new_empty(...)[places] = y; the last row is left out.
static struct value permuted_out(struct graph *g, struct value y, uint32_t places)
{
    struct value all =
        graph_make(g, OP_NEW_EMPTY, ROLE_EXPERTS, PART_OUTPUT, y.dtype, SHAPE_STACKED_U);
    tape_unref(g->t, permuted_wide_places(g));
    graph_follow_saving(g, NODE_INDEX_PUT, &all, y, places);
    struct value out = layer_view(g, all, NODE_SLICE);
    out.shape = SHAPE_SORTED_U;
    return out;
}

static struct value permuted_send(struct graph *g, struct value x)
{
    struct value out =
        graph_make(g, OP_ALL_TO_ALL, ROLE_EXPERTS, PART_SCRATCH, x.dtype, SHAPE_SORTED_U);
    graph_follow(g, NODE_ALL_TO_ALL, &out, x);
    return out;
}

// Where GPUs have a part of each expert, every one gives a part of the rows' gradient. SRC:
// torchtitan distributed/expert_parallel.py (TensorParallel, ExpertTensorParallel).
static struct value permuted_whole(struct graph *g, struct value rows)
{
    struct value out = graph_copy(g, rows);
    if (g->m->c.tensor_parallel > 1 && model_sorting_ways(&g->m->c) == 1)
        graph_follow(g, NODE_ALL_REDUCE, &out, rows);
    return out;
}

// What a GPU's experts do; with expert_parallel to the rows of all.
static struct value permuted_run(struct graph *g, struct value given)
{
    bool sent = g->m->c.expert_parallel > 1;
    struct value rows = permuted_whole(g, given);
    struct value x = sent ? permuted_send(g, rows) : graph_copy(g, rows);
    uint32_t places =
        sent ? TAPE_NONE  // it is there to the next step: model_count.c
             : graph_scratch(g, OP_NEW_EMPTY, ROLE_ROUTER, PART_MASK, DT_F32, SHAPE_ROWS);
    struct value in = permuted_in(g, x, places);
    graph_drop(g, x);
    uint32_t offsets =
        graph_scratch(g, OP_SUM, ROLE_ROUTER, PART_MASK, DT_F32, sent ? SHAPE_ONE : SHAPE_EXPERTS);
    struct value y = permuted_gated(g, in, offsets), back = permuted_out(g, y, places);
    tape_unref(g->t, offsets);
    tape_unref(g->t, places);
    struct value out = back;
    if (sent) {
        out = permuted_send(g, back);
        g->sent = back;
    }
    graph_drop(g, y);
    graph_drop(g, in);
    graph_drop(g, rows);
    return out;
}

// Rows in the order of tokens again.
static struct value permuted_back(struct graph *g, struct value y, uint32_t order)
{
    struct value all = graph_make(g, OP_ZEROS, ROLE_EXPERTS, PART_OUTPUT, y.dtype, SHAPE_ROUTED_U);
    graph_drop(g, g->sent);  // there until someone waits for it
    g->sent = graph_none();
    graph_follow_saving(g, NODE_INDEX_PUT, &all, y, order);
    return all;
}

// Of all tokens that the experts see: with tensor parallelism those of all its GPUs.
static shape_id permuted_tokens(const struct graph *g)
{
    return sequence_is_gathered(g) ? SHAPE_U_WHOLE : SHAPE_U;
}

// bmm(shares, rows.float()).to(dtype), or their sum.
static struct value permuted_sum(struct graph *g, struct value rows, struct value shares)
{
    if (permuted_scores_first(g))
        return layer_unary(g, rows, OP_SUM, NODE_NARROWED, ROLE_EXPERTS, PART_OUTPUT,
                           permuted_tokens(g), SAVES_NOTHING);
    struct value wide = graph_to(g, rows, DT_F32, PART_UPCAST);
    struct value sum = graph_make(g, OP_BMM, ROLE_EXPERTS, PART_OUTPUT, DT_F32, permuted_tokens(g));
    graph_follow_product(g, NODE_BMM, &sum, shares, wide);
    graph_drop(g, wide);
    struct value out = graph_to(g, sum, rows.dtype, PART_OUTPUT_CAST);
    graph_drop(g, sum);
    return out;
}

// This GPU's part of the sum of all; uses x up. SRC: torchtitan models/llama4/infra/parallelize.py,
// apply_moe_ep_tp (PrepareModuleInputOutput).
static struct value permuted_divided(struct graph *g, struct value x)
{
    if (!sequence_is_gathered(g))
        return x;
    struct value out = sequence_scatter(g, x);
    graph_drop(g, x);
    return out;
}

struct value layer_experts_permuted(struct graph *g, struct value x, block_fn *shared)
{
    struct permuted p = permuted_open(g, x);
    struct value rows = layer_rows(g, x, p.tokens, PART_INPUT, SHAPE_SORTED_U);
    if (permuted_scores_first(g))
        rows = permuted_scored(g, rows, p.sorted);
    struct experts_unit unit;
    struct value in = experts_enter(g, rows, &unit), y = permuted_run(g, in);
    graph_drop(g, in);
    y = experts_leave(g, y, &unit);
    struct value beside = shared ? shared(g, x) : graph_none();
    struct value all = permuted_back(g, y, p.order), out = permuted_sum(g, all, p.shares);
    if (shared) {
        struct value sum = layer_add(g, beside, out, ROLE_EXPERTS);
        graph_drop(g, beside);
        graph_drop(g, out);
        out = sum;
    }
    permuted_close(g, &p);
    graph_drop(g, rows);
    graph_drop(g, y);
    graph_drop(g, all);
    return permuted_divided(g, out);
}

// A projection of the whole sequence, whose gradient is the sum of all GPUs' parts.
static struct value shared_open(struct graph *g, struct value x, uint16_t number)
{
    struct value in = graph_copy(g, x);
    graph_follow(g, NODE_ALL_REDUCE, &in, x);
    struct value out = layer_linear(g, in, number, SHAPE_SHARED);
    graph_drop(g, in);
    return out;
}

// SRC: torchtitan models/llama4/infra/parallelize.py, apply_moe_ep_tp (moe.shared_experts).
struct value layer_shared_divided(struct graph *g, struct value x)
{
    struct value gate = shared_open(g, x, P_SHARED_GATE);
    struct value active = layer_activation(g, gate, false);
    graph_drop(g, gate);
    struct value up = shared_open(g, x, P_SHARED_UP);
    struct value product = layer_mul(g, active, up, ROLE_MLP_PROJ, PART_INPUT);
    graph_drop(g, active);
    graph_drop(g, up);
    struct value out = layer_linear(g, product, P_SHARED_DOWN, SHAPE_U_WHOLE);
    graph_drop(g, product);
    return out;
}

void node_all_to_all(struct graph *g, const struct node *n, uint32_t results[])
{
    results[0] = graph_scratch(g, OP_ALL_TO_ALL, n->role, PART_GRAD, n->dtype, n->shape);
}

void node_all_reduce(struct graph *g, const struct node *n, uint32_t results[])
{
    results[0] = graph_scratch(g, OP_CLONE, n->role, PART_GRAD, n->dtype, n->shape);
}

// A view: of all rows but the last, or of a token's gradient for all of its rows.
void node_narrowed(struct graph *g, const struct node *n, uint32_t results[])
{
    tape_ref(g->t, n->gradient[0]);
    if (graph_ok(g))
        g->t->storages[n->gradient[0]].parts = true;
    results[0] = n->gradient[0];
}

void node_index_put(struct graph *g, const struct node *n, uint32_t results[])
{
    const struct edge *e = &n->edges[0];
    bool cast = n->shape == SHAPE_STACKED_U;
    uint32_t wide = cast ? permuted_wide_places(g) : TAPE_NONE;
    results[0] = graph_scratch(g, OP_INDEX, e->role, PART_GRAD, e->dtype, e->shape);
    tape_unref(g->t, wide);
}
#endif
