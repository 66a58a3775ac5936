// Owns experts of transformers that GPUs share: a GPU has some of them whole. Rows are sent to
// where their experts are, or all GPUs of a group run the same rows, those of others' experts as
// zeros, and their results are summed up. Tokens are taken to be spread evenly: a GPU gets as many
// rows as it sends. SRC: transformers 5.23 distributed/expert_parallel.py (AllToAllEP),
// integrations/moe.py (grouped_mm_experts_forward, _is_expert_parallel); 5.18
// distributed/tensor_parallel.py (EpRouterParallel, MoeExpertsParallel); traces qwen3_moe_ep* of
// tests/calc/truth/frameworks.
#ifndef VRAM_SMALL

#include "calc/trace/layers_spread.h"

#include "calc/trace/layers.h"
#include "calc/trace/layers_llama.h"
#include "calc/trace/parallel.h"

// ---- rows of others' experts --------------------------------------------------------------------

static void spread_mask_node(struct graph *g, struct value *out, struct value in, uint32_t mask)
{
    if (!graph_needs(g, in))
        return;
    int32_t n = graph_node(g, NODE_MASKED_FILL, out, 0);
    graph_save(g, n, mask);
    graph_edge(g, n, in);
}

uint32_t spread_mask(struct graph *g, struct value *rows)
{
    if (!model_spreads_experts(g->m))
        return TAPE_NONE;
    shape_id list = model_sends_rows(g->m) ? SHAPE_ROWS : SHAPE_TOPK;
    uint32_t mask = graph_scratch(g, OP_EQ, ROLE_ROUTER, PART_MASK, DT_BYTE, list);
    struct value before = *rows;
    spread_mask_node(g, rows, before, mask);
    return mask;
}

struct value spread_masked(struct graph *g, struct value y, uint32_t mask)
{
    if (mask == TAPE_NONE)
        return y;
    struct value out = graph_make(g, OP_MASKED_FILL, y.role, PART_SCALED, y.dtype, y.shape);
    spread_mask_node(g, &out, y, mask);
    graph_drop(g, y);
    return out;
}

static uint32_t spread_list(struct graph *g, enum op op, uint8_t dtype, shape_id shape)
{
    return graph_scratch(g, op, ROLE_ROUTER, PART_SCRATCH, dtype, shape);
}

// The router's numbers as they are here, and shares of nothing for the others.
static void spread_routes(struct graph *g, struct value *weights, uint32_t *chosen)
{
    uint32_t owner = spread_list(g, OP_DIV, DT_I64, SHAPE_TOPK);
    uint32_t mask = spread_list(g, OP_EQ, DT_BYTE, SHAPE_TOPK);
    tape_unref(g->t, owner);
    struct value shares =
        graph_make(g, OP_MASKED_FILL, ROLE_ROUTER, PART_SCALED, weights->dtype, weights->shape);
    spread_mask_node(g, &shares, *weights, mask);
    uint32_t own = spread_list(g, OP_MASKED_FILL, DT_I64, SHAPE_TOPK);
    uint32_t within = spread_list(g, OP_DIV, DT_I64, SHAPE_TOPK);
    tape_unref(g->t, own);
    uint32_t numbers = spread_list(g, OP_MASKED_FILL, DT_I64, SHAPE_TOPK);
    tape_unref(g->t, within);
    tape_unref(g->t, mask);
    tape_unref(g->t, *chosen);
    graph_drop(g, *weights);
    *weights = shares;
    *chosen = numbers;
}

// ---- rows that are sent -------------------------------------------------------------------------

// GPUs with one batch send a part of it each: a copy. The gradients of this and of what gathers are
// as a sum's: a tensor as the input was.
static struct value spread_part(struct graph *g, struct value x, shape_id shape)
{
    if (!g->m->c.expert_shared_batch)
        return graph_copy(g, x);
    struct value out = graph_make(g, OP_CLONE, x.role, PART_COPY, x.dtype, shape);
    graph_follow(g, NODE_SUM, &out, x);
    return out;
}

// What the parts of all have become. Uses y up.
static struct value spread_whole(struct graph *g, struct value y)
{
    if (!g->m->c.expert_shared_batch)
        return y;
    struct value out = graph_make(g, OP_ALL_GATHER, y.role, PART_OUTPUT, y.dtype, SHAPE_U);
    graph_follow(g, NODE_SUM, &out, y);
    graph_drop(g, y);
    return out;
}

