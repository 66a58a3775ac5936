// Owns rotary positions: their angles, and the forms in which families turn queries and keys.
// SRC: transformers src/transformers/models/llama/modeling_llama.py (LlamaRotaryEmbedding,
// rotate_half, apply_rotary_pos_emb), models/glm4/modeling_glm4.py (the same names).

#include "calc/trace/layers_rotary.h"

#include "calc/model/unsloth.h"
#include "calc/trace/attention.h"
#include "calc/trace/layers_inputs.h"

// cat(-x[half:], x[:half]): the negated half and the result take memory, the halves are views. One
// node stands for those of the two slices, the negation and the concatenation.
static struct value rotate_half(struct graph *g, struct value x, shape_id half)
{
    uint32_t negated = graph_scratch(g, OP_NEG, x.role, PART_ROTATED, x.dtype, half);
    struct value out = graph_make(g, OP_CAT, x.role, PART_ROTATED, x.dtype, x.shape);
    if (graph_needs(g, x))
        graph_edge(g, graph_node(g, NODE_CAT, &out, half), x);
    tape_unref(g->t, negated);
    return out;
}

struct value rotary_turn(struct graph *g, struct value x, struct value cos, struct value sin,
                         shape_id half)
{
    struct value straight = layer_mul(g, x, cos, x.role, PART_SCALED);
    struct value turned = rotate_half(g, x, half);
    struct value crossed = layer_mul(g, turned, sin, x.role, PART_SCALED);
    graph_drop(g, turned);
    struct value out = layer_add(g, straight, crossed, x.role);
    graph_drop(g, straight);
    graph_drop(g, crossed);
    return out;
}

// cat(turned, rest). Uses turned up.
static struct value rotary_join(struct graph *g, struct value turned, struct value rest,
                                shape_id shape)
{
    struct value out = graph_make(g, OP_CAT, rest.role, PART_ROTATED, turned.dtype, shape);
    graph_follow_both(g, NODE_JOIN, &out, turned, rest);
    graph_drop(g, turned);
    return out;
}

// a * cos - b * sin, or a * cos + b * sin
static struct value rotary_mix(struct graph *g, struct value a, struct value b, bool minus)
{
    struct value straight = layer_mul(g, a, g->cos, a.role, PART_SCALED);
    struct value crossed = layer_mul(g, b, g->sin, a.role, PART_SCALED);
    struct value out =
        graph_make(g, minus ? OP_SUB : OP_ADD, a.role, PART_ROTATED, straight.dtype, a.shape);
    if (graph_needs(g, a)) {
        int32_t n = graph_node(g, minus ? NODE_SUB : NODE_ADD, &out, 0);
        graph_edge(g, n, straight);
        graph_edge(g, n, crossed);
    }
    graph_drop(g, straight);
    graph_drop(g, crossed);
    return out;
}

// first, second = chunk(x, 2); cat(first * cos - second * sin, second * cos + first * sin)
static struct value rotary_split(struct graph *g, struct value x, shape_id half)
{
    struct value part[2];
    layer_split2(g, x, half, part);
    struct value first = rotary_mix(g, part[0], part[1], true),
                 second = rotary_mix(g, part[1], part[0], false);
    struct value out = rotary_join(g, first, second, x.shape);
    graph_drop(g, second);
    graph_drop(g, part[0]);
    graph_drop(g, part[1]);
    return out;
}

#ifndef VRAM_SMALL
// Gemma 3 turns layers without a window by angles of their own: since 5.0 of the kinds of layers
// that there are. SRC: transformers models/gemma3/modeling_gemma3.py, Gemma3TextModel.forward
// (position_embeddings; before 5.0 rotary_emb_local).
static bool rope_is_double(const struct graph *g)
{
    const struct vram_config *c = &g->m->c;
    return c->family == FAMILY_GEMMA3 && c->sliding_window_pattern > 1 &&
           (c->transformers < 5000 || c->n_layer >= c->sliding_window_pattern);
}

static bool rotary_is_second(const struct graph *g)
{
    return rope_is_double(g) && (graph_layer(g) + 1) % g->m->c.sliding_window_pattern == 0;
}
#endif

