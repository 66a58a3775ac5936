// Owns Gemma 3n's layers: four streams, predicted before a layer and corrected behind it, a
// low-rank way beside attention, and gates of which few pass. Each variable of its forward
// functions has a name of its own and stays to their end. SRC: transformers 5.23
// models/gemma3n/modeling_gemma3n.py (Gemma3nTextModel, Gemma3nTextDecoderLayer, Gemma3nTextAltUp,
// Gemma3nTextLaurelBlock, Gemma3nTextMLP).
#ifndef VRAM_SMALL

#include "calc/trace/block_gemma3n.h"

#include "calc/trace/layers.h"
#include "calc/trace/layers_inputs.h"
#include "calc/trace/layers_llama.h"
#include "calc/trace/linear.h"

static struct value streams_norm(struct graph *g, struct value x, uint16_t weight)
{
    return layer_rms_norm(g, x, false, weight, SHAPE_TOKENS_SHARE);
}

// streams[0]
static struct value streams_first(struct graph *g, struct value x)
{
    struct value first = layer_view(g, graph_copy(g, x), NODE_SELECT);
    first.shape = SHAPE_U;
    return first;
}

// mean(x ** 2)
static struct value streams_square(struct graph *g, struct value x)
{
    struct value square =
        layer_unary(g, x, OP_POW, NODE_POW, ROLE_STREAMS, PART_SQUARE, SHAPE_U, SAVES_INPUT);
    struct value mean = layer_unary(g, square, OP_MEAN, NODE_MEAN, ROLE_STREAMS, PART_MEAN,
                                    SHAPE_TOKENS, SAVES_NOTHING);
    graph_drop(g, square);
    return mean;
}

// mean(x ** 2) ** 0.5
static struct value streams_magnitude(struct graph *g, struct value x)
{
    struct value mean = streams_square(g, x);
    struct value out =
        layer_unary(g, mean, OP_POW, NODE_POW, ROLE_STREAMS, PART_RSTD, SHAPE_TOKENS, SAVES_INPUT);
    graph_drop(g, mean);
    return out;
}

static struct value streams_quotient(struct graph *g, struct value a, struct value b)
{
    struct value out = graph_make(g, OP_DIV, ROLE_STREAMS, PART_NORMALIZED, a.dtype, a.shape);
    graph_follow_product(g, NODE_DIV_BOTH, &out, a, b);
    return out;
}

// sqrt(clamp(mean(x ** 2)))
static struct value streams_root(struct graph *g, struct value x)
{
    struct value mean = streams_square(g, x);
    struct value least = graph_make(g, OP_CLAMP, ROLE_STREAMS, PART_SCALED, mean.dtype, mean.shape);
    if (graph_needs(g, mean)) {
        int32_t n = graph_node(g, NODE_CLAMP, &least, 1);
        graph_save(g, n, mean.storage);
        graph_edge(g, n, mean);
    }
    struct value root = layer_unary(g, least, OP_SQUARE_ROOT, NODE_SQUARE_ROOT, ROLE_STREAMS,
                                    PART_RSTD, SHAPE_TOKENS, SAVES_RESULT);
    graph_drop(g, least);
    graph_drop(g, mean);
    return root;
}

// A projection of x with the magnitude of another stream. *raw: the projection, a variable to the
// end of the model's forward function.
static struct value streams_scaled(struct graph *g, struct value x, uint16_t weight,
                                   struct value target, struct value *raw)
{
    struct value out = layer_project(g, x, weight, SHAPE_U);
    struct value current = graph_to(g, out, g->residual, PART_UPCAST);
    graph_drop(g, *raw);
    *raw = out;
    struct value root = streams_root(g, current);
    struct value scaled = layer_mul(g, current, target, ROLE_STREAMS, PART_SCALED);
    graph_drop(g, current);
    struct value quotient = streams_quotient(g, scaled, root);
    graph_drop(g, scaled);
    graph_drop(g, root);
    return quotient;
}

