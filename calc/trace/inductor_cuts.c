// Owns where Dynamo cuts a model's graph under DDP: where a bucket of gradients begins. Of what
// comes before a cut and is read behind it, the activation of a gated block alone would not be
// stored else. SRC: pytorch torch/_dynamo/backends/distributed.py (DDPOptimizer.compile_fn), which
// walks the code backward and closes a bucket at 25 MiB, the first one at 1 MiB; traces
// *_trainer_ddp_compiled*.

#include "calc/trace/inductor.h"

#ifndef VRAM_SMALL

#include "calc/trace/compiled.h"

enum { CUTS_FIRST = 1 << 20, CUTS_NEXT = 25 << 20 };

struct cuts {
    int64_t filled, limit;  // bytes
};

// A parameter that its bucket is full with: the next one before it begins another.
static bool cuts_add(const struct inductor *d, struct cuts *c, const struct layout_param *p)
{
    if (!p->trained)
        return false;
    c->filled += (int64_t)inductor_bytes(d, graph_param_dtype(d->g, p), p->shape);
    if (c->filled < c->limit)
        return false;
    *c = (struct cuts){0, CUTS_NEXT};
    return true;
}

// A checkpointed block is one call, which no cut goes through.
void inductor_find_cuts(struct inductor *d)
{
    const struct layout *l = &d->g->layout;
    struct cuts c = {0, CUTS_FIRST};
    if (!compile_is_in_buckets(d->g->m) ||
        !graph_grow(d->g, &d->cuts, &d->cut_cap, d->layers, sizeof *d->cuts))
        return;
    for (unsigned i = 0; i < l->before_count; i++)  // one weight with the head
        if (d->g->m->c.tie_embeddings && l->before[i].number == P_WTE)
            cuts_add(d, &c, &l->before[i]);
    for (unsigned i = l->after_count; i-- > 0;)
        cuts_add(d, &c, &l->after[i]);
    for (uint32_t layer = d->layers; layer-- > 0;) {
        d->cuts[layer] = false;
        for (unsigned i = l->block_count; i-- > 0;) {
            bool begins =
                layout_here(&l->block[i], d->g->m, layer) && cuts_add(d, &c, &l->block[i]);
            d->cuts[layer] |= begins && l->block[i].number == P_UP;
        }
        d->cuts[layer] &= !inductor_checkpoints(d, layer);
    }
}

bool inductor_is_cut(const struct inductor *d, const struct node *n)
{
    bool gates = (d->g->m->features & (HAS_GATE | HAS_FUSED_GATE)) == HAS_GATE;
    return d->cuts && d->layer < d->layers && d->cuts[d->layer] && gates && n->role == ROLE_ACT &&
           n->shape == SHAPE_FF;
}
#endif
