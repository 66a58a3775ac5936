// Weights that are divided among GPUs, put together for a unit.

#ifndef CALC_GATHER_H
#define CALC_GATHER_H

#include "calc/model/precision.h"
#include "calc/trace/graph.h"

bool gather_is_fsdp(const struct graph *g);

// Streams of FSDP: gathered weights are on one, parts of gradients and what they are cast to on
// another. SRC: pytorch torch/distributed/fsdp/_runtime_utils.py (_init_streams, _unshard,
// _post_backward_hook); _fully_shard/_fsdp_param_group.py (FSDPCommContext).
enum { STREAM_GATHER = 1, STREAM_REDUCE };

uint32_t gather_on(struct graph *g, uint32_t storage, uint8_t stream);

bool gather_copies(const struct graph *g);  // each weight out of what was gathered

// A unit's weights as they arrive, and as the unit takes them.
uint32_t gather_weights(struct graph *g, shape_id shape);
uint32_t gather_copy_out(struct graph *g, uint32_t gathered, shape_id shape);

// The format in which a unit's gradients are added up.
uint8_t gather_sum_format(const struct graph *g);

// accelerate's policy for FSDP2 has one format for all: gradients are sent in it, and cast when
// they are this GPU's part. SRC: accelerate utils/dataclasses.py,
// FullyShardedDataParallelPlugin.set_mixed_precision (reduce_dtype).
static inline bool gather_sends_narrow(const struct graph *g)
{
    return MODEL_IS_WHOLE && g->m->c.parallel == PARALLEL_FSDP && precision_is_accelerate(&g->m->c);
}

#endif