// stack: each gets a view of its part of the gradient.
static struct value streams_stack(struct graph *g, const struct value part[MODEL_STREAMS])
{
    struct value out =
        graph_make(g, OP_STACK, ROLE_STREAMS, PART_SELF, part[0].dtype, SHAPE_EVERY_U);
    bool needed = false;
    for (unsigned i = 0; i < MODEL_STREAMS; i++)
        needed = needed || graph_needs(g, part[i]);
    if (!needed)
        return out;
    int32_t n = graph_node(g, NODE_JOIN, &out, 0);
    for (unsigned i = 0; i < MODEL_STREAMS; i++)
        graph_edge(g, n, part[i]);
    return out;
}

struct value gemma3n_open(struct graph *g, struct value x)
{
    struct value target = streams_magnitude(g, x);
    g->streams[0] = x;
    for (unsigned i = 1; i < MODEL_STREAMS; i++)
        g->streams[i] = streams_scaled(g, x, (uint16_t)(P_STREAM_IN + (i - 1) * LAYOUT_LINEAR),
                                       target, &g->stream_raw);
    graph_drop(g, target);
    return streams_stack(g, g->streams);
}

void gemma3n_return(struct graph *g)
{
    for (unsigned i = 0; i < MODEL_STREAMS; i++) {
        graph_drop(g, g->streams[i]);
        g->streams[i] = graph_none();
    }
    graph_drop(g, g->stream_raw);
    g->stream_raw = graph_none();
}

struct value gemma3n_join(struct graph *g, struct value x)
{
    struct value first = streams_first(g, x), target = streams_magnitude(g, first);
    gemma3n_return(g);
    g->streams[0] = first;
    for (unsigned i = 1; i < MODEL_STREAMS; i++) {
        struct value one = streams_first(g, x);
        g->streams[i] = streams_scaled(g, one, (uint16_t)(P_STREAM_OUT + (i - 1) * LAYOUT_LINEAR),
                                       target, &g->stream_raw);
        graph_drop(g, one);
    }
    graph_drop(g, target);
    struct value all = streams_stack(g, g->streams);
    graph_drop(g, x);
    struct value out =
        layer_unary(g, all, OP_MEAN, NODE_MEAN, ROLE_STREAMS, PART_MEAN, SHAPE_U, SAVES_NOTHING);
    graph_drop(g, all);
    return out;
}

// tanh of a router's numbers, one for each stream.
static struct value streams_route(struct graph *g, struct value x)
{
    struct value normed = streams_norm(g, x, P_STREAM_NORM);
    struct value scaled = layer_scale(g, normed, ROLE_STREAMS);
    graph_drop(g, normed);
    struct value routed = layer_linear(g, scaled, P_STREAM_ROUTER, SHAPE_ROUTER);
    struct value wide = graph_to(g, routed, DT_F32, PART_UPCAST);
    struct value bent = layer_unary(g, wide, OP_TANH, NODE_TANH, ROLE_STREAMS, PART_OUTPUT,
                                    SHAPE_ROUTER, SAVES_RESULT);
    graph_drop(g, wide);
    struct value out = graph_to(g, bent, x.dtype, PART_OUTPUT_CAST);
    graph_drop(g, bent);
    graph_drop(g, routed);
    graph_drop(g, scaled);
    return out;
}

// x @ coefs, seen the other way round, to which x is added in place.
static struct value streams_mixed(struct graph *g, struct value x, struct value coefs)
{
    struct value in = graph_input_cast(g, x, ROLE_STREAMS, PART_INPUT_CAST);
    struct value out = graph_make(g, OP_BMM, ROLE_STREAMS, PART_OUTPUT, in.dtype, SHAPE_EVERY_U);
    graph_follow_product(g, NODE_BMM, &out, in, coefs);
    graph_drop(g, in);
    struct value sum = out;
    graph_follow_both(g, NODE_WHOLE_ADD, &sum, out, x);
    return layer_view(g, sum, NODE_SLICE);
}

// AltUp.predict
static struct value streams_predict(struct graph *g, struct value x)
{
    struct value first = streams_first(g, x), routed = streams_route(g, first);
    graph_drop(g, first);
    struct value coefs = layer_linear(g, routed, P_STREAM_PREDICT, SHAPE_STREAMS);
    coefs = layer_view(g, coefs, NODE_VIEW);
    struct value mixed = streams_mixed(g, x, coefs), whole = layer_copy(g, mixed);
    struct value out = graph_to(g, whole, x.dtype, PART_OUTPUT_CAST);
    graph_drop(g, whole);
    graph_drop(g, mixed);
    graph_drop(g, coefs);
    graph_drop(g, routed);
    return out;
}

