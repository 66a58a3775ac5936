// Owns the pass of a compiled model of transformers (TrainingArguments' torch_compile): the two
// graphs of inductor.h, between them the head and the loss. SRC: as inductor.h.

#include "calc/trace/pass_compile_whole.h"

#ifndef VRAM_SMALL

#include "calc/trace/compiled.h"
#include "calc/trace/inductor.h"
#include "calc/trace/loss_tiled.h"
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

// The hidden states that are scored, which the graph takes out of the last norm's. With the
// embedding's weight as the head's its gradient waits for what words get.
static struct value whole_scored(struct graph *g, const struct inductor *d)
{
    struct value out =
        graph_make(g, OP_INDEX, ROLE_HEAD, PART_INPUT, d->buffers[d->result].dtype, SHAPE_LABELS_U);
    if (!g->grad || !graph_ok(g))
        return out;
    uint32_t rows = graph_scratch(g, OP_INDEX, ROLE_LOSS, PART_SCRATCH, DT_I64, SHAPE_LABELS);
    int32_t n = graph_node(g, NODE_COMPILED_BLOCK, &out, 0);
    graph_save(g, n, rows);
    tape_unref(g->t, rows);
    if (g->m->c.tie_embeddings) {
        struct value words = graph_param(g, true, P_WTE);
        graph_edge(g, n, words);
        graph_drop(g, words);
    }
    return out;
}

// The last norm's result is a variable of the model's function.
static struct value whole_tiled(struct graph *g, struct inductor *d, uint32_t ids)
{
    struct value scored = whole_scored(g, d), loss = loss_tiled(g, scored);
    tape_ref(g->t, ids);
    compile_keep(g, g->compiled_end, IDS, ids);
    graph_drop(g, scored);
    tape_unref(g->t, d->buffers[d->result].storage);
    return loss;
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
        loss = compile_leaves_loss(g->m)
                   ? whole_tiled(g, d, ids)
                   : compile_loss(g, d->buffers[d->result].storage, ids, targets, logits);
    }
    if (!g->grad || !graph_ok(g))
        compile_whole_end(g);  // nothing waits for a backward pass
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

static void run_made(struct graph *g, struct inductor_buffer *b)
{
    b->storage = compile_buffer(g, (enum op)b->op, b->role, b->part, b->dtype, b->shape);
}

// The head. Pure two bytes make a tied weight's gradient in one product with the sum, at the end.
static struct head backward_head(struct graph *g, struct inductor *d)
{
    bool tied = g->m->c.tie_embeddings, apart = !tied || compile_is_in_buckets(g->m);
    uint16_t number = tied ? P_WTE : P_HEAD;
    bool trained = is_trained(g, number);
    struct head head = {.logits = TAPE_NONE};
    if (is_loss_apart(g))
        tape_ref(g->t, head.held = compile_kept(g, g->compiled_end, LOGITS));
    head.logits = compile_logits_gradient(g, g->compiled_end, !is_loss_apart(g));
    if (d->unused)
        run_made(g, &d->buffers[d->unused]);
    uint32_t waits = d->head && d->buffers[d->head].last ? d->head : 0;
    if (waits && d->buffers[waits].shape == SHAPE_NV) {
        d->buffers[waits].storage = head.logits;
        head.logits = TAPE_NONE;
    } else if (g->autocast && trained)
        head.low =
            compile_buffer(g, OP_MM, ROLE_HEAD, PART_WEIGHT_GRAD_LOW, g->compute, SHAPE_W_WTE);
    else if (apart && trained)
        compile_gradient(g, true, number, OP_MM, PART_WEIGHT_GRAD);
    run_made(g, &d->buffers[d->incoming]);
    if (waits && d->buffers[waits].shape != SHAPE_NV) {
        d->buffers[waits].storage = head.low;
        head.low = TAPE_NONE;
    }
    if (head.logits != TAPE_NONE)
        head_done(g, &head);
    if (g->autocast && apart && trained) {
        compile_gradient(g, true, number, OP_TRITON, PART_WEIGHT_GRAD);
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

// What words get is added to what the head has got of one weight, in place. SRC: pytorch
// torch/csrc/autograd/input_buffer.cpp.
static void node_add_words(struct graph *g, struct node *weight, uint32_t head)
{
    if (head == TAPE_NONE)
        return;
    tape_unref(g->t, weight->gradient[0]);
    weight->gradient[0] = head;
}

void node_compiled_whole(struct graph *g, const struct node *n, uint32_t results[])
{
    struct inductor *d = g->inductor;
    int32_t words = n->edge_count ? n->edges[0].to : GRAPH_NO_NODE;
    struct node *own = &g->nodes[g->running],
                *weight = words == GRAPH_NO_NODE ? NULL : &g->nodes[words];
    uint32_t scored = own->gradient[0], head = weight ? weight->gradient[0] : TAPE_NONE;
    own->gradient[0] = results[0] = TAPE_NONE;
    if (weight)
        weight->gradient[0] = TAPE_NONE;
    run_made(g, &d->buffers[d->unused]);
    run_made(g, &d->buffers[d->incoming]);
    tape_unref(g->t, scored);
    inductor_run(d, true);
    if (weight)
        node_add_words(g, &g->nodes[words], head);
    compile_forget(g, g->compiled_end, IDS);
    compile_accumulate_all(g);
}

// The node of the words' weights.
static int32_t whole_words(struct graph *g)
{
    struct value w = graph_param(g, true, P_WTE);
    graph_drop(g, w);
    return w.node;
}

void compile_whole_backward(struct graph *g)
{
    struct inductor *d = g->inductor;
    if (!d || !g->grad || !graph_ok(g))
        return;
    struct head head = backward_head(g, d);
    int32_t words = whole_words(g);
    uint32_t first = words == GRAPH_NO_NODE ? TAPE_NONE : g->nodes[words].gradient[0];
    inductor_run(d, true);
    if (first != TAPE_NONE)
        node_add_words(g, &g->nodes[words], first);
    backward_rest(g);
    compile_forget(g, g->compiled_end, IDS);
    head_done(g, &head);
    compile_release(g, &head.held);
    compile_accumulate_all(g);
}

void compile_whole_end(struct graph *g)
{
    struct inductor *d = g->inductor;
    if (d) {
        inductor_free(d);
        mem_free(g->mem, d, sizeof *d);
    }
    g->inductor = NULL;
}
#endif
