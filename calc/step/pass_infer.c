// Owns the passes of a generation: the prompt at once, then one token at a time with the keys and values of all before.
//
// The cache grows as in transformers' DynamicCache: each step makes a longer tensor and drops the old one, layer by
// layer. Only two of these steps are played, both at the full length: what precedes them needs less.
// SRC: transformers src/transformers/cache_utils.py (DynamicLayer.update), generation/utils.py (_sample: the last
// position's logits in float32).

#include "calc/step/layers.h"
#include "calc/step/pass.h"

// Two slots for keys and two for values in each layer, used in turn. There are no gradients that need them.
static uint16_t cache_slot(const struct graph *g, uint16_t number, unsigned turn)
{
    return (uint16_t)(g->t->sub * LAYOUT_BLOCK_NUMBERS + number + turn);
}

static uint8_t cache_dtype(const struct graph *g, uint8_t dtype)
{
    return g->m->c.kv_dtype == KV_DTYPE_INT8 ? DT_BYTE : dtype;
}

// One of the two after the prompt: the tensor itself, or a copy of one byte a number.
static void cache_fill(struct graph *g, struct value x, uint16_t number, uint8_t part)
{
    uint32_t kept = x.storage;
    if (!graph_ok(g))
        return;
    if (cache_dtype(g, x.dtype) != x.dtype)
        kept = graph_scratch(g, OP_KV_CACHE, x.role, part, DT_BYTE, SHAPE_KV);
    else
        tape_ref(g->t, kept);
    if (!graph_ok(g))
        return;
    g->t->storages[kept].category = VRAM_CAT_CACHE;
    tape_keep(g->t, kept, g->t->unit, cache_slot(g, number, 0));
}

void cache_keep(struct graph *g, struct value k, struct value v)
{
    if (!g->caches)
        return;
    cache_fill(g, k, P_K, PART_KEYS);
    if (v.storage != k.storage || cache_dtype(g, v.dtype) != v.dtype)  // views of one projection keep it whole
        cache_fill(g, v, P_V, PART_VALUES);
}

// Which tensors the prompt left behind, so that the first step drops these.
struct cache_old {
    uint8_t shape, dtype, part;
    uint16_t number;
    bool is_there;
};

static struct cache_old cache_first(const struct graph *g, bool values)
{
    bool fused = g->m->features & HAS_FUSED_QKV, rotary = g->m->features & HAS_ROTARY;
    bool bytes = cache_dtype(g, g->compute) == DT_BYTE;
    struct cache_old old = {SHAPE_KV, cache_dtype(g, g->compute), values ? PART_VALUES : PART_KEYS, values ? P_V : P_K, true};
    if (fused && !bytes && (values || !rotary))
        old.shape = SHAPE_QKV;
    old.is_there = bytes || !fused || rotary || !values;
    return old;
}

// cat((old, new), dim=-2)
static void cache_grow(struct graph *g, bool values, bool first)
{
    struct cache_old old = cache_first(g, values);
    unsigned turn = first ? 0 : 1;
    uint8_t role = values ? ROLE_V : ROLE_K;
    if (!first)
        old.shape = SHAPE_CACHE;
    uint32_t before = tape_existing(g->t, name_of(role, old.part), VRAM_CAT_CACHE, old.dtype, old.shape, HOME_PERSIST,
                                    cache_slot(g, old.number, turn));
    uint32_t grown = graph_scratch(g, OP_CAT, role, old.part, old.dtype, SHAPE_CACHE);
    if (!graph_ok(g))
        return;
    g->t->storages[grown].category = VRAM_CAT_CACHE;
    if (old.is_there || !first)
        tape_unref(g->t, before);
    tape_keep(g->t, grown, g->t->unit, cache_slot(g, old.number, 1 - turn));
}

// Heads of a group share keys and values; the kernel wants one for each.
static void decode_attention(struct graph *g)
{
    uint32_t wide[2] = {TAPE_NONE, TAPE_NONE};
    bool bytes = cache_dtype(g, g->compute) == DT_BYTE;
    for (unsigned i = 0; i < 2 && (bytes || g->m->c.n_kv_head != g->m->c.n_head); i++)
        wide[i] = graph_scratch(g, OP_CLONE, i ? ROLE_V : ROLE_K, PART_COPY, g->compute, SHAPE_CACHE_HEADS);
    tape_unref(g->t, graph_scratch(g, OP_NEW_EMPTY, ROLE_ATTENTION, PART_OUTPUT, g->compute, SHAPE_LAST_U));
    tape_unref(g->t, wide[0]);
    tape_unref(g->t, wide[1]);
}

static void decode_layers(struct graph *g, bool first)
{
    for (uint32_t layer = 0; layer < g->units * g->period && graph_ok(g); layer++) {
        g->t->unit = (int32_t)(layer / g->period);
        g->t->sub = (uint8_t)(layer % g->period);
        uint32_t heads = graph_scratch(g, OP_MM, ROLE_Q, PART_OUTPUT, g->compute, SHAPE_LAST_U);
        cache_grow(g, false, first);
        cache_grow(g, true, first);
        decode_attention(g);
        tape_unref(g->t, heads);
        tape_unref(g->t, graph_scratch(g, OP_MM, ROLE_UP, PART_OUTPUT, g->compute, SHAPE_LAST_FF));
    }
    g->t->unit = TAPE_GLOBAL;
    g->t->sub = 0;
}

// Logits of the last position, in float32 for the choice of the next token.
static void infer_choose(struct graph *g)
{
    uint32_t logits = graph_scratch(g, OP_MM, ROLE_LOGITS, PART_SELF, g->compute, SHAPE_LAST_V);
    uint32_t wide = graph_scratch(g, OP_TO_COPY, ROLE_LOGITS, PART_UPCAST, DT_F32, SHAPE_LAST_V);
    tape_unref(g->t, logits);
    tape_unref(g->t, wide);
}

static void infer_prompt(struct graph *g)
{
    uint32_t ids = graph_scratch(g, OP_X, ROLE_BATCH, PART_SELF, DT_I64, SHAPE_TOKENS);
    g->caches = true;
    struct value normed = pass_hidden(g, ids);
    g->caches = false;
    infer_choose(g);
    graph_drop(g, normed);
    tape_unref(g->t, ids);
}

static void infer_token(struct graph *g, bool first)
{
    uint32_t x = graph_scratch(g, OP_EMBEDDING, ROLE_EMBED, PART_SELF, g->residual, SHAPE_LAST_U);
    decode_layers(g, first);
    infer_choose(g);
    tape_unref(g->t, x);
}

void pass_infer(struct graph *g, const struct pass *p)
{
    g->grad = g->training = false;
    if (p->kind == PASS_PROMPT)
        infer_prompt(g);
    else
        infer_token(g, p->kind == PASS_FIRST_TOKEN);
}
