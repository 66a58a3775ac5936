// Owns the kernels of a compiled model's forward graph: calls of libraries in the order of the
// code, and one generated kernel for all that lies between two of them. SRC: pytorch
// torch/_inductor/scheduler.py (fuse_nodes), torch/_inductor/graph.py (realize).

#include "calc/trace/inductor.h"

#ifndef VRAM_SMALL

#include "calc/trace/attention.h"
#include "calc/trace/quantized.h"

static bool grow(struct inductor *d, void *ptr, size_t *cap, size_t need, size_t size)
{
    d->failed = d->failed || !graph_grow(d->g, ptr, cap, need, size);
    return !d->failed;
}

// Number 0 is none.
uint32_t inductor_buffer(struct inductor *d, struct inductor_buffer b)
{
    d->buffer_count += d->buffer_count == 0;
    if (!grow(d, &d->buffers, &d->buffer_cap, d->buffer_count + 1, sizeof *d->buffers))
        return 0;
    d->buffers[0] = (struct inductor_buffer){0};
    d->buffers[d->buffer_count] = b;
    return (uint32_t)d->buffer_count++;
}

void inductor_use(struct inductor *d, uint32_t use)
{
    if (inductor_used(use) && grow(d, &d->uses, &d->use_cap, d->use_count + 1, sizeof *d->uses))
        d->uses[d->use_count++] = use;
}

void inductor_use_there(struct inductor *d, uint32_t buffer)
{
    inductor_use(d, buffer | (d->moved > 0 && !d->looks ? INDUCTOR_MOVED : 0));
}

// Whether a walk has been here; once more, if now it comes by way of other places.
bool inductor_has_seen(const struct inductor *d, uint32_t *seen)
{
    uint32_t here = d->walk << 1 | (d->moved > 0 && !d->looks);
    bool been = *seen == here || *seen == (d->walk << 1 | 1);
    *seen = been ? *seen : here;
    return been;
}

void inductor_kernel_end(struct inductor *d, size_t begin, bool generated)
{
    if (begin == d->use_count ||
        !grow(d, &d->kernels, &d->kernel_cap, d->kernel_count + 1, sizeof *d->kernels))
        return;
    d->kernels[d->kernel_count++] = (struct inductor_kernel){.begin = (uint32_t)begin,
                                                             .end = (uint32_t)d->use_count,
                                                             .layer = d->layer,
                                                             .generated = generated,
                                                             .again = d->again};
}

static uint32_t buffer_of(struct inductor *d, uint32_t value)
{
    const struct storage *s = inductor_storage(d, value);
    const struct node *n =
        d->values[value].node == GRAPH_NO_NODE ? NULL : &d->joint.nodes[d->values[value].node];
    uint8_t op = n && !inductor_is_extern(n)         ? OP_TRITON
                 : n && inductor_allocates_itself(n) ? OP_NEW_EMPTY
                                                     : s->op;
    uint32_t b = inductor_buffer(d, (struct inductor_buffer){.op = op,
                                                             .role = (uint8_t)(s->name >> 6),
                                                             .part = (uint8_t)(s->name & 63),
                                                             .dtype = s->dtype,
                                                             .shape = s->shape,
                                                             .weight = GRAPH_NO_PARAM});
    d->values[value].buffer = b;
    return b;
}

void inductor_make(struct inductor *d, uint32_t value)
{
    inductor_use(d, buffer_of(d, value) | INDUCTOR_MADE);
}

// The forward graph of a checkpointed block keeps nothing of it, and the backward graph computes as
// often as it wants what it need not store.
static bool is_kept_here(const struct inductor *d, uint32_t value)
{
    return d->values[value].kept && !d->behind && !inductor_checkpoints(d, d->layer);
}

// Buffers and weights that a value is computed from.
static unsigned reads_of(const struct inductor *d, uint32_t value)
{
    const struct inductor_value *v = &d->values[value];
    if (v->buffer || v->node == GRAPH_NO_NODE)
        return 1;
    const struct node *n = &d->joint.nodes[v->node];
    unsigned reads = n->kind == NODE_DROPOUT;
    if (inductor_is_extern(n) || inductor_reduces(n))
        return 1;
    for (unsigned k = 0; k < n->edge_count; k++) {
        uint32_t argument = inductor_argument(d, &n->edges[k]);
        reads += argument == TAPE_NONE ? 1 : reads_of(d, argument);
    }
    return reads;
}

static unsigned users_of(const struct inductor *d, int32_t node)
{
    enum { NEAR = 12 };
    unsigned users = 0;
    for (int32_t i = node + 1; i < node + NEAR && i < (int32_t)d->joint.node_count; i++)
        for (unsigned k = 0; k < d->joint.nodes[i].edge_count; k++)
            users += d->joint.nodes[i].edges[k].to == node;
    return users;
}

