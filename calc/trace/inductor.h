// What torch.compile makes of a whole model: the graph that it traces, what its partitioner hands
// from the forward to the backward graph, the kernels of both, and which buffer takes whose memory.
//
// The traced graph is the eager one: the same code of blocks and layers runs once on a tape of its
// own, and its autograd nodes are the operations. SRC: pytorch torch/_functorch/partitioners.py,
// torch/_inductor/scheduler.py, torch/_inductor/codegen/wrapper.py; traces *_whole*.

#ifndef CALC_INDUCTOR_H
#define CALC_INDUCTOR_H

#include "calc/trace/graph.h"

// A tensor of the traced graph, by the number of its storage: views are one with what they show.
struct inductor_value {
    int32_t node;     // that makes it, or GRAPH_NO_NODE
    uint32_t buffer;  // in which it is, or 0
    uint32_t random;  // of a mask of dropout: the numbers that it is made of, a buffer, or 0
    bool kept;        // from the forward graph to the backward one
    bool begins;      // the residual stream between two layers
    bool called;      // an argument of a library's call
    bool wanted;      // a call's result that is computed again next
    bool flat;        // without a dimension of sequences: rows of it are routed to experts
};

enum { INDUCTOR_NO_LAYER = UINT32_MAX };
struct inductor_buffer {
    shape_id shape;
    uint8_t op, role, part, dtype;
    bool handed;            // made by the forward graph, used by the backward one
    bool leaves;            // a result of its graph
    uint16_t weight;        // a parameter's gradient: of which, or GRAPH_NO_PARAM
    uint32_t layer;         // of the parameter, or INDUCTOR_NO_LAYER
    uint32_t first, last;   // kernels
    uint32_t place;         // the buffer whose memory it takes, or 0
    bool random;            // numbers that another kernel may make no use of
    bool changes, changed;  // what was there is changed in place: a buffer after it, and before
    bool apart;             // of another result of its kernel: no argument's place
    bool taken;             // its memory is taken by another one
    bool given;             // an argument of the graph that its caller may hold: a block's
    uint32_t storage;       // while the graph runs
};

// A kernel's buffers: INDUCTOR_MADE is set in those that it writes, INDUCTOR_MOVED in those that it
// reads at other places than it writes.
enum { INDUCTOR_MOVED = 1 << 30 };
#define INDUCTOR_MADE (1u << 31)
static inline uint32_t inductor_used(uint32_t use)
{
    return use & (INDUCTOR_MOVED - 1);
}

struct inductor_kernel {
    uint32_t begin, end;  // in uses
    uint32_t layer;       // or INDUCTOR_NO_LAYER
    bool generated;       // by Triton: a result may take an argument's place
    bool again;           // of a checkpointed block that is computed again
    bool sums;            // over all rows: a parameter's gradient
};

// A gradient before it is a buffer: what a node computes from its own, or a sum.
struct inductor_gradient {
    int32_t node;     // GRAPH_NO_NODE: a sum
    uint32_t first;   // of its parts, in links
    uint32_t buffer;  // or 0
    uint32_t zeros;   // to which it is added at places, in a generated kernel, or 0
    uint32_t seen;    // by the walk that has that number
    uint16_t wanted;  // how many more read it than one,
    uint16_t found;   // and in the kernel that comes,
    uint32_t round;   // which has that number
    uint8_t edge;     // of the node, that it is for
    uint8_t dtype, role;
    shape_id shape;
    bool shared;  // goes to several nodes
    bool flat;    // products to come are added to it as they are made
    bool there;   // what it reads of a checkpointed block is
};
struct inductor_link {
    uint32_t gradient, next;
};

// A parameter's gradient that is put off to the end of its block.
struct inductor_late {
    int32_t node;
    uint32_t gradient;  // of a product's result: a buffer; else of the parameter
};
enum { INDUCTOR_LAZY = 8, INDUCTOR_MIXED = 8 };

