// Owns DoRA: it multiplies the adapters out against a unit matrix to know each output's length,
// with the frozen weight, expanded where it is quantized, in the input's format; all of it are
// variables of its forward function until it returns. SRC: peft src/peft/tuners/lora/dora.py
// (DoraLinearLayer), variants.py.

#include "calc/trace/layers_dora.h"

#include "calc/trace/adapter.h"
#include "calc/trace/layers.h"
#include "calc/trace/quantized.h"

static shape_id dora_eye_shape(shape_id adapter_shape)
{
    return adapter_shape == SHAPE_A_FF  ? SHAPE_EYE_FF
           : adapter_shape == SHAPE_A_Q ? SHAPE_EYE_Q
                                        : SHAPE_EYE_C;
}

// The variables that live as long as the function.
struct dora {
    struct value eye, low, product, weight, norm, ratio;
};

static uint8_t dora_wider(struct value a, struct value b)
{
    return a.dtype == DT_F32 || b.dtype == DT_F32 ? DT_F32 : a.dtype;
}

// A product that is detached before anything asks for its gradient: its input, as autocast has it,
// takes the place of x, and lives as long as its variables.
static struct value dora_half(struct graph *g, struct value *x, bool global, uint16_t number,
                              shape_id out_shape)
{
    struct value w = graph_param(g, global, number);
    struct value w_cast = graph_weight_cast(g, global, number, w);
    struct value in = graph_input_cast(g, *x, w.role, PART_INPUT_CAST);
    struct value out = graph_make(g, OP_MM, w.role, PART_SCRATCH, in.dtype, out_shape);
    graph_drop(g, *x);
    *x = in;
    graph_drop(g, w_cast);
    graph_drop(g, w);
    return out;
}

static struct value dora_weight(struct graph *g, struct value w, struct value x, bool global,
                                uint16_t weight)
{
    struct value whole = MODEL_IS_WHOLE && !global && quantized_by_bitsandbytes(g, weight)
                             ? quantized_whole(g, weight)
                             : graph_copy(g, w);
    struct value fit = graph_to(g, whole, x.dtype, PART_DEQUANTIZED);
    graph_drop(g, whole);
    return fit;
}

// The unit matrix and its way through A go with their function, unless a graph has saved them.
static void dora_forget(struct graph *g, struct dora *d)
{
    if (g->grad && g->packing == GRAPH_NO_FRAME)
        return;
    graph_drop(g, d->low);
    graph_drop(g, d->eye);
    d->low = d->eye = graph_none();
}

// B(A(eye)) and the weight in the input's format, their sum's length, magnitude / length.
static void dora_lengths(struct graph *g, struct dora *d, struct value x, bool global,
                         uint16_t weight)
{
    struct value a = graph_param(g, global, (uint16_t)(weight + LAYOUT_A));
    struct value m = graph_param(g, global, (uint16_t)(weight + LAYOUT_VECTOR));
    struct value w = graph_param(g, global, weight);
    d->eye = graph_make(g, OP_EYE, w.role, PART_SCRATCH, a.dtype, dora_eye_shape(a.shape));
    d->low = dora_half(g, &d->eye, global, (uint16_t)(weight + LAYOUT_A), a.shape);
    d->product = dora_half(g, &d->low, global, (uint16_t)(weight + LAYOUT_B), w.shape);
    dora_forget(g, d);
    struct value product = d->product;
    d->product = graph_to(g, product, x.dtype, PART_SCRATCH);
    graph_drop(g, product);
    d->weight = dora_weight(g, w, x, global, weight);
    struct value scaled = graph_make(g, OP_MUL, w.role, PART_SCALED, x.dtype, w.shape);
    struct value sum = graph_make(g, OP_ADD, w.role, PART_SCALED, x.dtype, w.shape);
    graph_drop(g, scaled);
    d->norm = graph_make(g, OP_VECTOR_NORM, w.role, PART_NORMS, x.dtype, m.shape);
    graph_drop(g, sum);
    d->ratio = graph_make(g, OP_DIV, w.role, PART_SCALED, dora_wider(m, d->norm), m.shape);
    if (graph_needs(g, m)) {
        int32_t n = graph_node(g, NODE_DIV, &d->ratio, 0);
        graph_save(g, n, d->norm.storage);
        graph_edge(g, n, m);
    }
    graph_drop(g, w);
    graph_drop(g, m);
    graph_drop(g, a);
}

static void dora_close(struct graph *g, struct dora *d)
{
    graph_drop(g, d->ratio);
    graph_drop(g, d->norm);
    graph_drop(g, d->weight);
    graph_drop(g, d->product);
    graph_drop(g, d->low);
    graph_drop(g, d->eye);
}

// vector * x, for each row.
static struct value dora_scaled(struct graph *g, struct value vector, struct value x)
{
    struct value out = graph_make(g, OP_MUL, x.role, PART_SCALED, dora_wider(vector, x), x.shape);
    graph_follow_product(g, NODE_MUL, &out, vector, x);
    return out;
}

// The frozen product once more, of what dropout has left.
static struct value dora_again(struct graph *g, const struct dora *d, struct value x,
                               struct value base)
{
    struct value w = graph_input_cast(g, d->weight, base.role, PART_WEIGHT_CAST);
    struct value in = graph_input_cast(g, x, base.role, PART_INPUT_CAST);
    struct value out = graph_make(g, OP_MM, base.role, PART_OUTPUT, in.dtype, base.shape);
    if (graph_needs(g, in)) {
        int32_t n = graph_node(g, NODE_MM, &out, 0);
        graph_save(g, n, TAPE_NONE);
        graph_save(g, n, w.storage);
        graph_edge(g, n, in);
        graph_edge(g, n, w);
    }
    graph_drop(g, w);
    graph_drop(g, in);
    return out;
}

// (ratio - 1) * result + ratio * B(A(x)) * scaling
static struct value dora_sum(struct graph *g, const struct dora *d, struct value result,
                             struct value wide)
{
    struct value less =
        graph_make(g, OP_SUB, d->ratio.role, PART_SCALED, d->ratio.dtype, d->ratio.shape);
    graph_follow(g, NODE_PASS, &less, d->ratio);
    struct value first = dora_scaled(g, less, result);
    graph_drop(g, less);
    struct value second = dora_scaled(g, d->ratio, wide);
    struct value scaled = adapter_scaling(g, second, result.role);
    graph_drop(g, second);
    struct value out = layer_add(g, first, scaled, result.role);
    graph_drop(g, first);
    graph_drop(g, scaled);
    return out;
}

struct value dora_path(struct graph *g, struct value x, struct value base, bool global,
                       uint16_t weight)
{
    struct dora d;
    struct value in = adapter_dropout(g, x);
    bool again = (g->m->c.lora_dropout > 0 && g->training) || graph_has(g, TRAIT_DORA_AGAIN);
    dora_lengths(g, &d, in, global, weight);
    struct value rank = adapter_half(g, in, global, (uint16_t)(weight + LAYOUT_A), SHAPE_RANK);
    struct value wide = adapter_half(g, rank, global, (uint16_t)(weight + LAYOUT_B), base.shape);
    graph_drop(g, rank);
    struct value result = again ? dora_again(g, &d, in, base) : graph_copy(g, base);
    struct value out = dora_sum(g, &d, result, wide);
    graph_drop(g, result);
    graph_drop(g, wide);
    dora_close(g, &d);
    graph_drop(g, in);
    return out;
}
