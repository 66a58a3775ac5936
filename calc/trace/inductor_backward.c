// Owns the kernels of a compiled model's backward graph. What is generated is put off until a call
// of a library wants it; of those the latest made runs first, the weight's gradient before the
// argument's. SRC: pytorch torch/csrc/autograd/engine.cpp (the order in which the joint graph is
// traced), torch/_inductor/scheduler.py.

#include "calc/trace/inductor.h"

#ifndef VRAM_SMALL

#include "calc/trace/attention.h"
#include "calc/trace/compiled.h"
#include "calc/trace/nodes_llama.h"
#include "calc/trace/quantized.h"

static void put_off(struct inductor *d, int32_t node, uint32_t gradient)
{
    if (graph_grow(d->g, &d->late, &d->late_cap, d->late_count + 1, sizeof *d->late))
        d->late[d->late_count++] = (struct inductor_late){node, gradient};
    else
        d->failed = true;
}

static void make_from_gradient(struct inductor *d, int32_t i, uint32_t gradient)
{
    inductor_ensure_gradient(d, gradient);
    size_t begin = d->use_count;
    d->walk++;
    inductor_read_gradient(d, gradient, 0);
    inductor_make_parameter(d, &d->joint.nodes[i], OP_TRITON);
    inductor_kernel_end(d, begin, true);
    if (d->kernel_count)
        d->kernels[d->kernel_count - 1].sums = true;
}

// A block that was computed again has its parameters' gradients at the end from that norm on whose
// weight's is summed in one kernel with another's: before the feed-forward part with that before
// attention, which reads the same, or behind attention with the one that the block before it ends
// with. Frozen norms have none. SRC: pytorch torch/_inductor/scheduler.py (can_fuse_horizontal,
// topological_sort_schedule); traces *_whole_ckpt, llama_sft_compiled_lora.
static bool waits_for_norm(const struct inductor *d, int32_t parameter)
{
    uint8_t role = d->joint.nodes[parameter].role;
    bool post = d->g->m->features & HAS_POST_NORM,
         alone = post && (role == ROLE_LN2 || role == ROLE_POST_MLP_NORM);
    return inductor_checkpoints(d, d->layer) && !d->g->m->c.lora_rank && !alone;
}

static void run_parameter(struct inductor *d, int32_t i)
{
    uint32_t gradient = inductor_gradient_of(d, i);
    if (inductor_mixes(d, i, gradient))
        return;
    d->waits |= waits_for_norm(d, i);
    if (d->waits)
        put_off(d, i, gradient);
    else
        make_from_gradient(d, i, gradient);
}

static void run_generated(struct inductor *d, int32_t i)
{
    struct node n = d->joint.nodes[i];
    uint32_t own = inductor_gradient_of(d, i), wanted = 0;
    if (!own)
        return;  // no memory
    for (unsigned k = 0; k < n.edge_count; k++)
        wanted += inductor_needs(d, n.edges[k].to);
    d->gradients[own].wanted += (uint16_t)(wanted - (wanted > 0));
    for (unsigned k = 0; k < n.edge_count; k++) {
        const struct edge *e = &d->joint.nodes[i].edges[k];
        if (!inductor_needs(d, e->to))
            continue;
        if (inductor_hands_on(&n, e)) {
            d->gradients[own].shared |= wanted > 1;
            inductor_deliver(d, e, own);
            continue;
        }
        inductor_deliver(d, e, inductor_gradient_through(d, i, e, own));
    }
}

// What a product takes that is not there; of an adapter's second product, whose argument a
// checkpointed block computes again, what the first one takes.
static uint32_t lazy_argument(const struct inductor *d, const struct node *n)
{
    uint32_t value = n->saved_count > 0 ? n->saved[0] : TAPE_NONE;
    for (;;) {
        bool here = value != TAPE_NONE && inductor_storage(d, value)->home == HOME_TAPE;
        if (!here || d->values[value].buffer)
            return TAPE_NONE;
        int32_t node = d->values[value].node;
        const struct node *maker = node == GRAPH_NO_NODE ? NULL : &d->joint.nodes[node];
        uint32_t first =
            maker && maker->kind == NODE_MM ? inductor_argument(d, &maker->edges[0]) : TAPE_NONE;
        if (first == TAPE_NONE || d->values[first].buffer)
            return value;
        value = first;
    }
}