struct inductor {
    struct graph *g;     // that the passes belong to
    struct graph joint;  // as it was traced
    struct tape tape;
    uint64_t elements[SHAPE_COUNT];
    uint32_t layers;
    bool block;          // a graph of one layer alone, or of the last norm
    uint32_t only;       // which
    int32_t entry;       // the node that stands for its input
    uint32_t input;      // buffers: of that,
    uint32_t stream;     // and its gradient's
    int32_t *layer_end;  // nodes up to here are of that layer; the last norm is one layer more
    size_t layer_cap;
    uint32_t *streams;  // the layers' results
    size_t stream_cap;
    int32_t root;  // the last norm's node
    struct inductor_value *values;
    size_t value_cap;
    uint32_t *seen;  // by the walk that has that number
    size_t seen_cap;
    uint32_t walk;
    bool looks;   // the walk makes nothing
    bool counts;  // and counts who reads a gradient, for a kernel of that number
    uint32_t round;
    unsigned moved;  // copies to other places that it has come through
    struct inductor_buffer *buffers;
    size_t buffer_count, buffer_cap;
    struct inductor_kernel *kernels;
    size_t kernel_count, kernel_cap;
    uint32_t *uses;
    size_t use_count, use_cap;
    struct inductor_gradient *gradients;
    size_t gradient_count, gradient_cap;
    struct inductor_link *links;
    size_t link_count, link_cap;
    uint32_t *arrived;  // by node and result: links
    size_t arrived_cap;
    uint32_t layer;        // whose kernels come
    uint32_t layer_input;  // its residual stream
    bool behind;           // kernels are the backward graph's
    bool again;            // they compute something of a checkpointed block once more
    int32_t *ready;        // nodes whose gradient is complete
    size_t ready_count, ready_cap;
    bool waits;  // parameters' gradients of this block come at its end
    struct inductor_late *late;
    size_t late_count, late_cap;
    struct inductor_late lazy[INDUCTOR_LAZY];  // products whose argument is not there yet
    unsigned lazy_count;
    struct inductor_late flat[INDUCTOR_LAZY];  // products that wait for a sum to be added to
    unsigned flat_count;
    struct inductor_late mixed[INDUCTOR_MIXED];  // norms' parameters that wait for a kernel
    unsigned mixed_count;
    uint32_t masks[2];  // of attention: buffers
    uint8_t logits[2];  // tensors of their size that the head has in the forward and backward graph
    uint32_t backward;  // the first kernel of the backward graph
    uint32_t begin, output;  // the embedding's and the last norm's results
    uint32_t unused;  // zeros for the hidden states, which a graph without its loss returns, too
    uint32_t result, incoming;  // buffers: the last one, its gradient,
    uint32_t
        head;    // what a tied head leaves for the embedding: its weight's or the logits' gradient
    bool *cuts;  // by layer: DDP's graph is cut behind the gate's activation; or NULL
    size_t cut_cap;
    bool failed;
};

// ---- inductor_joint.c
// Runs the model's layers and its last norm once. Errors: false, no memory.
bool inductor_trace(struct inductor *d, struct graph *g);
// Runs one layer alone, or with the number behind them the last norm. needs: its input has a
// gradient.
bool inductor_trace_block(struct inductor *d, struct graph *g, uint32_t layer, bool needs);
void inductor_forget_trace(struct inductor *d);  // what was planned stays
static inline uint32_t inductor_first_layer(const struct inductor *d)
{
    return d->block ? d->only : 0;
}
static inline uint32_t inductor_last_layer(const struct inductor *d)
{
    return d->block ? d->only : d->layers;
}
static inline int32_t inductor_layer_begin(const struct inductor *d, uint32_t layer)
{
    return layer ? d->layer_end[layer - 1] : d->block ? d->entry : 0;
}
void inductor_layer_ends(struct inductor *d, uint32_t layer, uint32_t result);  // in a trace
void inductor_free(struct inductor *d);

// What an operation is to Inductor: a kernel of a library in its forward or its backward part, or
// something that it generates code for.
bool inductor_is_extern(const struct node *n);
bool inductor_is_extern_backward(const struct node *n);
bool inductor_hands_on(const struct node *n, const struct edge *e);  // its gradient is its result's
bool inductor_reduces(const struct node *n);
bool inductor_moves(const struct inductor *d, const struct node *n);  // to other places
bool inductor_allocates_itself(const struct node *n);  // no buffer of Inductor's is its result

const struct storage *inductor_storage(const struct inductor *d, uint32_t value);
uint64_t inductor_bytes(const struct inductor *d, uint8_t dtype, shape_id shape);
uint32_t inductor_result(const struct inductor *d, int32_t node);  // its value
uint32_t inductor_argument(const struct inductor *d,
                           const struct edge *e);  // the value behind it, 0 for a parameter
bool inductor_needs(const struct inductor *d, int32_t node);  // a gradient goes through it
bool inductor_is_mask(const struct storage *s);

// ---- inductor_partition.c
void inductor_partition(struct inductor *d);
bool inductor_checkpoints(const struct inductor *d, uint32_t layer);

// ---- inductor_forward.c
uint32_t inductor_buffer(struct inductor *d, struct inductor_buffer b);
void inductor_use(struct inductor *d, uint32_t buffer_or_made);
void inductor_use_there(struct inductor *d, uint32_t buffer);  // where the walk has come to
bool inductor_has_seen(const struct inductor *d, uint32_t *seen);
void inductor_kernel_end(struct inductor *d, size_t begin, bool generated);
void inductor_read(struct inductor *d,
                   uint32_t value);  // in a kernel: its buffer, or what it is made of
