// Owns attention over a sequence that GPUs share (context_parallel): this GPU's queries meet the
// keys and values of all of them in turns, the results are merged in float32. The figure is of the
// second GPU: in its first turn with another's keys all of its queries take part, in the others
// half of them, and it holds more than the first and the last. SRC: pytorch
// torch/distributed/tensor/experimental/_context_parallel/_attention.py, _templated_ring_attention,
// _templated_ring_attention_backward, _SDPAMerger; traces llama_cp*, qwen3_cp* of
// tests/calc/truth/frameworks.

#include "calc/trace/attention_ring.h"

#include "calc/trace/attention.h"
#include "calc/trace/layers.h"

#ifndef VRAM_SMALL
bool attention_is_ring(const struct graph *g)
{
    bool here = graph_has(g, TRAIT_INNER_MODEL) || !g->m->c.compile;
    return g->m->c.context_parallel > 1 && here;
}

// From the third on each turn is like the one before it: these hold all that is ever there.
static unsigned ring_turns(const struct graph *g)
{
    enum { RING_TURNS = 4 };
    return g->m->c.context_parallel < RING_TURNS ? (unsigned)g->m->c.context_parallel : RING_TURNS;
}

// Whether all queries meet half of another GPU's keys, or half of them all of its keys.
static bool ring_is_whole(unsigned turn)
{
    return turn <= 1;
}

static uint32_t ring_make(struct graph *g, enum op op, uint8_t dtype, shape_id shape)
{
    return graph_scratch(g, op, ROLE_ATTENTION, PART_SCRATCH, dtype, shape);
}

static void ring_go(struct graph *g, uint32_t *storage)
{
    tape_unref(g->t, *storage);
    *storage = TAPE_NONE;
}

static void ring_rebind(struct graph *g, uint32_t *variable, uint32_t with)
{
    tape_unref(g->t, *variable);
    *variable = with;
}

static shape_id ring_pair(shape_id keys)
{
    return keys == SHAPE_KV ? SHAPE_KV2 : SHAPE_Q2;
}

// Keys and values of this GPU, as they are sent, and those of all.
struct ring_keys {
    uint32_t own[2], sent, all;
    shape_id shape;
};

static struct ring_keys ring_gather(struct graph *g, shape_id keys)
{
    struct ring_keys k = {.shape = keys};
    for (unsigned i = 0; i < 2; i++)
        k.own[i] = ring_make(g, OP_CLONE, DT_LOW, keys);
    k.sent = ring_make(g, OP_CAT, DT_LOW, ring_pair(keys));
    k.all = ring_make(g, OP_ALL_GATHER, DT_LOW, keys == SHAPE_KV ? SHAPE_RING_KV : SHAPE_RING_Q2);
    return k;
}

static void ring_own_go(struct graph *g, struct ring_keys *k)
{
    ring_go(g, &k->own[0]);
    ring_go(g, &k->own[1]);
}

// ---- forward -----------------------------------------------------------------------------------

// What a kernel returned: its result, in low precision, and the sums of its rows.
struct ring_part {
    uint32_t out, lse, random[2];
};

static struct ring_part ring_kernel(struct graph *g, bool whole, shape_id queries)
{
    struct ring_part p;
    p.out = ring_make(g, OP_NEW_EMPTY, whole ? DT_LOW : DT_LOW_HALF, queries);
    p.lse = graph_scratch(g, OP_NEW_EMPTY, ROLE_ATTENTION, PART_LSE, whole ? DT_F32 : DT_F32_HALF,
                          SHAPE_LSE);
    attention_random(g, p.random);
    return p;
}

static void ring_random_go(struct graph *g, struct ring_part *p)
{
    ring_go(g, &p->random[1]);
    ring_go(g, &p->random[0]);
}

static void ring_part_goes(struct graph *g, struct ring_part *p)
{
    ring_go(g, &p->out);
    ring_go(g, &p->lse);
    ring_random_go(g, p);
}

// The results so far, in float32, and what is still there: the keys of all, the last turn.
struct ring_sums {
    uint32_t out, lse, keys;
    struct ring_part last;
};

// op(a, b), in place of b's variable.
static uint32_t ring_next(struct graph *g, enum op op, uint8_t dtype, shape_id shape, uint32_t gone)
{
    uint32_t out = ring_make(g, op, dtype, shape);
    tape_unref(g->t, gone);
    return out;
}

