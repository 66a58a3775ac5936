// Owns the gated delta rule by single operations, as transformers has it where neither the package
// fla nor causal_conv1d is installed. SRC: transformers 5.23
// src/transformers/models/qwen3_5/modeling_qwen3_5.py (torch_chunk_gated_delta_rule, l2norm);
// traces qwen3_5_* of tests/calc/truth/frameworks.
#ifndef VRAM_SMALL

#include "calc/trace/layers_delta.h"

#include "calc/trace/layers.h"
#include "calc/trace/layers_llama.h"
#include "calc/trace/linear.h"

struct value delta_unary(struct graph *g, struct value x, enum op op, enum node_kind kind,
                         shape_id shape, enum saves saves)
{
    return layer_unary(g, x, op, kind, ROLE_DELTA, PART_SCALED, shape, saves);
}

struct value delta_mul(struct graph *g, struct value a, struct value b)
{
    return layer_mul(g, a, b, ROLE_DELTA, PART_SCALED);
}

// One name for x as it is after fn(x). Uses x up.
struct value delta_then(struct graph *g, struct value x, enum op op, enum node_kind kind,
                        shape_id shape, enum saves saves)
{
    struct value out = delta_unary(g, x, op, kind, shape, saves);
    graph_drop(g, x);
    return out;
}

static struct value delta_exp(struct graph *g, struct value x, shape_id shape)
{
    return delta_unary(g, x, OP_EXP, NODE_EXP, shape, SAVES_RESULT);
}

// A view of x with another number of elements.
struct value delta_view(struct graph *g, struct value x, enum node_kind kind, shape_id shape)
{
    struct value out = layer_view(g, graph_copy(g, x), kind);
    out.shape = shape;
    return out;
}

static struct value delta_sub(struct graph *g, struct value a, struct value b, shape_id shape)
{
    struct value out = graph_make(g, OP_SUB, ROLE_DELTA, PART_SCALED, a.dtype, shape);
    graph_follow_both(g, NODE_SUB, &out, a, b);
    return out;
}

// a @ b, whose gradients come back as views.
static struct value delta_bmm(struct graph *g, struct value a, struct value b, shape_id shape)
{
    struct value in[2] = {graph_input_cast(g, a, a.role, PART_INPUT_CAST),
                          graph_input_cast(g, b, b.role, PART_INPUT_CAST)};
    struct value out = graph_make(g, OP_BMM, ROLE_DELTA, PART_OUTPUT, in[0].dtype, shape);
    graph_follow_product(g, NODE_DELTA_BMM, &out, in[0], in[1]);
    graph_drop(g, in[0]);
    graph_drop(g, in[1]);
    return out;
}

// In float32 nothing is cast, and what is by token stays so: products make copies by head.
struct value delta_by_head(struct graph *g, struct value x)
{
    bool cast = g->autocast || g->residual != DT_F32;
    return cast ? graph_copy(g, x) : layer_copy(g, x);
}

// What is filled up to whole chunks is by head already.
static struct value delta_chunks_by_head(struct graph *g, struct value x)
{
    return g->m->c.seq_len % 64 ? graph_copy(g, x) : delta_by_head(g, x);
}

// solve_triangular(a, b): each of a batch by pointers on the card.
static struct value delta_solve(struct graph *g, struct value a, struct value b)
{
    struct value out = graph_make(g, OP_SOLVE, ROLE_DELTA, PART_OUTPUT, b.dtype, b.shape);
    if (graph_needs(g, a) || graph_needs(g, b)) {
        int32_t n = graph_node(g, NODE_SOLVE, &out, a.shape);
        graph_save(g, n, a.storage);
        graph_save(g, n, out.storage);
        graph_edge(g, n, a);
        graph_edge(g, n, b);
    }
    return out;
}

// What chunks are made of, and what the rule's function names beside it.
struct delta {
    struct value q, k, v, beta, decay;
    struct value v_beta, k_beta, decayed, total, pairs, within;
};

