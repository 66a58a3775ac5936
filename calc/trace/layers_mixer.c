// Owns Phi-3.5-MoE's router: noise on what it gets, two experts chosen by chance one after the
// other, with a gradient of its own. SRC: transformers 5.23
// src/transformers/models/phimoe/modeling_phimoe.py (PhimoeSparseMoeBlock.forward,
// PhimoeTopKRouter.forward, sparsemixer, PhimoeMultiplier); traces phimoe_* of
// tests/calc/truth/frameworks.
#ifndef VRAM_SMALL

#include "calc/trace/layers_mixer.h"

#include "calc/trace/layers.h"
#include "calc/trace/linear.h"

// x *= noise, in place. Uses x up.
static struct value mixer_noise(struct graph *g, struct value x, enum node_kind kind)
{
    struct value out = x;
    uint32_t noise = graph_scratch(g, OP_NEW_EMPTY, ROLE_ROUTER, PART_SCALED, x.dtype, SHAPE_U);
    graph_follow_saving(g, kind, &out, x, noise);
    tape_unref(g->t, noise);
    return out;
}

// Before the experts and once more in the router, there through a view. The caller's x stays.
struct value mixer_input(struct graph *g, struct value x)
{
    struct value out = graph_copy(g, x);
    if (!g->training)
        return out;
    out = mixer_noise(g, out, NODE_NOISE);
    return layer_view(g, mixer_noise(g, out, NODE_NOISE_VIEW), NODE_SLICE);
}

// One of the two choices. factor and best are variables of the function, which the second takes.
struct mixer {
    struct value scores, share;
    uint32_t factor, best, chosen;
};

static uint32_t mixer_scratch(struct graph *g, enum op op, uint8_t dtype, shape_id shape)
{
    return graph_scratch(g, op, ROLE_ROUTER, PART_SCRATCH, dtype, shape);
}

static void mixer_rename(struct graph *g, uint32_t *name, uint32_t storage)
{
    tape_unref(g->t, *name);
    *name = storage;
}

// (max - scores) / max(|scores|, max) > 2 * noise: what is too far below the best.
static uint32_t mixer_far(struct graph *g, struct mixer *m)
{
    uint8_t dtype = m->scores.dtype;
    uint32_t high = mixer_scratch(g, OP_MAX, dtype, SHAPE_TOKENS);
    mixer_rename(g, &m->best, mixer_scratch(g, OP_MAX, DT_I64, SHAPE_TOKENS));
    uint32_t size = mixer_scratch(g, OP_ABS, dtype, SHAPE_ROUTER);
    uint32_t factor = mixer_scratch(g, OP_CLAMP, dtype, SHAPE_ROUTER);
    tape_unref(g->t, size);
    mixer_rename(g, &m->factor, factor);
    uint32_t off = mixer_scratch(g, OP_SUB, dtype, SHAPE_ROUTER),
             share = mixer_scratch(g, OP_DIV, dtype, SHAPE_ROUTER);
    tape_unref(g->t, off);
    uint32_t far = graph_scratch(g, OP_GT, ROLE_ROUTER, PART_MASK, DT_BYTE, SHAPE_ROUTER);
    tape_unref(g->t, share);
    tape_unref(g->t, high);
    return far;
}

// Gumbel sampling; without training the best is taken.
static uint32_t mixer_choose(struct graph *g, const struct mixer *m)
{
    if (!g->training) {
        tape_ref(g->t, m->best);
        return m->best;
    }
    uint8_t dtype = m->scores.dtype;
    uint32_t chance = mixer_scratch(g, OP_NEW_EMPTY, dtype, SHAPE_ROUTER),
             log = mixer_scratch(g, OP_LOG, dtype, SHAPE_ROUTER);
    tape_unref(g->t, chance);
    uint32_t moved = mixer_scratch(g, OP_SUB, dtype, SHAPE_ROUTER);
    tape_unref(g->t, log);
    uint32_t high = mixer_scratch(g, OP_MAX, dtype, SHAPE_TOKENS),
             chosen = graph_scratch(g, OP_MAX, ROLE_ROUTER, PART_MASK, DT_I64, SHAPE_TOKENS);
    tape_unref(g->t, moved);
    tape_unref(g->t, high);
    return chosen;
}

// 1 or a third, by whether the best was chosen and by chance.
static uint32_t mixer_weights(struct graph *g, uint8_t dtype)
{
    uint32_t high = mixer_scratch(g, OP_MAX, dtype, SHAPE_TOKENS),
             best = mixer_scratch(g, OP_MAX, DT_I64, SHAPE_TOKENS),
             same = mixer_scratch(g, OP_EQ, DT_BYTE, SHAPE_TOKENS),
             chance = mixer_scratch(g, OP_NEW_EMPTY, dtype, SHAPE_TOKENS),
             often = mixer_scratch(g, OP_GT, DT_BYTE, SHAPE_TOKENS);
    tape_unref(g->t, chance);
    uint32_t either = mixer_scratch(g, OP_EQ, DT_BYTE, SHAPE_TOKENS);
    tape_unref(g->t, same);
    tape_unref(g->t, often);
    uint32_t wide = mixer_scratch(g, OP_ADD, DT_F32, SHAPE_TOKENS), out = wide;
    if (dtype != DT_F32) {
        out = mixer_scratch(g, OP_TO_COPY, dtype, SHAPE_TOKENS);
        tape_unref(g->t, wide);
    }
    tape_unref(g->t, either);
    tape_unref(g->t, best);
    tape_unref(g->t, high);
    return out;
}