// out - sigmoid(block_lse - lse) * (out - block_out), lse - logsigmoid(lse - block_lse); of half of
// the queries the results are joined with those of the others.
static void ring_merge(struct graph *g, struct ring_sums *s, bool whole, shape_id queries)
{
    uint8_t f32 = whole ? DT_F32 : DT_F32_HALF;
    uint32_t block = ring_make(g, OP_TO_COPY, f32, queries);
    uint32_t difference = ring_make(g, OP_SUB, f32, SHAPE_LSE);
    uint32_t share = ring_next(g, OP_SIGMOID, f32, SHAPE_LSE, difference);
    uint32_t change = ring_make(g, OP_SUB, f32, queries);
    uint32_t scaled = ring_make(g, OP_MUL, f32, queries);
    tape_unref(g->t, share);
    tape_unref(g->t, change);
    uint32_t out = ring_next(g, OP_SUB, f32, queries, scaled);
    difference = ring_make(g, OP_SUB, f32, SHAPE_LSE);
    uint32_t lse =
        ring_next(g, OP_SUB, f32, SHAPE_LSE, ring_next(g, OP_SIGMOID, f32, SHAPE_LSE, difference));
    if (whole) {
        ring_rebind(g, &s->lse, lse);
        ring_rebind(g, &s->out, out);
    } else {
        ring_rebind(g, &s->lse, ring_make(g, OP_CAT, DT_F32, SHAPE_LSE));
        ring_rebind(g, &s->out, ring_make(g, OP_CAT, DT_F32, queries));
        tape_unref(g->t, lse);
        tape_unref(g->t, out);
    }
    tape_unref(g->t, block);
}

static void ring_save(struct graph *g, struct value *out, const struct value in[3], uint32_t lse,
                      const struct ring_part *first)
{
    bool joined = !ring_is_whole(ring_turns(g) - 1);
    int32_t n = graph_node(g, NODE_RING, out, joined ? ATTENTION_HEADS_FIRST : 0);
    for (unsigned k = 0; k < 3; k++)
        graph_save(g, n, in[k].storage);
    graph_save(g, n, out->storage);
    graph_save(g, n, lse);
    for (unsigned k = 0; k < 2; k++)
        if (first->random[k] != TAPE_NONE)
            graph_save(g, n, first->random[k]);
    for (unsigned k = 0; k < 3; k++)
        graph_edge(g, n, in[k]);
}

// attn_output.transpose(1, 2).contiguous(): what was joined is contiguous by head.
static struct value ring_turned(struct graph *g, struct value out)
{
    if (ring_is_whole(ring_turns(g) - 1))
        return out;
    struct value copy = layer_copy(g, out);
    graph_drop(g, out);
    return copy;
}

// All turns: the sums of them, and what the first one leaves for backward.
static struct ring_sums ring_run(struct graph *g, struct value q, struct value k,
                                 struct ring_part *first)
{
    unsigned turns = ring_turns(g);
    struct ring_keys keys = ring_gather(g, k.shape);
    struct ring_part part = *first = ring_kernel(g, true, q.shape);
    struct ring_sums sums = {.lse = first->lse};
    sums.out = ring_make(g, OP_TO_COPY, DT_F32, q.shape);
    ring_go(g, &keys.sent);
    for (unsigned i = 1; i < turns; i++) {
        if (i + 1 < turns)
            tape_unref(g->t, ring_make(g, OP_CAT, DT_LOW, ring_pair(k.shape)));
        ring_own_go(g, &keys);
        struct ring_part next = ring_kernel(g, ring_is_whole(i), q.shape);
        if (i == 1)
            ring_go(g, &first->out);
        else
            ring_part_goes(g, &part);
        part = next;
        ring_merge(g, &sums, ring_is_whole(i), q.shape);
    }
    sums.last = part;
    sums.keys = keys.all;
    return sums;
}

static struct value ring_result(struct graph *g, struct value q)
{
    return graph_make(g, OP_TO_COPY, ROLE_ATTENTION, PART_OUTPUT, q.dtype, q.shape);
}

