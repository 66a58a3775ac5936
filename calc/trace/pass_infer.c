// Owns the passes of a generation: the prompt at once, then one token at a time with the keys and
// values of all before.
//
// The cache grows as in transformers' DynamicCache: each step makes a longer tensor and drops the
// old one, layer by layer. What precedes the full length needs less; what it leaves behind is
// played where a card's room is known (schedule.c). SRC: transformers
// src/transformers/cache_utils.py (DynamicLayer.update), generation/utils.py (_sample: the last
// position's logits in float32; before 4.45 the model returns the whole prompt's).

#include "calc/trace/pass_infer.h"

#include "calc/trace/cache.h"
#include "calc/trace/forward.h"
#include "calc/trace/linear.h"
#include "calc/trace/loss_transformers.h"
#include "calc/trace/quantized.h"

// Heads of a group share keys and values; the kernel wants one for each.
static void decode_attention(struct graph *g)
{
    uint32_t wide[2] = {TAPE_NONE, TAPE_NONE};
    bool bytes = cache_dtype(g, g->compute) == DT_BYTE;
    for (unsigned i = 0; i < 2 && (bytes || g->m->c.n_kv_head != g->m->c.n_head); i++)
        wide[i] = graph_scratch(g, OP_CLONE, i ? ROLE_V : ROLE_K, PART_COPY, g->compute,
                                SHAPE_CACHE_HEADS);
    tape_unref(g->t, graph_scratch(g, OP_NEW_EMPTY, ROLE_ATTENTION, PART_OUTPUT, g->compute,
                                   SHAPE_LAST_U));
    tape_unref(g->t, wide[0]);
    tape_unref(g->t, wide[1]);
}

#ifndef VRAM_SMALL
// All latents become keys and values in each step. SRC: transformers 5.23
// models/deepseek_v3/modeling_deepseek_v3.py, DeepseekV3Attention.expand_kv.
static void decode_latent(struct graph *g)
{
    uint32_t wide = graph_scratch(g, OP_MM, ROLE_KV_B, PART_OUTPUT, g->compute, SHAPE_CACHE_WIDE);
    uint32_t keys =
        graph_scratch(g, OP_NEW_EMPTY, ROLE_K, PART_COPY, g->compute, SHAPE_CACHE_HEADS);
    tape_unref(g->t, graph_scratch(g, OP_NEW_EMPTY, ROLE_ATTENTION, PART_OUTPUT, g->compute,
                                   SHAPE_LAST_VALUES));
    tape_unref(g->t, keys);
    tape_unref(g->t, wide);
}
#endif

// Calls fn at each layer.
static void infer_layers(struct graph *g, bool first, void (*fn)(struct graph *g, bool first))
{
    for (uint32_t layer = 0; layer < graph_layers(g) && graph_ok(g); layer++) {
        graph_enter(g, layer);
        fn(g, first);
    }
    graph_leave(g);
}

static void decode_layer(struct graph *g, bool first)
{
    uint32_t heads = graph_scratch(g, OP_MM, ROLE_Q, PART_OUTPUT, g->compute, SHAPE_LAST_U);
    cache_grow(g, false, first);
    cache_grow(g, true, first);
#ifndef VRAM_SMALL
    if (g->m->features & HAS_LATENT)
        decode_latent(g);
    else
#endif
        decode_attention(g);
    tape_unref(g->t, heads);
    tape_unref(g->t, graph_scratch(g, OP_MM, ROLE_UP, PART_OUTPUT, g->compute, SHAPE_LAST_FF));
}

static void decode_forget(struct graph *g, bool first)
{
    cache_forget(g, false, first);
    cache_forget(g, true, first);
}

static void second_layer(struct graph *g, bool first)
{
    (void)first;
    cache_double(g, false);
    cache_double(g, true);
}

static void second_forget(struct graph *g, bool first)
{
    (void)first;
    cache_halve(g, false);
    cache_halve(g, true);
}

// Logits of the last position, in float32 for the choice of the next token.
static void infer_choose(struct graph *g)
{
    quantized_head_once(g);
    uint32_t logits = graph_scratch(g, OP_MM, ROLE_LOGITS, PART_SELF, g->compute, SHAPE_LAST_V);
    uint32_t wide = graph_scratch(g, OP_TO_COPY, ROLE_LOGITS, PART_UPCAST, DT_F32, SHAPE_LAST_V);
    tape_unref(g->t, logits);
    tape_unref(g->t, wide);
}

// Under autocast the head's copy stays beside those of the layers to the end of the pass.
static void infer_cast_head(struct graph *g)
{
    uint16_t head = layer_head_weight(g);
    struct value w = graph_param(g, true, head), cast = graph_weight_cast(g, true, head, w);
    graph_drop(g, cast);
    graph_drop(g, w);
}

// Where cards share the layers, what the last one returns goes to the one that had the input. SRC:
// accelerate hooks.py, AlignDevicesHook.post_forward (io_same_device), big_modeling.py,
// dispatch_model.
static struct value infer_brought(struct graph *g, struct value logits)
{
    if (!MODEL_IS_WHOLE || g->m->first == g->m->last)
        return logits;
    graph_drop(g, logits);
    uint8_t dtype = graph_has(g, TRAIT_FLOAT_LOGITS) ? DT_F32 : g->compute;
    return g->m->first ? graph_make(g, OP_TO_COPY, ROLE_LOGITS, PART_COPY, dtype, SHAPE_NV)
                       : graph_none();
}

static void infer_prompt(struct graph *g)
{
    uint32_t ids = graph_scratch(g, OP_X, ROLE_BATCH, PART_SELF, DT_I64, SHAPE_TOKENS);
    g->caches = true;
    struct value normed = forward_hidden(g, ids);
    g->caches = false;
    struct value logits = graph_none();
    if (MODEL_IS_WHOLE && g->autocast && g->m->last)
        infer_cast_head(g);
    if (g->m->last && graph_has(g, TRAIT_WHOLE_LOGITS))
        logits = loss_logits(g, normed);  // to the end of the next step, under the loop's name
    else if (g->m->last)
        infer_choose(g);
    graph_drop(g, normed);
    if (graph_has(g, TRAIT_WHOLE_LOGITS))
        logits = infer_brought(g, logits);
    tape_unref(g->t, ids);
    graph_autocast_exit(g);
    if (graph_has(g, TRAIT_CACHE_TWICE) && g->m->c.max_new_tokens > 1) {
        infer_layers(g, true, second_layer);
        infer_layers(g, true, second_forget);
    }
    graph_drop(g, logits);
}

static void infer_token(struct graph *g, bool first)
{
    uint32_t x = graph_scratch(g, OP_EMBEDDING, ROLE_EMBED, PART_SELF, g->residual, SHAPE_LAST_U);
    infer_layers(g, first, decode_layer);
    if (graph_has(g, TRAIT_CACHE_TWICE))
        infer_layers(g, first, decode_forget);
    if (g->m->last)
        infer_choose(g);
    tape_unref(g->t, x);
}

void pass_infer(struct graph *g, enum pass_kind kind)
{
    g->grad = g->training = false;
    if (kind == PASS_PROMPT)
        infer_prompt(g);
    else
        infer_token(g, kind == PASS_FIRST_TOKEN);
}
