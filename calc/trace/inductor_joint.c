// Owns the traced graph of a compiled model: the eager code's own nodes, and what an operation is
// to Inductor. SRC: pytorch torch/_inductor/lowering.py (what becomes generated code, what stays a
// call of a library: make_fallback), torch/_inductor/kernel/mm.py.

#include "calc/trace/inductor.h"

#ifndef VRAM_SMALL

#include "calc/model/shape.h"
#include "calc/trace/block.h"
#include "calc/trace/compiled.h"
#include "calc/trace/forward.h"
#include "calc/trace/layers.h"
#include "calc/trace/layers_inputs.h"
#include "calc/trace/linear.h"

enum inductor_class {
    GENERATED = 0,
    CALLED = 1,  // forward
    CALLED_BACKWARD = 2,
    HANDED_ON = 4,  // the gradient of the result is that of the arguments
    REDUCED = 8,    // fewer numbers come out: a buffer of its own
    MOVED = 16      // numbers come to other places
};

static const uint8_t classes[NODE_COUNT] = {
    [NODE_MM] = CALLED | CALLED_BACKWARD,
    [NODE_ADDMM] = CALLED | CALLED_BACKWARD,
    [NODE_BMM] = CALLED | CALLED_BACKWARD,
    [NODE_BADDBMM] = CALLED | CALLED_BACKWARD,
    [NODE_EXPERTS_BMM] = CALLED | CALLED_BACKWARD,
    [NODE_DELTA_BMM] = CALLED | CALLED_BACKWARD,
    [NODE_GROUPED_MM] = CALLED | CALLED_BACKWARD,
    [NODE_SDPA] = CALLED | CALLED_BACKWARD,
    [NODE_CONV] = CALLED | CALLED_BACKWARD,
    [NODE_SOLVE] = CALLED | CALLED_BACKWARD,
    [NODE_QUANTIZED] = CALLED | CALLED_BACKWARD,
    [NODE_TOPK] = CALLED | CALLED_BACKWARD,
    [NODE_EMBEDDING] = CALLED_BACKWARD,
    [NODE_INDEX] = CALLED_BACKWARD,
    [NODE_ROUTE] = CALLED_BACKWARD,
    [NODE_INDEX_ADD] = CALLED,
    [NODE_INDEX_COPY] = CALLED,
    [NODE_ADD] = HANDED_ON,
    [NODE_PASS] = HANDED_ON,
    [NODE_VIEW] = HANDED_ON,
    [NODE_TURNED] = HANDED_ON | MOVED,
    [NODE_CAT] = MOVED,
    [NODE_JOIN] = MOVED,
    [NODE_SPLIT] = MOVED,
    [NODE_SLICE] = MOVED,
    [NODE_SELECT] = MOVED,
    [NODE_REPEAT] = MOVED,
    [NODE_CLONE] = HANDED_ON,
    [NODE_MEAN] = REDUCED,
    [NODE_SUM] = REDUCED,
    [NODE_RSQRT] = REDUCED,
};

bool inductor_is_extern(const struct node *n)
{
    return classes[n->kind] & CALLED;
}

bool inductor_is_extern_backward(const struct node *n)
{
    return classes[n->kind] & CALLED_BACKWARD;
}

bool inductor_allocates_itself(const struct node *n)
{
    return n->kind == NODE_QUANTIZED || n->kind == NODE_GROUPED_MM;
}

bool inductor_reduces(const struct node *n)
{
    return classes[n->kind] & REDUCED;
}

bool inductor_moves(const struct inductor *d, const struct node *n)
{
    bool copy = n->kind == NODE_CLONE &&
                (inductor_storage(d, n->gradient[0])->name & 63) == PART_COPY &&
                d->joint.nodes[n->edges[0].to].kind != NODE_QUANTIZED;  // LoRA's is as it was
    return copy || (classes[n->kind] & MOVED);
}

bool inductor_hands_on(const struct node *n, const struct edge *e)
{
    return (classes[n->kind] & HANDED_ON) && e->dtype == n->dtype && e->shape == n->shape;
}

bool inductor_is_mask(const struct storage *s)
{
    return s->name == NAME(SCORES, MASK);
}

const struct storage *inductor_storage(const struct inductor *d, uint32_t value)
{
    return &d->tape.storages[value];
}

