// Owns axolotl's and Unsloth's fused adapters: query, key and value, the output projection, the
// gated feed-forward part as one function each, without PEFT's casts and sums.
// SRC: axolotl src/axolotl/kernels/lora.py (matmul_lora, LoRA_QKV, LoRA_O, LoRA_MLP), quantize.py
// (dequantize), swiglu.py, geglu.py; src/axolotl/monkeypatch/lora_kernels.py (what is replaced);
// unsloth kernels/fast_lora.py (LoRA_QKV, LoRA_W, LoRA_MLP), utils.py (matmul_lora).

#include "calc/trace/layers_lora_fused.h"

#include "calc/model/unsloth.h"
#include "calc/trace/adapter.h"
#include "calc/trace/layers_lora.h"
#include "calc/trace/quantized.h"

// They stay out of the small module, which has no room for them (model_fuses_adapters).
#ifdef VRAM_SMALL
bool lora_fused_has(const struct graph *g, uint16_t weight)
{
    (void)g;
    (void)weight;
    return false;
}

void lora_fused(struct graph *g, uint16_t weight, struct value x,
                struct value out[LORA_FUSED_OUTPUTS])
{
    (void)weight;
    (void)x;
    (void)out;
    g->failed = true;
}

void node_lora_fused(struct graph *g, const struct node *n, uint32_t results[])
{
    (void)n;
    (void)results;
    g->failed = true;
}
#else

enum { WEIGHTS = 3 };

// A function's weights in the order of its arguments, and what each of them gives.
struct fused {
    uint8_t count, weight[WEIGHTS];
    shape_id shape[WEIGHTS];
};

static const struct fused fused_parts[lora_kernels_COUNT] = {
    [LORA_KERNELS_QKV] = {3, {P_Q, P_K, P_V}, {SHAPE_Q, SHAPE_KV, SHAPE_KV}},
    [LORA_KERNELS_O] = {1, {P_O}, {SHAPE_U}},
    [LORA_KERNELS_MLP] = {3, {P_GATE, P_UP, P_DOWN}, {SHAPE_FF, SHAPE_FF, SHAPE_U}},
};

static uint8_t fused_number(uint16_t weight)
{
    return weight == P_Q ? LORA_KERNELS_QKV : weight == P_O ? LORA_KERNELS_O : LORA_KERNELS_MLP;
}

// Unsloth's are of layers without a bias. SRC: unsloth models/llama.py, patch_peft_model.
bool lora_fused_has(const struct graph *g, uint16_t weight)
{
    const struct fused *f = &fused_parts[fused_number(weight)];
    bool biased = weight == P_Q && (g->m->features & HAS_QKV_BIAS);
    bool unsloth = unsloth_patches(&g->m->c) && !g->m->c.lora_dropout && !biased;
    bool all = unsloth || g->m->c.lora_kernels >> fused_number(weight) & 1;
    for (unsigned k = 0; k < f->count; k++)
        all = all && lora_is_adapted(g, false, f->weight[k]);
    return all;
}

// A quantized weight, expanded for one product: the weight first, then scales that are quantized
// themselves.
static uint32_t fused_expand(struct graph *g, uint16_t weight)
{
    const struct layout_param *p = layout_find(&g->layout, true, weight);
    if (!quantized_is(g, weight))
        return TAPE_NONE;
    uint32_t out = graph_scratch(g, OP_DEQUANTIZE, p->role, PART_DEQUANTIZED, DT_LOW, p->shape);
    bool bare = unsloth_patches(&g->m->c) && graph_has(g, TRAIT_UNSLOTH_BARE_SCALES);
    if (g->m->c.quantization == QUANTIZATION_NF4_DOUBLE && !bare)
        tape_unref(g->t, graph_scratch(g, OP_DEQUANTIZE, p->role, PART_SCALES, DT_F32,
                                       quantized_scales(p->shape)));
    return out;
}

// A and B in the format of the products; B goes when A does. TAPE_NONE: they are in it.
static uint32_t fused_pair(struct graph *g, uint16_t weight)
{
    uint32_t pair = TAPE_NONE;
    for (unsigned i = LAYOUT_B; i >= LAYOUT_A; i--) {
        struct value v = graph_param(g, false, (uint16_t)(weight + i));
        graph_drop(g, v);
        if (v.dtype == g->compute)
            continue;
        uint32_t copy = graph_scratch(
            g, OP_TO_COPY, v.role, i == LAYOUT_A ? PART_A_CAST : PART_B_CAST, g->compute, v.shape);
        if (graph_ok(g))
            g->t->storages[copy].with = pair;
        pair = copy;
    }
    return pair;
}

