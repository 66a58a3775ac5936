// Owns what files mean that say FSDP: its version, what is divided among which GPUs, what is
// gathered together and when.

#include "calc/parse/conclude_fsdp.h"

// The words of facts.def, by number.
enum {
    SHARDING_FULL = 1,
    SHARDING_GRADIENTS,
    SHARDING_NONE,
    SHARDING_HYBRID,
    SHARDING_HYBRID_GRADIENTS
};
enum { WRAP_SAID_LAYERS = 1, WRAP_SAID_NO };
enum { PREFETCH_SAID_PRE = 1, PREFETCH_SAID_POST };

enum { BY_TRAINER = 1, SECOND = 5010 };

// SRC: transformers 5.10 training_args.py, _process_fsdp_args (version 2, before it 1); accelerate
// utils/launch.py, FSDP_VERSION.
static uint64_t fsdp_version(const struct parse *p)
{
    const struct facts *f = &p->v->facts;
    bool second = f->fsdp_by == BY_TRAINER && p->v->config.transformers >= SECOND;
    return f->fsdp_version ? f->fsdp_version : second ? 2 : 1;
}

// Where no file says what is gathered together, accelerate's launcher takes the whole model, and so
// does the Trainer up to 5.9. SRC: accelerate utils/dataclasses.py (AUTO_WRAP_POLICY, NO_WRAP);
// transformers training_args.py, _process_fsdp_args.
static bool fsdp_wraps_nothing(const struct parse *p)
{
    const struct facts *f = &p->v->facts;
    if (f->wrap)
        return f->wrap == WRAP_SAID_NO;
    return f->fsdp_by == BY_TRAINER ? p->v->config.transformers < SECOND : f->launched;
}

// accelerate gathers nothing ahead where it is not told to. SRC: accelerate utils/dataclasses.py
// (BACKWARD_PREFETCH).
void conclude_units(struct parse *p)
{
    const struct facts *f = &p->v->facts;
    struct vram_config *c = &p->v->config;
    bool alone = fsdp_wraps_nothing(p);
    if (c->parallel == PARALLEL_FSDP && alone && !c->lora_rank)
        message_list_add(&p->v->notes, MESSAGE_no_wrap_second, NO_FIELD, NO_ARGS);
    if (c->parallel != PARALLEL_FSDP1)
        return;
    c->backward_prefetch = f->prefetch == PREFETCH_SAID_PRE    ? PREFETCH_PRE
                           : f->prefetch == PREFETCH_SAID_POST ? PREFETCH_POST
                                                               : PREFETCH_NO;
    c->auto_wrap_policy = alone ? WRAP_NO : WRAP_TRANSFORMER;
}

uint64_t fsdp_of(struct parse *p)
{
    const struct facts *f = &p->v->facts;
    bool second = fsdp_version(p) == 2;
    if (f->sharding == SHARDING_NONE && second)
        return PARALLEL_DDP;
    bool gradients = f->sharding == SHARDING_GRADIENTS || f->sharding == SHARDING_HYBRID_GRADIENTS;
    p->v->config.reshard_after_forward = f->sharding == SHARDING_NONE ? RESHARD_NO_SHARD
                                         : gradients                  ? RESHARD_NO
                                                                      : RESHARD_YES;
    return second ? PARALLEL_FSDP : PARALLEL_FSDP1;
}

// SRC: pytorch torch/distributed/fsdp/_init_utils.py, _init_process_group_state_for_hybrid_shard;
// trace llama_fsdp1_hybrid.
uint64_t fsdp_machines(const struct facts *f)
{
    return f->sharding >= SHARDING_HYBRID && f->machines ? f->machines : 1;
}