struct value layer_rotary(struct graph *g, struct value x, shape_id half)
{
    if (g->m->features & HAS_SPLIT_ROTARY)
        return rotary_split(g, x, half);
#ifndef VRAM_SMALL
    if (rotary_is_second(g))
        return rotary_turn(g, x, g->global_cos, g->global_sin, half);
#endif
    return rotary_turn(g, x, g->cos, g->sin, half);
}

// x[..., :n] or x[..., n:]
static struct value rotary_slice(struct graph *g, struct value x, shape_id shape)
{
    struct value part = layer_view(g, graph_copy(g, x), NODE_SLICE);
    part.shape = shape;
    return part;
}

// repeat_interleave(2): each layer spreads the first halves of cosines and sines over pairs.
static struct value rotary_spread(struct graph *g, struct value angles)
{
    return g->m->features & HAS_PAIR_ROTARY ? layer_copy(g, angles) : graph_copy(g, angles);
}

void layer_rotary_part(struct graph *g, struct value *q, struct value *k)
{
    struct value cos = rotary_spread(g, g->cos), sin = rotary_spread(g, g->sin);
    struct value q_turns = rotary_slice(g, *q, SHAPE_Q_ROT), q_rest = rotary_slice(g, *q, SHAPE_Q);
    struct value k_turns = rotary_slice(g, *k, SHAPE_KV_ROT),
                 k_rest = rotary_slice(g, *k, SHAPE_KV);
    struct value q_turned = rotary_turn(g, q_turns, cos, sin, SHAPE_Q_HALF);
    bool fused = g->m->features & HAS_SLICED_QKV;  // Phi-3 joins queries before it turns keys
    struct value q_old = *q, k_old = *k;
    if (fused)
        *q = rotary_join(g, q_turned, q_rest, SHAPE_Q);
    struct value k_turned = rotary_turn(g, k_turns, cos, sin, SHAPE_KV_HALF);
    if (!fused)
        *q = rotary_join(g, q_turned, q_rest, SHAPE_Q);
    *k = rotary_join(g, k_turned, k_rest, SHAPE_KV);
    graph_drop(g, q_turns);
    graph_drop(g, k_turns);
    graph_drop(g, q_old);
    graph_drop(g, k_old);
    graph_drop(g, q_rest);
    graph_drop(g, k_rest);
    graph_drop(g, cos);
    graph_drop(g, sin);
}

// rotate_half takes neighbours; ERNIE's takes copies in float32 of what goes into the products.
static struct value rotary_neighbours(struct graph *g, struct value x, const struct value by[2])
{
    uint8_t dtype = g->m->features & HAS_TURNED_COPY ? DT_F32 : x.dtype;
    shape_id half = x.shape == SHAPE_Q ? SHAPE_Q_HALF : SHAPE_KV_HALF;
    struct value wide = graph_to(g, x, dtype, PART_UPCAST);
    struct value straight = layer_mul(g, wide, by[0], x.role, PART_SCALED);
    graph_drop(g, wide);
    struct value turned = rotate_half(g, x, half);
    wide = graph_to(g, turned, dtype, PART_UPCAST);
    graph_drop(g, turned);
    struct value crossed = layer_mul(g, wide, by[1], x.role, PART_SCALED);
    graph_drop(g, wide);
    struct value out = layer_add(g, straight, crossed, x.role);
    graph_drop(g, straight);
    graph_drop(g, crossed);
    return out;
}

// SRC: transformers models/{helium,ernie4_5}/modeling_*.py, apply_rotary_pos_emb.
void layer_rotary_pairs(struct graph *g, struct value *q, struct value *k)
{
    struct value by[2] = {layer_copy(g, g->cos), layer_copy(g, g->sin)};
    struct value *const both[2] = {q, k};
    struct value turned[2], out[2];
    bool back = g->m->features & HAS_TURNED_COPY;
    for (unsigned i = 0; i < 2; i++)
        turned[i] = rotary_neighbours(g, *both[i], by);
    for (unsigned i = 0; i < 2; i++)
        out[i] = graph_to(g, turned[i], back ? both[i]->dtype : turned[i].dtype, PART_OUTPUT_CAST);
    for (unsigned i = 0; i < 2; i++) {
        graph_drop(g, turned[i]);
        graph_drop(g, *both[i]);
        graph_drop(g, by[i]);
        *both[i] = out[i];
    }
}