// x * rsqrt((x * x).sum() + eps). Uses x up.
static struct value delta_l2(struct graph *g, struct value x)
{
    struct value square = delta_mul(g, x, x);
    struct value sum = delta_then(g, square, OP_SUM, NODE_EXPAND, SHAPE_DELTA_H, SAVES_NOTHING);
    sum = delta_then(g, sum, OP_ADD, NODE_PASS, SHAPE_DELTA_H, SAVES_NOTHING);
    struct value norm = delta_then(g, sum, OP_RSQRT, NODE_RSQRT, SHAPE_DELTA_H, SAVES_RESULT);
    struct value out = delta_mul(g, x, norm);
    graph_drop(g, norm);
    graph_drop(g, x);
    return out;
}

static struct value delta_pad(struct graph *g, struct value x, shape_id shape)
{
    return delta_unary(g, x, OP_PAD, NODE_VIEW, shape, SAVES_NOTHING);
}

// As many heads of keys as of values: none is repeated, and all lie as the convolution left them,
// where those of one chunk need no copy.
static bool delta_is_even(const struct graph *g)
{
    return g->m->c.linear_num_key_heads == g->m->c.linear_num_value_heads;
}

static struct value delta_repeated(struct graph *g, struct value x)
{
    if (delta_is_even(g))
        return delta_view(g, x, NODE_VIEW, SHAPE_DELTA_Q);
    return delta_unary(g, x, OP_CLONE, NODE_REPEAT, SHAPE_DELTA_Q, SAVES_NOTHING);
}

// Queries and keys for every head of values, all in float32 and by head, up to whole chunks.
static struct delta delta_open(struct graph *g, const struct value part[3], struct value beta,
                               struct value decay)
{
    struct delta d = {.decay = decay};
    struct value q = delta_repeated(g, part[0]), k = delta_repeated(g, part[1]);
    struct value v = delta_view(g, part[2], NODE_VIEW, SHAPE_DELTA_V);
    struct value wide[4] = {
        graph_to(g, q, DT_F32, PART_UPCAST), graph_to(g, k, DT_F32, PART_UPCAST),
        graph_to(g, v, DT_F32, PART_UPCAST), graph_to(g, beta, DT_F32, PART_UPCAST)};
    graph_drop(g, q);
    graph_drop(g, k);
    graph_drop(g, v);
    wide[0] = delta_l2(g, wide[0]);
    wide[1] = delta_l2(g, wide[1]);
    wide[0] = delta_then(g, wide[0], OP_MUL, NODE_SCALE, SHAPE_DELTA_Q, SAVES_NOTHING);
    d.q = delta_pad(g, wide[0], SHAPE_DELTA_QP);
    d.k = delta_pad(g, wide[1], SHAPE_DELTA_QP);
    d.v = delta_pad(g, wide[2], SHAPE_DELTA_VP);
    for (unsigned i = 0; i < 3; i++)
        graph_drop(g, wide[i]);
    d.beta = delta_pad(g, wide[3], SHAPE_DELTA_HP);
    d.decay = delta_pad(g, decay, SHAPE_DELTA_HP);
    graph_drop(g, wide[3]);
    return d;
}

// Seen as chunks: of queries and keys the gradient is a view, of products a copy.
static void delta_chunks(struct graph *g, struct delta *d)
{
    d->v_beta = delta_mul(g, d->v, d->beta);
    d->k_beta = delta_mul(g, d->k, d->beta);
    d->q = layer_view(g, d->q, NODE_TURNED);
    d->k = layer_view(g, d->k, NODE_TURNED);
    d->k_beta = layer_view(g, d->k_beta, NODE_VIEW);
    d->v_beta = layer_view(g, d->v_beta, NODE_VIEW);
}

static struct value delta_cumsum(struct graph *g, struct value x)
{
    struct value out = delta_unary(g, x, OP_CUMSUM, NODE_CUMSUM, SHAPE_DELTA_HP, SAVES_NOTHING);
    tape_unref(g->t, graph_scratch(g, OP_CLONE, ROLE_DELTA, PART_SCRATCH, x.dtype, SHAPE_DELTA_HP));
    return out;
}

