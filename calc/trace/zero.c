// Owns DeepSpeed's bucket of gradients and what is there while one goes to the host.

#include "calc/trace/zero.h"

#include "calc/model/precision.h"
#include "calc/model/scheme.h"

static void zero_moment(struct graph *g, enum op op, const struct storage *s, uint8_t dtype)
{
    tape_unref(g->t, tape_alloc(g->t, op, s->name, VRAM_CAT_GRAD, dtype, s->shape));
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
        g->bucket = tape_alloc(g->t, OP_BUCKET, NAME(PARALLEL, BUCKET), VRAM_CAT_GRAD,
                               precision_of(c)->weight, SHAPE_SENT);
        tape_ahead_end(g->t);
    }
    return c->offload_optimizer && p->rows * (p->cols ? p->cols : 1) <= scheme_bucket(c);
}

// SRC: DeepSpeed runtime/zero/stage_1_and_2.py (process_gradients, reduce_gradients).
bool zero_waits(const struct graph *g)
{
    return g->m->c.parallel == PARALLEL_ZERO1;
}

void zero_close(struct graph *g)
{
    tape_unref(g->t, g->bucket);
    g->bucket = TAPE_NONE;
}