void inductor_make(struct inductor *d, uint32_t value);     // in a kernel: a buffer for it
void inductor_realize(struct inductor *d, uint32_t value);  // becomes a buffer, if it is none
// Calls of libraries that a value is made of and that have not run: those of a checkpointed block.
void inductor_ensure(struct inductor *d, uint32_t value);
void inductor_read_mask(struct inductor *d, uint32_t value);
void inductor_forward(struct inductor *d);
void inductor_drop_random(struct inductor *d);  // numbers that one kernel alone reads are none

// ---- inductor_gradients.c
// What a node computes for one of its edges from its own.
uint32_t inductor_gradient_through(struct inductor *d, int32_t node, const struct edge *e,
                                   uint32_t own);
uint32_t inductor_gradient_buffer(struct inductor *d, enum op op, uint8_t role, uint8_t part,
                                  uint8_t dtype, shape_id shape);
// The gradient of a node's result: one that has arrived, or the sum of several.
uint32_t inductor_gradient_of(struct inductor *d, int32_t node);
// In a kernel that changes a buffer in place: what it is afterwards.
uint32_t inductor_change(struct inductor *d, uint32_t buffer);
void inductor_deliver(struct inductor *d, const struct edge *e, uint32_t gradient);
void inductor_deliver_buffer(struct inductor *d, const struct edge *e, uint32_t buffer);
// In a kernel: what a gradient reads; the target becomes a buffer. Before it: what of that is a
// checkpointed block's is computed again.
void inductor_read_gradient(struct inductor *d, uint32_t which, uint32_t target);
void inductor_look_at(struct inductor *d, uint32_t gradient);  // and make nothing
void inductor_ensure_gradient(struct inductor *d, uint32_t which);
void inductor_make_parameter(struct inductor *d, const struct node *parameter, enum op op);
// Calls that are ready and whose gradients come out of what this one reads: one kernel.
enum { INDUCTOR_BESIDE = 12 };
unsigned inductor_find_beside(struct inductor *d, uint32_t gradient,
                              int32_t found[INDUCTOR_BESIDE]);
void inductor_realize_beside(struct inductor *d, int32_t node);

// ---- inductor_backward.c
void inductor_backward(struct inductor *d);

// ---- inductor_cuts.c
void inductor_find_cuts(struct inductor *d);
bool inductor_is_cut(const struct inductor *d, const struct node *n);  // its result is handed on

// ---- inductor_masks.c
bool inductor_is_wide_mask(const struct inductor *d, const struct node *n, uint32_t value);
uint32_t inductor_make_wide_mask(struct inductor *d, const struct node *n);
void inductor_pair_masks(struct inductor *d);

// ---- inductor_mixed.c
// Whether a parameter's gradient waits for the kernel of its norm's input.
bool inductor_mixes(struct inductor *d, int32_t parameter, uint32_t gradient);
void inductor_run_mixed(struct inductor *d, size_t begin);  // in a kernel, those that fit

// ---- inductor_scatter.c
bool inductor_scatters(const struct node *n);
// A product's sum with the gradient that the same rows have got at places is one call. SRC: pytorch
// torch/_inductor/fx_passes/post_grad.py (addmm, is_valid_addmm_fusion).
void inductor_find_flat(struct inductor *d);
uint32_t inductor_take_flat(struct inductor *d, const struct edge *e);  // or 0
void inductor_deliver_flat(struct inductor *d, const struct edge *e, uint32_t buffer);
void inductor_open_scatter(struct inductor *d, int32_t i);
void inductor_run_scatter(struct inductor *d, int32_t i,
                          uint32_t realize(struct inductor *d, int32_t i));

// ---- inductor_words.c
void inductor_open_head(struct inductor *d);
void inductor_open_unused(struct inductor *d);
void inductor_run_embedding(struct inductor *d, const struct node *n, uint32_t gradient);

// ---- inductor_order.c
// begin: bytes that are there behind the head's kernels; head: the most of those; kept: what they
// leave to the end.
void inductor_order(struct inductor *d, int64_t begin, int64_t head, int64_t kept);

// ---- inductor_buffers.c
// Bytes that Inductor expects when a buffer is made, and when it ends. SRC: pytorch
// torch/_inductor/memory.py, compute_size_for_scheduler_buffer.
int64_t inductor_made_bytes(const struct inductor *d, uint32_t which);
int64_t inductor_ended_bytes(const struct inductor *d, uint32_t which);
void inductor_plan(struct inductor *d);
void inductor_run(struct inductor *d, bool backward);

#endif
