// Owns weights, gradients and optimizer state: how many bytes each parameter needs, and the order
// of their making. SRC: pytorch torch/nn/utils/clip_grad.py, torch/amp/grad_scaler.py.

#include "calc/replay/state.h"

#include "calc/base/size.h"
#include "calc/model/experts.h"
#include "calc/model/precision.h"
#include "calc/model/preference.h"
#include "calc/model/quantization.h"
#include "calc/model/scheme.h"
#include "calc/model/units.h"
#include "calc/model/unsloth.h"
#include "calc/trace/tape.h"

static uint64_t state_part(uint64_t bytes, uint64_t width, uint64_t parts)
{
    return (bytes / width + parts - 1) / parts * width;
}

// Experts may be divided among fewer GPUs than the others, and rows of a router unevenly.
static uint64_t state_part_of(const struct model *m, const struct state_row *r, uint64_t bytes,
                              uint64_t width)
{
#ifndef VRAM_SMALL
    if (units_are_experts(r->param))
        return model_expert_share(m, bytes / width) * width;
    if (r->param->shape == SHAPE_W_ROUTER)
        return model_router_share(m, bytes / width) * width;
#else
    (void)r;
#endif
    return state_part(bytes, width, scheme_parts(&m->c));
}

// What a GPU keeps of a parameter under the data parallel scheme. Scalars stay whole.
static void state_divide(const struct model *m, struct state_row *r, uint64_t width)
{
    if (scheme_divides_weights(&m->c))
        r->weight = state_part_of(m, r, r->weight, width);
    if (scheme_divides_gradients(&m->c))
        r->gradient = state_part_of(m, r, r->gradient, width);
    if (scheme_in_buckets(&m->c))
        r->gradient = 0;
    for (unsigned i = 0; i < r->state.kept_count && scheme_divides_state(&m->c); i++)
        if (r->state.kept[i].part != PART_STEP &&
            (r->state.kept[i].part != PART_WEIGHT_GRAD || scheme_divides_gradients(&m->c)))
            r->state.kept[i].bytes = state_part_of(m, r, r->state.kept[i].bytes, 1);
    if (scheme_divides_state(&m->c))
        r->state.paged = state_part_of(m, r, r->state.paged, 1);
    for (unsigned i = 0; i < r->state.temp_count && scheme_divides_state(&m->c); i++)
        r->state.temps[i] = state_part_of(m, r, r->state.temps[i], 1);
}

// On the host: what the optimizer keeps, sums of gradients and, on one GPU without ZeRO, copies of
// the weights, each as wide as what is updated. SRC: DeepSpeed runtime/zero/stage_1_and_2.py
// (single_partition_of_fp32_groups and its grad), stage3.py (fp32_partitioned_groups_flat); torchao
// optim/cpu_offload.py, CPUOffloadOptimizer (minimal_size).
enum { STATE_LEAST_OFFLOADED = 4096 };

static void state_offload_weight(const struct model *m, struct state_row *r)
{
    uint64_t *bytes = r->stored_count ? &r->stored[0].bytes : &r->weight, part = *bytes;
    if (!m->c.offload_params)
        return;
    r->host += part;
    r->weight -= part;
    *bytes = 0;
}

static void state_offload(const struct model *m, struct state_row *r, uint64_t n)
{
    const struct vram_config *c = &m->c;
    bool zero = scheme_offloads_gradients(c);
    if (!c->offload_optimizer || (!zero && n < STATE_LEAST_OFFLOADED))
        return;
    r->host = r->state.paged + (zero ? state_part(r->update, 1, c->n_gpu) : 2 * r->update);
    for (unsigned i = 0; i < r->state.kept_count; i++)
        r->host += r->state.kept[i].bytes;
    r->state = (struct optimizer_state){.kept_count = 0};
    if (zero)
        r->gradient = 0;
    state_offload_weight(m, r);
}

static void state_quantized(const struct model *m, struct state_row *r, uint64_t n)
{
    bool own = model_has_trait(m, TRAIT_GEMM_4BIT);
    r->stored_count = (uint8_t)quantization_share(m, own, r->param, n, r->stored);
    r->weight = 0;
    for (unsigned i = 0; i < r->stored_count; i++)
        r->weight = size_add(r->weight, r->stored[i].bytes);
}

// Scales and tables of a quantized weight belong to no parameter: they stay whole.
// SRC: bitsandbytes nn/modules.py, Params4bit.quant_state; auto_gptq's buffers.
static void state_divide_frozen(struct state_row *r, uint64_t parts)
{
    if (r->stored_count == 0) {
        r->weight = state_part(r->weight, 1, parts);
        return;
    }
    uint64_t whole = r->stored[0].bytes;
    r->stored[0].bytes = state_part(whole, 1, parts);
    r->weight = r->weight - whole + r->stored[0].bytes;
}