// activated - predictions[0], once for each stream. Its gradient is summed over them.
static struct value streams_innovation(struct graph *g, struct value predictions, struct value x)
{
    struct value first = streams_first(g, predictions);
    struct value off = graph_make(g, OP_SUB, ROLE_STREAMS, PART_SCALED, x.dtype, SHAPE_U);
    graph_follow_both(g, NODE_SUB, &off, x, first);
    graph_drop(g, first);
    struct value out = layer_unary(g, off, OP_REPEAT, NODE_REPEAT, ROLE_STREAMS, PART_COPY,
                                   SHAPE_EVERY_U, SAVES_NOTHING);
    graph_drop(g, off);
    return out;
}

// modalities @ clamp(weight) + 1: the adapter of this layer, where it has one, has no part in it.
static struct value streams_coefs(struct graph *g, struct value routed)
{
    struct value w = graph_param(g, false, P_STREAM_CORRECT);
    struct value in = graph_input_cast(g, routed, ROLE_STREAMS, PART_INPUT_CAST);
    struct value low = graph_input_cast(g, w, ROLE_STREAMS, PART_WEIGHT_CAST);
    struct value raw = graph_make(g, OP_MM, ROLE_STREAMS, PART_OUTPUT, in.dtype, SHAPE_ROUTER);
    graph_follow_product(g, NODE_MM, &raw, in, low);
    struct value out = layer_unary(g, raw, OP_ADD, NODE_PASS, ROLE_STREAMS, PART_SCALED,
                                   SHAPE_ROUTER, SAVES_NOTHING);
    graph_drop(g, raw);
    graph_drop(g, low);
    graph_drop(g, in);
    graph_drop(g, w);
    return out;
}

// AltUp.correct
static struct value streams_correct(struct graph *g, struct value predictions, struct value x)
{
    struct value routed = streams_route(g, x);
    struct value innovation = streams_innovation(g, predictions, x);
    struct value coefs = streams_coefs(g, routed);
    struct value product = layer_mul(g, innovation, coefs, ROLE_STREAMS, PART_SCALED);
    struct value out = layer_add_into(g, product, predictions);
    graph_drop(g, coefs);
    graph_drop(g, innovation);
    graph_drop(g, routed);
    return out;
}

// (corrected[0].clone() * scale), then what the layer's own input makes of it.
static struct value streams_input(struct graph *g, struct value corrected)
{
    struct value first = streams_first(g, corrected), copy = layer_copy(g, first);
    graph_drop(g, first);
    struct value w = graph_param(g, false, P_STREAM_SCALE);
    struct value wide = graph_to(g, copy, w.dtype, PART_UPCAST);
    struct value scaled = layer_mul(g, wide, w, ROLE_STREAMS, PART_SCALED);
    graph_drop(g, wide);
    graph_drop(g, w);
    struct value in = graph_to(g, scaled, copy.dtype, PART_OUTPUT_CAST);
    graph_drop(g, scaled);
    graph_drop(g, copy);
    return inputs_branch(g, in);
}

// corrected[1:] += part: the sum is written there, and what it is once more. Uses corrected up.
static struct value streams_tail(struct graph *g, struct value corrected, struct value part)
{
    struct value sum = corrected;
    graph_follow_both(g, NODE_TAIL_ADD, &sum, corrected, part);
    struct value tail = layer_view(g, graph_copy(g, sum), NODE_SLICE), out = sum;
    tail.shape = SHAPE_OTHERS;
    graph_follow_both(g, NODE_TAIL_COPY, &out, sum, tail);
    graph_drop(g, tail);
    return out;
}

