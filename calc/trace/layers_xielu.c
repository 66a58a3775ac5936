// Owns xIELU by single operations, as transformers has it where the package xielu is not installed:
// two trained numbers a layer. SRC: transformers src/transformers/activations.py,
// XIELUActivation._xielu_python; pytorch tools/autograd/derivatives.yaml (minimum, where, expm1);
// traces apertus_* of tests/calc/truth/frameworks.
#ifndef VRAM_SMALL

#include "calc/trace/layers_xielu.h"

#include "calc/trace/layers.h"
#include "calc/trace/layers_llama.h"

// softplus(alpha), and beta + that for x below zero.
static struct value xielu_factor(struct graph *g, uint16_t number)
{
    struct value alpha = graph_param(g, false, number);
    struct value out = layer_unary(g, alpha, OP_SOFTPLUS, NODE_SOFTPLUS, ROLE_ACT, PART_SCALED,
                                   SHAPE_ONE, SAVES_INPUT);
    graph_drop(g, alpha);
    if (number == P_ALPHA_P)
        return out;
    struct value moved =
        layer_unary(g, out, OP_ADD, NODE_PASS, ROLE_ACT, PART_SCALED, SHAPE_ONE, SAVES_NOTHING);
    graph_drop(g, out);
    return moved;
}

// branch + beta * x. Uses branch up.
static struct value xielu_slope(struct graph *g, struct value branch, struct value x)
{
    struct value line = layer_scale(g, x, ROLE_ACT), out = layer_add(g, branch, line, ROLE_ACT);
    graph_drop(g, line);
    graph_drop(g, branch);
    return out;
}

// alpha * x * x + beta * x
static struct value xielu_above(struct graph *g, struct value x, struct value alpha)
{
    struct value once = layer_mul(g, x, alpha, ROLE_ACT, PART_SCALED);
    struct value square = layer_mul(g, once, x, ROLE_ACT, PART_SQUARE);
    graph_drop(g, once);
    return xielu_slope(g, square, x);
}

// expm1(min(x, eps)), which autocast has in float32
static struct value xielu_bent(struct graph *g, struct value x)
{
    struct value low = graph_make(g, OP_MINIMUM, ROLE_ACT, PART_SCALED, x.dtype, x.shape);
    graph_follow_saving(g, NODE_MINIMUM, &low, x, x.storage);
    struct value wide = g->autocast ? graph_to(g, low, DT_F32, PART_UPCAST) : graph_copy(g, low);
    graph_drop(g, low);
    struct value out =
        layer_unary(g, wide, OP_EXPM1, NODE_EXPM1, ROLE_ACT, PART_SCALED, x.shape, SAVES_RESULT);
    graph_drop(g, wide);
    return out;
}

// (expm1(min(x, eps)) - x) * alpha + beta * x
static struct value xielu_below(struct graph *g, struct value x, struct value alpha)
{
    struct value bent = xielu_bent(g, x);
    struct value off = graph_make(g, OP_SUB, ROLE_ACT, PART_SCALED, bent.dtype, x.shape);
    if (graph_needs(g, x)) {
        int32_t n = graph_node(g, NODE_SUB, &off, 0);
        graph_edge(g, n, bent);
        graph_edge(g, n, x);
    }
    graph_drop(g, bent);
    struct value times = layer_mul(g, off, alpha, ROLE_ACT, PART_SCALED);
    graph_drop(g, off);
    return xielu_slope(g, times, x);
}

struct value layer_xielu(struct graph *g, struct value x)
{
    struct value alpha_p = xielu_factor(g, P_ALPHA_P), alpha_n = xielu_factor(g, P_ALPHA_N);
    uint32_t above_zero = graph_scratch(g, OP_GT, ROLE_ACT, PART_MASK, DT_BYTE, x.shape);
    struct value above = xielu_above(g, x, alpha_p), below = xielu_below(g, x, alpha_n);
    struct value out = graph_make(g, OP_WHERE, ROLE_ACT, PART_OUTPUT, above.dtype, x.shape);
    if (graph_needs(g, above) || graph_needs(g, below)) {
        int32_t n = graph_node(g, NODE_WHERE, &out, 0);
        graph_save(g, n, above_zero);
        graph_edge(g, n, above);
        graph_edge(g, n, below);
    }
    graph_drop(g, above);
    graph_drop(g, below);
    tape_unref(g->t, above_zero);
    graph_drop(g, alpha_p);
    graph_drop(g, alpha_n);
    return out;
}

void node_softplus(struct graph *g, const struct node *n, uint32_t results[])
{
    if (n->edge_count > 0 && n->edges[0].to != GRAPH_NO_NODE)
        results[0] =
            graph_scratch(g, OP_SOFTPLUS_BACKWARD, n->role, PART_WEIGHT_GRAD, n->dtype, n->shape);
}

// where(condition, grad, 0) and where(condition, 0, grad)
void node_where(struct graph *g, const struct node *n, uint32_t results[])
{
    for (unsigned k = 0; k < n->edge_count; k++)
        if (n->edges[k].to != GRAPH_NO_NODE)
            results[k] = graph_scratch(g, OP_WHERE, n->role, PART_GRAD, n->dtype, n->shape);
}

static uint32_t temporary(struct graph *g, const struct node *n, enum op op, uint8_t dtype)
{
    return graph_scratch(g, op, n->role, PART_SCRATCH, dtype, n->shape);
}

// where(self == other, grad / 2, grad).masked_fill_(self > other, 0): to the left one alone.
void node_minimum(struct graph *g, const struct node *n, uint32_t results[])
{
    uint32_t larger = temporary(g, n, OP_GT, DT_BYTE), half = temporary(g, n, OP_DIV, n->dtype);
    uint32_t equal = temporary(g, n, OP_EQ, DT_BYTE);
    results[0] = graph_scratch(g, OP_WHERE, n->role, PART_GRAD, n->dtype, n->shape);
    tape_unref(g->t, equal);
    tape_unref(g->t, half);
    tape_unref(g->t, larger);
}

// grad * (result + 1)
void node_expm1(struct graph *g, const struct node *n, uint32_t results[])
{
    uint32_t moved = temporary(g, n, OP_ADD, n->dtype);
    results[0] = graph_scratch(g, OP_MUL, n->role, PART_GRAD, n->dtype, n->shape);
    tape_unref(g->t, moved);
}
#endif