uint64_t inductor_bytes(const struct inductor *d, uint8_t dtype, shape_id shape)
{
    return d->elements[shape] << dtype_shift(dtype);
}

uint32_t inductor_result(const struct inductor *d, int32_t node)
{
    return d->joint.nodes[node].gradient[0];
}

uint32_t inductor_argument(const struct inductor *d, const struct edge *e)
{
    bool none = e->to == GRAPH_NO_NODE || d->joint.nodes[e->to].kind == NODE_ACCUMULATE;
    return none ? TAPE_NONE : inductor_result(d, e->to);
}

bool inductor_needs(const struct inductor *d, int32_t node)
{
    return node != GRAPH_NO_NODE && d->joint.nodes[node].waiting;
}

void inductor_layer_ends(struct inductor *d, uint32_t layer, uint32_t result)
{
    d->layer_end[layer] = (int32_t)d->joint.node_count;
    d->streams[layer] = result;
}

// The logits and their gradient are in both graphs. Dynamo ends a graph before GPT-2's loss; at the
// hook on the embedding's result it breaks off, and what is behind the layers has graphs of its
// own. SRC: traces gpt2_whole_even*, llama_whole_lora_ckpt.
static void trace_head(struct inductor *d, bool broken)
{
    d->logits[0] = !broken;
    d->logits[1] = broken ? 0 : d->g->m->c.family == FAMILY_GPT2 ? 1 : 2;
}

// Whether a gradient goes through a node, in `waiting`, which no backward pass uses here: every
// node is there because the embedding's result has one, even if that is frozen. hooked: so it has
// with enable_input_require_grads.
static void trace_needs(struct inductor *d, bool hooked)
{
    struct graph *g = &d->joint;
    bool broken = false;
    for (size_t i = 0; i < g->node_count; i++) {
        struct node *n = &g->nodes[i];
        bool parameter = n->kind == NODE_ACCUMULATE;
        bool begins = n->kind == NODE_PASS && n->edge_count == 0 && hooked;
        broken |= begins;
        n->waiting = parameter || begins;
        for (unsigned k = 0; k < n->edge_count; k++)
            n->waiting |= inductor_needs(d, n->edges[k].to);
    }
    trace_head(d, broken || d->block || compile_leaves_loss(d->g->m));
}

// Casts of one tensor to one format are one cast: those that autocast makes for each product. SRC:
// pytorch torch/_functorch/compile_utils.py, fx_graph_cse.
static void trace_merge(struct inductor *d, int32_t i, int32_t same)
{
    struct graph *g = &d->joint;
    uint32_t old = inductor_result(d, i), result = inductor_result(d, same);
    for (size_t j = (size_t)i + 1; j < g->node_count && g->nodes[j].unit == g->nodes[i].unit; j++) {
        for (unsigned k = 0; k < g->nodes[j].edge_count; k++)
            if (g->nodes[j].edges[k].to == i)
                g->nodes[j].edges[k].to = same;
        for (unsigned k = 0; k < g->nodes[j].saved_count; k++)
            if (g->nodes[j].saved[k] == old)
                g->nodes[j].saved[k] = result;
    }
    g->nodes[i].gradient[0] = TAPE_NONE;
    g->nodes[i].edge_count = 0;
}

// A cast to a wider format and back, such as an adapter's before autocast's, is none, unless both
// are results of the graph: what attention's gradient takes of its own. SRC: pytorch
// torch/_inductor/fx_passes/joint_graph.py (pointless_convert), post_grad.py (remove_noop_ops).
static bool trace_is_saved(const struct inductor *d, int32_t i)
{
    const struct node *n = &d->joint.nodes[i];
    uint32_t value = inductor_result(d, i);
    for (int32_t j = i; j >= 0 && d->joint.nodes[j].unit == n->unit; j--) {
        const struct node *maker = &d->joint.nodes[j];
        for (unsigned k = 0; inductor_is_extern(maker) && k < maker->saved_count; k++)
            if (inductor_result(d, j) == value && maker->saved[k] == value)
                return true;
    }
    return false;
}