// relu(x - (mean + std * factor))
static struct value streams_sparse(struct graph *g, struct value x)
{
    struct value mean =
        layer_unary(g, x, OP_MEAN, NODE_MEAN, ROLE_ACT, PART_MEAN, SHAPE_TOKENS, SAVES_NOTHING);
    struct value std = graph_make(g, OP_STD, ROLE_ACT, PART_RSTD, x.dtype, SHAPE_TOKENS);
    if (graph_needs(g, x)) {
        int32_t n = graph_node(g, NODE_STD, &std, 0);
        graph_save(g, n, x.storage);
        graph_save(g, n, std.storage);
        graph_edge(g, n, x);
    }
    struct value scaled = layer_scale(g, std, ROLE_ACT), cut = layer_add(g, mean, scaled, ROLE_ACT);
    graph_drop(g, scaled);
    struct value off = graph_make(g, OP_SUB, ROLE_ACT, PART_SCALED, x.dtype, x.shape);
    graph_follow_both(g, NODE_SUB, &off, x, cut);
    struct value out =
        layer_unary(g, off, OP_RELU, NODE_RELU, ROLE_ACT, PART_SELF, x.shape, SAVES_RESULT);
    graph_drop(g, off);
    graph_drop(g, cut);
    graph_drop(g, std);
    graph_drop(g, mean);
    return out;
}

static struct value streams_mlp(struct graph *g, struct value x)
{
    struct value gate = layer_linear(g, x, P_GATE, SHAPE_FF);
    if (graph_layer(g) < g->m->c.n_sparse_layers) {
        struct value few = streams_sparse(g, gate);
        graph_drop(g, gate);
        gate = few;
    }
    struct value open = layer_activation(g, gate, true), up = layer_linear(g, x, P_UP, SHAPE_FF);
    struct value product = layer_mul(g, open, up, ROLE_MLP_PROJ, PART_INPUT);
    struct value out = layer_linear(g, product, P_DOWN, SHAPE_U);
    graph_drop(g, product);
    graph_drop(g, up);
    graph_drop(g, open);
    graph_drop(g, gate);
    return out;
}

static struct value streams_laurel(struct graph *g, struct value x)
{
    struct value left = layer_linear(g, x, P_LAUREL_LEFT, SHAPE_LAUREL);
    struct value right = layer_linear(g, left, P_LAUREL_RIGHT, SHAPE_U);
    graph_drop(g, left);
    struct value normed = streams_norm(g, right, P_LAUREL_NORM);
    struct value out = layer_add(g, x, normed, ROLE_LAUREL);
    graph_drop(g, normed);
    graph_drop(g, right);
    return out;
}

// The branch's result, normalized.
static struct value streams_branch(struct graph *g, struct value x, uint16_t post, block_fn *branch)
{
    struct value y = branch(g, x), out = streams_norm(g, y, post);
    graph_drop(g, y);
    return out;
}

enum { ACTIVE, NORMED, LAUREL, ATTENDED, GATED, MIDDLE, MLP_NORMED, FED, OUT, STREAM_VARIABLES };

static void streams_attend(struct graph *g, struct value v[STREAM_VARIABLES], block_fn *attention)
{
    v[NORMED] = streams_norm(g, v[ACTIVE], P_LN1);
    v[LAUREL] = streams_laurel(g, v[NORMED]);
    v[ATTENDED] = streams_branch(g, v[NORMED], P_POST_ATTN, attention);
    v[GATED] = layer_add(g, v[ACTIVE], v[ATTENDED], ROLE_RESID1);
    struct value sum = layer_add(g, v[GATED], v[LAUREL], ROLE_LAUREL);
    v[MIDDLE] = layer_divide(g, sum);
    graph_drop(g, sum);
}

struct value gemma3n_layer(struct graph *g, struct value x, block_fn *attention)
{
    struct value v[STREAM_VARIABLES], predictions = streams_predict(g, x);
    v[ACTIVE] = streams_first(g, predictions);
    streams_attend(g, v, attention);
    v[MLP_NORMED] = streams_norm(g, v[MIDDLE], P_LN2);
    struct value fed = streams_mlp(g, v[MLP_NORMED]);
    v[FED] = streams_norm(g, fed, P_POST_MLP);
    v[OUT] = layer_add(g, v[MIDDLE], v[FED], ROLE_RESID2);
    struct value corrected = streams_correct(g, predictions, v[OUT]);
    struct value part = streams_input(g, corrected);
    struct value out = streams_tail(g, corrected, part);
    graph_drop(g, part);
    graph_drop(g, fed);
    for (unsigned i = STREAM_VARIABLES; i-- > 0;)
        graph_drop(g, v[i]);
    graph_drop(g, predictions);
    return out;
}

#endif
