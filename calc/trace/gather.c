// Owns how a unit's weights are gathered and its gradients sent: what is copied and cast for it.

#include "calc/trace/gather.h"

#include "calc/model/precision.h"
#include "calc/model/scheme.h"

bool gather_is_fsdp(const struct graph *g)
{
    return g->m->c.parallel == PARALLEL_FSDP || g->m->c.parallel == PARALLEL_FSDP1;
}

// DeepSpeed's stage 3 gathers and sends on streams of its own, too (overlap_comm, which is on there
// by default). SRC: DeepSpeed runtime/zero/partitioned_param_coordinator.py (__allgather_stream),
// stage3.py (reduce_and_partition_stream).
static bool gather_has_streams(const struct graph *g)
{
    return gather_is_fsdp(g) || (MODEL_IS_WHOLE && g->m->c.parallel == PARALLEL_ZERO3);
}

uint32_t gather_on(struct graph *g, uint32_t storage, uint8_t stream)
{
    if (gather_has_streams(g) && graph_ok(g) && storage != TAPE_NONE)
        g->t->storages[storage].stream = stream;
    return storage;
}

bool gather_copies(const struct graph *g)
{
    return g->m->c.parallel == PARALLEL_FSDP;
}

static uint32_t gather_buffer(struct graph *g, enum op op, uint8_t dtype, shape_id shape)
{
    return tape_alloc(g->t, op, NAME(PARALLEL, GATHERED), VRAM_CAT_CAST, dtype, shape);
}

static shape_id gather_shape(const struct graph *g, shape_id shape)
{
    bool narrow = !MODEL_IS_WHOLE || g->m->c.parallel != PARALLEL_ZERO3;
    return narrow && shape == SHAPE_LAYER ? SHAPE_LAYER_SENT : shape;
}

// torchao scales and clamps a shard in float32, the largest ones last. SRC: torchao
// float8/float8_training_tensor.py, _ToFloat8ConstrFunc.forward.
static void gather_narrow(struct graph *g)
{
    uint32_t scaled = gather_buffer(g, OP_MUL, DT_F32_SHARE, SHAPE_W_FF);
    uint32_t clamped = gather_buffer(g, OP_CLAMP, DT_F32_SHARE, SHAPE_W_FF);
    tape_unref(g->t, clamped);
    tape_unref(g->t, scaled);
}

// This GPU's part in the format that is sent: FSDP2 always copies it, FSDP1 where it is cast. From
// the host it is copied, by FSDP1 as wide as it is; what it has not cast is there as long as the
// weights are. With NO_SHARD it is the weights. SRC: pytorch
// torch/distributed/fsdp/_flat_param.py, pre_unshard (_use_low_precision_shard, flat_param_to),
// post_unshard, post_reshard; traces llama_fsdp1_offload_*,
// llama_fsdp1_bf16_offload_*.
uint32_t gather_weights(struct graph *g, shape_id shape)
{
    shape = gather_shape(g, shape);
    bool cast = gather_is_fsdp(g) && precision_of(&g->m->c)->weight != g->compute;
    uint8_t share = g->compute == DT_F32 ? DT_F32_SHARE : DT_LOW_SHARE;
    bool copied = cast || gather_copies(g) || g->m->c.offload_params;
    uint32_t mine = copied ? gather_buffer(g, OP_TO_COPY, share, shape) : TAPE_NONE;
    if (scheme_keeps_all(&g->m->c))
        return gather_on(g, mine, STREAM_GATHER);
    if (cast && g->m->c.offload_params && !gather_copies(g))
        tape_unref(g->t, gather_buffer(g, OP_TO_COPY, DT_F32_SHARE, shape));
    if (g->m->c.float8_all_gather && shape == SHAPE_LAYER_SENT)
        gather_narrow(g);
    uint32_t gathered = gather_buffer(g, OP_ALL_GATHER, g->compute, shape);
    gather_on(g, mine, STREAM_GATHER);
    gather_on(g, gathered, STREAM_GATHER);
    bool stays = g->m->c.offload_params && g->m->c.parallel == PARALLEL_FSDP1 && !cast;
    if (stays && graph_ok(g))
        g->t->storages[gathered].with = mine;
    else
        tape_unref(g->t, mine);
    return gathered;
}

// fully_shard copies each weight out of what was gathered. SRC: pytorch
// torch/distributed/fsdp/_fully_shard/ _fsdp_collectives.py, foreach_all_gather_copy_out; traces
// llama_fsdp2_* of tests/calc/truth/frameworks.
uint32_t gather_copy_out(struct graph *g, uint32_t gathered, shape_id shape)
{
    if (!gather_copies(g))
        return gathered;
    uint32_t weights = gather_buffer(g, OP_ALL_GATHER, g->compute, gather_shape(g, shape));
    tape_unref(g->t, gathered);
    return weights;
}

// The gradients of a unit, in the format in which they are added up.
uint8_t gather_sum_format(const struct graph *g)
{
    if (gather_sends_narrow(g))
        return g->compute;
    return precision_of(&g->m->c)->weight == DT_F32 ? DT_F32 : g->compute;
}