// A norm's input in float32, and that normalized, which the gradient reads once more: out of more
// than four buffers they are one of their own. SRC: pytorch torch/_inductor/ir.py
// (StorageBox.should_realize_on_reuse), config.py (realize_reads_threshold).
static bool is_read_again(const struct inductor *d, uint32_t value)
{
    enum { READS = 4 };
    const struct inductor_value *v = &d->values[value];
    const struct node *n = &d->joint.nodes[v->node];
    if (!d->behind || n->dtype != DT_F32)
        return false;
    bool input = n->kind == NODE_TO_COPY && users_of(d, v->node) > 1, normed = false;
    for (unsigned k = 0; k < n->edge_count && n->kind == NODE_MUL; k++)
        normed |=
            n->edges[k].to != GRAPH_NO_NODE && d->joint.nodes[n->edges[k].to].kind == NODE_RSQRT;
    return (input || normed) && reads_of(d, value) > READS;
}

// Whether a kernel that computes a value stores it, though another one is what it is for.
static bool is_stored(const struct inductor *d, uint32_t value)
{
    const struct inductor_value *v = &d->values[value];
    return (v->begins && !d->behind) || inductor_reduces(&d->joint.nodes[v->node]) ||
           is_kept_here(d, value) || is_read_again(d, value);
}

// Results beside the one that the node is named by: statistics, masks of dropout.
static void make_sides(struct inductor *d, const struct node *n, bool before)
{
    uint32_t result = n->gradient[0];
    for (unsigned k = 0; k < n->saved_count; k++) {
        uint32_t v = n->saved[k];
        if (v == TAPE_NONE || d->values[v].node != GRAPH_NO_NODE || d->values[v].buffer ||
            inductor_storage(d, v)->home != HOME_TAPE || inductor_is_mask(inductor_storage(d, v)))
            continue;
        bool stored = inductor_is_extern(n) || is_kept_here(d, v);
        bool early = v < result && inductor_storage(d, v)->op != OP_DROPOUT;
        if (early == before && stored)
            inductor_make(d, v);
    }
}

// Dropout's numbers are a buffer, which all kernels read that compute its result: the forward graph
// does not read the mask that it hands over. SRC: pytorch torch/_inductor/lowering.py,
// inductor_random (realize).
static void read_random(struct inductor *d, uint32_t mask)
{
    uint32_t random = d->values[mask].random;
    if (random || d->looks) {
        inductor_use_there(d, random);
        return;
    }
    const struct storage *s = inductor_storage(d, mask);
    random = inductor_buffer(d, (struct inductor_buffer){.op = OP_TRITON,
                                                         .role = (uint8_t)(s->name >> 6),
                                                         .part = PART_SCRATCH,
                                                         .dtype = DT_F32,
                                                         .shape = s->shape,
                                                         .random = true,
                                                         .weight = GRAPH_NO_PARAM});
    d->values[mask].random = random;
    inductor_use(d, random | INDUCTOR_MADE);
}

static bool is_mask_of_dropout(const struct inductor *d, uint32_t value)
{
    return d->values[value].node == GRAPH_NO_NODE && inductor_storage(d, value)->op == OP_DROPOUT;
}

static void forget_use(struct inductor *d, struct inductor_kernel *kernel, uint32_t u)
{
    for (kernel->end--; u < kernel->end; u++)
        d->uses[u] = d->uses[u + 1];
}

void inductor_drop_random(struct inductor *d)
{
    for (size_t b = 1; b < d->buffer_count; b++)
        d->buffers[b].first = d->buffers[b].last = 0;
    for (uint32_t k = 0; k < d->kernel_count; k++)
        for (uint32_t u = d->kernels[k].begin; u < d->kernels[k].end; u++) {
            struct inductor_buffer *b = &d->buffers[inductor_used(d->uses[u])];
            if (d->uses[u] & INDUCTOR_MADE)
                b->first = k;
            b->last = k;
        }
    for (uint32_t k = 0; k < d->kernel_count; k++)
        for (uint32_t u = d->kernels[k].begin; u < d->kernels[k].end;) {
            const struct inductor_buffer *b = &d->buffers[inductor_used(d->uses[u])];
            if (b->random && b->first == b->last)
                forget_use(d, &d->kernels[k], u);
            else
                u++;
        }
}