static bool trace_merge_back(struct inductor *d, int32_t i)
{
    const struct node *nodes = d->joint.nodes, *n = &nodes[i];
    bool one = n->kind == NODE_TO_COPY && n->edge_count == 1 && n->edges[0].to != GRAPH_NO_NODE;
    const struct node *wide = one ? &nodes[n->edges[0].to] : NULL;
    if (!wide || wide->kind != NODE_TO_COPY || wide->edge_count != 1 || wide->unit != n->unit ||
        n->unit < 0 || dtype_shift(wide->dtype) < dtype_shift(n->dtype))
        return false;
    const struct edge *e = &wide->edges[0];
    bool back = e->to != GRAPH_NO_NODE && nodes[e->to].kind != NODE_ACCUMULATE && e->input == 0 &&
                e->dtype == n->dtype && e->shape == n->shape &&
                (inductor_checkpoints(d, (uint32_t)n->unit) || !trace_is_saved(d, e->to));
    if (back)
        trace_merge(d, i, e->to);
    return back;
}

static void trace_merge_casts(struct inductor *d)
{
    enum { NEAR = 160 };
    struct graph *g = &d->joint;
    for (int32_t i = 0; i < (int32_t)g->node_count; i++) {
        const struct node *n = &g->nodes[i];
        if (trace_merge_back(d, i))
            continue;
        for (int32_t j = i - 1; n->kind == NODE_TO_COPY && j >= 0 && j >= i - NEAR; j--) {
            const struct node *m = &g->nodes[j];
            if (m->kind == NODE_TO_COPY && m->edge_count && m->unit == n->unit &&
                m->dtype == n->dtype && m->edges[0].to == n->edges[0].to &&
                m->edges[0].input == n->edges[0].input) {
                trace_merge(d, i, j);
                break;
            }
        }
    }
}

static void trace_values(struct inductor *d)
{
    struct graph *g = &d->joint;
    size_t count = g->t->count;
    if (!graph_grow(d->g, &d->values, &d->value_cap, count, sizeof *d->values) ||
        !graph_grow(d->g, &d->seen, &d->seen_cap, count, sizeof *d->seen) ||
        !graph_grow(d->g, &d->arrived, &d->arrived_cap, g->node_count * GRAPH_OUTPUTS,
                    sizeof *d->arrived))
        return;
    mem_zero(d->values, count * sizeof *d->values);
    mem_zero(d->seen, count * sizeof *d->seen);
    mem_zero(d->arrived, g->node_count * GRAPH_OUTPUTS * sizeof *d->arrived);
    for (size_t i = 0; i < count; i++)
        d->values[i].node = GRAPH_NO_NODE;
    for (size_t i = g->node_count; i-- > 0;)
        d->values[inductor_result(d, (int32_t)i)].node = (int32_t)i;
    d->values[TAPE_NONE].node = GRAPH_NO_NODE;
}

// What the head takes; an encoder's is transformed first. Uses x up. SRC: as encoder_loss.
static struct value trace_head_input(struct graph *g, struct value x)
{
    if (!(g->m->features & HAS_ENCODER))
        return forward_last_norm(g, x);
    struct value wide = layer_transform(g, x), active = layer_gelu(g, wide);
    struct value normed = layer_norm(g, active, true, P_LN_F);
    graph_drop(g, active);
    graph_drop(g, wide);
    graph_drop(g, x);
    return normed;
}

static bool trace_open(struct inductor *d, struct graph *g)
{
    struct dims dims;
    d->g = g;
    dims_make(&dims, g->m);
    tape_init(&d->tape, g->mem);
    graph_init(&d->joint, g->mem);
    d->layers = graph_layers(g);
    if (shape_fill(&dims, d->elements) != VRAM_OK ||
        !graph_grow(g, &d->layer_end, &d->layer_cap, d->layers + 1, sizeof *d->layer_end) ||
        !graph_grow(g, &d->streams, &d->stream_cap, d->layers + 1, sizeof *d->streams))
        return false;
    mem_zero(d->layer_end, (d->layers + 1) * sizeof *d->layer_end);
    graph_reset(&d->joint, g->m, &d->tape, (struct tape_stack){0, d->layers, 1});
    d->joint.traced = true;
    d->joint.training = g->training;
    d->joint.inductor = d;
    d->joint.calls = g->calls;
    return true;
}

static struct value trace_embedding(struct inductor *d, struct value local[3])
{
    uint32_t ids = tape_existing(&d->tape, NAME(BATCH, SELF), VRAM_CAT_INPUT, DT_I64, SHAPE_TOKENS,
                                 HOME_PERSIST, SLOT_X);
    return forward_embed(&d->joint, ids, local);
}