// exp(masked differences of the sums of a chunk)
static struct value delta_pairs(struct graph *g, struct value total)
{
    uint32_t ones =
        graph_scratch(g, OP_ONES_LIKE, ROLE_DELTA, PART_MASK, DT_BYTE, SHAPE_DELTA_MASK);
    uint32_t mask = graph_scratch(g, OP_TRIL, ROLE_DELTA, PART_MASK, DT_BYTE, SHAPE_DELTA_MASK);
    tape_unref(g->t, ones);
    struct value off = delta_sub(g, total, total, SHAPE_DELTA_PAIR);
    struct value below = graph_make(g, OP_MASKED_FILL, ROLE_DELTA, PART_SELF, DT_F32, off.shape);
    graph_follow_saving(g, NODE_MASKED_FILL, &below, off, mask);
    graph_drop(g, off);
    tape_unref(g->t, mask);
    return delta_then(g, below, OP_EXP, NODE_EXP, SHAPE_DELTA_PAIR, SAVES_RESULT);
}

// (x @ key') * pairs
static struct value delta_within(struct graph *g, const struct delta *d, struct value x)
{
    struct value by[2] = {delta_chunks_by_head(g, x), delta_chunks_by_head(g, d->k)};
    struct value raw = delta_bmm(g, by[0], by[1], SHAPE_DELTA_PAIR);
    graph_drop(g, by[0]);
    graph_drop(g, by[1]);
    struct value out = delta_mul(g, raw, d->pairs);
    graph_drop(g, raw);
    return out;
}

// x * exp(sums).
static struct value delta_decayed(struct graph *g, struct value x, struct value total)
{
    struct value factor = delta_exp(g, total, SHAPE_DELTA_HP), out = delta_mul(g, x, factor);
    graph_drop(g, factor);
    return out;
}

// key * exp(last sum of a chunk - sums). Uses key up.
static struct value delta_faded(struct graph *g, struct value key, struct value total)
{
    struct value last = delta_view(g, total, NODE_SLICE, SHAPE_DELTA_CHUNKS);
    struct value left = delta_sub(g, last, total, SHAPE_DELTA_HP);
    graph_drop(g, last);
    struct value factor = delta_then(g, left, OP_EXP, NODE_EXP, SHAPE_DELTA_HP, SAVES_RESULT);
    struct value out = delta_mul(g, key, factor);
    graph_drop(g, factor);
    graph_drop(g, key);
    return out;
}

// The scan's operands, what it changes, and variables of the chunk before.
struct delta_scan {
    struct value values, keys, q, k, within, fade;
    struct value core, state, fresh, between;
};

static struct value delta_pick(struct graph *g, struct value x, shape_id shape)
{
    return delta_view(g, x, NODE_SELECT, shape);
}

// Of queries and keys, as a product takes them.
static struct value delta_pick_by_head(struct graph *g, struct value x)
{
    struct value part = delta_pick(g, x, SHAPE_DELTA_QC);
    if (delta_is_even(g))
        return part;
    struct value out = delta_chunks_by_head(g, part);
    graph_drop(g, part);
    return out;
}

// new_values[i] - k_cumdecay[i] @ state
static void delta_correct(struct graph *g, struct delta_scan *s)
{
    struct value mine = delta_pick(g, s->values, SHAPE_DELTA_VC),
                 keys = delta_pick(g, s->keys, SHAPE_DELTA_QC);
    struct value known = delta_bmm(g, keys, s->state, SHAPE_DELTA_VC);
    struct value fresh = delta_sub(g, mine, known, SHAPE_DELTA_VC);
    graph_drop(g, known);
    graph_drop(g, keys);
    graph_drop(g, mine);
    graph_drop(g, s->fresh);
    s->fresh = fresh;
}

static void delta_answer(struct graph *g, struct delta_scan *s)
{
    struct value q = delta_pick_by_head(g, s->q);
    struct value between = delta_bmm(g, q, s->state, SHAPE_DELTA_VC);
    graph_drop(g, q);
    graph_drop(g, s->between);
    s->between = between;
    struct value pairs = delta_pick(g, s->within, SHAPE_DELTA_PC);
    struct value own = delta_bmm(g, pairs, s->fresh, SHAPE_DELTA_VC);
    graph_drop(g, pairs);
    struct value sum = layer_add(g, between, own, ROLE_DELTA);
    graph_drop(g, own);
    s->core = layer_put(g, s->core, sum);
    graph_drop(g, sum);
}

