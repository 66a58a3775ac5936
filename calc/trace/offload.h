// Activations that wait for the backward pass in the host's memory.

#ifndef CALC_TRACE_OFFLOAD_H
#define CALC_TRACE_OFFLOAD_H

#include "calc/trace/graph.h"

// What a node keeps of a storage that it saves: the storage, with a reference, or what stands for
// it on the host.
uint32_t offload_save(struct graph *g, const struct node *n, uint32_t storage);

static inline bool offload_is_on_host(const struct storage *s)
{
    return s->home == HOME_CPU && s->op == OP_TO_COPY;
}

// What of a node's saved tensors is on the host comes back.
void offload_return(struct graph *g, int32_t node);

// Gives up what goes to the host and is still held: the backward pass begins.
void offload_stash_go(struct graph *g);

#endif