// cat(a * cos - b * sin, b * cos + a * sin). Uses a and b up.
static struct value rotary_pair(struct graph *g, struct value a, struct value b, shape_id shape)
{
    struct value first = rotary_mix(g, a, b, true), second = rotary_mix(g, b, a, false);
    struct value out = rotary_join(g, first, second, shape);
    graph_drop(g, second);
    graph_drop(g, a);
    graph_drop(g, b);
    return out;
}

void layer_rotary_latent(struct graph *g, struct value *q, struct value *k)
{
    struct value q1 = rotary_slice(g, *q, SHAPE_Q_HALF), q2 = rotary_slice(g, *q, SHAPE_Q_HALF);
    struct value k1 = rotary_slice(g, *k, SHAPE_KV_HALF), k2 = rotary_slice(g, *k, SHAPE_KV_HALF);
    struct value q_new = rotary_pair(g, q1, q2, SHAPE_Q_ROT),
                 k_new = rotary_pair(g, k1, k2, SHAPE_KV_ROT);
    graph_drop(g, *q);
    graph_drop(g, *k);
    *q = q_new;
    *k = k_new;
}

#ifndef VRAM_SMALL
// A part turned, by angles that are spread over neighbours for each, and the rest: what cat joins.
// The caller holds both.
static void rotary_apart(struct graph *g, struct value *x, struct value held[2])
{
    bool query = x->shape == SHAPE_Q;
    shape_id half = query ? SHAPE_Q_HALF : SHAPE_KV_HALF;
    struct value turns = rotary_slice(g, *x, query ? SHAPE_Q_ROT : SHAPE_KV_ROT);
    held[1] = rotary_slice(g, *x, x->shape);
    struct value sin = layer_copy(g, g->sin), cos = layer_copy(g, g->cos);
    held[0] = rotary_turn(g, turns, cos, sin, half);
    graph_drop(g, cos);
    graph_drop(g, sin);
    graph_drop(g, turns);
}

// SRC: transformers models/{gptj,codegen}/modeling_*.py, Attention.forward.
void layer_rotary_apart(struct graph *g, struct value *q, struct value *k, struct value held[4])
{
    struct value *const both[2] = {k, q};
    for (unsigned i = 0; i < 2; i++)
        rotary_apart(g, both[i], held + 2 * i);
    for (unsigned i = 0; i < 2; i++) {
        struct value out =
            rotary_join(g, graph_copy(g, held[2 * i]), held[2 * i + 1], both[i]->shape);
        graph_drop(g, *both[i]);
        *both[i] = out;
    }
}

// SRC: transformers models/cohere/modeling_cohere.py, apply_rotary_pos_emb.
void layer_rotary_wide(struct graph *g, struct value *q, struct value *k)
{
    struct value *const both[2] = {q, k};
    struct value wide[2], turned[2], out[2];
    for (unsigned i = 0; i < 2; i++)
        wide[i] = graph_to(g, *both[i], DT_F32, PART_UPCAST);
    for (unsigned i = 0; i < 2; i++)
        turned[i] = layer_rotary(g, wide[i], i ? SHAPE_KV_HALF : SHAPE_Q_HALF);
    for (unsigned i = 0; i < 2; i++)
        out[i] = graph_to(g, turned[i], both[i]->dtype, PART_OUTPUT_CAST);
    for (unsigned i = 0; i < 2; i++) {
        graph_drop(g, turned[i]);
        graph_drop(g, wide[i]);
        graph_drop(g, *both[i]);
        *both[i] = out[i];
    }
}
#endif