// What a product is waiting for is made beside gradients that read the same.
static bool realize_lazy(struct inductor *d, size_t begin)
{
    bool any = false;
    for (unsigned k = 0; k < d->lazy_count; k++) {
        uint32_t value = lazy_argument(d, &d->joint.nodes[d->lazy[k].node]);
        size_t end = d->use_count;
        bool beside = false;
        d->walk++;
        d->looks = true;
        inductor_read(d, value);
        d->looks = false;
        for (size_t a = begin; a < end; a++)
            for (size_t b = end; b < d->use_count; b++)
                beside |= inductor_used(d->uses[a]) == inductor_used(d->uses[b]);
        d->use_count = end;
        d->walk++;
        if (beside)
            inductor_read(d, value);
        if (beside && !d->values[value].buffer)
            inductor_make(d, value);
        any |= beside;
    }
    return any;
}

static void run_lazy(struct inductor *d);

// The gradient of a call's result as a buffer, with those of the other calls that are ready and
// come out of the same.
static uint32_t realize(struct inductor *d, int32_t i)
{
    uint32_t e = inductor_gradient_of(d, i);
    int32_t beside[INDUCTOR_BESIDE];
    if (!e || d->gradients[e].buffer)
        return e ? d->gradients[e].buffer : 0;
    inductor_ensure_gradient(d, e);
    unsigned count = inductor_find_beside(d, e, beside);
    for (unsigned k = 0; k < count; k++)
        inductor_ensure_gradient(d, inductor_gradient_of(d, beside[k]));
    for (unsigned k = 0; k < d->mixed_count; k++)
        inductor_ensure_gradient(d, d->mixed[k].gradient);
    for (unsigned k = 0; k < count; k++)
        inductor_open_scatter(d, beside[k]);
    size_t begin = d->use_count;
    d->round++;
    d->walk++;
    d->counts = true;
    inductor_look_at(d, e);
    for (unsigned k = 0; k < count; k++)
        inductor_look_at(d, inductor_gradient_of(d, beside[k]));
    d->counts = false;
    d->use_count = begin;
    d->walk++;
    inductor_read_gradient(d, e, e);
    for (unsigned k = 0; k < count; k++)
        inductor_realize_beside(d, beside[k]);
    inductor_run_mixed(d, begin);
    bool lazy = d->lazy_count > 0 && realize_lazy(d, begin);
    inductor_kernel_end(d, begin, !lazy);  // no result takes an argument's place then
    if (lazy)
        run_lazy(d);
    return d->gradients[e].buffer;
}

// What a call takes of what was saved; before its kernel it is made if it is not there.
static uint32_t saved_value(const struct inductor *d, const struct node *n, unsigned which)
{
    uint32_t value = which < n->saved_count ? n->saved[which] : TAPE_NONE;
    return inductor_storage(d, value)->home == HOME_TAPE ? value : TAPE_NONE;
}

static void ready_saved(struct inductor *d, const struct node *n, unsigned which)
{
    uint32_t value = saved_value(d, n, which);
    if (value != TAPE_NONE && inductor_is_mask(inductor_storage(d, value)))
        inductor_read_mask(d, value);
    else
        inductor_realize(d, value);
}

static void use_saved(struct inductor *d, const struct node *n, unsigned which)
{
    uint32_t value = saved_value(d, n, which);
    if (value != TAPE_NONE)
        inductor_use(d, d->values[value].buffer);
}

