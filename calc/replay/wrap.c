// Owns what wrapping a model in FSDP1 does to the caching allocator. Each unit's tensors are moved
// to the card whole, filled by broadcasts of buckets, copied into one flat tensor and divided; the
// segments stay reserved, with holes that fit little else. The first card copies from the host and
// waits for that; the programs of the others run ahead until the queue is full, and what is sent
// comes back when it has arrived.
// SRC: pytorch torch/distributed/fsdp/_init_utils.py (_init_param_handle_from_module),
// _flat_param.py (flatten_tensors, shard, _get_shard), torch/csrc/distributed/c10d/reducer.cpp
// (compute_bucket_assignment_by_size), comm.cpp (broadcast_coalesced); accelerate accelerator.py,
// prepare_model (upcasts); measured: pytorch issue 124260.

#include "calc/replay/wrap.h"

#include "calc/base/size.h"
#include "calc/model/precision.h"
#include "calc/model/scheme.h"
#include "calc/model/units.h"

#define WRAP_BUCKET UINT64_C(262144000)  // PARAM_BROADCAST_BUCKET_SIZE
enum { WRAP_IN_FLIGHT = 2, WRAP_BLOCKS = 1024 };

bool wrap_is_played(const struct player *p, const struct state *s)
{
    const struct vram_config *c = &s->m->c;
    return p->allocator && c->parallel == PARALLEL_FSDP1 && scheme_divides_weights(c) &&
           !s->buffer_bytes && !c->offload_params;
}

// A unit on its way from whole tensors to a part of one.
struct wrap {
    struct player *p;
    const struct state *s;
    int32_t layer;  // -1: what is outside of layers
    bool adapters;  // the units of adapters, else that of the rest
    uint32_t kept;  // the block that stays
    uint32_t blocks[WRAP_BLOCKS], count;
    uint64_t bucket;     // bytes that wait to be sent
    uint32_t in_bucket;  // tensors
    uint32_t sent[WRAP_IN_FLIGHT], sent_count;
    uint64_t whole;  // bytes of all
};

static int wrap_malloc(struct wrap *w, uint64_t bytes, uint32_t *block)
{
    allocator_stream(w->p->allocator, 0);
    return allocator_malloc(w->p->allocator, bytes, block);
}

static int wrap_arrives(struct wrap *w)
{
    uint32_t first = w->sent[0];
    w->sent[0] = w->sent[1];
    w->sent_count--;
    bool ahead = w->s->m->c.fsdp_rank == FSDP_RANK_AUTO;
    return first && ahead ? player_late(w->p, first) : allocator_free(w->p->allocator, first);
}

// A bucket of one tensor is that tensor.
static int wrap_send(struct wrap *w)
{
    uint32_t block = 0;
    int rc = w->sent_count == WRAP_IN_FLIGHT ? wrap_arrives(w) : VRAM_OK;
    if (rc == VRAM_OK && w->in_bucket > 1)
        rc = wrap_malloc(w, w->bucket, &block);
    if (rc == VRAM_OK)
        w->sent[w->sent_count++] = block;
    player_launch(w->p, PLAYER_COLLECTIVE + w->in_bucket);
    w->bucket = w->in_bucket = 0;
    return rc;
}

// What of a parameter is divided; its scales are not.
static uint64_t wrap_part(const struct state_row *r)
{
    return r->stored_count ? r->stored[0].bytes : r->weight;
}

// The bytes of a parameter as it was loaded.
static uint64_t wrap_loaded(const struct state *s, const struct state_row *r)
{
    const struct precision *precision = precision_of(&s->m->c);
    if (!r->whole_gradient)
        return wrap_part(r) * scheme_parts(&s->m->c);
    return precision->weight == DT_F32 && precision->frozen == DT_LOW ? r->whole_gradient / 2
                                                                      : r->whole_gradient;
}

static bool wrap_is_apart(const struct wrap *w, const struct state_row *r)
{
    bool adapter =
        r->param->part == PART_A || r->param->part == PART_B || r->param->part == PART_VECTOR;
    return adapter && units_apart(w->s->m);
}

// Each expert's matrix is a tensor.
static uint64_t wrap_tensors(const struct state *s, const struct state_row *r)
{
    return r->param->shape == SHAPE_W_EXPERTS ? s->m->c.n_expert : 1;
}

static int wrap_move(struct wrap *w, const struct state_row *r)
{
    uint64_t tensors = wrap_tensors(w->s, r), bytes = wrap_loaded(w->s, r) / tensors;
    int rc = VRAM_OK;
    for (uint64_t i = 0; i < tensors && rc == VRAM_OK && w->count < WRAP_BLOCKS; i++)
        rc = wrap_malloc(w, bytes, &w->blocks[w->count++]);
    w->whole += tensors * bytes;
    return rc;
}

static int wrap_fill(struct wrap *w, const struct state_row *r)
{
    uint64_t tensors = wrap_tensors(w->s, r), bytes = wrap_loaded(w->s, r) / tensors;
    int rc = VRAM_OK;
    for (uint64_t i = 0; i < tensors && rc == VRAM_OK; i++) {
        w->bucket += bytes;
        w->in_bucket++;
        if (w->bucket >= WRAP_BUCKET)
            rc = wrap_send(w);
    }
    return rc;
}

// What a step of wrapping does with each tensor of a unit.
typedef int wrap_fn(struct wrap *w, const struct state_row *r);

static int wrap_each_of(struct wrap *w, const struct state_row *rows, unsigned count, wrap_fn *fn)
{
    int rc = VRAM_OK;
    for (unsigned i = 0; i < count && rc == VRAM_OK; i++) {
        bool here = w->layer < 0 || layout_here(rows[i].param, w->s->m, (uint64_t)w->layer);
        if (here && wrap_is_apart(w, &rows[i]) == w->adapters)
            rc = fn(w, &rows[i]);
    }
    return rc;
}

