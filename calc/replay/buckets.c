// Owns the buckets in which gradients are sent. SRC: pytorch
// torch/csrc/distributed/c10d/reducer.cpp (of 1 MiB, then of 25 MiB); DeepSpeed
// runtime/zero/stage_1_and_2.py (setup_buckets, temp_grad_buffer_for_gpu_offload), stage3.py
// (IPGBucketZ3.buffer).

#include "calc/replay/buckets.h"

#include "calc/model/framework.h"
#include "calc/model/precision.h"
#include "calc/model/scheme.h"

enum { BUCKETS_FIRST = 1 << 20, BUCKETS_NEXT = 25 << 20 };

static uint64_t buckets_width(const struct model *m)
{
    return UINT64_C(1) << dtype_shift(precision_of(&m->c)->weight);
}

static bool buckets_are_whole(const struct vram_config *c)
{
    return c->parallel == PARALLEL_DDP;
}

// nanotron's MemoryBuffer: a whole sequence for the column products, another for the row products'
// gradients. SRC: nanotron src/nanotron/parallel/utils.py, tensor_parallel/functional.py
// ("allgather", "allgather2").
enum { BUCKETS_GATHERED = 2 };

static uint64_t buckets_gathered(const struct model *m)
{
    bool gathers =
        framework_goes(&m->c, BY_NANOTRON) && m->c.tensor_parallel > 1 && m->c.sequence_parallel;
    return gathers ? 2 * m->tokens * m->c.n_embd : 0;
}

static uint64_t buckets_gradients(const struct state *s)
{
    const struct vram_config *c = &s->m->c;
    if (scheme_many(c) && buckets_are_whole(c))
        return s->trained_bytes;
    bool stays = c->parallel == PARALLEL_ZERO3 && scheme_divides_weights(c);
    return stays ? scheme_bucket(c) * buckets_width(s->m) : 0;
}

#ifndef VRAM_SMALL
// The parts of the gradients, in one tensor. SRC: DeepSpeed runtime/zero/stage3.py,
// grad_partitions_flat_buffer.
static uint64_t buckets_parts(const struct state *s)
{
    bool there = s->parted && s->m->c.parallel == PARALLEL_ZERO3;
    return there ? s->partition.part * buckets_width(s->m) : 0;
}
#else
#define buckets_parts(s) 0
#endif

// Gradients that micro-steps before have left on the host come back through it, one at a time.
static uint64_t buckets_returning(const struct state *s)
{
    return scheme_offloads_gradients(&s->m->c) && s->m->c.parallel < PARALLEL_ZERO3
               ? s->largest_bytes
               : 0;
}

uint64_t buckets_bytes(const struct state *s)
{
    return buckets_gradients(s) + buckets_parts(s) + buckets_returning(s) + s->resident_bytes +
           BUCKETS_GATHERED * buckets_gathered(s->m);
}

static const struct storage bucket = {
    .name = NAME(PARALLEL, BUCKET), .op = OP_BUCKET, .category = VRAM_CAT_GRAD};

// DDP fills buckets with whole parameters, the last registered first, and closes one when it has
// reached its size.
struct buckets_fill {
    uint64_t bytes, limit;
};

static int buckets_add(struct player *p, struct buckets_fill *f, const struct state_row *r)
{
    f->bytes += r->whole_gradient;
    if (f->bytes < f->limit)
        return VRAM_OK;
    uint64_t bytes = f->bytes;
    *f = (struct buckets_fill){0, BUCKETS_NEXT};
    return player_forever(p, &bucket, bytes, -1);
}

static int buckets_whole(struct player *p, const struct state *s)
{
    struct buckets_fill f = {0, BUCKETS_FIRST};
    int rc = VRAM_OK;
    for (unsigned i = s->layout.after_count; i-- > 0 && rc == VRAM_OK;)
        rc = buckets_add(p, &f, &s->after[i]);
    for (uint64_t layer = 0; layer < s->m->c.n_layer; layer++)
        for (unsigned i = s->layout.block_count; i-- > 0 && rc == VRAM_OK;)
            if (layout_here(s->block[i].param, s->m, layer))
                rc = buckets_add(p, &f, &s->block[i]);
    for (unsigned i = s->layout.before_count; i-- > 0 && rc == VRAM_OK;)
        rc = buckets_add(p, &f, &s->before[i]);
    return rc == VRAM_OK && f.bytes ? player_forever(p, &bucket, f.bytes, -1) : rc;
}

int buckets_build(struct player *p, const struct state *s)
{
    static const struct storage gathered = {
        .name = NAME(RESID2, SCRATCH), .op = OP_ALL_GATHER, .category = VRAM_CAT_ACT};
    static const struct storage resident = {
        .name = NAME(PARALLEL, GATHERED), .op = OP_ALL_GATHER, .category = VRAM_CAT_CAST};
    const uint64_t whole = buckets_gathered(s->m);
    const struct {
        const struct storage *storage;
        uint64_t bytes;
    } stay[] = {{&gathered, whole},
                {&gathered, whole},
                {&bucket, buckets_returning(s)},
                {&resident, s->resident_bytes},
                {&bucket, buckets_are_whole(&s->m->c) ? 0 : buckets_gradients(s)},
#ifndef VRAM_SMALL
                {&bucket, buckets_parts(s)}
#endif
    };
    int rc = VRAM_OK;
    for (unsigned i = 0; i < sizeof stay / sizeof *stay && rc == VRAM_OK; i++)
        if (stay[i].bytes)
            rc = player_forever(p, stay[i].storage, stay[i].bytes, -1);
    bool buckets = buckets_are_whole(&s->m->c) && buckets_gradients(s);
    return rc == VRAM_OK && buckets ? buckets_whole(p, s) : rc;
}
