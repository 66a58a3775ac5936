// Owns which data parallel scheme divides what. SRC: ZeRO (arXiv 1910.02054); pytorch
// torch/distributed/fsdp.

#include "calc/model/scheme.h"

bool scheme_many(const struct vram_config *c)
{
    return c->n_gpu * c->context_parallel > 1;
}

bool scheme_is_deepspeed(const struct vram_config *c)
{
    return c->parallel >= PARALLEL_ZERO1 && c->parallel <= PARALLEL_ZERO3;
}

// SRC: DeepSpeed runtime/zero/config.py, reduce_bucket_size; "auto": transformers
// integrations/deepspeed.py, trainer_config_finalize.
uint64_t scheme_bucket(const struct vram_config *c)
{
    return c->reduce_bucket_size ? c->reduce_bucket_size : c->n_embd * c->n_embd;
}

// What is on the host is not on the card, however few cards there are: their parts are whole.
static bool scheme_works(const struct vram_config *c)
{
    return scheme_many(c) || c->offload_optimizer || c->offload_params;
}

bool scheme_offloads_gradients(const struct vram_config *c)
{
    return c->offload_optimizer && c->parallel >= PARALLEL_ZERO1;
}

bool scheme_in_buckets(const struct vram_config *c)
{
    return scheme_many(c) && c->parallel == PARALLEL_DDP && c->bucket_view;
}

bool scheme_divides_state(const struct vram_config *c)
{
    return scheme_works(c) && c->parallel >= PARALLEL_ZERO1;
}

bool scheme_divides_gradients(const struct vram_config *c)
{
    uint64_t first = c->offload_optimizer ? PARALLEL_ZERO1 : PARALLEL_ZERO2;
    return scheme_works(c) && c->parallel >= first;
}

bool scheme_divides_weights(const struct vram_config *c)
{
    return (scheme_many(c) || c->offload_params) && c->parallel >= PARALLEL_ZERO3;
}

bool scheme_keeps_all(const struct vram_config *c)
{
#ifndef VRAM_SMALL
    return c->parallel == PARALLEL_FSDP1 && c->reshard_after_forward == RESHARD_NO_SHARD;
#else
    (void)c;
    return false;
#endif
}

uint64_t scheme_parts(const struct vram_config *c)
{
    return scheme_keeps_all(c) ? 1 : c->n_gpu;
}