static uint32_t fused_make(struct graph *g, uint8_t role, uint8_t part, shape_id shape)
{
    return graph_scratch(g, OP_MM, role, part, g->compute, shape);
}

// out.addmm_(X @ A, B, alpha=s); before 0.18 out += s * X @ A @ B.
static void fused_path(struct graph *g, uint8_t role, shape_id in_shape, shape_id out_shape)
{
    bool apart = graph_has(g, TRAIT_LORA_SUMS_APART);
    uint32_t scaled = apart ? fused_make(g, role, PART_SCALED, in_shape) : TAPE_NONE;
    uint32_t rank = fused_make(g, role, PART_TEMP, SHAPE_RANK);
    tape_unref(g->t, scaled);
    tape_unref(g->t, apart ? fused_make(g, role, PART_SCALED, out_shape) : TAPE_NONE);
    tape_unref(g->t, rank);
}

// Expanded by Unsloth into the one buffer for all.
static uint32_t fused_expand_once(struct graph *g, uint16_t weight)
{
    return unsloth_has_buffer(g->m) ? TAPE_NONE : fused_expand(g, weight);
}

// A or B in the format of the products. TAPE_NONE: it is in it.
static uint32_t fused_cast(struct graph *g, uint16_t weight, unsigned i)
{
    struct value v = graph_param(g, false, (uint16_t)(weight + i));
    graph_drop(g, v);
    if (v.dtype == g->compute)
        return TAPE_NONE;
    uint8_t part = i == LAYOUT_A ? PART_A_CAST : PART_B_CAST;
    return graph_scratch(g, OP_TO_COPY, v.role, part, g->compute, v.shape);
}

// A product that is added to what is there: by itself, or, before 2025.3, as a tensor.
static void fused_added(struct graph *g, uint8_t role, shape_id shape)
{
    if (!graph_has(g, TRAIT_UNSLOTH_SUMS))
        tape_unref(g->t, fused_make(g, role, PART_SCALED, shape));
}

// Unsloth's matmul_lora, forward: A goes before B comes.
static struct value unsloth_product(struct graph *g, uint16_t weight, shape_id shape)
{
    uint8_t role = layout_find(&g->layout, true, weight)->role;
    uint32_t w = fused_expand_once(g, weight);
    struct value out = graph_make(g, OP_MM, role, PART_OUTPUT, g->compute, shape);
    tape_unref(g->t, w);
    uint32_t a = fused_cast(g, weight, LAYOUT_A);
    uint32_t rank = fused_make(g, role, PART_TEMP, SHAPE_RANK);
    tape_unref(g->t, a);
    uint32_t b = fused_cast(g, weight, LAYOUT_B);
    fused_added(g, role, shape);
    tape_unref(g->t, b);
    tape_unref(g->t, rank);
    return out;
}

// matmul_lora, forward.
static struct value fused_product(struct graph *g, struct value x, uint16_t weight, shape_id shape)
{
    if (unsloth_patches(&g->m->c))
        return unsloth_product(g, weight, shape);
    uint8_t role = layout_find(&g->layout, true, weight)->role;
    uint32_t w = fused_expand(g, weight);
    struct value out = graph_make(g, OP_MM, role, PART_OUTPUT, g->compute, shape);
    tape_unref(g->t, w);
    uint32_t pair = fused_pair(g, weight);
    fused_path(g, role, x.shape, shape);
    tape_unref(g->t, pair);
    return out;
}

// Saves X, X after dropout, gate and up, and axolotl's copies of A and B. Edges: X; X after
// dropout, where there is dropout; A and B of each weight.
static void fused_node(struct graph *g, unsigned number, struct value *out, struct value x,
                       struct value dropped, const struct value product[WEIGHTS])
{
    const struct fused *f = &fused_parts[number];
    uint32_t pair[WEIGHTS];
    for (unsigned k = 0; k < f->count; k++)
        pair[k] = unsloth_patches(&g->m->c) ? TAPE_NONE : fused_pair(g, f->weight[k]);
    int32_t n = graph_node(g, NODE_LORA_FUSED, out, (uint8_t)number);
    graph_save(g, n, x.storage);
    graph_save(g, n, dropped.storage);
    for (unsigned k = 0; k < 2 && number == LORA_KERNELS_MLP; k++)
        graph_save(g, n, product[k].storage);
    graph_edge(g, n, x);
    if (dropped.storage != x.storage)
        graph_edge(g, n, dropped);
    for (unsigned k = 0; k < f->count; k++) {
        graph_save(g, n, pair[k]);
        for (unsigned i = LAYOUT_A; i <= LAYOUT_B && g->grad; i++) {
            struct value v = graph_param(g, false, (uint16_t)(f->weight[k] + i));
            graph_edge(g, n, v);
            graph_drop(g, v);
        }
        tape_unref(g->t, pair[k]);
    }
}