static void ring_follow(struct graph *g, struct value *out, const struct value in[3], uint32_t lse,
                        const struct ring_part *first)
{
    if (graph_needs(g, in[0]) || graph_needs(g, in[1]) || graph_needs(g, in[2]))
        ring_save(g, out, in, lse, first);
}

// A policy of operations sees the ring as one, whose results it keeps: the second run has them.
static struct value ring_chosen(struct graph *g, const struct value in[3])
{
    int32_t choosing = g->choosing;
    struct ring_part first = {TAPE_NONE, TAPE_NONE, {TAPE_NONE, TAPE_NONE}};
    struct ring_sums sums = {.out = TAPE_NONE, .lse = TAPE_NONE, .keys = TAPE_NONE, .last = first};
    g->choosing = GRAPH_NO_FRAME;
    if (!g->recompute)
        sums = ring_run(g, in[0], in[1], &first);
    g->choosing = choosing;
    struct value out = ring_result(g, in[0]);
    ring_go(g, &sums.out);
    ring_go(g, &sums.keys);
    ring_part_goes(g, &sums.last);
    ring_go(g, &sums.lse);
    uint32_t lse = graph_scratch(g, OP_SUB, ROLE_ATTENTION, PART_LSE, DT_F32, SHAPE_LSE);
    ring_follow(g, &out, in, lse, &first);
    ring_go(g, &lse);
    ring_random_go(g, &first);
    return ring_turned(g, out);
}

struct value layer_attention_ring(struct graph *g, struct value q, struct value k, struct value v)
{
    const struct value in[3] = {q, k, v};
    struct ring_part first;
    if (g->choosing != GRAPH_NO_FRAME)
        return ring_chosen(g, in);
    struct ring_sums sums = ring_run(g, q, k, &first);
    struct value out = ring_result(g, q);
    ring_go(g, &sums.out);
    ring_go(g, &sums.keys);
    ring_part_goes(g, &sums.last);
    ring_follow(g, &out, in, sums.lse, &first);
    ring_go(g, &sums.lse);
    ring_random_go(g, &first);
    return ring_turned(g, out);
}

// ---- backward ----------------------------------------------------------------------------------

// Variables of the function: the gradient of queries, of keys and values in the tensors that hold
// them, what a kernel returned, half of the sums, and what goes around.
struct ring_back {
    uint32_t queries, held[2], made[3], lse, joined, received;
};

// A kernel, whose results take the place of those before. Grouped keys and values are written for
// every head first.
static void ring_kernel_back(struct graph *g, const struct node *n, struct ring_back *b,
                             unsigned turn)
{
    bool whole = ring_is_whole(turn), half_keys = turn == 1;
    uint8_t low = whole ? DT_LOW : DT_LOW_HALF, f32 = whole ? DT_F32 : DT_F32_HALF;
    shape_id keys = n->edges[1].shape;
    uint8_t key_dtype = half_keys ? DT_LOW_HALF : DT_LOW;
    bool grouped = keys == SHAPE_KV && g->m->c.n_kv_head != g->m->c.n_head;
    uint32_t copy =
        n->extra & ATTENTION_HEADS_FIRST ? ring_make(g, OP_CLONE, low, n->shape) : TAPE_NONE;
    uint32_t made[3] = {ring_make(g, OP_NEW_EMPTY, low, n->shape), TAPE_NONE, TAPE_NONE};
    for (unsigned k = 1; k < 3; k++)
        made[k] = ring_make(g, OP_NEW_EMPTY, key_dtype, keys);
    uint32_t rows = ring_make(g, OP_NEW_EMPTY, f32, SHAPE_LSE128);
    uint32_t sum = ring_make(g, OP_NEW_EMPTY, f32, SHAPE_DQ_ACC);
    uint32_t wide[2] = {TAPE_NONE, TAPE_NONE};
    for (unsigned k = 0; k < 2 && grouped; k++)
        wide[k] = ring_make(g, OP_NEW_EMPTY, key_dtype, SHAPE_Q);
    tape_unref(g->t, wide[1]);
    tape_unref(g->t, wide[0]);
    tape_unref(g->t, sum);
    tape_unref(g->t, rows);
    tape_unref(g->t, copy);
    for (unsigned k = 0; k < 3; k++)
        ring_rebind(g, &b->made[k], made[k]);
}

