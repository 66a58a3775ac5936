// Owns adapters over parameters: PEFT's ParamWrapper puts the weight plus the adapter's product in
// the parameter's place while its module runs. Of experts that is one tensor as large as all of
// them, made once to be checked and once where the module asks for it, which lives to the end of
// the outermost wrapper and, saved by the products, to their backward; there comes a gradient as
// large. SRC: peft 0.21 src/peft/tuners/lora/layer.py (ParamWrapper._activate_lora,
// get_delta_factors, get_delta_weight, _LoraFactorsProxy); pytorch torch/nn/utils/parametrize.py
// (ParametrizationList.__init__, cached); traces *_lora_all*, *_lora_params* of
// tests/calc/truth/frameworks.
#ifndef VRAM_SMALL

#include "calc/trace/layers_wrapped.h"

#include "calc/model/wrapped.h"
#include "calc/trace/layers.h"
#include "calc/trace/linear.h"

// B as it stands by expert: a view that has the gradient copied.
static struct value wrapped_half(struct graph *g, uint16_t number, uint16_t half, uint8_t dtype)
{
    struct value p = graph_param(g, false, (uint16_t)(number + half));
    struct value view =
        half == LAYOUT_B ? layer_view(g, graph_copy(g, p), NODE_VIEW) : graph_copy(g, p);
    struct value out = graph_to(g, view, dtype, half == LAYOUT_B ? PART_B_CAST : PART_A_CAST);
    graph_drop(g, view);
    graph_drop(g, p);
    return out;
}

// baddbmm(weight, B, A), for which B is copied by expert.
static struct value wrapped_fold(struct graph *g, const struct wrapped *w, bool checked)
{
    struct value p = graph_param(g, false, w->number), b = w->half[0], a = w->half[1];
    struct value out = graph_make(g, OP_BMM, p.role, PART_TEMP, p.dtype, p.shape);
    if (!checked && (graph_needs(g, a) || graph_needs(g, b)))
        graph_follow_product(g, NODE_FOLD, &out, b, a);
    tape_unref(g->t, graph_scratch(g, OP_CLONE, p.role, PART_COPY, b.dtype, b.shape));
    graph_drop(g, p);
    return out;
}

static struct wrapped wrapped_begin(struct graph *g, uint16_t number)
{
    struct wrapped w = {.whole = graph_none(), .number = number};
    const struct layout_param *row = layout_find(&g->layout, true, number);
    w.there = layout_find(&g->layout, true, (uint16_t)(number + LAYOUT_A)) != NULL;
    if (!w.there)
        return w;
    uint8_t dtype = graph_param_dtype(g, row);
    w.half[0] = wrapped_half(g, number, LAYOUT_B, dtype);
    w.half[1] = wrapped_half(g, number, LAYOUT_A, dtype);
    graph_drop(g, wrapped_fold(g, &w, true));
    return w;
}

static void wrapped_end(struct graph *g, const struct wrapped *w)
{
    for (unsigned i = 0; w->there && i < 2; i++)
        graph_drop(g, w->half[i]);
}

// The wrapper of the last projection is around that of gate and up.
struct wrapped_experts wrapped_open(struct graph *g)
{
    struct wrapped_experts w = {.down = wrapped_begin(g, P_EXPERTS_DOWN)};
    w.up = wrapped_begin(g, P_EXPERTS_UP);
    return w;
}

struct value wrapped_weight(struct graph *g, uint16_t number, struct wrapped_experts *w)
{
    struct wrapped *one = number == P_EXPERTS_UP ? &w->up : &w->down;
    if (!one->there)
        return graph_param(g, false, number);
    one->whole = wrapped_fold(g, one, false);
    return graph_copy(g, one->whole);
}

void wrapped_close(struct graph *g, struct wrapped_experts *w)
{
    wrapped_end(g, &w->up);
    graph_drop(g, w->up.whole);
    graph_drop(g, w->down.whole);
    wrapped_end(g, &w->down);
}

// ---- the router's weight, a matrix ------------------------------------------------------------

