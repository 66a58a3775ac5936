// The autograd graph of one pass: values, nodes with what they saved, and the engine that runs them
// backward. Every operation writes its allocations to a tape; reference counts decide when storages
// are freed, as in PyTorch.

#ifndef CALC_GRAPH_H
#define CALC_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "calc/model/framework.h"
#include "calc/model/layout.h"
#include "calc/model/model.h"
#include "calc/model/partition.h"
#include "calc/trace/tape.h"

enum node_kind {
#define NODE(id, name, ...) NODE_##id,
#include "calc/trace/nodes.def"
    NODE_COUNT
};

enum {
    GRAPH_SAVED = 8,
    GRAPH_EDGES = 8,
    GRAPH_OUTPUTS = 3 + MODEL_IS_WHOLE,
    GRAPH_STASH = 5,
    GRAPH_CHOSEN = 40,  // results that selective checkpointing keeps of a block: products of all
                        // projections and of their adapters, every second one, and attention's
    // Of a pass, at most: a run of 2,000 layers, all different, has less.
    GRAPH_NODES = 1 << (29 - SHAPE_BITS),
    GRAPH_NO_NODE = -1,
    GRAPH_NO_FRAME = -1,
    GRAPH_NO_PARAM = 0xffff
};

// A Python variable that holds a tensor. It owns one reference of the storage; graph_drop gives it
// up. One word, since every operation gets some and returns one.
struct value {
    uint64_t storage : 22;           // below TAPE_STORAGES
    int64_t node : 30 - SHAPE_BITS;  // that made it; GRAPH_NO_NODE: no gradient flows into it
    uint64_t output : 2;             // which result of the node
    uint64_t dtype : 4, shape : SHAPE_BITS, role : 6;
};
_Static_assert((int)TAPE_STORAGES == 1 << 22 && (int)GRAPH_OUTPUTS <= 1 << 2 &&
                   (int)DT_COUNT <= 1 << 4 && (int)SHAPE_COUNT <= 1 << SHAPE_BITS &&
                   (int)ROLE_COUNT <= 1 << 6,
               "a value's parts hold what they number");

// Parts of a byte and of two, but in the small module, which has no room for taking them apart.
#ifndef VRAM_SMALL
#define GRAPH_NIBBLE : 4
#define GRAPH_EXTRA : 12
#else
#define GRAPH_EXTRA
#define GRAPH_NIBBLE
#endif

// Where a gradient goes: input number `input` of node `to`, in the form that it takes there.
struct edge {
    int32_t to;
    uint8_t input GRAPH_NIBBLE, dtype GRAPH_NIBBLE, role;
    shape_id shape;
};

struct node {
    uint8_t kind, role, edge_count GRAPH_NIBBLE, saved_count GRAPH_NIBBLE;
    uint8_t sub;  // layer in its unit
    shape_id dtype GRAPH_NIBBLE;
    shape_id extra GRAPH_EXTRA;  // shape of a temporary, or PART_ of a parameter
    shape_id shape;
    int32_t unit;
    uint16_t param;    // ACCUMULATE: number within its unit
    uint16_t waiting;  // edges that have not delivered yet
    int32_t link;      // next ready node
    uint32_t turn;     // of a loop in which it was made, or 0
    int32_t frame;     // of the checkpointed block whose holders it has in place of tensors, or
                       // GRAPH_NO_FRAME
    uint32_t saved[GRAPH_SAVED];
    struct edge edges[GRAPH_EDGES];
    uint32_t gradient[GRAPH_OUTPUTS];  // what arrived, by result of the node
};

// A block that is checkpointed with use_reentrant=False: its nodes exist, their saved tensors do
// not until one of them is asked for. Owned by checkpoint.c.
struct frame {
    int32_t first, end;     // its nodes
    int32_t holder;         // the node that keeps the block's input
    struct value input;     // without a reference of its own
    uint32_t start;         // allocations on the tape before the block
    uint32_t stop;          // allocations of the block until everything is saved
    uint32_t left;          // nodes with saved tensors that have not run
    bool again;             // it has been recomputed
    uint8_t chosen, taken;  // results that are kept; those that the second run has had
    uint32_t results[GRAPH_CHOSEN];
};

// What the model's result keeps alive beyond its layer, until the loss is there.
struct kept_alive {
    uint32_t storage;
    int32_t unit;
    uint8_t sub;
};

// What outlives a pass: it goes when the next pass has its loss.
struct outliving {
    uint32_t storage;
    int32_t unit;
    uint8_t sub;
    uint16_t slot;
};