// One of a product's two gradients; a parameter's is a result of the graph.
static void run_product_edge(struct inductor *d, int32_t i, unsigned edge, uint32_t gradient)
{
    const struct node *n = &d->joint.nodes[i];
    const struct edge *e = &n->edges[edge];
    if (edge >= n->edge_count || !inductor_needs(d, e->to))
        return;
    const struct node *to = &d->joint.nodes[e->to];
    enum op op = inductor_allocates_itself(n) ? OP_NEW_EMPTY : OP_MM;
    bool flat = edge == 0 && n->kind == NODE_MM && d->values[inductor_result(d, e->to)].flat;
    uint32_t sum = flat ? inductor_take_flat(d, e) : 0;
    if (flat && !sum && d->flat_count < INDUCTOR_LAZY) {
        d->flat[d->flat_count++] = (struct inductor_late){i, gradient};
        return;
    }
    ready_saved(d, n, 1 - edge);
    size_t begin = d->use_count;
    inductor_use(d, gradient);
    use_saved(d, n, 1 - edge);
    inductor_use(d, sum);
    if (to->kind == NODE_ACCUMULATE) {
        inductor_make_parameter(d, to, op);
        d->joint.nodes[e->to].link--;
    } else {
        uint8_t part = edge == 1 ? PART_WEIGHT_GRAD_LOW : PART_GRAD;
        uint32_t b = inductor_gradient_buffer(d, op, e->role, part, e->dtype, e->shape);
        inductor_use(d, b | INDUCTOR_MADE);
        (flat ? inductor_deliver_flat : inductor_deliver_buffer)(d, e, b);
    }
    inductor_kernel_end(d, begin, false);
}

static void run_flat(struct inductor *d)
{
    unsigned count = d->flat_count;
    d->flat_count = 0;
    for (unsigned k = 0; k < count; k++)
        run_product_edge(d, d->flat[k].node, 0, d->flat[k].gradient);
}

// A bias's gradient is generated code: a sum over the rows.
static void run_product_bias(struct inductor *d, const struct node *n, uint32_t gradient)
{
    if (n->kind != NODE_ADDMM || n->edge_count < 3 || !inductor_needs(d, n->edges[2].to))
        return;
    const struct edge *e = &n->edges[2];
    const struct node *to = &d->joint.nodes[e->to];
    size_t begin = d->use_count;
    inductor_use(d, gradient);
    if (to->kind == NODE_ACCUMULATE) {
        inductor_make_parameter(d, to, OP_TRITON);
        d->joint.nodes[e->to].link--;
    } else {
        uint32_t b =
            inductor_gradient_buffer(d, OP_TRITON, e->role, PART_BIAS_GRAD_LOW, e->dtype, e->shape);
        inductor_use(d, b | INDUCTOR_MADE);
        inductor_deliver_buffer(d, e, b);
    }
    inductor_kernel_end(d, begin, true);
}

// Where blocks end with a norm, the kernel that sums for its weight's gradient is one with that of
// the norm behind the attention of the block that comes after it: all that the former is made of is
// computed again first. SRC: as waits_for_norm.
static void run_ahead(struct inductor *d)
{
    if (!(d->g->m->features & HAS_POST_NORM) || d->g->m->c.lora_rank || d->block ||
        !inductor_checkpoints(d, d->layer) || d->layer == 0 ||
        !inductor_checkpoints(d, d->layer - 1))
        return;
    int32_t i = d->layer_end[d->layer - 1] - 1;
    while (i > 0 && !inductor_is_extern(&d->joint.nodes[i]))
        i--;
    inductor_ensure(d, inductor_result(d, i));
}

static void run_product(struct inductor *d, int32_t i, uint32_t gradient)
{
    struct node n = d->joint.nodes[i];
    bool late = d->waits && n.edge_count > 1 && inductor_needs(d, n.edges[1].to);
    if (n.role == ROLE_ATTN_PROJ && d->g->m->c.attention == ATTENTION_MATH)
        run_ahead(d);
    run_product_bias(d, &n, gradient);
    bool trained = n.edge_count > 1 && inductor_needs(d, n.edges[1].to);
    if (trained)
        inductor_ensure(d, lazy_argument(d, &n));
    bool lazy = trained && lazy_argument(d, &n) && d->lazy_count < INDUCTOR_LAZY;
    if (lazy)
        d->lazy[d->lazy_count++] = (struct inductor_late){i, gradient};
    else if (late)
        put_off(d, i, gradient);
    else
        run_product_edge(d, i, 1, gradient);
    run_product_edge(d, i, 0, gradient);
}

static void run_lazy(struct inductor *d)
{
    for (unsigned k = 0; k < d->lazy_count && !d->failed; k++) {
        inductor_realize(d, lazy_argument(d, &d->joint.nodes[d->lazy[k].node]));
        run_product_edge(d, d->lazy[k].node, 1, d->lazy[k].gradient);
    }
    d->lazy_count = 0;
}