// The share of the chosen expert, whose gradient goes to the scores past the softmax. What that
// was made of is kept by it.
static struct value mixer_share(struct graph *g, const struct mixer *m, uint32_t far,
                                uint32_t gates, uint32_t gathered, uint8_t dtype)
{
    uint32_t by = mixer_weights(g, dtype);
    struct value out = graph_make(g, OP_MUL, ROLE_ROUTER, PART_OUTPUT, dtype, SHAPE_TOKENS);
    if (graph_needs(g, m->scores)) {
        int32_t n = graph_node(g, NODE_MIXER, &out, 0);
        graph_save(g, n, gathered);
        graph_save(g, n, m->chosen);
        graph_save(g, n, gates);
        graph_save(g, n, far);
        graph_edge(g, n, m->scores);
    }
    tape_unref(g->t, by);
    return out;
}

static void mixer_take(struct graph *g, struct mixer *m)
{
    uint8_t dtype = m->scores.dtype, wide = g->autocast ? DT_F32 : dtype;
    uint32_t far = mixer_far(g, m);
    uint32_t masked = mixer_scratch(g, OP_MASKED_FILL, dtype, SHAPE_ROUTER);
    mixer_rename(g, &m->chosen, mixer_choose(g, m));
    uint32_t cast = wide == dtype ? TAPE_NONE : mixer_scratch(g, OP_TO_COPY, wide, SHAPE_ROUTER);
    uint32_t gates = graph_scratch(g, OP_SOFTMAX, ROLE_ROUTER, PART_SOFTMAX, wide, SHAPE_ROUTER);
    tape_unref(g->t, cast);
    tape_unref(g->t, masked);
    uint32_t gathered = graph_scratch(g, OP_GATHER, ROLE_ROUTER, PART_OUTPUT, wide, SHAPE_TOKENS);
    if (g->training) {
        m->share = mixer_share(g, m, far, gates, gathered, wide);
        tape_unref(g->t, gathered);
    } else {
        m->share = graph_none();
        m->share.storage = gathered;
        m->share.dtype = wide & 15;
    }
    tape_unref(g->t, gates);
    tape_unref(g->t, far);
}

struct value mixer_route(struct graph *g, struct value scores, uint32_t *chosen)
{
    struct mixer m = {.scores = scores};
    struct value part[2];
    mixer_take(g, &m);
    part[0] = m.share;
    uint32_t first = m.chosen;
    m.chosen = TAPE_NONE;
    uint32_t rest = mixer_scratch(g, OP_SCATTER, scores.dtype, SHAPE_ROUTER);
    mixer_take(g, &m);
    part[1] = m.share;
    struct value out = graph_make(g, OP_CAT, ROLE_ROUTER, PART_OUTPUT, part[0].dtype, SHAPE_TOPK);
    if (graph_needs(g, part[0])) {
        int32_t n = graph_node(g, NODE_JOIN, &out, 0);
        graph_edge(g, n, part[0]);
        graph_edge(g, n, part[1]);
    }
    graph_drop(g, part[1]);
    *chosen = graph_scratch(g, OP_CAT, ROLE_ROUTER, PART_MASK, DT_I64, SHAPE_TOPK);
    graph_drop(g, part[0]);
    const uint32_t held[] = {rest, first, m.chosen, m.best, m.factor};
    for (unsigned i = 0; i < sizeof held / sizeof *held; i++)
        tape_unref(g->t, held[i]);
    return out;
}

static bool wanted(const struct node *n)
{
    return n->edge_count > 0 && n->edges[0].to != GRAPH_NO_NODE;
}

static uint32_t made(struct graph *g, const struct node *n, enum op op, shape_id shape)
{
    return graph_scratch(g, op, n->role, PART_GRAD, n->dtype, shape);
}

void node_noise(struct graph *g, const struct node *n, uint32_t results[])
{
    if (wanted(n))
        results[0] = made(g, n, OP_MUL, n->shape);
}

// Of a whole's view: the whole gradient is copied, and the view's once more.
void node_noise_view(struct graph *g, const struct node *n, uint32_t results[])
{
    if (!wanted(n))
        return;
    results[0] = made(g, n, OP_NEW_EMPTY, n->shape);
    uint32_t part = made(g, n, OP_CLONE, n->shape), product = made(g, n, OP_MUL, n->shape);
    tape_unref(g->t, part);
    tape_unref(g->t, product);
}

void node_mixer(struct graph *g, const struct node *n, uint32_t results[])
{
    if (!wanted(n))
        return;
    uint32_t by = made(g, n, OP_MUL, n->shape), minus = made(g, n, OP_MUL, n->shape);
    results[0] = made(g, n, OP_MUL, n->edges[0].shape);
    tape_unref(g->t, minus);
    tape_unref(g->t, by);
}
#endif
