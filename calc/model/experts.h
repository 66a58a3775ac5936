// Experts as torchtitan has them, which GPUs may share. In the small module nothing is.

#ifndef CALC_EXPERTS_H
#define CALC_EXPERTS_H

#include "calc/model/model.h"

// Whether rows are permuted by expert, as torchtitan does, and its experts may be divided.
#ifndef VRAM_SMALL
bool model_permutes_experts(const struct model *m);
#else
static inline bool model_permutes_experts(const struct model *m)
{
    (void)m;
    return false;
}
static inline bool model_spreads_experts(const struct model *m)
{
    (void)m;
    return false;
}
#endif

#ifndef VRAM_SMALL
// Rows of the products of a GPU's experts where they are: each expert's padded.
uint64_t model_permuted_rows(const struct model *m);

// Whether the experts of transformers' grouped products are divided, and whether their rows are
// sent to the GPUs that have them; else each runs all rows that are its own and the results are
// added up.
bool model_spreads_experts(const struct model *m);
bool model_sends_rows(const struct model *m);

// Whether experts that GPUs share are a unit of FSDP2 by themselves, on fewer GPUs than the rest.
bool model_divides_experts(const struct model *m);

// Rows that a GPU's experts get there, and the tokens of them.
uint64_t model_spread_rows(const struct model *m);
uint64_t model_spread_tokens(const struct model *m);

// GPUs of tensor_parallel among which whole experts are shared out, too: they sort a part of the
// tokens each.
uint64_t model_sorting_ways(const struct vram_config *c);

// GPUs that the experts' weights on one of them are divided among by the data parallel scheme, and
// this GPU's part of a tensor of all of them.
uint64_t model_expert_parts(const struct model *m);
uint64_t model_expert_share(const struct model *m, uint64_t whole);

// The same of the router, which all GPUs divide by its rows, one an expert.
uint64_t model_router_share(const struct model *m, uint64_t whole);
#endif

#endif