// What a generated kernel reads for a value: buffers, through all that it computes on its way.
void inductor_read(struct inductor *d, uint32_t value)
{
    if (value == TAPE_NONE || inductor_has_seen(d, &d->seen[value]) ||
        inductor_storage(d, value)->home != HOME_TAPE)
        return;
    const struct inductor_value *v = &d->values[value];
    if (v->buffer) {
        inductor_use_there(d, v->buffer);
        return;
    }
    if (is_mask_of_dropout(d, value))
        read_random(d, value);
    if (v->node == GRAPH_NO_NODE)
        return;
    const struct node *n = &d->joint.nodes[v->node];
    if (n->kind == NODE_DROPOUT && n->saved_count > 0)
        read_random(d, n->saved[0]);
    bool moves = inductor_moves(d, n);
    d->moved += moves;
    for (unsigned k = 0; k < n->edge_count; k++)
        inductor_read(d, inductor_argument(d, &n->edges[k]));
    d->moved -= moves;
    if (d->looks || v->buffer)
        return;
    make_sides(d, n, false);
    if (is_stored(d, value))
        inductor_make(d, value);
}

// Whether a call of the layer takes what a node makes.
static bool is_argument(const struct inductor *d, int32_t node, int32_t end)
{
    for (int32_t i = node + 1; i < end; i++) {
        const struct node *n = &d->joint.nodes[i];
        for (unsigned k = 0; k < n->edge_count && inductor_is_extern(n); k++)
            if (n->edges[k].to == node)
                return true;
    }
    return false;
}

// In a value's kernel: its copies in other formats that calls take, such as an adapter's.
static void make_casts(struct inductor *d, uint32_t value)
{
    int32_t first = d->values[value].node, end = d->layer_end[d->layer];
    for (int32_t i = first + 1; first != GRAPH_NO_NODE && i < end; i++) {
        const struct node *n = &d->joint.nodes[i];
        if (n->kind == NODE_TO_COPY && n->edge_count == 1 && n->edges[0].to == first &&
            !d->values[inductor_result(d, i)].buffer && is_argument(d, i, end)) {
            inductor_make(d, inductor_result(d, i));
            d->buffers[d->values[inductor_result(d, i)].buffer].apart = true;
        }
    }
}

void inductor_realize(struct inductor *d, uint32_t value)
{
    if (value == TAPE_NONE || d->values[value].buffer ||
        inductor_storage(d, value)->home != HOME_TAPE)
        return;
    inductor_ensure(d, value);
    if (d->values[value].buffer)
        return;
    size_t begin = d->use_count;
    d->walk++;
    inductor_read(d, value);
    if (!d->values[value].buffer)
        inductor_make(d, value);
    make_casts(d, value);
    inductor_kernel_end(d, begin, true);
}

// Sliding windows have a mask of their own.
static unsigned mask_of(const struct inductor *d)
{
    const struct vram_config *c = &d->g->m->c;
    uint64_t pattern = c->sliding_window_pattern;
    return c->sliding_window && pattern > 1 &&
           (d->layer + !model_opens_whole(d->g->m)) % pattern == 0;
}

void inductor_read_mask(struct inductor *d, uint32_t value)
{
    uint32_t *mask = &d->masks[mask_of(d)];
    if (!*mask) {
        size_t begin = d->use_count;
        *mask = buffer_of(d, value);
        inductor_use(d, *mask | INDUCTOR_MADE);
        inductor_kernel_end(d, begin, true);
    }
    d->values[value].buffer = *mask;
}

static void borrow_one(struct inductor *d, const struct node *n, uint8_t part, uint8_t dtype,
                       shape_id shape)
{
    enum op op = n->kind == NODE_QUANTIZED ? OP_DEQUANTIZE : OP_NEW_EMPTY;
    inductor_use(d, inductor_gradient_buffer(d, op, n->role, part, dtype, shape) | INDUCTOR_MADE);
}

// What an operator makes for itself: bitsandbytes' the weight and its scales, attention its output
// in float32, for heads that do not fit in registers. SRC: as quantized.c, attention.c.
static void borrow(struct inductor *d, const struct node *n)
{
    bool attention = n->kind == NODE_SDPA && (n->extra & ATTENTION_MEM_EFFICIENT);
    if (attention && n->dtype == DT_LOW && attention_sums(d->g->m, (uint32_t)n->unit))
        borrow_one(d, n, PART_SCRATCH, DT_F32, n->shape);
    if (n->kind != NODE_QUANTIZED)
        return;
    unsigned copies = d->g->m->c.quantization == QUANTIZATION_NF4_DOUBLE ? 2 : 0;
    for (unsigned i = 0; i < copies; i++)
        borrow_one(d, n, PART_SCALES, DT_F32, quantized_scales(n->extra));
    borrow_one(d, n, PART_DEQUANTIZED, DT_LOW, n->extra);
}