// The gradients of a parameter are views of what the pass leaves, or of what is there for good;
// with several micro-steps stage 1 adds them up before.
static bool state_is_parted(const struct model *m)
{
    bool adds_up = m->c.parallel == PARALLEL_ZERO1 && m->c.gradient_accumulation_steps > 1;
    return partition_is_there(m) && !adds_up;
}

static void state_row_make(struct state_row *r, const struct model *m, const struct layout_param *p,
                           uint64_t n, bool block)
{
    const struct precision *precision = precision_of(&m->c);
    uint64_t width = UINT64_C(1) << dtype_shift(quantization_format(m, p));
    *r = (struct state_row){.param = p, .update = precision->copies ? 4 * n : width * n};
    bool frozen = !p->trained || m->c.task == TASK_INFERENCE;
    r->weight = width * n;
    if (quantization_of(m, p, block))
        state_quantized(m, r, n);
    if (frozen) {
        if (scheme_divides_weights(&m->c))
            state_divide_frozen(r, scheme_parts(&m->c));
        state_offload_weight(m, r);
        return;
    }
    r->whole_gradient = width * n;
    struct optimizer_param one = {p, n, r->update, precision->copies, block};
    bool summed = precision->copies > 1 && !scheme_divides_gradients(&m->c);
    if (!m->c.eval_only)  // no backward pass, and the optimizer makes its state in its first step
        r->gradient =
            summed || m->c.optimizer_in_backward || state_is_parted(m) ? 0 : r->whole_gradient;
    optimizer_state(&r->state, &m->c, &one);
    state_divide(m, r, width);
    state_offload(m, r, n);
}

static uint64_t state_kept(const struct state_row *r, uint8_t part)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < r->state.kept_count; i++)
        bytes += r->state.kept[i].part == part ? r->state.kept[i].bytes : 0;
    return bytes;
}

static void state_sum(struct state *s, const struct state_row *r, uint64_t times)
{
    uint64_t kept = 0, temps = 0;
    for (unsigned i = 0; i < r->state.kept_count; i++)
        kept += r->state.kept[i].bytes;
    for (unsigned i = 0; i < r->state.temp_count; i++)
        temps += r->state.temps[i];
    s->copy_bytes = size_add(s->copy_bytes, size_mul(times, state_kept(r, PART_COPY)));
    s->sum_bytes = size_add(s->sum_bytes, size_mul(times, state_kept(r, PART_WEIGHT_GRAD)));
    s->param_bytes = size_add(s->param_bytes, size_mul(times, r->weight));
    s->grad_bytes = size_add(s->grad_bytes, size_mul(times, r->gradient));
    s->optim_bytes = size_add(s->optim_bytes, size_mul(times, kept));
    s->paged_bytes = size_add(s->paged_bytes, size_mul(times, r->state.paged));
    s->trained_tensors += r->whole_gradient ? times : 0;
    s->part_bytes = size_add(
        s->part_bytes, size_mul(times, state_part(r->whole_gradient, 2, scheme_parts(&s->m->c))));
    s->trained_bytes = size_add(s->trained_bytes, size_mul(times, r->whole_gradient));
    s->host_bytes = size_add(s->host_bytes, size_mul(times, r->host));
    s->largest_bytes = size_max(s->largest_bytes, r->whole_gradient);
    s->temp_peak = s->temps_together ? size_add(s->temp_peak, size_mul(times, temps))
                                     : size_max(s->temp_peak, temps);
}

// AutoAWQ stores a clone of each entry of the state dict, and so a head beside the embedding that
// is its weight; transformers loads both, and ties them when all weights are there. SRC: AutoAWQ
// awq/models/base.py, save_quantized; transformers modeling_utils.py, from_pretrained
// (tie_weights).
static uint64_t state_second_head(const struct state *s)
{
    const struct vram_config *c = &s->m->c;
    bool stored = c->quantization == QUANTIZATION_AWQ && c->tie_embeddings &&
                  model_has_trait(s->m, TRAIT_INNER_MODEL);
    return stored && c->task == TASK_INFERENCE && s->layout.before_count ? s->before[0].weight : 0;
}

// ZeRO-1 and ZeRO-2 clone this GPU's part of the weights before they copy it to the host.
// SRC: DeepSpeed runtime/zero/stage_1_and_2.py, __init__ (weights_partition).
static uint64_t state_clone(const struct state *s)
{
    const struct vram_config *c = &s->m->c;
    return scheme_offloads_gradients(c) && c->parallel < PARALLEL_ZERO3 ? s->part_bytes : 0;
}

// ZeRO-3 keeps a layer's gathered weights where fewer than stage3_max_reuse_distance (1e9) numbers
// are gathered before they are used again: about half as many on either side of a pass's end.
// SRC: DeepSpeed runtime/zero/partitioned_param_coordinator.py, __params_to_release; traces
// llama_zero3_offload_*.
#define STATE_RESIDENT UINT64_C(500000000)