// state * fade[i] + key[i]' @ v_new
static void delta_update(struct graph *g, struct delta_scan *s)
{
    struct value fade = delta_pick(g, s->fade, SHAPE_DELTA_EACH);
    struct value old = delta_mul(g, s->state, fade);
    struct value k = delta_pick_by_head(g, s->k);
    struct value more = delta_bmm(g, k, s->fresh, SHAPE_DELTA_STATE);
    struct value state = layer_add(g, old, more, ROLE_DELTA);
    graph_drop(g, more);
    graph_drop(g, k);
    graph_drop(g, old);
    graph_drop(g, fade);
    graph_drop(g, s->state);
    s->state = state;
}

uint64_t delta_chunk_count(const struct model *m)
{
    return m->features & HAS_DELTA_RULE ? (m->c.seq_len + 63) / 64 : 0;
}

// Chunk after chunk. What is left of it goes with the function.
static struct value delta_scanned(struct graph *g, struct delta *d, struct value values,
                                  struct value keys)
{
    struct delta_scan s = {.values = values, .keys = keys, .within = d->within};
    uint64_t chunks = g->few_turns ? TAPE_TURNS : delta_chunk_count(g->m);
    s.state = graph_make(g, OP_ZEROS, ROLE_DELTA, PART_SELF, DT_F32, SHAPE_DELTA_STATE);
    s.core = graph_make(g, OP_ZEROS, ROLE_DELTA, PART_OUTPUT, DT_F32, SHAPE_DELTA_VP);
    s.fresh = s.between = graph_none();
    s.q = delta_decayed(g, d->q, d->total);
    graph_drop(g, d->q);
    bool grad = g->grad;
    g->grad = grad && chunks > 1;  // of what changes the state
    s.k = delta_faded(g, d->k, d->total);
    struct value last = delta_view(g, d->total, NODE_SELECT, SHAPE_DELTA_CHUNKS);
    s.fade = delta_then(g, last, OP_EXP, NODE_EXP, SHAPE_DELTA_CHUNKS, SAVES_RESULT);
    g->grad = grad;
    for (uint64_t i = 0; i < chunks && graph_ok(g); i++) {
        tape_turn(g->t, g->few_turns ? (uint32_t)i + 1 : 0);
        delta_correct(g, &s);
        delta_answer(g, &s);
        g->grad = grad && i + 1 < chunks;  // the last state is returned to no one
        delta_update(g, &s);
    }
    tape_turn(g->t, 0);
    g->grad = grad;
    graph_drop(g, s.state);
    d->q = s.q;
    d->k = s.k;
    struct value flat = layer_copy(g, s.core);
    graph_drop(g, s.core);
    flat.shape = SHAPE_DELTA_V;
    struct value out = graph_to(g, flat, g->autocast ? g->compute : g->residual, PART_OUTPUT_CAST);
    graph_drop(g, flat);
    graph_drop(g, s.fade);
    graph_drop(g, s.fresh);
    graph_drop(g, s.between);
    return out;
}

struct value delta_rule(struct graph *g, const struct value part[3], struct value beta,
                        struct value decay)
{
    struct delta d = delta_open(g, part, beta, decay);
    delta_chunks(g, &d);
    d.total = delta_cumsum(g, d.decay);
    d.pairs = delta_pairs(g, d.total);
    struct value system = delta_within(g, &d, d.k_beta);
    d.within = delta_within(g, &d, d.q);
    d.decayed = delta_decayed(g, d.k_beta, d.total);
    struct value values = delta_solve(g, system, d.v_beta),
                 keys = delta_solve(g, system, d.decayed);
    struct value out = delta_scanned(g, &d, values, keys);
    const struct value held[] = {values,    keys,    system,  d.q,      d.k,
                                 d.v,       d.beta,  d.decay, d.v_beta, d.k_beta,
                                 d.decayed, d.total, d.pairs, d.within};
    for (unsigned i = 0; i < sizeof held / sizeof *held; i++)
        graph_drop(g, held[i]);
    return out;
}
#endif