// type_as(xq_ * freqs_cis): the products are of as many numbers of float32 as the parts have.
// Llama 4's are both there before one is taken back. SRC: transformers
// models/{deepseek_v2,llama4}/modeling_*.py, apply_rotary_emb.
void layer_rotary_complex(struct graph *g, struct value *q, struct value *k)
{
    struct value *const both[2] = {q, k};
    struct value old[2] = {*q, *k}, wide[2], product[2];
    bool held = MODEL_IS_WHOLE &&
                framework_goes(&g->m->c, BY_COMPLEX_ANGLES);  // products are variables to the end
    bool late = (g->m->features & HAS_EVERY_TOKEN) || held;
    for (unsigned i = 0; i < 2; i++)
        wide[i] = graph_to(g, old[i], DT_F32, PART_UPCAST);
    for (unsigned i = 0; i < 2; i++) {
        product[i] = layer_mul(g, wide[i], g->cos, wide[i].role, PART_SCALED);
        if (!late)
            *both[i] = graph_to(g, product[i], old[i].dtype, PART_OUTPUT_CAST);
        if (!late)
            graph_drop(g, product[i]);
    }
    for (unsigned i = 0; i < 2; i++) {
        if (late)
            *both[i] = graph_to(g, product[i], old[i].dtype, PART_OUTPUT_CAST);
        if (late && !held)
            graph_drop(g, product[i]);
    }
    for (unsigned i = 0; i < 2; i++) {
        if (held)
            graph_drop(g, product[i]);
        graph_drop(g, wide[i]);
        graph_drop(g, old[i]);
    }
}

// LlamaRotaryEmbedding.forward: angles of the positions in float32, their cosines and sines times a
// factor, in the format of the hidden states.
static struct value rope_half(struct graph *g, enum op op, shape_id shape)
{
    uint32_t plain = graph_scratch(g, op, ROLE_ROTARY, PART_SCRATCH, DT_F32, shape);
    struct value scaled = graph_make(g, OP_MUL, ROLE_ROTARY, PART_SCALED, DT_F32, shape);
    tape_unref(g->t, plain);
    return scaled;
}

// polar(ones, angles) times a factor. SRC: transformers
// models/deepseek_v2/modeling_deepseek_v2.py, DeepseekV2RotaryEmbedding.forward.
static void rope_complex(struct graph *g)
{
    uint32_t positions = graph_scratch(g, OP_TO_COPY, ROLE_ROTARY, PART_UPCAST, DT_F32, SHAPE_T);
    uint32_t angles = graph_scratch(g, OP_MUL, ROLE_ROTARY, PART_SCRATCH, DT_F32, SHAPE_ROPE_HALF);
    tape_unref(g->t, positions);
    uint32_t ones =
        graph_scratch(g, OP_ONES_LIKE, ROLE_ROTARY, PART_SCRATCH, DT_F32, SHAPE_ROPE_HALF);
    uint32_t polar = graph_scratch(g, OP_COS, ROLE_ROTARY, PART_SCRATCH, DT_F32, SHAPE_ROPE);
    tape_unref(g->t, ones);
    g->cos = graph_make(g, OP_MUL, ROLE_ROTARY, PART_SELF, DT_F32, SHAPE_ROPE);
    g->sin = graph_none();
    tape_unref(g->t, polar);
    tape_unref(g->t, angles);
}

#ifndef VRAM_SMALL
// Angles for time, height and width of each sequence, of which each takes its numbers. SRC:
// transformers models/qwen3_5/modeling_qwen3_5.py, Qwen3_5TextRotaryEmbedding.forward.
static void rope_each(struct graph *g)
{
    for (unsigned i = 0; i < 2; i++) {
        struct value wide =
            graph_make(g, i ? OP_SIN : OP_COS, ROLE_ROTARY, PART_SCALED, DT_F32, SHAPE_ROPE_EACH);
        *(i ? &g->sin : &g->cos) = graph_to(g, wide, g->residual, PART_SELF);
        graph_drop(g, wide);
    }
}
#endif