// The gradients of keys and values become one tensor, which goes to the next GPU.
static void ring_send(struct graph *g, struct ring_back *b, shape_id keys, bool flat)
{
    uint32_t copies[2] = {TAPE_NONE, TAPE_NONE};
    for (unsigned k = 0; k < 2 && !flat; k++)
        copies[k] = ring_make(g, OP_CLONE, DT_F32, keys);
    b->joined = ring_make(g, OP_CAT, DT_F32, ring_pair(keys));
    tape_unref(g->t, copies[1]);
    tape_unref(g->t, copies[0]);
    ring_rebind(g, &b->received, ring_make(g, OP_RECEIVE, DT_F32, ring_pair(keys)));
}

// What came is added to: in place, or, of half of the keys, joined once more.
static void ring_add(struct graph *g, struct ring_back *b, shape_id keys, unsigned turn)
{
    ring_go(g, &b->joined);
    for (unsigned k = 0; k < 2; k++)
        ring_go(g, &b->held[k]);
    if (turn == 1) {
        for (unsigned k = 0; k < 2; k++)
            b->held[k] = ring_make(g, OP_CAT, DT_F32, keys);
    } else {
        tape_ref(g->t, b->received);
        b->held[0] = b->received;
    }
    ring_send(g, b, keys, true);
}

static struct ring_back ring_begin_back(struct graph *g, const struct node *n)
{
    struct ring_back b = {.made = {TAPE_NONE, TAPE_NONE, TAPE_NONE},
                          .lse = TAPE_NONE,
                          .joined = TAPE_NONE,
                          .received = TAPE_NONE};
    b.queries = ring_make(g, OP_ZEROS, DT_F32, n->shape);
    for (unsigned k = 0; k < 2; k++)
        b.held[k] = ring_make(g, OP_ZEROS, DT_F32, n->edges[1].shape);
    return b;
}

static void ring_turn_back(struct graph *g, const struct node *n, struct ring_back *b,
                           struct ring_keys *keys, unsigned turn)
{
    if (turn + 1 < ring_turns(g))
        ring_rebind(g, &keys->sent, ring_make(g, OP_CAT, DT_LOW, ring_pair(keys->shape)));
    if (!ring_is_whole(turn))
        ring_rebind(g, &b->lse, ring_make(g, OP_CLONE, DT_F32_HALF, SHAPE_LSE));
    ring_own_go(g, keys);
    ring_kernel_back(g, n, b, turn);
    ring_add(g, b, keys->shape, turn);
    if (!ring_is_whole(turn))
        ring_rebind(g, &b->queries, ring_make(g, OP_CAT, DT_F32, n->shape));
}

// Keys' and values' gradients are views of one tensor.
static void ring_results(struct graph *g, const struct node *n, struct ring_back *b,
                         uint32_t results[])
{
    const struct edge *q = &n->edges[0], *k = &n->edges[1];
    results[0] = graph_scratch(g, OP_TO_COPY, q->role, PART_GRAD, q->dtype, q->shape);
    ring_go(g, &b->queries);
    results[1] = graph_scratch(g, OP_TO_COPY, k->role, PART_GRAD, k->dtype, ring_pair(k->shape));
    tape_ref(g->t, results[1]);
    results[2] = results[1];
    for (unsigned i = 0; i < 3; i++)
        if (n->edges[i].to == GRAPH_NO_NODE)
            ring_go(g, &results[i]);
}

void node_sdpa_ring(struct graph *g, const struct node *n, uint32_t results[])
{
    struct ring_back b = ring_begin_back(g, n);
    struct ring_keys keys = ring_gather(g, n->edges[1].shape);
    ring_kernel_back(g, n, &b, 0);
    ring_send(g, &b, keys.shape, false);
    for (unsigned turn = 1; turn < ring_turns(g); turn++)
        ring_turn_back(g, n, &b, &keys, turn);
    ring_results(g, n, &b, results);
    ring_go(g, &b.joined);
    for (unsigned k = 0; k < 2; k++)
        ring_go(g, &b.held[k]);
    ring_go(g, &keys.sent);
    for (unsigned k = 0; k < 3; k++)
        ring_go(g, &b.made[k]);
    ring_go(g, &b.received);
    ring_go(g, &keys.all);
    ring_go(g, &b.lse);
}
#endif
