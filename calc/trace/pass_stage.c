// Owns the pass of one stage of a pipeline: what comes in is received, what goes out is sent, and
// both are kept until the micro-batch has come back. SRC: Megatron-LM
// megatron/core/pipeline_parallel/schedules.py (forward_step, backward_step).

#include "calc/trace/pass_stage.h"

#include "calc/trace/backward.h"
#include "calc/trace/forward.h"
#include "calc/trace/layers_llama.h"
#include "calc/trace/layers_rotary.h"
#include "calc/trace/parallel.h"

struct stage {
    uint32_t ids, targets;
    struct value in, out, logits;  // out: activations for the next stage, or the loss
    struct value local[3], normed;
};

static uint32_t stage_batch(struct graph *g, enum op op, uint8_t role)
{
    return graph_scratch(g, op, role, PART_SELF, DT_I64, SHAPE_TOKENS);
}

// Activations from the stage before: a leaf, whose gradient goes back there.
static struct value stage_receive(struct graph *g)
{
    struct value x = graph_make(g, OP_RECEIVE, ROLE_RESID2, PART_INPUT, g->residual, SHAPE_U);
    graph_node(g, NODE_ACCUMULATE, &x, PART_SELF);
    return x;
}

static struct value stage_input(struct graph *g, struct stage *s)
{
    if (g->m->first) {
        s->ids = stage_batch(g, OP_X, ROLE_BATCH);
        return forward_embed(g, s->ids, s->local);
    }
    s->in = stage_receive(g);
    if (g->m->features & HAS_ROTARY)
        layer_rope_open(g);
    return graph_copy(g, s->in);
}

static void stage_forward(struct graph *g, struct stage *s)
{
    parallel_open(g);
    struct value x = forward_layers(g, stage_input(g, s));
    if (g->m->last) {
        s->targets = stage_batch(g, OP_Y, ROLE_TARGETS);
        s->out = forward_head(g, x, s->targets, s->local, &s->normed, &s->logits);
    } else {
        s->out = x;
    }
    for (unsigned k = 0; k < 3; k++)
        graph_drop(g, s->local[k]);
    graph_drop(g, s->normed);
    graph_drop(g, s->logits);
    if (!g->m->last &&
        graph_is_nanotron(g)) {  // SRC: nanotron pipeline_parallel/state.py, SendActivation
        graph_drop(g, s->out);
        s->out.storage = TAPE_NONE;
    }
    if (!g->m->c.checkpointing)
        layer_rope_close(g);
    graph_autocast_exit(g);
}

static void stage_backward(struct graph *g, struct stage *s)
{
    bool last = g->m->last;
    g->t->backward = true;
    uint32_t gradient =
        last ? graph_scratch(g, OP_ONES_LIKE, ROLE_LOSS, PART_GRAD, s->out.dtype, SHAPE_ONE)
             : graph_scratch(g, OP_RECEIVE, ROLE_RESID2, PART_GRAD, s->out.dtype, SHAPE_U);
    if (!graph_ok(g) || s->out.node == GRAPH_NO_NODE)
        return;
    tape_ref(g->t, gradient);
    backward_run(g, s->out.node, gradient, 0);
    graph_leave(g);
    tape_unref(g->t, gradient);
    if (s->in.node != GRAPH_NO_NODE && graph_ok(g))
        tape_unref(g->t, g->nodes[s->in.node].gradient[0]);  // sent
}

void pass_stage(struct graph *g, graph_saved_fn *saved, void *ctx)
{
    struct stage s = {.in = graph_none(), .logits = graph_none(), .normed = graph_none()};
    for (unsigned k = 0; k < 3; k++)
        s.local[k] = graph_none();
    stage_forward(g, &s);
    if (saved && graph_ok(g))
        graph_saved(g, saved, ctx);
    stage_backward(g, &s);
    graph_drop(g, s.in);
    graph_drop(g, s.out);
    tape_unref(g->t, s.ids);
    tape_unref(g->t, s.targets);
    layer_rope_close(g);
    parallel_close(g);
}