static void run_late(struct inductor *d)
{
    run_lazy(d);
    for (size_t k = 0; k < d->late_count && !d->failed; k++) {
        const struct inductor_late *l = &d->late[k];
        if (d->joint.nodes[l->node].kind == NODE_ACCUMULATE)
            make_from_gradient(d, l->node, l->gradient);
        else
            run_product_edge(d, l->node, 1, l->gradient);
    }
    d->late_count = 0;
    d->waits = false;
}

static bool is_wide_mask(const struct inductor *d, const struct node *n, unsigned which)
{
    return inductor_is_wide_mask(d, n, saved_value(d, n, which));
}

// A weight of four bits is expanded, after the scales if those are quantized, too.
static uint32_t expand(struct inductor *d, const struct node *n)
{
    const shape_id shape = quantized_scales(n->extra);
    uint32_t scales = 0;
    size_t begin = d->use_count;
    if (d->g->m->c.quantization == QUANTIZATION_NF4_DOUBLE) {
        scales = inductor_gradient_buffer(d, OP_NEW_EMPTY, n->role, PART_SCALES, DT_F32, shape);
        inductor_use(d, scales | INDUCTOR_MADE);
        inductor_kernel_end(d, begin, false);
    }
    begin = d->use_count;
    uint32_t weight = inductor_gradient_buffer(d, OP_NEW_EMPTY, n->role, PART_DEQUANTIZED,
                                               d->g->compute, n->extra);
    inductor_use(d, scales);
    inductor_use(d, weight | INDUCTOR_MADE);
    inductor_kernel_end(d, begin, false);
    return weight;
}

// Any other call: all its gradients at once, beside what the kernel works with.
static void run_call(struct inductor *d, const struct node *n, uint32_t gradient)
{
    uint32_t wide = 0;
    for (unsigned k = 0; k < n->saved_count; k++)
        if (is_wide_mask(d, n, k))
            wide = inductor_make_wide_mask(d, n);
        else
            ready_saved(d, n, k);
    uint32_t weight = n->kind == NODE_QUANTIZED ? expand(d, n) : 0;
    size_t begin = d->use_count;
    inductor_use(d, gradient);
    inductor_use(d, wide);
    inductor_use(d, weight);
    for (unsigned k = 0; k < n->saved_count; k++)
        if (!is_wide_mask(d, n, k))
            use_saved(d, n, k);
    for (unsigned k = 0; k < n->edge_count; k++) {
        const struct edge *e = &n->edges[k];
        if (!inductor_needs(d, e->to))
            continue;
        uint32_t b =
            inductor_gradient_buffer(d, OP_NEW_EMPTY, e->role, PART_GRAD, e->dtype, e->shape);
        inductor_use(d, b | INDUCTOR_MADE);
        inductor_deliver_buffer(d, e, b);
    }
    if (n->kind == NODE_SDPA) {
        bool latent = d->g->m->features & HAS_LATENT;
        shape_id tiles = latent ? SHAPE_WIDE_TILES : node_sdpa_tiles(n);
        inductor_use(
            d, inductor_gradient_buffer(d, OP_NEW_EMPTY, n->role, PART_SCRATCH, DT_F32, SHAPE_LSE) |
                   INDUCTOR_MADE);
        inductor_use(
            d, inductor_gradient_buffer(d, OP_NEW_EMPTY, n->role, PART_SCRATCH, DT_F32, tiles) |
                   INDUCTOR_MADE);
    }
    inductor_kernel_end(d, begin, false);
    if (n->kind == NODE_SDPA)  // whose kernels of angles are one with those that come
        run_ahead(d);
}

// The gradient of a block's input is a result of the graph.
static void run_entry(struct inductor *d, int32_t i)
{
    d->stream = realize(d, i);
    d->buffers[d->stream].leaves = true;
}

