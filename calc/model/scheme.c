// Owns which data parallel scheme divides what. SRC: ZeRO (arXiv 1910.02054); pytorch
// torch/distributed/fsdp.

#include "calc/model/scheme.h"

bool scheme_many(const struct vram_config *c)
{
    return c->n_gpu > 1;
}

bool scheme_in_buckets(const struct vram_config *c)
{
    return scheme_many(c) && c->parallel == PARALLEL_DDP && c->bucket_view;
}

bool scheme_divides_state(const struct vram_config *c)
{
    return scheme_many(c) && c->parallel >= PARALLEL_ZERO1;
}

bool scheme_divides_gradients(const struct vram_config *c)
{
    return scheme_many(c) && c->parallel >= PARALLEL_ZERO2;
}

bool scheme_divides_weights(const struct vram_config *c)
{
    return scheme_many(c) && c->parallel >= PARALLEL_ZERO3;
}