static void rope_transformers(struct graph *g)
{
    uint32_t positions = graph_scratch(g, OP_TO_COPY, ROLE_ROTARY, PART_UPCAST, DT_F32, SHAPE_T);
    uint32_t angles = graph_scratch(g, OP_MUL, ROLE_ROTARY, PART_SCRATCH, DT_F32, SHAPE_ROPE_HALF);
    tape_unref(g->t, positions);
    bool whole = !(g->m->features & HAS_SINKS);  // GPT-OSS has one angle for both halves
    uint32_t both =
        whole ? graph_scratch(g, OP_CAT, ROLE_ROTARY, PART_SCRATCH, DT_F32, SHAPE_ROPE) : TAPE_NONE;
    shape_id shape = whole ? SHAPE_ROPE : SHAPE_ROPE_HALF;
    struct value cos = rope_half(g, OP_COS, shape), sin = rope_half(g, OP_SIN, shape);
    bool wide = (g->m->features & HAS_WIDE_ANGLES) && graph_has(g, TRAIT_LATE_CAST);
    g->cos = graph_to(g, cos, wide ? DT_F32 : g->residual, PART_SELF);
    g->sin = graph_to(g, sin, wide ? DT_F32 : g->residual, PART_SELF);
    tape_unref(g->t, angles);
    tape_unref(g->t, both);
    graph_drop(g, cos);
    graph_drop(g, sin);
}

#ifndef VRAM_SMALL
// Angles of the wider heads.
static void rope_global(struct graph *g)
{
    uint32_t angles =
        graph_scratch(g, OP_MUL, ROLE_ROTARY, PART_SCRATCH, DT_F32, SHAPE_G_ROPE_HALF);
    uint32_t both = graph_scratch(g, OP_CAT, ROLE_ROTARY, PART_SCRATCH, DT_F32, SHAPE_G_ROPE);
    struct value cos = rope_half(g, OP_COS, SHAPE_G_ROPE), sin = rope_half(g, OP_SIN, SHAPE_G_ROPE);
    g->global_cos = graph_to(g, cos, g->residual, PART_SELF);
    g->global_sin = graph_to(g, sin, g->residual, PART_SELF);
    tape_unref(g->t, angles);
    tape_unref(g->t, both);
    graph_drop(g, cos);
    graph_drop(g, sin);
}

void layer_rope_close_global(struct graph *g)
{
    graph_drop(g, g->global_cos);
    graph_drop(g, g->global_sin);
    g->global_cos = g->global_sin = graph_none();
}
#endif

// Angles once a forward pass: in float32, then in the format of the residual stream. Complex ones
// are a table of the model.
void layer_rope_open(struct graph *g)
{
    if (framework_goes(&g->m->c, BY_COMPLEX_ANGLES) || unsloth_patches(&g->m->c)) {
        g->cos = g->sin =
            (struct value){TAPE_NONE, GRAPH_NO_NODE, 0, g->residual, SHAPE_ROPE, ROLE_ROTARY};
        return;
    }
#ifndef VRAM_SMALL
    if ((g->m->features & HAS_DELTA_RULE) && !model_joins_delta(g->m)) {
        rope_each(g);
        return;
    }
#endif
    if (g->m->features & HAS_COMPLEX_ROTARY) {
        rope_complex(g);
        return;
    }
    if (graph_has(g, TRAIT_INNER_MODEL)) {
#ifndef VRAM_SMALL
        if (rope_is_double(g)) {
            rope_transformers(g);
            g->global_cos = g->cos;
            g->global_sin = g->sin;
        }
#endif
        rope_transformers(g);
#ifndef VRAM_SMALL
        if (g->m->features & HAS_GLOBAL_HEADS)
            rope_global(g);
#endif
        return;
    }
    uint32_t angles = graph_scratch(g, OP_CAT, ROLE_ROTARY, PART_SCRATCH, DT_F32, SHAPE_ROPE);
    uint32_t wide = graph_scratch(g, OP_MUL, ROLE_ROTARY, PART_SCRATCH, DT_F32, SHAPE_ROPE);
    g->cos = graph_make(g, OP_TO_COPY, ROLE_ROTARY, PART_SELF, g->residual, SHAPE_ROPE);
    g->sin = graph_make(g, OP_TO_COPY, ROLE_ROTARY, PART_SELF, g->residual, SHAPE_ROPE);
    tape_unref(g->t, wide);
    tape_unref(g->t, angles);
}

void layer_rope_close(struct graph *g)
{
#ifndef VRAM_SMALL
    layer_rope_close_global(g);
    graph_drop(g, g->positions);
    g->positions = graph_none();
    inputs_close(g);
#endif
    graph_drop(g, g->cos);
    graph_drop(g, g->sin);
    g->cos = g->sin = graph_none();
    attention_masks_close(g);
}
