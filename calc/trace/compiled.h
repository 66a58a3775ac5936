// What of a model is compiled: all of it, or each block.

#ifndef CALC_COMPILED_H
#define CALC_COMPILED_H

#include "calc/model/scheme.h"
#include "calc/trace/graph.h"

// Such a model out of the code of transformers: its buffers wait for layers far away. nanoGPT's has
// rules of its own.
static inline bool compile_is_traced(const struct model *m)
{
    return MODEL_IS_WHOLE && m->c.compile && framework_goes(&m->c, BY_TRANSFORMERS) &&
           m->c.transformers >= 5000 && m->c.torch >= 2009;
}

// FSDP2's hooks are not for Dynamo: the loop over the layers is as it was, and what is compiled are
// each layer, the last norm and the loss. SRC: pytorch
// torch/distributed/fsdp/_fully_shard/_fsdp_common.py, _dynamo_disable; traces
// *_trainer_fsdp2_compiled of tests/calc/truth/frameworks.
static inline bool compile_is_cut(const struct model *m)
{
    return compile_is_traced(m) && scheme_divides_weights(&m->c);
}

// TRL's loss is an autograd function that Dynamo runs as it is: the graph ends before it. SRC: trl
// kernels/chunked_logprob.py; traces llama_sft_compiled*.
static inline bool compile_leaves_loss(const struct model *m)
{
    return compile_is_traced(m) && m->c.cross_entropy == CROSS_ENTROPY_TILED;
}

// Dynamo cuts the graph where DDP's buckets of gradients begin. The head is behind a cut.
static inline bool compile_is_in_buckets(const struct model *m)
{
    return compile_is_traced(m) && m->c.parallel == PARALLEL_DDP && scheme_many(&m->c);
}

// Whether the model is compiled as one, or its blocks each by itself.
static inline bool compile_is_whole(const struct graph *g)
{
    return g->m->c.compile && !framework_goes(&g->m->c, BY_BLOCKS) && !compile_is_cut(g->m);
}

static inline bool compile_is_of_blocks(const struct graph *g)
{
    return g->m->c.compile && framework_goes(&g->m->c, BY_BLOCKS);
}

// Whether the loss is compiled and nothing else. SRC: torchtitan config/job_config.py (Compile,
// components); components/loss.py, build_cross_entropy_loss; traces *_loss.
static inline bool compile_is_of_loss(const struct model *m)
{
    return config_compiles_loss(&m->c);
}

#endif