void lora_fused(struct graph *g, uint16_t weight, struct value x,
                struct value out[LORA_FUSED_OUTPUTS])
{
    unsigned number = fused_number(weight);
    const struct fused *f = &fused_parts[number];
    bool gated = number == LORA_KERNELS_MLP;
    struct value dropped = adapter_dropout(g, x), in = graph_copy(g, x), product[WEIGHTS];
    for (unsigned k = 0; k < f->count; k++) {
        if (gated && k == 2) {
            graph_drop(g, in);
            in = graph_make(g, OP_TRITON, ROLE_ACT, PART_OUTPUT, g->compute, SHAPE_FF);
        }
        product[k] = fused_product(g, in, f->weight[k], f->shape[k]);
    }
    struct value *last = &product[gated ? 2 : 0];
    fused_node(g, number, last, x, dropped, product);
    graph_drop(g, in);
    graph_drop(g, dropped);
    out[0] = *last;
    for (unsigned k = 1; k < f->count; k++) {
        out[k] = product[k];
        out[k].node = product[0].node;
        out[k].output = (uint8_t)k;
    }
    for (unsigned k = 0; k < 2 && gated; k++)
        graph_drop(g, product[k]);
}

// ---- backward

static uint32_t fused_wide(struct graph *g, const struct node *n)
{
    return fused_make(g, n->edges[0].role, PART_GRAD, n->edges[0].shape);
}

// dY @ B, which stays; d_A = X' @ (dY @ B), d_B = (A @ X') @ dY.
static uint32_t fused_gradients(struct graph *g, const struct edge e[2], uint32_t results[2])
{
    uint32_t kept = fused_make(g, e->role, PART_TEMP, SHAPE_RANK);
    results[0] = fused_make(g, e->role, PART_A_GRAD, e->shape);
    results[1] = fused_make(g, e->role, PART_B_GRAD, e[1].shape);
    tape_unref(g->t, fused_make(g, e->role, PART_TEMP, SHAPE_RANK));
    return kept;
}

// The gradient of X: weights are expanded one after the other, products added to the first one's
// result, which before 0.18 is written over X. With dropout a second one by the adapters.
static void fused_inputs(struct graph *g, const struct node *n, bool drops, uint32_t results[])
{
    const struct fused *f = &fused_parts[n->extra];
    bool gated = n->extra == LORA_KERNELS_MLP, apart = graph_has(g, TRAIT_LORA_SUMS_APART);
    for (unsigned i = 0; i < (unsigned)(f->count - gated); i++) {
        uint32_t w = fused_expand(g, f->weight[gated ? 1 - i : i]);
        if (i == 0 && apart && n->extra != LORA_KERNELS_O) {
            tape_ref(g->t, n->saved[0]);
            results[0] = n->saved[0];
        } else if (i == 0) {
            results[0] = fused_wide(g, n);
        } else if (gated && apart) {
            tape_unref(g->t, fused_wide(g, n));
        }
        tape_unref(g->t, w);
    }
    uint32_t product = drops && n->extra == LORA_KERNELS_O ? fused_wide(g, n) : TAPE_NONE;
    if (drops)
        results[1] = fused_wide(g, n);
    tape_unref(g->t, product);
}

