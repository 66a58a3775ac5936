// Owns the cache of keys and values: filled by the prompt, made longer by each step.
// SRC: transformers src/transformers/cache_utils.py (DynamicLayer.update).

#include "calc/trace/cache.h"

// Two slots for keys and two for values in each layer, used in turn. There are no gradients that
// need them.
static uint16_t cache_slot(const struct graph *g, uint16_t number, unsigned turn)
{
    return (uint16_t)(g->t->sub * LAYOUT_BLOCK_NUMBERS + number + turn);
}

uint8_t cache_dtype(const struct graph *g, uint8_t dtype)
{
    return g->m->c.kv_dtype == KV_DTYPE_INT8 ? DT_BYTE : dtype;
}

// What the prompt leaves behind is freed by the name of what takes its place.
static uint16_t cache_name(uint8_t part)
{
    return name_of(part == PART_VALUES ? ROLE_V : ROLE_K, part);
}

// One of the two after the prompt: the tensor itself, or a copy of one byte a number.
static void cache_fill(struct graph *g, struct value x, uint16_t number, uint8_t part)
{
    uint32_t kept = x.storage;
    if (!graph_ok(g))
        return;
    if (cache_dtype(g, x.dtype) != x.dtype)
        kept = graph_scratch(g, OP_KV_CACHE, x.role, part, DT_BYTE,
                             MODEL_IS_WHOLE ? x.shape : SHAPE_KV);
    else
        tape_ref(g->t, kept);
    if (!graph_ok(g))
        return;
    struct storage *s = &g->t->storages[kept];
    s->category = VRAM_CAT_CACHE;
    s->name = cache_name(part);
    tape_keep(g->t, kept, g->t->unit, cache_slot(g, number, 0));
}

// Checkpointing of transformers' own takes the cache away, and a DynamicCache would be filled twice
// by that of a wrapper.
void cache_open(struct graph *g)
{
    bool dynamic = (g->m->features & HAS_ROTARY) && g->m->c.family != FAMILY_GPT_NEOX;
    g->returns_cache = g->m->c.use_cache && g->training &&
                       !(dynamic && graph_has(g, TRAIT_CACHE_UNMADE)) &&
                       (!g->m->c.checkpointing || graph_has(g, TRAIT_CACHE_OF_TUPLES));
}

#ifndef VRAM_SMALL
void cache_open_reference(struct graph *g)
{
    if (g->training)
        cache_open(g);  // the policy itself
    else
        g->returns_cache = g->m->c.use_cache;
}
#endif

bool cache_copies(const struct graph *g)
{
    return graph_returns_cache(g) && graph_has(g, TRAIT_CACHE_COPIES);
}

// torch.cat((empty, x), dim=-2): the empty one has the format of the keys. SRC: transformers
// cache_utils.py, DynamicLayer.lazy_initialization, update.
static struct value cache_joined(struct graph *g, struct value x, uint8_t dtype, uint8_t part)
{
    struct value out = graph_make(g, OP_CAT, x.role, part, dtype, x.shape);
    graph_follow(g, NODE_PASS, &out, x);
    return out;
}

// What the model returns goes with its logits.
static void cache_return(struct graph *g, struct value x, uint16_t number)
{
    if (g->m->c.keep_logits == KEEP_LOGITS_YES)
        graph_outlive(g, false, number, x.storage);
    else
        graph_keep(g, x.storage, g->t->unit, g->t->sub);
}

static void cache_update(struct graph *g, struct value *k, struct value *v)
{
    if (g->recompute)
        return;
    if (cache_copies(g)) {
        struct value keys = cache_joined(g, *k, k->dtype, PART_KEYS);
        struct value values = cache_joined(g, *v, k->dtype, PART_VALUES);
        graph_drop(g, *k);
        graph_drop(g, *v);
        *k = keys;
        *v = values;
    }
    cache_return(g, *k, P_KEYS);
    cache_return(g, *v, P_VALUES);
}

