// Owns what is gathered together under a data parallel scheme.
// SRC: peft utils/other.py, fsdp_auto_wrap_policy (leaves with trained weights, and layers);
// torchtune 0.2 modules/peft/peft_utils.py, lora_fsdp_wrap_policy; bitsandbytes nn/modules.py,
// Params4bit (quant_storage).

#include "calc/model/units.h"

#include "calc/base/size.h"
#include "calc/model/experts.h"
#include "calc/model/names.h"
#include "calc/model/partition.h"
#include "calc/model/quantization.h"

bool units_are_one(const struct model *m)
{
#ifndef VRAM_SMALL
    return m->c.parallel == PARALLEL_FSDP1 && m->c.auto_wrap_policy == WRAP_NO && !m->c.lora_rank;
#else
    (void)m;
    return false;
#endif
}

bool units_apart(const struct model *m)
{
    return m->c.parallel == PARALLEL_FSDP1 && m->c.lora_rank &&
           !model_has_trait(m, TRAIT_MIXED_UNITS);
}

#ifndef VRAM_SMALL
bool units_are_experts(const struct layout_param *p)
{
    return p->shape == SHAPE_W_EXPERTS || p->shape == SHAPE_W_EXPERTS2 ||
           p->shape == SHAPE_EXPERTS_C || p->shape == SHAPE_EXPERTS_FF2;
}

// As they are gathered: every GPU's part is as long as the first one's.
static uint64_t units_experts(const struct model *m, const struct layout *l,
                              const uint64_t elements[SHAPE_COUNT])
{
    uint64_t sum = 0;
    if (model_permutes_experts(m))
        return elements[SHAPE_W_EXPERTS2];
    for (unsigned i = 0; i < l->block_count; i++)
        if (units_are_experts(&l->block[i]))
            sum = size_add(sum, model_expert_share(m, elements[l->block[i].shape]));
    return size_mul(sum, model_expert_parts(m));
}
#endif

static uint64_t units_elements(const struct model *m, const struct layout_param *p, bool block,
                               const uint64_t elements[SHAPE_COUNT])
{
    struct quantization_tensor stored[QUANTIZATION_TENSORS];
    if (units_apart(m) && (p->part == PART_A || p->part == PART_B || p->part == PART_VECTOR))
        return 0;
#ifndef VRAM_SMALL
    if (model_permutes_experts(m) && p->shape == SHAPE_W_ROUTER)
        return model_router_share(m, elements[p->shape]) * m->c.n_gpu;
    if (model_divides_experts(m) && units_are_experts(p))
        return 0;
    if (model_permutes_experts(m) && p->shape == SHAPE_W_EXPERTS)  // as they are gathered
        return elements[SHAPE_W_EXPERTS2] / 3;
#endif
    if (!quantization_of(m, p, block))
        return elements[p->shape];
    quantization_share(m, false, p, elements[p->shape], stored);
    return (stored[0].bytes + 1) / 2;
}

// Without what layers with experts have not, or those without.
static uint64_t units_sum(const struct model *m, const struct layout_param *list, unsigned count,
                          bool block, enum layout_layers without,
                          const uint64_t elements[SHAPE_COUNT])
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < count; i++)
        if (list[i].layers != without)
            sum = size_add(sum, units_elements(m, &list[i], block, elements));
    return sum;
}

// torchao casts the shards of linear layers before they are gathered: one byte a number. SRC:
// torchao float8/fsdp_utils.py, WeightWithDynamicFloat8CastTensor.fsdp_pre_all_gather.
static uint64_t units_sent(const struct model *m, const struct layout *l,
                           const uint64_t elements[SHAPE_COUNT])
{
    uint64_t linear = 0;
    for (unsigned i = 0; i < l->block_count && m->c.float8_all_gather; i++)
        linear += l->block[i].matrix ? elements[l->block[i].shape] : 0;
    return elements[SHAPE_LAYER] - linear / 2;
}

#ifndef VRAM_SMALL
// What all layers have, each what it has.
static uint64_t units_of_layers(const struct model *m, const struct layout *l,
                                const uint64_t elements[SHAPE_COUNT])
{
    uint64_t sum = 0;
    for (uint64_t layer = 0; layer < m->c.n_layer; layer++)
        for (unsigned i = 0; i < l->block_count; i++)
            if (layout_here(&l->block[i], m, layer))
                sum = size_add(sum, units_elements(m, &l->block[i], true, elements));
    return sum;
}

// ZeRO-3 keeps a layer's gathered weights where fewer than stage3_max_reuse_distance (1e9) numbers
// are gathered before they are used again: about half as many on either side of the turn from
// forward to backward. SRC: DeepSpeed runtime/zero/partitioned_param_coordinator.py,
// __params_to_release, reset_step; traces llama_zero3_*.
#define UNITS_RESIDENT UINT64_C(500000000)

static void units_partition(const struct model *m, const struct layout *l,
                            uint64_t elements[SHAPE_COUNT])
{
    struct partition p;
    if (m->c.parallel == PARALLEL_ZERO3)
        elements[SHAPE_RESIDENT] =
            size_min(size_mul(m->c.n_layer, elements[SHAPE_LAYER]), UNITS_RESIDENT);
    partition_make(&p, m, l);
    if (m->c.parallel == PARALLEL_ZERO3 && partition_sends(m))
        elements[SHAPE_SENT] = p.flushed;
    else if (partition_is_there(m)) {
        elements[SHAPE_PARTITION] = p.mine;
        elements[SHAPE_FLUSHED] = p.flushed;
    }
}
#endif

int units_sums(const struct model *m, const struct layout *l, uint64_t elements[SHAPE_COUNT])
{
    elements[SHAPE_LAYER] = units_sum(m, l->block, l->block_count, true, LAYERS_DENSE, elements);
#ifndef VRAM_SMALL
    elements[SHAPE_LAYER_DENSE] =
        units_sum(m, l->block, l->block_count, true, LAYERS_SPARSE, elements);
    elements[SHAPE_LAYER_EXPERTS] = units_experts(m, l, elements);
#endif
    elements[SHAPE_LAYER_SENT] = units_sent(m, l, elements);
    elements[SHAPE_ROOT_FIRST] =
        units_sum(m, l->before, l->before_count, false, LAYERS_DENSE, elements);
    elements[SHAPE_ROOT_LAST] =
        units_sum(m, l->after, l->after_count, false, LAYERS_DENSE, elements);
    elements[SHAPE_ROOT] = size_add(elements[SHAPE_ROOT_FIRST], elements[SHAPE_ROOT_LAST]);
#ifndef VRAM_SMALL
    if (units_are_one(m))
        elements[SHAPE_ROOT] = size_add(elements[SHAPE_ROOT], units_of_layers(m, l, elements));
    units_partition(m, l, elements);
#endif
    bool fits = elements[SHAPE_LAYER] <= SIZE_LIMIT / 8 && elements[SHAPE_ROOT] <= SIZE_LIMIT / 8;
    return fits ? VRAM_OK : VRAM_EOVERFLOW;
}