// Unsloth's gradients of A and B are there before any of their products; up's and gate's stay to
// the end of the function.
static void unsloth_gradients(struct graph *g, const struct node *n, bool gated,
                              uint32_t kept[WEIGHTS], uint32_t results[])
{
    const struct fused *f = &fused_parts[n->extra];
    for (unsigned i = 0; i < f->count; i++) {
        unsigned at = n->edge_count - 2 * (gated ? i + 1 : f->count - i);
        const struct edge *e = &n->edges[at];
        results[at] = fused_make(g, e->role, PART_A_GRAD, e->shape);
        results[at + 1] = fused_make(g, e->role, PART_B_GRAD, e[1].shape);
    }
    for (unsigned i = 0; i < f->count; i++) {
        uint8_t role = n->edges[n->edge_count - 2].role;
        kept[i] = fused_make(g, role, PART_TEMP, SHAPE_RANK);
        if (gated && i == 0) {
            tape_unref(g->t, kept[0]);
            kept[0] = TAPE_NONE;
        }
        tape_unref(g->t, fused_make(g, role, PART_TEMP, SHAPE_RANK));
    }
}

// The gradient of X over X itself, but for that of the output projection.
static void unsloth_inputs(struct graph *g, const struct node *n, bool gated, uint32_t results[])
{
    const struct fused *f = &fused_parts[n->extra];
    const struct edge *e = &n->edges[0];
    for (unsigned i = 0; i < (unsigned)(f->count - gated); i++) {
        uint32_t w = fused_expand(g, f->weight[gated ? 1 - i : i]);
        if (i > 0) {
            fused_added(g, e->role, e->shape);
        } else if (n->extra == LORA_KERNELS_O) {
            results[0] = fused_wide(g, n);
        } else {
            tape_ref(g->t, n->saved[0]);
            results[0] = n->saved[0];
        }
        if (n->extra != LORA_KERNELS_O || i > 0)
            graph_product_over(g);
        tape_unref(g->t, w);
        fused_added(g, e->role, e->shape);
    }
}

static void unsloth_backward(struct graph *g, const struct node *n, uint32_t results[])
{
    const struct fused *f = &fused_parts[n->extra];
    bool gated = n->extra == LORA_KERNELS_MLP;
    uint32_t cast[2 * WEIGHTS], kept[WEIGHTS], hidden = TAPE_NONE;
    for (unsigned i = 0; i < 2u * f->count; i++)
        cast[i] = fused_cast(g, f->weight[i / 2], i % 2 ? LAYOUT_B : LAYOUT_A);
    if (gated) {
        uint32_t w = fused_expand_once(g, P_DOWN);
        hidden = fused_make(g, ROLE_ACT, PART_GRAD, SHAPE_FF);
        tape_unref(g->t, w);
        uint32_t rank = fused_make(g, ROLE_ACT, PART_TEMP, SHAPE_RANK);
        fused_added(g, ROLE_ACT, SHAPE_FF);
        tape_unref(g->t, rank);
    }
    unsloth_gradients(g, n, gated, kept, results);
    if (n->edges[0].to != GRAPH_NO_NODE)
        unsloth_inputs(g, n, gated, results);
    for (unsigned i = 0; i < 2u * f->count; i++)
        tape_unref(g->t, cast[i]);
    tape_unref(g->t, hidden);
    for (unsigned i = 0; i < f->count; i++)
        tape_unref(g->t, kept[i]);
}

// In the gated part the activation's gradients are written over gate and up, and its result over
// its own gradient.
void node_lora_fused(struct graph *g, const struct node *n, uint32_t results[])
{
    if (unsloth_patches(&g->m->c)) {
        unsloth_backward(g, n, results);
        return;
    }
    const struct fused *f = &fused_parts[n->extra];
    bool gated = n->extra == LORA_KERNELS_MLP;
    unsigned first = n->edge_count - 2 * f->count;
    uint32_t kept[WEIGHTS], hidden = TAPE_NONE;
    if (gated) {
        uint32_t w = fused_expand(g, P_DOWN);
        hidden = fused_make(g, ROLE_ACT, PART_GRAD, SHAPE_FF);
        tape_unref(g->t, w);
        fused_path(g, ROLE_ACT, n->shape, SHAPE_FF);
    }
    for (unsigned i = 0; i < f->count; i++) {
        unsigned at = first + 2 * (gated ? f->count - 1 - i : i);
        kept[i] = fused_gradients(g, &n->edges[at], &results[at]);
    }
    if (!gated || n->edges[0].to != GRAPH_NO_NODE)
        fused_inputs(g, n, first > 1, results);
    for (unsigned i = 0; i < f->count; i++)
        tape_unref(g->t, kept[i]);
    tape_unref(g->t, hidden);
    for (unsigned k = 0; k < first; k++) {
        if (n->edges[k].to != GRAPH_NO_NODE)
            continue;
        tape_unref(g->t, results[k]);
        results[k] = TAPE_NONE;
    }
}
#endif
