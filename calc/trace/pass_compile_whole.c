// Owns the pass of a compiled model of transformers (TrainingArguments' torch_compile): the two
// graphs of inductor.h, between them the head and the loss. SRC: as inductor.h.

#include "calc/trace/pass_compile_whole.h"

#ifndef VRAM_SMALL

#include "calc/trace/inductor.h"
#include "calc/trace/pass_compile.h"
#include "calc/trace/pass_compile_kept.h"

// The weights are there, and those that are trained have nodes that wait for a gradient.
static void whole_params(struct graph *g)
{
    const struct layout *l = &g->layout;
    for (uint32_t layer = 0; layer < graph_layers(g) && graph_ok(g); layer++) {
        graph_enter(g, layer);
        for (unsigned i = 0; i < l->block_count; i++)
            if (layout_here(&l->block[i], g->m, layer))
                graph_drop(g, graph_param(g, false, l->block[i].number));
    }
    graph_leave(g);
    for (unsigned i = 0; i < l->before_count; i++)
        graph_drop(g, graph_param(g, true, l->before[i].number));
    for (unsigned i = 0; i < l->after_count; i++)
        graph_drop(g, graph_param(g, true, l->after[i].number));
}

// What waits for the backward graph, as nodes' saved tensors: the buffers stay the graph's.
static void whole_show_kept(struct graph *g, const struct inductor *d)
{
    int32_t node = GRAPH_NO_NODE;
    uint32_t layer = INDUCTOR_NO_LAYER;
    for (size_t i = 1; i < d->buffer_count; i++) {
        const struct inductor_buffer *b = &d->buffers[i];
        if (!b->handed || b->last < d->backward || b->first >= d->backward || b->leaves)
            continue;
        uint32_t here = d->kernels[b->first].layer;
        bool full = node != GRAPH_NO_NODE && g->nodes[node].saved_count == GRAPH_SAVED;
        if (node == GRAPH_NO_NODE || here != layer || full) {
            if (here < d->layers)
                graph_enter(g, here);
            else
                graph_leave(g);
            node = graph_bare_node(g, NODE_COMPILED, ROLE_RESID2);
            layer = here;
        }
        if (node == GRAPH_NO_NODE)
            break;
        g->nodes[node].saved[g->nodes[node].saved_count++] = b->storage;
    }
    graph_leave(g);
}

// The two graphs, planned. Errors: false, and the graph has failed.
static bool whole_compile(struct graph *g)
{
    struct inductor *d = mem_alloc(g->mem, sizeof *d);
    g->failed |= !d;
    if (!d)
        return false;
    mem_zero(d, sizeof *d);
    g->inductor = d;
    whole_params(g);
    if (inductor_trace(d, g)) {
        inductor_partition(d);
        inductor_forward(d);
        if (g->grad && !d->failed)
            inductor_backward(d);
        if (!d->failed)
            inductor_plan(d);
    } else {
        d->failed = true;
    }
    g->failed |= d->failed;
    return graph_ok(g);
}

struct value compile_whole_forward(struct graph *g, uint32_t ids, uint32_t targets,
                                   struct value *logits)
{
    struct value loss = graph_none();
    if (whole_compile(g)) {
        struct inductor *d = g->inductor;
        inductor_run(d, false);
        if (g->grad)
            whole_show_kept(g, d);
        g->compiled_end = compile_kept_nodes(g, KEPT_END_NODES);
        loss = compile_loss(g, d->buffers[d->result].storage, ids, targets, logits);
    }
    if (!g->grad || !graph_ok(g))
        compile_whole_backward(g);  // nothing waits for one
    return loss;
}

// ---- backward ----------------------------------------------------------------------------------

// What the head's gradient waits in: one weight with the embedding, the two are added at the end.
struct head {
    uint32_t logits, low;
    uint32_t held;  // logits, of a loss that is a graph of its own
};