static void run_extern(struct inductor *d, int32_t i)
{
    if (inductor_scatters(&d->joint.nodes[i])) {
        inductor_run_scatter(d, i, realize);
        run_flat(d);
        return;
    }
    uint32_t gradient = realize(d, i);
    struct node n = d->joint.nodes[i];
    if (n.kind == NODE_EMBEDDING) {
        inductor_run_embedding(d, &n, gradient);
        return;
    }
    if (n.kind == NODE_MM || n.kind == NODE_ADDMM || n.kind == NODE_GROUPED_MM)
        run_product(d, i, gradient);
    else
        run_call(d, &n, gradient);
}

// ---- the order ----------------------------------------------------------------------------------

// How many gradients each node waits for: of nodes that the last norm's result comes from.
static void count_edges(struct inductor *d)
{
    struct graph *g = &d->joint;
    for (size_t i = 0; i < g->node_count; i++)
        g->nodes[i].link = 0;
    g->nodes[d->root].link = 1;
    for (int32_t i = d->root; i >= 0; i--)
        for (unsigned k = 0; g->nodes[i].link > 0 && k < g->nodes[i].edge_count; k++)
            if (inductor_needs(d, g->nodes[i].edges[k].to))
                g->nodes[g->nodes[i].edges[k].to].link++;
}

static uint32_t layer_of(const struct inductor *d, int32_t i)
{
    const struct node *n = &d->joint.nodes[i];
    if (n->kind == NODE_ACCUMULATE)
        return n->unit < 0 ? d->layers : (uint32_t)n->unit;
    bool before = i < d->layer_end[0];  // the embedding
    return n->unit >= 0 ? (uint32_t)n->unit : before ? 0 : d->layers;
}

// Takes what is generated before what is called, and of those what was made last.
static int32_t pop(struct inductor *d)
{
    size_t best = 0;
    for (size_t k = 0; k < d->ready_count; k++) {
        bool called = inductor_is_extern_backward(&d->joint.nodes[d->ready[k]]);
        bool best_called = inductor_is_extern_backward(&d->joint.nodes[d->ready[best]]);
        if (called != best_called ? !called : d->ready[k] > d->ready[best])
            best = k;
    }
    int32_t i = d->ready[best];
    d->ready[best] = d->ready[--d->ready_count];
    return i;
}

static void enter(struct inductor *d, int32_t i)
{
    uint32_t layer = layer_of(d, i);
    if (d->late_count > 0 && layer != d->layer)
        run_late(d);
    d->layer = layer;
}

static void step(struct inductor *d)
{
    int32_t i = pop(d);
    enter(d, i);
    if (d->joint.nodes[i].kind == NODE_EMBEDDING && d->late_count > 0) {
        d->ready[d->ready_count++] = i;
        run_late(d);
    } else if (d->joint.nodes[i].kind == NODE_ACCUMULATE)
        run_parameter(d, i);
    else if (d->block && i == d->entry)
        run_entry(d, i);
    else if (inductor_is_extern_backward(&d->joint.nodes[i]))
        run_extern(d, i);
    else
        run_generated(d, i);
}

void inductor_backward(struct inductor *d)
{
    const struct node *n = &d->joint.nodes[d->root];
    const struct edge root = {.to = d->root, .dtype = n->dtype, .shape = n->shape, .role = n->role};
    d->behind = true;
    d->layer = d->layers;
    for (size_t b = 1; b < d->buffer_count; b++)
        d->buffers[b].handed = true;
    count_edges(d);
    inductor_find_flat(d);
    bool apart = compile_leaves_loss(d->g->m);  // of rows that are scored, at their places
    d->incoming = inductor_gradient_buffer(d, apart ? OP_ZEROS : OP_MM, n->role, PART_GRAD,
                                           n->dtype, apart ? SHAPE_SHIFTED_U : n->shape);
    d->buffers[d->incoming].given = d->block;
    if (!d->block && !apart)
        inductor_open_head(d);
    inductor_open_unused(d);
    inductor_deliver_buffer(d, &root, d->incoming);
    while ((d->ready_count > 0 || d->late_count > 0 || d->lazy_count > 0) && !d->failed) {
        if (d->ready_count > 0)
            step(d);
        else
            run_late(d);
    }
    for (unsigned k = 0; k < d->mixed_count && !d->failed; k++)
        make_from_gradient(d, d->mixed[k].node, d->mixed[k].gradient);
    inductor_pair_masks(d);
}
#endif