// The page has them for good, which they are from the first forward pass on but for the steps.
static uint64_t state_resident(const struct model *m, uint64_t layer)
{
    uint64_t layers = size_mul(m->c.n_layer, layer);
    bool keeps =
        !MODEL_IS_WHOLE && m->c.parallel == PARALLEL_ZERO3 && scheme_divides_weights(&m->c);
    if (layers > STATE_RESIDENT)
        layers = STATE_RESIDENT;
    return keeps ? layers << dtype_shift(precision_of(&m->c)->compute) : 0;
}

#ifndef VRAM_SMALL
uint64_t state_reference(const struct state *s, const struct state_row *r, bool block)
{
    const struct vram_config *c = &s->m->c;
    bool there = c->ema || (preference_copies(c) && layout_is_base(r->param, block));
    return there ? r->weight : 0;
}

// A second model beside the one that is trained. SRC: trl trainer/dpo_trainer.py (ref_model);
// pytorch torch/optim/swa_utils.py (AveragedModel: deepcopy of all, updated in place).
static void state_refer(struct state *s)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < s->layout.before_count; i++)
        bytes = size_add(bytes, state_reference(s, &s->before[i], false));
    for (unsigned i = 0; i < s->layout.block_count; i++)
        bytes = size_add(bytes, size_mul(layout_times(s->block[i].param, s->m),
                                         state_reference(s, &s->block[i], true)));
    for (unsigned i = 0; i < s->layout.after_count; i++)
        bytes = size_add(bytes, state_reference(s, &s->after[i], false));
    s->reference_bytes = bytes;
    s->param_bytes = size_add(s->param_bytes, bytes);
}
#endif

// transformers generates with four bits through ExLlama's first kernels, which have one buffer for
// the largest weight in two bytes. SRC: transformers utils/quantization_config.py, GPTQConfig
// (ExllamaVersion.ONE); auto-gptq 0.4 to 0.7 modeling/_utils.py, autogptq_post_init (temp_dq).
static uint64_t state_dequantized(const struct state *s, const uint64_t elements[SHAPE_COUNT])
{
    const struct vram_config *c = &s->m->c;
    bool there = c->quantization == QUANTIZATION_GPTQ && c->task == TASK_INFERENCE &&
                 c->n_expert == 0 && model_has_trait(s->m, TRAIT_INNER_MODEL);
    uint64_t largest = 0;
    there = there || unsloth_patches(c);
    for (unsigned i = 0; there && i < s->layout.block_count; i++) {
        const struct layout_param *p = &s->layout.block[i];
        if (quantization_of(s->m, p, true))
            largest = size_max(largest, elements[p->shape]);
    }
#ifndef VRAM_SMALL
    if (unsloth_patches(c))
        return unsloth_buffers(s->m, largest);
#endif
    return 2 * largest;
}

int state_make(struct state *s, const struct model *m, const uint64_t elements[SHAPE_COUNT])
{
    // rows are written whole
    mem_zero(&s->temps_together, sizeof *s - offsetof(struct state, temps_together));
    s->m = m;
    layout_make(&s->layout, m);
    s->temps_together = optimizer_temps_together(&m->c);
    s->table_bytes = optimizer_tables(&m->c, &s->tables);
    s->dequantized_bytes = state_dequantized(s, elements);
    s->buffer_bytes = size_add(m->buffer_bytes, s->dequantized_bytes);
    for (unsigned i = 0; i < s->layout.before_count; i++) {
        const struct layout_param *p = &s->layout.before[i];
        state_row_make(&s->before[i], m, p, elements[p->shape], false);
        state_sum(s, &s->before[i], 1);
    }
    for (unsigned i = 0; i < s->layout.block_count; i++) {
        const struct layout_param *p = &s->layout.block[i];
        state_row_make(&s->block[i], m, p, elements[p->shape], true);
        state_sum(s, &s->block[i], layout_times(p, m));
    }
    for (unsigned i = 0; i < s->layout.after_count; i++) {
        const struct layout_param *p = &s->layout.after[i];
        state_row_make(&s->after[i], m, p, elements[p->shape], false);
        state_sum(s, &s->after[i], 1);
    }
#ifndef VRAM_SMALL
    state_refer(s);
    partition_make(&s->partition, m, &s->layout);
    s->parted = partition_is_there(m);
    if (state_is_parted(m) && m->c.parallel != PARALLEL_ZERO3)
        s->grad_bytes = s->partition.mine << dtype_shift(precision_of(&m->c)->weight);
#endif
    s->resident_bytes = state_resident(m, elements[SHAPE_LAYER]);
    s->loading_bytes = state_second_head(s) + state_clone(s);
    if (s->trained_tensors && !m->c.eval_only && !m->c.offload_optimizer)
        s->optim_bytes = size_add(s->optim_bytes, s->tables * s->table_bytes);
    else
        s->tables = 0;
    bool fits = size_ok(s->param_bytes) && size_ok(s->grad_bytes) && size_ok(s->optim_bytes) &&
                size_ok(s->paged_bytes) && size_ok(s->temp_peak);
    return fits ? VRAM_OK : VRAM_EOVERFLOW;
}
