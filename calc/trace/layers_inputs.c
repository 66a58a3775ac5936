// Owns the embedding of tokens that each layer has of its own: made for all layers at once, and
// what a layer adds of it to the stream. SRC: transformers 5.23 models/gemma4/modeling_gemma4.py
// (Gemma4TextModel.get_per_layer_inputs, project_per_layer_inputs, Gemma4TextDecoderLayer.forward).
#ifndef VRAM_SMALL

#include "calc/trace/layers_inputs.h"

#include "calc/trace/layers.h"
#include "calc/trace/layers_llama.h"
#include "calc/trace/linear.h"

// x times a number. Uses x up.
static struct value inputs_scaled(struct graph *g, struct value x)
{
    struct value out = layer_scale(g, x, x.role);
    graph_drop(g, x);
    return out;
}

void inputs_open(struct graph *g, uint32_t ids, struct value x)
{
    if (!g->m->c.hidden_size_per_layer_input)
        return;
    uint32_t known = TAPE_NONE;  // of those that the table has
    if (model_has_streams(g->m))
        ids = known = graph_scratch(g, OP_WHERE, ROLE_BATCH, PART_MASK, DT_I64, SHAPE_TOKENS);
    struct value tokens =
        inputs_scaled(g, layer_embedding(g, ids, P_LAYER_EMBED, SHAPE_LAYER_INPUTS));
    struct value stream = layer_project(g, x, P_LAYER_PROJECT, SHAPE_LAYER_INPUTS);
    stream = model_has_streams(g->m) ? layer_view(g, stream, NODE_SCALE)  // in place
                                     : inputs_scaled(g, stream);
    struct value normed = layer_rms_norm(g, stream, true, P_LAYER_NORM, SHAPE_LAYER_STATS);
    graph_drop(g, stream);
    g->layer_inputs = inputs_scaled(g, layer_add(g, normed, tokens, ROLE_LAYER_PROJECT));
    graph_drop(g, normed);
    graph_drop(g, tokens);
    tape_unref(g->t, known);
}

// per_layer_inputs[:, :, i, :]
void inputs_choose(struct graph *g)
{
    if (g->layer_inputs.storage == TAPE_NONE)
        return;
    g->layer_input = layer_view(g, graph_copy(g, g->layer_inputs), NODE_SELECT);
    g->layer_input.shape = SHAPE_LAYER_INPUT;
    g->layer_input.role = ROLE_LAYER_INPUT;
}

void inputs_left(struct graph *g)
{
    graph_drop(g, g->layer_input);
    g->layer_input = graph_none();
}

void inputs_close(struct graph *g)
{
    graph_drop(g, g->layer_inputs);
    g->layer_inputs = graph_none();
    for (unsigned i = 0; i < 4; i++) {
        graph_drop(g, g->given[i / 2][i % 2]);
        g->given[i / 2][i % 2] = graph_none();
    }
}

// A block that runs again has the argument that its first run had.
static struct value inputs_here(const struct graph *g)
{
    struct value input = g->recompute ? g->layer_inputs : g->layer_input;
    input.shape = SHAPE_LAYER_INPUT;
    input.role = ROLE_LAYER_INPUT;
    return input;
}

static struct value inputs_of(struct graph *g, struct value x)
{
    struct value gate = layer_linear(g, x, P_INPUT_GATE, SHAPE_LAYER_INPUT);
    struct value open = layer_activation(g, gate, true);
    graph_drop(g, gate);
    struct value chosen = layer_mul(g, open, inputs_here(g), ROLE_LAYER_INPUT, PART_SCALED);
    graph_drop(g, open);
    struct value wide = layer_linear(g, chosen, P_INPUT_PROJECT, SHAPE_U);
    graph_drop(g, chosen);
    struct value normed = layer_rms_norm(g, wide, false, P_INPUT_NORM, SHAPE_TOKENS_SHARE);
    graph_drop(g, wide);
    return normed;
}

struct value inputs_branch(struct graph *g, struct value x)
{
    struct value out = inputs_of(g, x);
    graph_drop(g, x);
    return out;
}

struct value inputs_add(struct graph *g, struct value x)
{
    if (!g->m->c.hidden_size_per_layer_input)
        return x;
    struct value normed = inputs_of(g, x);
    struct value out = layer_add(g, x, normed, ROLE_RESID2);
    graph_drop(g, normed);
    graph_drop(g, x);
    return out;
}

#endif
