// Owns gradients of norms' parameters, sums over the rows, that are made in the kernel that sums
// along the rows for the norm's input: it has memory of its own for sums of a part of the rows.
// SRC: pytorch torch/_inductor/scheduler.py (MixOrderReduction.can_fuse),
// torch/_inductor/codegen/simd.py (_codegen_mix_order_reduction).

#include "calc/trace/inductor.h"

#ifndef VRAM_SMALL

enum { LEAST_NUMBERS = 5 << 20, LEAST_ROWS = 4096, MOST_COLUMNS = 16384 };

static bool is_large(const struct inductor *d)
{
    uint64_t rows = d->elements[SHAPE_TOKENS_SHARE], columns = d->elements[SHAPE_C];
    return rows >= LEAST_ROWS && columns <= MOST_COLUMNS && rows * columns >= LEAST_NUMBERS;
}

// A norm's weight or bias, not a projection's.
static bool is_of_norm(const struct inductor *d, uint32_t gradient)
{
    const struct inductor_gradient *e = &d->gradients[gradient];
    while (e->first && (e->node == GRAPH_NO_NODE || d->joint.nodes[e->node].kind == NODE_TO_COPY ||
                        d->joint.nodes[e->node].kind == NODE_PASS))
        e = &d->gradients[d->links[e->first].gradient];
    return e->shape == SHAPE_C && e->node != GRAPH_NO_NODE &&
           (d->joint.nodes[e->node].kind == NODE_MUL ||
            d->joint.nodes[e->node].kind == NODE_LAYER_NORM);
}

bool inductor_mixes(struct inductor *d, int32_t parameter, uint32_t gradient)
{
    if (!gradient || d->mixed_count == INDUCTOR_MIXED || !is_large(d) || !is_of_norm(d, gradient))
        return false;
    d->mixed[d->mixed_count++] = (struct inductor_late){parameter, gradient};
    return true;
}

static bool reads_the_same(struct inductor *d, size_t begin, uint32_t gradient)
{
    size_t end = d->use_count;
    bool same = false;
    inductor_look_at(d, gradient);
    for (size_t a = begin; a < end; a++)
        for (size_t b = end; b < d->use_count; b++)
            same |= inductor_used(d->uses[a]) == d->uses[b];
    d->use_count = end;
    return same;
}

void inductor_run_mixed(struct inductor *d, size_t begin)
{
    unsigned left = 0, count = d->mixed_count;
    for (unsigned k = 0; k < count && !d->failed; k++) {
        struct inductor_late l = d->mixed[k];
        if (!reads_the_same(d, begin, l.gradient)) {
            d->mixed[left++] = l;
            continue;
        }
        d->walk++;
        inductor_read_gradient(d, l.gradient, 0);
        uint32_t parts = inductor_gradient_buffer(d, OP_TRITON, d->joint.nodes[l.node].role,
                                                  PART_SCRATCH, DT_F32, SHAPE_NORM_PARTS);
        inductor_use(d, parts | INDUCTOR_MADE);
        inductor_make_parameter(d, &d->joint.nodes[l.node], OP_TRITON);
    }
    d->mixed_count = left;
}
#endif