static int wrap_each(struct wrap *w, wrap_fn *fn)
{
    const struct state *s = w->s;
    if (w->layer >= 0)
        return wrap_each_of(w, s->block, s->layout.block_count, fn);
    int rc = wrap_each_of(w, s->before, s->layout.before_count, fn);
    for (uint64_t i = units_are_one(s->m) ? s->m->c.n_layer : 0; i > 0 && rc == VRAM_OK; i--) {
        w->layer = (int32_t)(s->m->c.n_layer - i);
        rc = wrap_each_of(w, s->block, s->layout.block_count, fn);
    }
    w->layer = -1;
    return rc == VRAM_OK ? wrap_each_of(w, s->after, s->layout.after_count, fn) : rc;
}

// Every bucket arrives.
static int wrap_sync(struct wrap *w)
{
    int rc = model_has_trait(w->s->m, TRAIT_SYNCED_MODULES) ? wrap_each(w, wrap_fill) : VRAM_OK;
    if (rc == VRAM_OK && w->in_bucket)
        rc = wrap_send(w);
    while (rc == VRAM_OK && w->sent_count)
        rc = wrap_arrives(w);
    return rc;
}

// From whole tensors to this GPU's part of them in one.
static int wrap_divide(struct wrap *w)
{
    uint32_t flat;
    player_launch(w->p, 2);
    int rc = wrap_malloc(w, w->whole, &flat);
    for (uint32_t i = 0; i < w->count && rc == VRAM_OK; i++)
        rc = allocator_free(w->p->allocator, w->blocks[i]);
    if (scheme_keeps_all(&w->s->m->c)) {
        w->kept = flat;
        return rc;
    }
    if (rc == VRAM_OK)
        rc = wrap_malloc(w, w->whole / scheme_parts(&w->s->m->c), &w->kept);
    return rc == VRAM_OK ? allocator_free(w->p->allocator, flat) : rc;
}

// The scales of a quantized weight, which stay whole.
static int wrap_scales(struct wrap *w, const struct state_row *r)
{
    int rc = VRAM_OK;
    for (unsigned i = 1; i < r->stored_count && rc == VRAM_OK; i++) {
        struct storage stored = {.name = name_of(r->param->role, r->stored[i].part),
                                 .op = OP_PARAM,
                                 .category = VRAM_CAT_PARAM};
        rc = player_forever(w->p, &stored, r->stored[i].bytes, w->layer);
    }
    return rc;
}

static int wrap_tell(struct wrap *w, const struct state_row *r)
{
    struct storage named = {.name = name_of(r->param->role, r->param->part),
                            .op = OP_PARAM,
                            .category = VRAM_CAT_PARAM};
    return player_within(w->p, &named, wrap_part(r), w->layer, w->kept);
}

// An adapter's tensor is a unit, and comes in the format in which it stays.
static int wrap_adapter(struct wrap *w, const struct state_row *r)
{
    uint32_t whole = 0, flat = 0;
    uint64_t bytes = wrap_part(r) * scheme_parts(&w->s->m->c);
    player_launch(w->p, PLAYER_COLLECTIVE + 2);
    int rc = wrap_malloc(w, bytes, &whole);
    if (rc == VRAM_OK)
        rc = wrap_malloc(w, bytes, &flat);
    if (rc == VRAM_OK)
        rc = allocator_free(w->p->allocator, whole);
    if (rc == VRAM_OK)
        rc = wrap_malloc(w, wrap_part(r), &w->kept);
    if (rc == VRAM_OK)
        rc = allocator_free(w->p->allocator, flat);
    return rc == VRAM_OK ? wrap_tell(w, r) : rc;
}

int wrap_unit(struct player *p, const struct state *s, int32_t layer)
{
    struct wrap a = {.p = p, .s = s, .layer = layer, .adapters = true},
                w = {.p = p, .s = s, .layer = layer};
    int rc = wrap_each(&a, wrap_adapter);
    if (rc == VRAM_OK)
        rc = wrap_each(&w, wrap_scales);
    if (rc == VRAM_OK)
        rc = wrap_each(&w, wrap_move);
    if (rc == VRAM_OK)
        rc = wrap_sync(&w);
    if (rc == VRAM_OK)
        rc = wrap_divide(&w);
    p->slots[player_gradient(layer, 0)] = w.kept;
    return rc == VRAM_OK ? wrap_each(&w, wrap_tell) : rc;
}

static int wrap_sum(struct wrap *w, const struct state_row *r)
{
    w->whole += r->whole_gradient ? wrap_part(r) : 0;
    return VRAM_OK;
}

static int wrap_widen_unit(struct player *p, const struct state *s, int32_t layer)
{
    struct wrap w = {.p = p, .s = s, .layer = layer};
    uint32_t *part = &p->slots[player_gradient(layer, 0)];
    int rc = wrap_each(&w, wrap_sum);
    if (rc == VRAM_OK && w.whole)
        rc = wrap_malloc(&w, w.whole, &w.kept);
    if (rc == VRAM_OK && w.whole)
        rc = allocator_free(p->allocator, *part);
    return rc;
}

int wrap_widen(struct player *p, const struct state *s)
{
    const struct precision *precision = precision_of(&s->m->c);
    if (precision->weight == precision->frozen)
        return VRAM_OK;
    int rc = wrap_widen_unit(p, s, -1);
    int32_t layers = units_are_one(s->m) ? 0 : (int32_t)s->m->c.n_layer;
    for (int32_t layer = 0; layer < layers && rc == VRAM_OK; layer++)
        rc = wrap_widen_unit(p, s, layer);
    return rc;
}