// A weight. The storage is there for the whole tape.
struct param {
    uint32_t storage;
    int32_t accumulate;  // its node
    uint32_t cast;       // autocast's cached copy, TAPE_NONE if there is none
    int32_t cast_node;
    uint32_t held;  // whole gradient that waits to be divided, parallel.c
};

// What the data parallel scheme holds of a layer: parallel.c.
struct unit {
    uint32_t weights;          // gathered, from a forward pass to its backward
    uint32_t input, gradient;  // of a checkpointed block, to the end of the backward pass
};

// Slots of HOME_PERSIST outside of the units.
enum graph_slot {
    SLOT_X,
    SLOT_Y,
    SLOT_LOGITS,
    SLOT_LOSS,
    SLOT_WORKSPACE,                    // of the forward thread, then of the autograd thread
    SLOT_SCALER = SLOT_WORKSPACE + 2,  // found_inf and the inverse scale of a step
    // An evaluation's logits: of all batches so far, of one more, of the last batch.
    SLOT_EVAL_KEPT = SLOT_SCALER + 2,
    SLOT_EVAL_JOINED,
    SLOT_EVAL_BEFORE,
    SLOT_MASK,      // of a batch
    SLOT_GRADIENT,  // of the global parameters; in a unit: layer * LAYOUT_BLOCK_NUMBERS + number
    SLOT_COUNT = SLOT_GRADIENT + LAYOUT_GLOBAL_NUMBERS
};

struct graph;

// A block, or a branch of one: the caller's x stays the caller's.
typedef struct value block_fn(struct graph *g, struct value x);

// Runs a node backward. results[k]: a storage with a reference for edge k, or TAPE_NONE where
// nothing flows.
typedef void node_fn(struct graph *g, const struct node *n, uint32_t results[]);

// What the backward pass asks of activation checkpointing, which itself runs forward and backward
// passes.
struct graph_calls {
    node_fn *run;  // NODE_CHECKPOINT
    void (*unpack)(
        struct graph *g,
        int32_t node);  // before a node runs: its saved tensors are made if they are not there
    void (*release)(struct graph *g, int32_t frame);  // after a node with a frame has run
};

struct graph {
    const struct graph_calls *calls;  // set before a pass
    const struct model *m;
    const struct vram_mem *mem;
    struct tape *t;
    struct node *nodes;
    size_t node_count, node_cap;
    struct frame *frames;
    size_t frame_count, frame_cap;
    struct kept_alive *kept;
    size_t kept_count, kept_cap;
    struct outliving *outliving;
    size_t outliving_count, outliving_cap;
    int32_t packing;    // the frame whose block runs forward, or GRAPH_NO_FRAME
    int32_t choosing;   // the frame whose block's results are chosen from, in both of its runs
    uint32_t products;  // of that run so far
    uint32_t node_out;  // the result of the node made last
    bool node_inputs;   // it has saved nothing but what was there before the result
    struct layout layout;
    struct param *params;  // global ones by number, then those of each layer
    size_t param_cap;
    struct unit *shards;  // by layer
    size_t shard_cap;
    struct tape spare;                        // what reel_unroll writes, before it changes places
    bool few_turns;                           // of a loop are recorded
    size_t last_storages, last_instructions;  // of the last pass: about as many come again
    int32_t running;                          // the node that runs backward
    uint32_t stash[GRAPH_STASH];  // what was saved last, if it goes to the host: by its number
    unsigned stash_number[GRAPH_STASH], stashed;
    bool failed;
    bool recompute;      // a checkpointed block runs again
    bool autocast;       // two-byte matrix products over float32 weights
    bool frozen;         // no weight requires a gradient, whatever the layout says
    bool grad;           // gradients are recorded
    bool training;       // model.train(): dropout is on
    bool caches;         // blocks hand their keys and values over (generation)
    bool returns_cache;  // the model returns them beside its logits (use_cache in training)
    bool has_gradients;  // parameters have .grad from an earlier micro-step
    bool in_buckets;     // gradients are views of buckets that are there for ever
    bool summed;         // a pass's gradients are added to float32 sums at its end
    bool divided;        // each GPU keeps its part of a gradient
    bool gathered;       // weights are divided too, and gathered for a layer at a time
    bool keeps_whole;    // parts are made in the last micro-step alone: whole gradients are there
                         // before
    bool around;         // a checkpointed block gathers them itself, in each of its runs
    uint32_t ahead, open, behind, root;  // gathered weights: parallel.c
    uint32_t bucket;  // of gradients on their way to all GPUs or to the host: parallel.c
#ifndef VRAM_SMALL
    struct partition partition;  // of gradients under DeepSpeed: zero.c
    bool parted;                 // it is there
    bool part_made;              // in this pass
    uint32_t resident, stayed;   // weights that ZeRO-3 keeps gathered to the end of the pass
#endif
    uint32_t reduced;   // the last block's gradients on their way to all GPUs: parallel.c
    int32_t open_unit;  // layer that runs backward, with the weights `open`, or TAPE_GLOBAL
    uint8_t open_sub;
    bool workspaces;  // cuBLAS workspaces are part of the tape
    bool workspace_done[2];
    int32_t compiled_first, compiled_stride,
        compiled_end;       // nodes of a compiled pass, pass_compile.c
    struct value cos, sin;  // of rotary positions, while a forward pass runs
#ifndef VRAM_SMALL
    struct value global_cos,
        global_sin;             // of layers with wider heads, of Gemma 3's without a window
    struct value positions;     // an argument of their checkpointed blocks
    struct inductor *inductor;  // a compiled model's graphs, pass_compile_whole.c
    struct inductor **blocks;   // those of its parts, block_traced.c
    size_t block_cap;
    bool traced;               // for those: a node's gradient[0] is its result
    struct value given[2][2];  // keys and values for layers without, those of wider heads second
    struct value beside[4];    // of a layer with experts beside a dense part
    uint32_t routed;
    struct value streams[MODEL_STREAMS], stream_raw;  // variables of a model with several
    struct value layer_inputs, layer_input;           // of all layers, and of the one that runs
    // gathered ahead, and the experts' weights in backward; angles of a block: parallel_experts.c
    uint32_t next, next_experts, own_experts, behind_experts, open_experts, angles[2], table;
    struct value sent;   // what experts send back
    uint32_t chunks[2];  // gradients of two chunks of logits, before the others': nodes_chunks
#endif
    uint32_t masks[2];    // of attention, attention_sinks.c
    struct value shares;  // what attention returned beside its result
    uint8_t compute;      // DT_ of matrix products
    uint8_t residual;     // DT_ of the residual stream, of weights and of their gradients
};

