// What the two halves of a compiled pass share: what forward keeps for backward, and its buffers.

#ifndef CALC_PASS_COMPILE_KEPT_H
#define CALC_PASS_COMPILE_KEPT_H

#include "calc/trace/graph.h"

// What a layer's forward kernels leave for backward, in as few nodes as will hold it.
enum kept {
    LN1_HAT,
    LN1_RSTD,
    LN1_OUT,
    QKV_CAST,
    QKV_OUT,
    ATT_OUT,
    ATT_LSE,
    ATT_RNG,
    PROJ_CAST,
    LN2_HAT,
    LN2_RSTD,
    LN2_OUT,
    FC_CAST,
    FC_OUT,
    GELU_OUT,
    DOWN_CAST,
    BLOCK_INPUT,  // of a checkpointed block, which keeps nothing else
    KEPT_COUNT
};
enum { KEPT_NODES = (KEPT_COUNT + GRAPH_SAVED - 1) / GRAPH_SAVED };

// What is outside of the layers.
enum kept_end {
    LNF_HAT,
    LNF_RSTD,
    LNF_OUT,
    HEAD_CAST,
    LOGITS,
    TARGETS,
    AMAX,
    LOG_SUM,
    IDS,
    ATTENTION_MASK,
    KEPT_END_COUNT
};
enum { KEPT_END_NODES = (KEPT_END_COUNT + GRAPH_SAVED - 1) / GRAPH_SAVED };

struct region {
    struct graph *g;
    int32_t end;        // nodes of what is outside of the layers
    uint32_t residual;  // the stream, then its gradient
    uint32_t branch;    // output of the last matrix product
    uint32_t gradient;  // of that output, in the compute format
    bool again;         // a checkpointed block is computed again
};

uint32_t compile_buffer(struct graph *g, enum op op, uint8_t role, uint8_t part, uint8_t dtype,
                        shape_id shape);
void compile_release(struct graph *g, uint32_t *storage);

// Nodes that hold `count` storages; GRAPH_NO_NODE without gradients.
int32_t compile_kept_nodes(struct graph *g, unsigned count);

// Hands a buffer over to backward; without gradients it dies here.
void compile_keep(struct graph *g, int32_t nodes, unsigned which, uint32_t storage);
void compile_forget(struct graph *g, int32_t nodes, unsigned which);
uint32_t compile_kept(struct graph *g, int32_t nodes, unsigned which);  // stays the nodes'
uint32_t compile_take(struct graph *g, int32_t nodes, unsigned which);  // the caller's from here on

// A weight's gradient as an output of the graph, and its AccumulateGrad when the graph has
// returned.
void compile_gradient(struct graph *g, bool global, uint16_t number, enum op op, uint8_t part);
void compile_accumulate(struct graph *g, bool global, uint16_t number);
void compile_accumulate_all(struct graph *g);

// The head, and a loss that reads the logits twice and stores two numbers a token; uses `normed`
// up. The gradient of the logits, when the graph has begun backward.
struct value compile_loss(struct graph *g, uint32_t normed, uint32_t ids, uint32_t targets,
                          struct value *logits);
// returned: they are a result beside the loss, and have a gradient of zeros.
uint32_t compile_logits_gradient(struct graph *g, int32_t end, bool returned);

bool compile_is_flash(const struct graph *g);

// Whether a layer is checkpointed, and its forward kernels once more, in the backward graph.
bool compile_checkpoints(const struct graph *g, uint32_t layer);
void compile_again(struct region *r, int32_t nodes);

#endif