static void call(struct inductor *d, int32_t i)
{
    const struct node *n = &d->joint.nodes[i];
    if (d->values[inductor_result(d, i)].buffer)
        return;
    uint32_t arguments[GRAPH_EDGES + GRAPH_SAVED], count = 0;
    for (unsigned k = 0; k < n->edge_count; k++)
        arguments[count++] = inductor_argument(d, &n->edges[k]);
    for (unsigned k = 0; k < n->saved_count; k++)
        if (n->saved[k] != TAPE_NONE && inductor_storage(d, n->saved[k])->home == HOME_TAPE &&
            inductor_is_mask(inductor_storage(d, n->saved[k]))) {
            inductor_read_mask(d, n->saved[k]);
            arguments[count++] = n->saved[k];
        }
    for (unsigned k = 0; k < count; k++)
        inductor_realize(d, arguments[k]);
    size_t begin = d->use_count;
    make_sides(d, n, true);
    inductor_kernel_end(d, begin, true);
    begin = d->use_count;
    for (unsigned k = 0; k < count; k++)
        inductor_use(d, d->values[arguments[k]].buffer);
    borrow(d, n);
    inductor_make(d, inductor_result(d, i));
    make_sides(d, n, false);
    inductor_kernel_end(d, begin, false);
}

static void call_again(struct inductor *d, int32_t i)
{
    const struct node *n = &d->joint.nodes[i];
    uint32_t layer = d->layer;
    bool again = d->again;
    d->layer = n->unit < 0 ? d->layers : (uint32_t)n->unit;
    d->again = d->behind;
    call(d, i);
    d->layer = layer;
    d->again = again;
}

// Marks what is behind a value and not there. Returns the first node of it.
static int32_t want(struct inductor *d, uint32_t value)
{
    struct inductor_value *v = &d->values[value];
    if (value == TAPE_NONE || v->buffer || v->node == GRAPH_NO_NODE || v->wanted)
        return INT32_MAX;
    const struct node *n = &d->joint.nodes[v->node];
    int32_t first = v->node;
    v->wanted = true;
    for (unsigned k = 0; k < n->edge_count; k++) {
        int32_t before = want(d, inductor_argument(d, &n->edges[k]));
        first = before < first ? before : first;
    }
    return first;
}

// In the order of the code. SRC: pytorch torch/_functorch/partitioners.py,
// reordering_to_mimic_autograd_engine (insert_node_in_graph).
void inductor_ensure(struct inductor *d, uint32_t value)
{
    int32_t first = want(d, value), last = d->values[value].node;
    for (int32_t i = first; i <= last && !d->failed; i++) {
        uint32_t result = inductor_result(d, i);
        if (d->values[result].wanted && inductor_is_extern(&d->joint.nodes[i]))
            call_again(d, i);
        d->values[result].wanted = false;
    }
}

// Calls in the order of the code; what is kept and was not on the way to one comes at the end.
static void forward_layer(struct inductor *d, uint32_t layer)
{
    int32_t first = inductor_layer_begin(d, layer);
    d->layer = layer;
    for (int32_t i = first; i < d->layer_end[layer] && !d->failed; i++)
        if (inductor_is_extern(&d->joint.nodes[i]))
            call(d, i);
    for (int32_t i = first; i < d->layer_end[layer] && !d->failed; i++) {
        uint32_t value = inductor_result(d, i);
        if (value != TAPE_NONE && d->values[value].node == i && is_kept_here(d, value))
            inductor_realize(d, value);
    }
}

// Nothing is left in the backward graph but what was kept: of a checkpointed block its input.
static void forget(struct inductor *d)
{
    int32_t i = inductor_layer_begin(d, inductor_first_layer(d));
    for (uint32_t layer = inductor_first_layer(d); layer <= inductor_last_layer(d); layer++) {
        bool all = inductor_checkpoints(d, layer);
        for (; i < d->layer_end[layer]; i++) {
            const struct node *n = &d->joint.nodes[i];
            for (unsigned k = 0; k <= n->saved_count; k++) {
                struct inductor_value *v =
                    &d->values[k < n->saved_count ? n->saved[k] : n->gradient[0]];
                if (!v->kept || (all && !v->begins))
                    v->buffer = 0;
                v->random = 0;
            }
        }
    }
    bool all = d->block ? inductor_checkpoints(d, d->only)
                        : d->g->m->c.checkpointing == CHECKPOINTING_BLOCK;
    if (all)
        d->masks[0] = d->masks[1] = 0;
}

void inductor_forward(struct inductor *d)
{
    uint32_t last = inductor_last_layer(d);
    for (uint32_t layer = inductor_first_layer(d); layer <= last && !d->failed; layer++)
        forward_layer(d, layer);
    inductor_realize(d, d->output);
    d->result = d->values[d->output].buffer;
    if (d->failed)
        return;
    d->buffers[d->result].leaves = true;
    d->backward = (uint32_t)d->kernel_count;
    forget(d);
}
#endif