void graph_init(struct graph *g, const struct vram_mem *mem);
void graph_free(struct graph *g);

// Empties the graph for a pass of m on t.
void graph_reset(struct graph *g, const struct model *m, struct tape *t, struct tape_stack stack);
bool graph_ok(const struct graph *g);

// ---- layers, numbered through
static inline uint32_t graph_layers(const struct graph *g)
{
    return tape_stack_layers(&g->t->stack);
}
uint32_t graph_layer(const struct graph *g);  // the one that instructions belong to, in a layer
void graph_enter(struct graph *g, uint32_t layer);
void graph_leave(struct graph *g);                  // what comes belongs to no layer
struct param *graph_block_params(struct graph *g);  // of that layer, by number

// Room for `need` elements at a pointer of any type. Errors: false, and the graph has failed.
bool graph_grow(struct graph *g, void *ptr_to_ptr, size_t *cap, size_t need, size_t size);

static inline bool graph_has(const struct graph *g, enum model_trait trait)
{
    return model_has_trait(g->m, trait);
}

// What runs is what torch.compile traces.
static inline bool graph_is_traced(const struct graph *g)
{
#ifndef VRAM_SMALL
    return g->traced;
#else
    (void)g;
    return false;
#endif
}

static inline bool graph_returns_cache(const struct graph *g)
{
    return MODEL_IS_WHOLE && g->returns_cache;
}

static inline bool graph_is_nanotron(const struct graph *g)
{
    return framework_goes(&g->m->c, BY_NANOTRON);
}

// ---- values
struct value graph_copy(struct graph *g, struct value v);  // one more variable for the same tensor
void graph_drop(struct graph *g, struct value v);
struct value graph_none(void);                            // an argument that is not there
bool graph_needs(const struct graph *g, struct value v);  // a gradient flows into it

// The result of an operation, with its allocation.
struct value graph_make(struct graph *g, enum op op, uint8_t role, uint8_t part, uint8_t dtype,
                        shape_id shape);

// A product whose result is written over what is there: its workspace.
void graph_product_over(struct graph *g);

// Scratch memory and saved side results: a storage without a value.
uint32_t graph_scratch(struct graph *g, enum op op, uint8_t role, uint8_t part, uint8_t dtype,
                       shape_id shape);

