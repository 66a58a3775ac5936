// Owns how DeepSpeed's stages divide gradients that stay on the card: all of them in a row, in the
// order in which they are registered, cut into parts of one size (stages 1 and 2), each cut by
// itself (stage 3). SRC: DeepSpeed runtime/zero/stage_1_and_2.py (get_partition_info,
// copy_grads_in_partition, reduce_independent_p_g_buckets_and_remove_grads), stage3.py
// (__reduce_and_partition_ipg_grads, _create_fp16_sub_groups). Its last part is as long as the
// others, with zeros behind.

#include "calc/model/partition.h"

#ifndef VRAM_SMALL
#include "calc/base/size.h"
#include "calc/model/framework.h"
#include "calc/model/precision.h"
#include "calc/model/scheme.h"

bool partition_sends(const struct model *m)
{
    const struct vram_config *c = &m->c;
    return scheme_is_deepspeed(c) && scheme_divides_state(c) && c->tensor_parallel == 1 &&
           c->pipeline_parallel == 1 && c->task == TASK_TRAIN && !c->eval_only &&
           !c->optimizer_in_backward && precision_of(c)->copies < 2 &&
           !framework_goes(c, BY_NANOTRON);
}

bool partition_is_there(const struct model *m)
{
    const struct vram_config *c = &m->c;
    return partition_sends(m) && scheme_many(c) && !c->offload_optimizer && !c->offload_params;
}

static uint64_t partition_numbers(const struct layout_param *p)
{
    return size_mul(p->rows, p->cols ? p->cols : 1);
}

bool partition_passes_by(const struct model *m, const struct layout_param *p)
{
    return partition_numbers(p) > scheme_bucket(&m->c);
}

// Walks the trained weights, forward.
struct partition_walk {
    const struct model *m;
    struct partition *out;
    uint64_t at;      // numbers before the tensor
    uint64_t filled;  // of the bucket
};

typedef void partition_fn(struct partition_walk *w, const struct layout_param *p);

static void partition_list(struct partition_walk *w, const struct layout_param *list, unsigned n,
                           bool back, partition_fn *fn)
{
    for (unsigned i = 0; i < n; i++) {
        const struct layout_param *p = &list[back ? n - 1 - i : i];
        if (p->trained)
            fn(w, p);
    }
}

static void partition_layer(struct partition_walk *w, const struct layout *l, uint64_t layer,
                            bool back, partition_fn *fn)
{
    for (unsigned i = 0; i < l->block_count; i++) {
        const struct layout_param *p = &l->block[back ? l->block_count - 1u - i : i];
        if (p->trained && layout_here(p, w->m, layer))
            fn(w, p);
    }
}

static void partition_walk(struct partition_walk *w, const struct layout *l, bool back,
                           partition_fn *fn)
{
    uint64_t layers = w->m->c.n_layer;
    w->at = w->filled = 0;
    partition_list(w, back ? l->after : l->before, back ? l->after_count : l->before_count, back,
                   fn);
    for (uint64_t i = 0; i < layers; i++)
        partition_layer(w, l, back ? layers - 1 - i : i, back, fn);
    partition_list(w, back ? l->before : l->after, back ? l->before_count : l->after_count, back,
                   fn);
}

static void partition_count(struct partition_walk *w, const struct layout_param *p)
{
    w->out->part = size_add(w->out->part, partition_numbers(p));
}

static void partition_cut(struct partition_walk *w, const struct layout_param *p)
{
    uint64_t n = partition_numbers(p), part = w->out->part;
    bool whole = w->m->c.parallel == PARALLEL_ZERO3;
    uint64_t left = whole ? (n + w->m->c.n_gpu - 1) / w->m->c.n_gpu : size_min(n, part - w->at);
    if (!whole && w->at >= part)
        return;
    w->at += n;
    w->out->mine = size_add(w->out->mine, n);
    w->out->piece = size_max(w->out->piece, left);
    w->out->pieces++;
}

static void partition_send(struct partition_walk *w)
{
    w->out->flushed = size_max(w->out->flushed, w->filled);
    w->filled = 0;
}

// What does not fit any more sends what is there; what never fits goes by itself.
static void partition_fill(struct partition_walk *w, const struct layout_param *p)
{
    uint64_t n = partition_numbers(p), bucket = scheme_bucket(&w->m->c);
    if (n > bucket || w->filled + n > bucket) {
        w->out->spills |= n <= bucket;
        partition_send(w);
    }
    if (n <= bucket)
        w->filled += n;
}

void partition_make(struct partition *out, const struct model *m, const struct layout *l)
{
    struct partition_walk w = {m, out, 0, 0};
    *out = (struct partition){.part = 0};
    if (!partition_sends(m))
        return;
    partition_walk(&w, l, false, partition_count);
    out->part = (out->part + m->c.n_gpu - 1) / m->c.n_gpu;
    partition_walk(&w, l, false, partition_cut);
    partition_walk(&w, l, true, partition_fill);
    partition_send(&w);
}

// SRC: DeepSpeed runtime/zero/config.py, sub_group_size; stage3.py, step (for sub_group_id).
#define PARTITION_GROUP UINT64_C(1000000000)

uint64_t partition_step(const struct model *m, const struct partition *p)
{
    return m->c.parallel == PARALLEL_ZERO3 ? size_min(p->part, PARTITION_GROUP) : p->part;
}
#endif