static struct value spread_send(struct graph *g, struct value x)
{
    struct value out =
        graph_make(g, OP_ALL_TO_ALL, ROLE_EXPERTS, PART_SCRATCH, x.dtype, SHAPE_GROUPED_U);
    graph_follow(g, NODE_ALL_TO_ALL, &out, x);
    return out;
}

// What came, the experts of it, and ones for its shares.
struct spread_rows {
    struct value rows, ones;
    uint32_t numbers;
};

static uint32_t spread_order(struct graph *g)
{
    uint32_t sorted = spread_list(g, OP_SORT, DT_I64, SHAPE_ROWS);
    uint32_t order = spread_list(g, OP_SORT, DT_I64, SHAPE_ROWS);
    tape_unref(g->t, sorted);
    return order;
}

static struct spread_rows spread_dispatch(struct graph *g, struct value x)
{
    struct spread_rows s;
    uint32_t tokens = spread_list(g, OP_DIV, DT_I64, SHAPE_ROWS);
    struct value sent = layer_rows(g, x, tokens, PART_INPUT, SHAPE_GROUPED_U);
    tape_unref(g->t, tokens);
    s.rows = spread_send(g, sent);
    s.numbers = spread_list(g, OP_INDEX, DT_I64, SHAPE_ROWS);
    s.ones = graph_make(g, OP_ONES_LIKE, ROLE_ROUTER, PART_SCRATCH, x.dtype, SHAPE_ROWS);
    graph_drop(g, sent);
    return s;
}

// new_empty(...)[order] = rows; (rows * shares).sum(dim=1)
static struct value spread_combine(struct graph *g, struct value y, struct value shares,
                                   uint32_t order)
{
    struct value back = spread_send(g, y);
    struct value all =
        graph_make(g, OP_NEW_EMPTY, ROLE_EXPERTS, PART_OUTPUT, y.dtype, SHAPE_GROUPED_U);
    graph_follow_saving(g, NODE_INDEX_PUT, &all, back, order);
    struct value product = layer_mul(g, all, shares, ROLE_EXPERTS, PART_SCALED);
    shape_id part = g->m->c.expert_shared_batch ? SHAPE_STACKED_U : SHAPE_U;
    struct value sum = layer_rows_sum(g, product, NODE_NARROWED, part);
    graph_drop(g, product);
    graph_drop(g, back);
    graph_drop(g, all);
    struct value out = graph_to(g, sum, y.dtype, PART_OUTPUT_CAST);
    graph_drop(g, sum);
    return out;
}

static struct value spread_sent(struct graph *g, struct value x, struct value weights,
                                spread_fn *run)
{
    struct value part = spread_part(g, x, SHAPE_STACKED_U);
    bool shared = g->m->c.expert_shared_batch;
    uint32_t numbers = shared ? spread_list(g, OP_CLONE, DT_I64, SHAPE_ROWS) : TAPE_NONE;
    struct value shares = spread_part(g, weights, SHAPE_ROWS);
    uint32_t order = spread_order(g);
    struct spread_rows s = spread_dispatch(g, part);
    struct value y = run(g, s.rows, s.ones);
    struct value out = spread_whole(g, spread_combine(g, y, shares, order));
    tape_unref(g->t, order);
    graph_drop(g, part);
    tape_unref(g->t, numbers);
    graph_drop(g, shares);
    graph_drop(g, s.rows);
    tape_unref(g->t, s.numbers);
    graph_drop(g, s.ones);
    graph_drop(g, y);
    return out;
}

struct value spread_experts(struct graph *g, struct value x, struct value *weights,
                            uint32_t *chosen, spread_fn *run)
{
    if (model_sends_rows(g->m)) {
        struct experts_unit unit;
        struct value in = experts_enter(g, x, &unit), out = spread_sent(g, in, *weights, run);
        graph_drop(g, in);
        return experts_leave(g, out, &unit);
    }
    if (model_spreads_experts(g->m))
        spread_routes(g, weights, chosen);
    return run(g, x, *weights);
}
#endif