// The same for the whole sequence of a product of many GPUs, which a collective takes or fills.
uint32_t graph_sent(struct graph *g, enum op op, uint8_t role, uint8_t dtype);

// nanotron's collective on its other end: a GPU's part of the sequence, which is there for other
// reasons.
void graph_taken(struct graph *g, uint32_t storage);

// A sum over rows: the result, after the kernel has had its partial sums.
uint32_t graph_sum(struct graph *g, uint8_t role, uint8_t part, uint8_t dtype, shape_id from,
                   shape_id to);

// ---- nodes
// The node of a result; saved storages get a reference of their own. Does nothing while no
// gradients are recorded.
int32_t graph_node(struct graph *g, enum node_kind kind, struct value *out, shape_id extra);
void graph_edge(struct graph *g, int32_t node, struct value in);
void graph_save(struct graph *g, int32_t node, uint32_t storage);
void graph_save_cpu(struct graph *g, int32_t node, uint8_t dtype);  // a number in the CPU's memory

// Where a gradient flows, the node of a result that follows from x, or from a and b. graph_node for
// all that is not so plain.
void graph_follow(struct graph *g, enum node_kind kind, struct value *out, struct value x);
void graph_follow_saving(struct graph *g, enum node_kind kind, struct value *out, struct value x,
                         uint32_t saved);
void graph_follow_both(struct graph *g, enum node_kind kind, struct value *out, struct value a,
                       struct value b);

// Each of the two is saved for the gradient of the other, if that has one.
void graph_follow_product(struct graph *g, enum node_kind kind, struct value *out, struct value a,
                          struct value b);

// A node without a result of its own: a parameter's, in which its gradients are summed.
int32_t graph_bare_node(struct graph *g, enum node_kind kind, uint8_t role);

// A product's gradient is seen through a view.
void graph_mark_view(struct graph *g, uint32_t gradient);

// What the node that runs has saved goes before it returns.
void graph_saved_go(struct graph *g);

// ---- parameters
// A parameter by its number (layout.h): of the current layer, or a global one. graph_none() if the
// model has none.
struct value graph_param(struct graph *g, bool global, uint16_t number);
uint8_t graph_param_dtype(const struct graph *g, const struct layout_param *row);

// As a matrix product takes them: autocast's copies, or one more variable for the same tensor.
struct value graph_weight_cast(struct graph *g, bool global, uint16_t number, struct value weight);
struct value graph_input_cast(struct graph *g, struct value v, uint8_t role, uint8_t part);
struct value graph_to(struct graph *g, struct value v, uint8_t dtype, uint8_t part);  // .to(dtype)
void graph_autocast_exit(struct graph *g);  // empties the cache of casts
void graph_autocast_exit_layer(
    struct graph *g);  // of the current layer alone: all there is while a block runs again

// Keeps a storage alive until graph_let_go.
void graph_keep(struct graph *g, uint32_t storage, int32_t unit, uint8_t sub);
void graph_let_go(struct graph *g);
void graph_keep_wide(struct graph *g, shape_id shape);  // float32 copies of all that is kept, too

// What the node of a frozen layer's weight keeps as long as the node is there, that is to the next
// pass.
void graph_outlive(struct graph *g, bool global, uint16_t weight, uint32_t storage);
void graph_outlived_go(struct graph *g);                   // those of the pass before; these stay
void graph_outlived_since(struct graph *g, size_t count);  // those after the first ones go

// Where a parameter's gradient lives: its slot of HOME_PERSIST in the node's unit.
uint16_t graph_gradient_slot(const struct node *n);

// ---- activations that wait in the host's memory (graph_offload.c) ----

// What a node keeps of a storage that it saves: the storage, with a reference, or what stands for
// it on the host.
uint32_t graph_offload_save(struct graph *g, const struct node *n, uint32_t storage);

// What of a node's saved tensors is on the host comes back.
void graph_offload_return(struct graph *g, int32_t node);

// Gives up what goes to the host and is still held: the backward pass begins.
void graph_offload_stash_go(struct graph *g);

// Whether a storage stands for one that went to the host's memory.
static inline bool graph_is_on_host(const struct storage *s)
{
    return s->home == HOME_CPU && s->op == OP_TO_COPY;
}

// Calls fn for every storage that is saved now, each once, latest node first.
typedef void graph_saved_fn(void *ctx, const struct node *n, unsigned which,
                            const struct storage *s);
void graph_saved(struct graph *g, graph_saved_fn *fn, void *ctx);

#endif