// The graph's result is there. hooked: as for trace_needs.
static bool trace_close(struct inductor *d, struct value out, struct value local[3], bool hooked)
{
    d->output = out.storage;
    d->root = out.node;
    graph_drop(&d->joint, out);
    for (unsigned k = 0; k < 3; k++)
        graph_drop(&d->joint, local[k]);
    if (!graph_ok(&d->joint))
        return false;
    trace_merge_casts(d);
    trace_needs(d, hooked);
    trace_values(d);
    return graph_ok(d->g);
}

bool inductor_trace(struct inductor *d, struct graph *g)
{
    struct value local[3] = {graph_none(), graph_none(), graph_none()};
    if (!trace_open(d, g))
        return false;
    struct value x = trace_embedding(d, local);
    if (!graph_needs(&d->joint, x))
        graph_node(&d->joint, NODE_PASS, &x, 0);
    d->begin = x.storage;
    x = forward_layers(&d->joint, x);
    struct value last = trace_head_input(&d->joint, x);
    struct value normed = compile_leaves_loss(g->m)
                              ? graph_copy(&d->joint, last)
                              : graph_input_cast(&d->joint, last, ROLE_LN_F, PART_OUTPUT_CAST);
    graph_drop(&d->joint, last);
    d->layer_end[d->layers] = (int32_t)d->joint.node_count;
    return trace_close(d, normed, local, g->m->c.checkpointing);
}

// The embedding comes first for what it leaves for the layers: angles, masks.
bool inductor_trace_block(struct inductor *d, struct graph *g, uint32_t layer, bool needs)
{
    struct value local[3] = {graph_none(), graph_none(), graph_none()};
    d->block = true;
    d->only = layer;
    if (!trace_open(d, g))
        return false;
    struct value x = trace_embedding(d, local);
    if (layer < d->layers)
        graph_enter(&d->joint, layer);
    d->entry = graph_node(&d->joint, NODE_PASS, &x, 0);
    d->begin = x.storage;
    if (layer > 0)
        d->layer_end[layer - 1] = d->entry;
    struct value out;
    if (layer < d->layers) {
        inputs_choose(&d->joint);
        out = block_forward(&d->joint, x);
        inputs_left(&d->joint);
        graph_leave(&d->joint);
        graph_drop(&d->joint, x);
    } else {
        out = forward_last_norm(&d->joint, x);
    }
    d->layer_end[layer] = (int32_t)d->joint.node_count;
    return trace_close(d, out, local, needs);
}

void inductor_forget_trace(struct inductor *d)
{
    const struct vram_mem *mem = d->joint.mem;
    mem_free(mem, d->layer_end, d->layer_cap * sizeof *d->layer_end);
    mem_free(mem, d->streams, d->stream_cap * sizeof *d->streams);
    mem_free(mem, d->values, d->value_cap * sizeof *d->values);
    mem_free(mem, d->seen, d->seen_cap * sizeof *d->seen);
    mem_free(mem, d->gradients, d->gradient_cap * sizeof *d->gradients);
    mem_free(mem, d->ready, d->ready_cap * sizeof *d->ready);
    mem_free(mem, d->late, d->late_cap * sizeof *d->late);
    mem_free(mem, d->links, d->link_cap * sizeof *d->links);
    mem_free(mem, d->arrived, d->arrived_cap * sizeof *d->arrived);
    graph_free(&d->joint);
    tape_free(&d->tape);
    d->layer_end = d->ready = NULL;
    d->streams = d->seen = d->arrived = NULL;
    d->values = NULL;
    d->gradients = NULL;
    d->late = NULL;
    d->links = NULL;
}

void inductor_free(struct inductor *d)
{
    const struct vram_mem *mem = d->joint.mem;
    if (!mem)
        return;
    inductor_forget_trace(d);
    mem_free(mem, d->cuts, d->cut_cap * sizeof *d->cuts);
    mem_free(mem, d->buffers, d->buffer_cap * sizeof *d->buffers);
    mem_free(mem, d->kernels, d->kernel_cap * sizeof *d->kernels);
    mem_free(mem, d->uses, d->use_cap * sizeof *d->uses);
}
#endif