void cache_keep(struct graph *g, struct value *k, struct value *v)
{
    if (graph_returns_cache(g))
        cache_update(g, k, v);
    if (!g->caches)
        return;
    cache_fill(g, *k, P_K, PART_KEYS);
    if (v->storage != k->storage ||
        cache_dtype(g, v->dtype) != v->dtype)  // views of one projection keep it whole
        cache_fill(g, *v, P_V, PART_VALUES);
}

// Which tensors the prompt left behind, so that the first step drops these.
struct cache_old {
    shape_id shape;
    uint8_t dtype, part;
    uint16_t number;
    bool is_there;
};

static struct cache_old cache_first(const struct graph *g, bool values)
{
    bool fused = g->m->features & HAS_FUSED_QKV, rotary = g->m->features & HAS_ROTARY;
    bool bytes = cache_dtype(g, g->compute) == DT_BYTE;
    struct cache_old old = {SHAPE_KV, cache_dtype(g, g->compute), values ? PART_VALUES : PART_KEYS,
                            values ? P_V : P_K, true};
#ifndef VRAM_SMALL
    if (g->m->features & HAS_LATENT)
        old.shape = values ? SHAPE_KV_ROT : SHAPE_KV_CORE;
#endif
    if (g->m->features & HAS_RETURNED_SHARES)
        return old;  // keys and values are copied out of the projection
    if (fused && !bytes && (values || !rotary))
        old.shape = SHAPE_QKV;
    old.is_there = bytes || !fused || rotary || !values;
    return old;
}

static uint32_t cache_existing(struct graph *g, const struct cache_old *old, shape_id shape,
                               unsigned turn)
{
    return tape_existing(g->t, cache_name(old->part), VRAM_CAT_CACHE, old->dtype, shape,
                         HOME_PERSIST, cache_slot(g, old->number, turn));
}

static void cache_make(struct graph *g, const struct cache_old *old, shape_id shape, unsigned turn)
{
    uint8_t role = old->part == PART_VALUES ? ROLE_V : ROLE_K;
    uint32_t grown = graph_scratch(g, OP_CAT, role, old->part, old->dtype, shape);
    if (!graph_ok(g))
        return;
    g->t->storages[grown].category = VRAM_CAT_CACHE;
    tape_keep(g->t, grown, g->t->unit, cache_slot(g, old->number, turn));
}

// Of all positions: latents and a rotated key for all heads, or keys and values of each.
static shape_id cache_whole(const struct graph *g, bool values)
{
#ifndef VRAM_SMALL
    if (g->m->features & HAS_LATENT)
        return values ? SHAPE_CACHE_TURNED : SHAPE_CACHE_CORE;
#endif
    (void)g;
    (void)values;
    return SHAPE_CACHE;
}

static uint32_t cache_before(struct graph *g, const struct cache_old *old, bool first)
{
    shape_id whole = cache_whole(g, MODEL_IS_WHOLE && old->part == PART_VALUES);
    return cache_existing(g, old, first ? old->shape : whole, first ? 0 : 1);
}

// cat((old, new), dim=-2)
void cache_grow(struct graph *g, bool values, bool first)
{
    struct cache_old old = cache_first(g, values);
    uint32_t before = cache_before(g, &old, first);
    cache_make(g, &old, cache_whole(g, values), first ? 1 : 0);
    if ((old.is_there || !first) && !graph_has(g, TRAIT_CACHE_TWICE))
        tape_unref(g->t, before);
}

void cache_forget(struct graph *g, bool values, bool first)
{
    struct cache_old old = cache_first(g, values);
    if (old.is_there || !first)
        tape_unref(g->t, cache_before(g, &old, first));
}

void cache_double(struct graph *g, bool values)
{
    struct cache_old old = cache_first(g, values);
    cache_make(g, &old, SHAPE_KV, 1);
}

void cache_halve(struct graph *g, bool values)
{
    struct cache_old old = cache_first(g, values);
    tape_unref(g->t, cache_existing(g, &old, SHAPE_KV, 1));
}
