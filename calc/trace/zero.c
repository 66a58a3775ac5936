// Owns DeepSpeed's bucket of gradients and what is there while one goes to the host.

#include "calc/trace/zero.h"

#include "calc/model/layout.h"
#include "calc/model/precision.h"
#include "calc/model/scheme.h"
#include "calc/trace/gather.h"

static void zero_moment(struct graph *g, enum op op, const struct storage *s, uint8_t dtype)
{
    uint32_t made = tape_alloc(g->t, op, s->name, VRAM_CAT_GRAD, dtype, s->shape);
#ifndef VRAM_SMALL
    gather_on(g, made, STREAM_REDUCE);
#endif
    tape_unref(g->t, made);
}

// The norm is taken in float64, then the gradient is cast to float32, when a bucket is full; here
// at once. ZeRO-3 copies its share before. SRC: DeepSpeed runtime/zero/stage_1_and_2.py
// (set_norm_for_param_grad_in_gpu), stage3.py (partition_grads,
// _offload_grad_partition_at_boundary); traces llama_zero1_offload, llama_zero2_offload.
void zero_to_host(struct graph *g, const struct storage *gradient)
{
    struct storage s = *gradient;
    uint32_t back = TAPE_NONE;
    if (g->gathered)
        back = tape_alloc(g->t, OP_TO_COPY, s.name, VRAM_CAT_GRAD, DT_LOW_SHARE, s.shape);
    zero_moment(g, OP_NORM, &s, DT_NORM);
    zero_moment(g, OP_TO_COPY, &s, DT_F32_SHARE);
    tape_unref(g->t, back);
}

// With overlap_comm there are two, of which one is filled while the other is sent.
static uint32_t zero_buckets(struct graph *g)
{
    uint8_t dtype = precision_of(&g->m->c)->weight;
    uint32_t first =
        tape_alloc(g->t, OP_BUCKET, NAME(PARALLEL, BUCKET), VRAM_CAT_GRAD, dtype, SHAPE_SENT);
#ifndef VRAM_SMALL
    if (g->m->c.overlap_comm && graph_ok(g)) {
        uint32_t second =
            tape_alloc(g->t, OP_BUCKET, NAME(PARALLEL, BUCKET), VRAM_CAT_GRAD, dtype, SHAPE_SENT);
        if (graph_ok(g))
            g->t->storages[first].with = second;
    }
#endif
    return first;
}

// The bucket of ZeRO-1 and ZeRO-2 is there from a pass's first gradient on. SRC: DeepSpeed
// runtime/zero/stage_1_and_2.py (setup_buckets, reduce_independent_p_g_buckets_and_remove_grads).
bool zero_bucket(struct graph *g, const struct node *n)
{
    const struct vram_config *c = &g->m->c;
    const struct layout_param *p = layout_find(&g->layout, n->unit >= 0, n->param);
    if (!scheme_divides_state(c) || c->parallel >= PARALLEL_ZERO3 || g->summed)
        return false;
    if (g->bucket == TAPE_NONE) {
        tape_ahead(g->t, TAPE_GLOBAL, 0);
        g->bucket = zero_buckets(g);
        tape_ahead_end(g->t);
    }
    return c->offload_optimizer && p->rows * (p->cols ? p->cols : 1) <= scheme_bucket(c);
}

// SRC: DeepSpeed runtime/zero/stage_1_and_2.py (process_gradients, reduce_gradients).
bool zero_waits(const struct graph *g)
{
#ifndef VRAM_SMALL
    if (g->m->c.overlap_comm)
        return false;
#endif
    return g->m->c.parallel == PARALLEL_ZERO1;
}

#ifndef VRAM_SMALL
static const struct layout_param *zero_param(const struct graph *g, const struct node *n)
{
    return layout_find(&g->layout, n->unit >= 0, n->param);
}

// The first that is registered is the last to have a gradient.
static const struct layout_param *zero_last(const struct graph *g)
{
    const struct layout *l = &g->layout;
    return l->before_count && l->before[0].trained ? &l->before[0] : NULL;
}

static bool zero_passes_by(const struct graph *g, const struct layout_param *p)
{
    return p && partition_passes_by(g->m, p);
}

// What is sent together is made one tensor. SRC: DeepSpeed runtime/zero/stage_1_and_2.py
// (allreduce_bucket: flatten), runtime/comm/coalesced_collectives.py (reduce_scatter_coalesced).
static void zero_flush(struct graph *g)
{
    shape_id shape = g->gathered ? SHAPE_SENT : SHAPE_FLUSHED;
    uint32_t sent = tape_alloc(g->t, OP_CAT, NAME(PARALLEL, BUCKET), VRAM_CAT_GRAD,
                               precision_of(&g->m->c)->weight, shape);
    tape_unref(g->t, gather_on(g, sent, STREAM_REDUCE));
}