// (B @ A) * scaling, in the weight's format.
static struct value wrapped_delta(struct graph *g, uint8_t dtype)
{
    enum { A = P_ROUTER + LAYOUT_A, B = P_ROUTER + LAYOUT_B };
    struct value a = graph_param(g, false, A), b = graph_param(g, false, B);
    struct value a_cast = graph_weight_cast(g, false, A, a),
                 b_cast = graph_weight_cast(g, false, B, b);
    struct value product =
        graph_make(g, OP_MM, ROLE_ROUTER, PART_TEMP, b_cast.dtype, SHAPE_W_ROUTER);
    graph_follow_product(g, NODE_MM, &product, b_cast, a_cast);
    struct value scaled =
        graph_make(g, OP_MUL, ROLE_ROUTER, PART_SCALED, product.dtype, SHAPE_W_ROUTER);
    graph_follow(g, NODE_SCALE, &scaled, product);
    graph_drop(g, product);
    struct value out = graph_to(g, scaled, dtype, PART_OUTPUT_CAST);
    graph_drop(g, scaled);
    graph_drop(g, a_cast);
    graph_drop(g, b_cast);
    graph_drop(g, a);
    graph_drop(g, b);
    return out;
}

static struct value wrapped_sum(struct graph *g, struct value delta)
{
    struct value out = graph_make(g, OP_ADD, ROLE_ROUTER, PART_TEMP, delta.dtype, SHAPE_W_ROUTER);
    graph_follow(g, NODE_CLONE, &out, delta);
    return out;
}

struct wrapped wrapped_router_open(struct graph *g)
{
    struct wrapped w = {.whole = graph_none(), .number = P_ROUTER};
    const struct layout_param *row = layout_find(&g->layout, true, P_ROUTER);
    w.there = layout_find(&g->layout, true, P_ROUTER + LAYOUT_A) && wrapped_router_rank(&g->m->c);
    if (!w.there)
        return w;
    w.half[0] = wrapped_delta(g, graph_param_dtype(g, row));
    tape_unref(g->t,
               graph_scratch(g, OP_ADD, ROLE_ROUTER, PART_TEMP, w.half[0].dtype, SHAPE_W_ROUTER));
    return w;
}

struct value wrapped_router_weight(struct graph *g, struct wrapped *w)
{
    if (!w->there)
        return graph_param(g, false, P_ROUTER);
    w->whole = wrapped_sum(g, w->half[0]);
    return graph_copy(g, w->whole);
}

struct value wrapped_router_linear(struct graph *g, struct value x, struct wrapped *w)
{
    if (!w->there)
        return layer_linear(g, x, P_ROUTER, SHAPE_ROUTER);
    struct value weight = wrapped_router_weight(g, w);
    struct value by = graph_input_cast(g, weight, ROLE_ROUTER, PART_WEIGHT_CAST),
                 in = graph_input_cast(g, x, ROLE_ROUTER, PART_INPUT_CAST);
    struct value out = graph_make(g, OP_MM, ROLE_ROUTER, PART_OUTPUT, in.dtype, SHAPE_ROUTER);
    graph_follow_product(g, NODE_MM, &out, in, by);
    graph_drop(g, in);
    graph_drop(g, by);
    graph_drop(g, weight);
    return out;
}

void wrapped_router_close(struct graph *g, struct wrapped *w)
{
    if (!w->there)
        return;
    graph_drop(g, w->whole);
    graph_drop(g, w->half[0]);
}

// ---- backward ---------------------------------------------------------------------------------

// Edges: B, A. A factor that is not one is on each of their gradients.
void node_fold(struct graph *g, const struct node *n, uint32_t results[])
{
    for (unsigned k = 0; k < 2; k++) {
        const struct edge *e = &n->edges[k], *b = &n->edges[0];
        if (e->to == GRAPH_NO_NODE)
            continue;
        uint32_t product = graph_scratch(g, OP_BMM, e->role, PART_SCRATCH, n->dtype, e->shape);
        if (k == 1)
            tape_unref(g->t, graph_scratch(g, OP_CLONE, b->role, PART_COPY, n->dtype, b->shape));
        results[k] = graph_scratch(g, OP_MUL, e->role, PART_GRAD, n->dtype, e->shape);
        tape_unref(g->t, product);
    }
}

#endif