// Dynamo ends a graph before GPT-2's loss: the logits, which the first one returns, stay to the end
// of its backward graph. SRC: traces gpt2_whole_even*.
static bool is_loss_apart(const struct graph *g)
{
    return g->m->c.family == FAMILY_GPT2;
}

static bool is_trained(const struct graph *g, uint16_t number)
{
    const struct layout_param *p = layout_find(&g->layout, false, number);
    return p && p->trained;
}

static void head_done(struct graph *g, struct head *head)
{
    compile_release(g, &head->logits);
    compile_forget(g, g->compiled_end, LNF_OUT);
    compile_forget(g, g->compiled_end, HEAD_CAST);
}

// The head. Pure two bytes make a tied weight's gradient in one product with the sum, at the end.
static struct head backward_head(struct graph *g, struct inductor *d)
{
    bool tied = g->m->c.tie_embeddings, trained = is_trained(g, tied ? P_WTE : P_HEAD);
    struct head head = {.logits = TAPE_NONE};
    if (is_loss_apart(g))
        tape_ref(g->t, head.held = compile_kept(g, g->compiled_end, LOGITS));
    head.logits = compile_logits_gradient(g, g->compiled_end, !is_loss_apart(g));
    if (d->unused) {
        struct inductor_buffer *b = &d->buffers[d->unused];
        b->storage = compile_buffer(g, OP_ZEROS, b->role, b->part, b->dtype, b->shape);
    }
    uint32_t waits = d->head && d->buffers[d->head].last ? d->head : 0;
    if (waits && d->buffers[waits].shape == SHAPE_NV) {
        d->buffers[waits].storage = head.logits;
        head.logits = TAPE_NONE;
    } else if (g->autocast && trained)
        head.low =
            compile_buffer(g, OP_MM, ROLE_HEAD, PART_WEIGHT_GRAD_LOW, g->compute, SHAPE_W_WTE);
    else if (!tied && trained)
        compile_gradient(g, true, P_HEAD, OP_MM, PART_WEIGHT_GRAD);
    struct inductor_buffer *in = &d->buffers[d->incoming];
    in->storage = compile_buffer(g, OP_MM, in->role, in->part, in->dtype, in->shape);
    if (waits && d->buffers[waits].shape != SHAPE_NV) {
        d->buffers[waits].storage = head.low;
        head.low = TAPE_NONE;
    }
    if (head.logits != TAPE_NONE)
        head_done(g, &head);
    if (g->autocast && !tied && trained) {
        compile_gradient(g, true, P_HEAD, OP_TRITON, PART_WEIGHT_GRAD);
        compile_release(g, &head.low);
    }
    return head;
}

// Of a head's bias and what else is outside of the layers.
static void backward_rest(struct graph *g)
{
    const struct layout *l = &g->layout;
    for (unsigned i = 0; i < (unsigned)l->before_count + l->after_count; i++) {
        const struct layout_param *p =
            i < l->before_count ? &l->before[i] : &l->after[i - l->before_count];
        struct value w = graph_param(g, true, p->number);
        bool done = w.node == GRAPH_NO_NODE || g->nodes[w.node].gradient[0] != TAPE_NONE;
        graph_drop(g, w);
        if (!done && p->number != P_WTE)
            compile_gradient(g, true, p->number, OP_TRITON, PART_BIAS_GRAD);
    }
}

void compile_whole_backward(struct graph *g)
{
    struct inductor *d = g->inductor;
    if (d && g->grad && graph_ok(g)) {
        struct head head = backward_head(g, d);
        inductor_run(d, true);
        backward_rest(g);
        compile_forget(g, g->compiled_end, IDS);
        head_done(g, &head);
        compile_release(g, &head.held);
        compile_accumulate_all(g);
    }
    if (d) {
        inductor_free(d);
        mem_free(g->mem, d, sizeof *d);
    }
    g->inductor = NULL;
}
#endif