// A bucket is full every few layers, here in each: where these are run again they are alike but for
// their inputs. Without that the first layers to run backward have given back more than a bucket
// by then, and it is left out.
static bool zero_layers_send(const struct graph *g)
{
    return g->partition.spills && checkpointing_is_of_all(&g->m->c);
}

// Of a layer the largest gradient stands for the one that finds the bucket full.
static bool zero_is_largest(const struct graph *g, const struct layout_param *p)
{
    const struct layout_param *largest = NULL;
    for (unsigned i = 0; i < g->layout.block_count; i++) {
        const struct layout_param *q = &g->layout.block[i];
        if (q->trained && (!largest || q->rows * q->cols > largest->rows * largest->cols))
            largest = q;
    }
    return p == largest;
}

// The gradients of what this GPU updates, whole tensors, are copied out of the bucket with the
// first of them. SRC: DeepSpeed runtime/zero/stage_1_and_2.py, copy_grads_in_partition; of the
// first GPU, whose weights come last.
static void zero_keep(struct graph *g)
{
    struct node all = {.unit = TAPE_GLOBAL, .param = P_ROOT_FLAT};
    uint32_t mine = tape_alloc(g->t, OP_BUCKET, NAME(PARALLEL, BUCKET), VRAM_CAT_GRAD,
                               precision_of(&g->m->c)->weight, SHAPE_PARTITION);
    g->part_made = true;
    if (g->has_gradients)
        tape_unref(g->t, mine);
    else if (graph_ok(g))
        tape_leave(g->t, mine, TAPE_GLOBAL, graph_gradient_slot(&all));
}

void zero_send(struct graph *g, const struct node *n, uint32_t gradient)
{
    const struct layout_param *p = zero_param(g, n);
    bool apart = zero_passes_by(g, p), last = n->unit < 0 && p == zero_last(g);
    if (last ? apart : n->unit >= 0 && zero_layers_send(g) && zero_is_largest(g, p))
        zero_flush(g);
    if (apart)
        zero_moment(g, OP_CAT, &g->t->storages[gradient], precision_of(&g->m->c)->weight);
    else
        tape_unref(g->t, gradient);
    if (last && !apart)
        zero_flush(g);
    if (last)
        zero_keep(g);
    if (apart)
        tape_unref(g->t, gradient);
}

void zero_unit_sends(struct graph *g, bool before)
{
    bool ends = g->t->unit < 0, apart = zero_passes_by(g, zero_last(g));
    if (!g->partition.part || !g->t->backward || !graph_ok(g))
        return;
    if (ends ? before == apart : !before && zero_layers_send(g))
        zero_flush(g);
}

static void zero_drop(struct graph *g, struct param *params, unsigned count)
{
    for (unsigned i = 0; i < count && graph_ok(g); i++) {
        tape_unref(g->t, params[i].held);
        params[i].held = TAPE_NONE;
    }
}

// Stage 1 sends all gradients after the pass, in the order in which they are registered.
static void zero_send_all(struct graph *g)
{
    const struct layout_param *first = zero_last(g);
    struct param *p = first ? &g->params[first->number] : NULL;
    bool apart = p && p->held != TAPE_NONE && zero_passes_by(g, first);
    if (apart)
        zero_moment(g, OP_CAT, &g->t->storages[p->held], precision_of(&g->m->c)->weight);
    else if (p)
        zero_drop(g, p, 1);
    zero_keep(g);
    for (uint32_t layer = 0; layer < graph_layers(g); layer++) {
        graph_enter(g, layer);
        zero_drop(g, graph_block_params(g), LAYOUT_BLOCK_NUMBERS);
    }
    graph_leave(g);
    zero_drop(g, g->params, LAYOUT_GLOBAL_NUMBERS);
}

// Once a pass, where the first weight is not trained.
static void zero_send_rest(struct graph *g)
{
    if (g->part_made)
        return;
    zero_flush(g);
    zero_keep(g);
}

static void zero_close_parts(struct graph *g)
{
    if (!g->parted || g->gathered || !g->t->backward || !graph_ok(g))
        return;
    if (!zero_waits(g))
        zero_send_rest(g);
    else if (g->divided)
        zero_send_all(g);
}
#endif

void zero_close(struct graph *g)
{
#ifndef VRAM_SMALL
    zero_close_parts(g);
#endif
    tape_unref(g->t, g->bucket);
    g->bucket = TAPE_NONE;
}
