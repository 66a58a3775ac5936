// Owns the order in which a run makes weights and takes optimizer steps.

#include "calc/replay/state_play.h"

#include "calc/base/size.h"
#include "calc/model/framework.h"
#include "calc/model/precision.h"
#include "calc/model/units.h"
#include "calc/replay/buckets.h"
#include "calc/replay/step_zero.h"
#include "calc/replay/wrap.h"

typedef int step_row_fn(struct player *p, const struct state *s, const struct state_row *r,
                        int32_t layer);

// Calls fn for every parameter in order of registration until it returns non-zero. layer is -1
// outside of layers.
static int step_rows(struct player *p, const struct state *s, step_row_fn *fn)
{
    int rc = VRAM_OK;
    for (unsigned i = 0; i < s->layout.before_count && rc == VRAM_OK; i++)
        rc = fn(p, s, &s->before[i], -1);
    for (int32_t layer = 0; layer < (int32_t)s->m->c.n_layer; layer++)
        for (unsigned i = 0; i < s->layout.block_count && rc == VRAM_OK; i++)
            if (layout_here(s->block[i].param, s->m, (uint64_t)layer))
                rc = fn(p, s, &s->block[i], layer);
    for (unsigned i = 0; i < s->layout.after_count && rc == VRAM_OK; i++)
        rc = fn(p, s, &s->after[i], -1);
    return rc;
}

// nanoGPT registers a causal mask behind the projections of each attention that is not a kernel.
static int step_mask(struct player *p, const struct state *s, int32_t layer)
{
    static const struct storage mask = {
        .name = NAME(SCORES, BUFFER), .op = OP_BUFFER, .category = VRAM_CAT_PARAM};
    uint64_t layers = s->m->c.n_layer,
             rest = (uint64_t)layer + 1 == layers ? s->m->buffer_bytes % layers : 0;
    return player_forever(p, &mask, s->m->buffer_bytes / layers + rest, layer);
}

static bool step_last_of_attention(const struct state *s, const struct state_row *r)
{
    bool bias = layout_find(&s->layout, true, P_O + LAYOUT_BIAS) != NULL;
    return r->param->number == (bias ? P_O + LAYOUT_BIAS : P_O);
}

// A quantized weight, tensor by tensor; divided ones stand as one.
static int step_stored(struct player *p, const struct state_row *r, int32_t layer)
{
    int rc = VRAM_OK;
    for (unsigned i = r->stored[0].bytes ? 0 : 1; i < r->stored_count && rc == VRAM_OK; i++) {
        struct storage stored = {.name = name_of(r->param->role, r->stored[i].part),
                                 .op = OP_PARAM,
                                 .category = VRAM_CAT_PARAM};
        rc = player_forever(p, &stored, r->stored[i].bytes, layer);
    }
    return rc;
}

static int step_weight(struct player *p, const struct state *s, const struct state_row *r,
                       int32_t layer)
{
    (void)s;
    if (!r->weight)
        return VRAM_OK;  // on the host
    struct storage weight = {.name = name_of(r->param->role, r->param->part),
                             .op = OP_PARAM,
                             .category = VRAM_CAT_PARAM};
    return r->stored_count ? step_stored(p, r, layer)
                           : player_forever(p, &weight, r->weight, layer);
}

static int step_buffer(struct player *p, const struct state *s, const struct state_row *r,
                       int32_t layer)
{
    bool here = s->m->buffer_bytes && r->weight && layer >= 0 && step_last_of_attention(s, r);
    return here ? step_mask(p, s, layer) : VRAM_OK;
}

static int step_module(struct player *p, const struct state *s, const struct state_row *r,
                       int32_t layer)
{
    int rc = step_weight(p, s, r, layer);
    return rc == VRAM_OK ? step_buffer(p, s, r, layer) : rc;
}

// What the optimizer has before its first step, as one tensor of each kind: sums of gradients, then
// copies of the weights. SRC: nanotron src/nanotron/optim/gradient_accumulator.py
// (contiguous_buffer_f32_gradients, big_flat_buffer); DeepSpeed runtime/bf16_optimizer.py,
// zero/stage_1_and_2.py (single_partition_of_fp32_groups).
static bool step_is_early(uint8_t part)
{
    return part == PART_COPY || part == PART_WEIGHT_GRAD;
}

static int step_early(struct player *p, const struct state *s)
{
    static const struct storage sums = {
        .name = NAME(OPTIMIZER, WEIGHT_GRAD), .op = OP_ZEROS, .category = VRAM_CAT_OPTIM};
    static const struct storage copies = {
        .name = NAME(OPTIMIZER, COPY), .op = OP_TO_COPY, .category = VRAM_CAT_OPTIM};
    int rc = s->sum_bytes ? player_forever(p, &sums, s->sum_bytes, -1) : VRAM_OK;
    return rc == VRAM_OK && s->copy_bytes ? player_forever(p, &copies, s->copy_bytes, -1) : rc;
}

// FSDP1 wraps the layers, then the rest; or all at once.
static int step_wrap(struct player *p, const struct state *s)
{
    int rc = VRAM_OK;
    int32_t layers = units_are_one(s->m) ? 0 : (int32_t)s->m->c.n_layer;
    for (int32_t layer = 0; layer < layers && rc == VRAM_OK; layer++)
        rc = wrap_unit(p, s, layer);
    if (rc == VRAM_OK)
        rc = wrap_unit(p, s, -1);
    player_drain(p);
    return rc == VRAM_OK ? wrap_widen(p, s) : rc;
}

// A head beside the embedding, or a clone of what the optimizer gets. In the first batch's slot: it
// comes later.
static const struct storage step_loading = {
    .name = NAME(HEAD, COPY), .op = OP_PARAM, .category = VRAM_CAT_PARAM};

// What no checkpoint has comes to the card when the weights are loaded and the head is tied. SRC:
// transformers modeling_utils.py, from_pretrained (tie_weights, then dispatch_model).
static int step_load_tied(struct player *p, const struct state *s)
{
    int rc = player_alloc(p, SLOT_X, &step_loading, s->loading_bytes, -1);
    if (rc == VRAM_OK)
        rc = step_rows(p, s, step_weight);
    if (rc == VRAM_OK)
        rc = player_free(p, SLOT_X, &step_loading, s->loading_bytes, -1);
    return rc == VRAM_OK ? step_rows(p, s, step_buffer) : rc;
}

static int step_load(struct player *p, const struct state *s)
{
    uint64_t second = s->loading_bytes;
    if (MODEL_IS_WHOLE && second && s->m->c.task == TASK_INFERENCE)
        return step_load_tied(p, s);
    int rc = second ? player_alloc(p, SLOT_X, &step_loading, second, -1) : VRAM_OK;
    if (rc == VRAM_OK)
        rc = wrap_is_played(p, s) ? step_wrap(p, s) : step_rows(p, s, step_module);
    return rc == VRAM_OK && second ? player_free(p, SLOT_X, &step_loading, second, -1) : rc;
}

#ifndef VRAM_SMALL
// The reference is loaded after the policy, an average copied from the model.
static int step_reference(struct player *p, const struct state *s, const struct state_row *r,
                          int32_t layer)
{
    uint64_t bytes = state_reference(s, r, layer >= 0);
    enum part part = s->m->c.ema ? PART_AVERAGE : PART_REFERENCE;
    struct storage weight = {
        .name = name_of(r->param->role, part), .op = OP_PARAM, .category = VRAM_CAT_PARAM};
    if (bytes && r->stored_count)
        return step_stored(p, r, layer);
    return bytes ? player_forever(p, &weight, bytes, layer) : VRAM_OK;
}
#endif

int state_build(struct player *p, const struct state *s)
{
    static const struct storage buffer = {
        .name = NAME(UP, DEQUANTIZED), .op = OP_ZEROS, .category = VRAM_CAT_PARAM};
    int rc = step_load(p, s);
    if (rc == VRAM_OK && s->dequantized_bytes)
        rc = player_forever(p, &buffer, s->dequantized_bytes, -1);
#ifndef VRAM_SMALL
    if (rc == VRAM_OK && s->reference_bytes)
        rc = step_rows(p, s, step_reference);
#endif
    if (rc == VRAM_OK)
        rc = buckets_build(p, s);
    return rc == VRAM_OK ? step_early(p, s) : rc;
}

static int step_keep(struct player *p, const struct state *s, const struct state_row *r,
                     int32_t layer)
{
    int rc = VRAM_OK;
    (void)s;
    for (unsigned i = 0; i < r->state.kept_count && rc == VRAM_OK; i++) {
        if (step_is_early(r->state.kept[i].part))
            continue;
        struct storage kept = {.name = name_of(ROLE_OPTIMIZER, r->state.kept[i].part),
                               .op = r->state.kept[i].op,
                               .category = VRAM_CAT_OPTIM};
        rc = player_forever(p, &kept, r->state.kept[i].bytes, layer);
    }
    return rc;
}

static uint64_t step_rounded(const struct player *p, uint64_t bytes)
{
    return allocator_round(&p->allocator->config, bytes);
}

static const struct storage step_temp_storage = {
    .name = NAME(OPTIMIZER, TEMP), .op = OP_SQRT, .category = VRAM_CAT_OPTIM};

// One parameter's.
static bool step_temp_passes_over(const struct player *p, const struct state_row *r)
{
    uint64_t bytes[2] = {0, 0};  // of large ones, of small ones
    for (unsigned i = 0; i < r->state.temp_count; i++) {
        uint64_t rounded = step_rounded(p, r->state.temps[i]);
        bytes[rounded <= ALLOCATOR_SMALL] += rounded;
    }
    return player_passes_over(p, bytes[0], bytes[1]);
}

static int step_temp(struct player *p, const struct state *s, const struct state_row *r,
                     int32_t layer)
{
    int rc = VRAM_OK;
    if (MODEL_IS_WHOLE && p->lean && !s->temps_together && step_temp_passes_over(p, r))
        return VRAM_OK;
    for (unsigned i = 0; i < r->state.temp_count && rc == VRAM_OK; i++)
        rc = player_alloc(p, s->temps_together ? p->tape_base + p->temps++ : p->tape_base + i,
                          &step_temp_storage, r->state.temps[i], layer);
    for (unsigned i = 0; i < r->state.temp_count && rc == VRAM_OK && !s->temps_together; i++)
        rc = player_free(p, p->tape_base + i, &step_temp_storage, r->state.temps[i], layer);
    return rc;
}

static int step_temp_end(struct player *p, const struct state *s, const struct state_row *r,
                         int32_t layer)
{
    int rc = VRAM_OK;
    (void)s;
    for (unsigned i = 0; i < r->state.temp_count && rc == VRAM_OK; i++)
        rc =
            player_free(p, p->tape_base + p->temps++, &step_temp_storage, r->state.temps[i], layer);
    return rc;
}

static int step_zero_grad(struct player *p, const struct state *s, const struct state_row *r,
                          int32_t layer)
{
    static const uint8_t parts[PART_COUNT] = {[PART_WEIGHT] = PART_WEIGHT_GRAD,
                                              [PART_BIAS] = PART_BIAS_GRAD,
                                              [PART_A] = PART_A_GRAD,
                                              [PART_B] = PART_B_GRAD,
                                              [PART_VECTOR] = PART_VECTOR_GRAD};
    struct storage grad = {.name = name_of(r->param->role, parts[r->param->part]),
                           .op = OP_TO_COPY,
                           .category = VRAM_CAT_GRAD};
    (void)s;
    return r->gradient
               ? player_free(p, player_gradient(layer, r->param->number), &grad, r->gradient, layer)
               : VRAM_OK;
}

// clip_grad_norm_: one norm for each gradient, all of them stacked, their norm, the factor, the
// factor limited to 1. Gradients on the host are clipped there.
enum { STEP_CLIP_SCALARS = 3 };

static bool step_clips(const struct state *s)
{
    const struct vram_config *c = &s->m->c;
    return c->mode == MODE_PROCESS && c->grad_clip > 0 && !c->optimizer_in_backward &&
           !c->offload_optimizer;
}

static bool step_scales(const struct state *s)
{
    return s->m->c.mode == MODE_PROCESS && precision_of(&s->m->c)->scaler;
}

// Of n tensors.
static bool step_clip_passes_over(const struct player *p, uint64_t n)
{
    uint64_t stack = step_rounded(p, 4 * n), scalars = (n + STEP_CLIP_SCALARS) * step_rounded(p, 4);
    return stack <= ALLOCATOR_SMALL && player_passes_over(p, 0, stack + scalars);
}

static int step_clip(struct player *p, const struct state *s)
{
    static const struct storage norm = {
        .name = NAME(CLIP, NORMS), .op = OP_NORM, .category = VRAM_CAT_OPTIM};
    static const struct storage stack = {
        .name = NAME(CLIP, NORMS), .op = OP_STACK, .category = VRAM_CAT_OPTIM};
    uint32_t n = (uint32_t)s->trained_tensors, base = p->tape_base;
    int rc = VRAM_OK;
    if (MODEL_IS_WHOLE && p->lean && step_clip_passes_over(p, n))
        return VRAM_OK;
    for (uint32_t i = 0; i < n && rc == VRAM_OK; i++)
        rc = player_alloc(p, base + i, &norm, 4, -1);
    if (rc == VRAM_OK)
        rc = player_alloc(p, base + n, &stack, (uint64_t)4 * n, -1);
    for (uint32_t i = 0; i < STEP_CLIP_SCALARS && rc == VRAM_OK; i++)
        rc = player_alloc(p, base + n + 1 + i, &norm, 4, -1);
    for (uint32_t i = 0; i < n && rc == VRAM_OK; i++)
        rc = player_free(p, base + i, &norm, 4, -1);
    if (rc == VRAM_OK)
        rc = player_free(p, base + n, &stack, (uint64_t)4 * n, -1);
    for (uint32_t i = 0; i < STEP_CLIP_SCALARS && rc == VRAM_OK; i++)
        rc = player_free(p, base + n + 1 + i, &norm, 4, -1);
    return rc;
}

// The scaler's scale and growth count stay; found_inf and the inverse scale live during a step.
static const struct storage step_scaler = {
    .name = NAME(SCALER, SELF), .op = OP_SCALER, .category = VRAM_CAT_OPTIM};
enum { STEP_SCALERS = 2 };

static int step_scaler_open(struct player *p, bool first)
{
    int rc = VRAM_OK;
    for (unsigned i = 0; i < STEP_SCALERS && first && rc == VRAM_OK; i++)
        rc = player_forever(p, &step_scaler, 4, -1);
    for (unsigned i = 0; i < STEP_SCALERS && rc == VRAM_OK; i++)
        rc = player_alloc(p, SLOT_SCALER + i, &step_scaler, 4, -1);
    return rc;
}

static int step_scaler_close(struct player *p)
{
    int rc = VRAM_OK;
    for (unsigned i = 0; i < STEP_SCALERS && rc == VRAM_OK; i++)
        rc = player_free(p, SLOT_SCALER + i, &step_scaler, 4, -1);
    return rc;
}

static int step_temps(struct player *p, const struct state *s)
{
    p->temps = 0;
    int rc = step_rows(p, s, step_temp);
    p->temps = 0;
    return rc == VRAM_OK && s->temps_together ? step_rows(p, s, step_temp_end) : rc;
}

static int step_tables(struct player *p, const struct state *s)
{
    static const struct storage table = {
        .name = NAME(OPTIMIZER, CODE), .op = OP_STEP, .category = VRAM_CAT_OPTIM};
    int rc = VRAM_OK;
    for (unsigned i = 0; i < s->tables && rc == VRAM_OK; i++)
        rc = player_forever(p, &table, s->table_bytes, -1);
    return rc;
}

// nanotron's ZeRO-1 after its step: this GPU's parts as one tensor, the other GPUs' (a tensor
// each), and all of them in a row, in which NCCL gathers. SRC: nanotron src/nanotron/optim/zero.py
// (_all_gather_params; no DDP: trainer.py, make_ddp), distributed.py (all_gather_coalesced);
// pytorch torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp (allgather, newLikeFlat).
static bool step_gathers(const struct state *s)
{
    return framework_goes(&s->m->c, BY_NANOTRON) && s->m->c.parallel == PARALLEL_ZERO1 &&
           s->m->c.n_gpu > 1;
}

static uint64_t step_gathered(const struct state *s)
{
    return step_gathers(s) ? (2 * s->m->c.n_gpu + 1) * s->part_bytes : 0;
}

// What nanotron's step puts into the queue of a card that is behind, beside what is allocated for
// it: collectives over the sums, over those of tied weights and over the norm; what is done with
// that; in the last stage the losses' sum over the GPUs; two kernels that count steps, and AdamW's,
// for each of which there is a limit of tensors and of chunks. SRC: nanotron trainer.py
// (training_step), optim/clip_grads.py, optim/gradient_accumulator.py (step); pytorch 2.4
// aten/src/ATen/native/cuda/MultiTensorApply.cuh; counted on tests/oracle.
enum { STEP_COLLECTIVES = 3, STEP_NORM = 5, STEP_LOSS = 8, STEP_COUNTS = 2 };
enum { STEP_TENSORS = 36, STEP_CHUNKS = 320, STEP_CHUNK = 65536 };
// How much of the queue is nothing: what a layer or two put there. It empties that far while the
// program makes lists of all parts of all tensors.
enum { STEP_NOTHING = PLAYER_QUEUE / 8 };

// The gradient's product with the factor, the copy into the weight; before a matrix's norm, which
// several blocks add up, a memset. SRC: pytorch aten/src/ATen/native/cuda/Reduce.cuh.
static int step_queue_tensor(struct player *p, const struct state *s, const struct state_row *r,
                             int32_t layer)
{
    (void)s;
    (void)layer;
    if (r->whole_gradient)
        player_launch(p, 2 + r->param->matrix);
    return VRAM_OK;
}

// before: launches when the step began, by when each sum had been added to. In the first step there
// are zeros of two moments and a count for each tensor.
static int step_queue(struct player *p, const struct state *s, bool first, uint64_t before)
{
    uint64_t n = s->trained_tensors, chunks = s->part_bytes / 2 / STEP_CHUNK + n;
    player_launch(p, STEP_COLLECTIVES * PLAYER_COLLECTIVE / 2 + STEP_NORM + STEP_COUNTS +
                         (s->m->last ? STEP_LOSS : 0) + (first ? 3 * n : 0) + chunks / STEP_CHUNKS +
                         n / STEP_TENSORS);
    int rc = step_rows(p, s, step_queue_tensor);
    if (p->launches - before + n + STEP_NOTHING > PLAYER_QUEUE)
        player_drain(p);
    return rc;
}

// The card catches up where the program is not ahead of it, or has enough to do before this.
static int step_gather(struct player *p, const struct state *s)
{
    static const struct storage gathered = {
        .name = NAME(PARALLEL, BUCKET), .op = OP_ALL_GATHER, .category = VRAM_CAT_PARAM};
    uint64_t parts = s->m->c.n_gpu, part = s->part_bytes;
    uint32_t base = p->tape_base;
    int rc = VRAM_OK;
    if (!MODEL_IS_WHOLE || !p->ahead)
        player_drain(p);
    for (uint32_t i = 0; i <= parts && rc == VRAM_OK; i++)
        rc = player_alloc(p, base + i, &gathered, part, -1);
    if (rc == VRAM_OK)
        rc = player_alloc(p, base + (uint32_t)parts + 1, &gathered, parts * part, -1);
    if (rc == VRAM_OK)
        rc = player_free(p, base + (uint32_t)parts + 1, &gathered, parts * part, -1);
    for (uint32_t i = 0; i <= parts && rc == VRAM_OK; i++)
        rc = player_free(p, base + i, &gathered, part, -1);
    return rc;
}

#ifndef VRAM_SMALL
static int step_keep_all(struct player *p, const struct state *s)
{
    int rc = step_tables(p, s);
    return rc == VRAM_OK ? step_rows(p, s, step_keep) : rc;
}

static int step_zero_grads(struct player *p, const struct state *s)
{
    return step_rows(p, s, step_zero_grad);
}

static const struct step_rows step_by_rows = {step_keep_all, step_zero_grads};
#endif

int state_step(struct player *p, const struct state *s, bool first)
{
#ifndef VRAM_SMALL
    if (s->parted)
        return step_zero(p, s, &step_by_rows, first);
#endif
    uint64_t before = p->launches;
    int rc = step_scales(s) ? step_scaler_open(p, first) : VRAM_OK;
    if (rc == VRAM_OK && step_clips(s))
        rc = step_clip(p, s);
    if (rc == VRAM_OK && first)
        rc = step_tables(p, s);
    if (rc == VRAM_OK && first)
        rc = step_rows(p, s, step_keep);
    if (rc == VRAM_OK && s->temp_peak)
        rc = step_temps(p, s);
    if (rc == VRAM_OK && MODEL_IS_WHOLE && p->ahead)
        rc = step_queue(p, s, first, before);
    if (rc == VRAM_OK && step_gathers(s))
        rc = step_gather(p, s);
    if (rc == VRAM_OK && step_scales(s))
        rc = step_scaler_close(p);
    return rc == VRAM_OK ? step_rows(p, s, step_zero_grad) : rc;
}

uint64_t state_step_rise(const struct state *s, bool first, int64_t *net)
{
#ifndef VRAM_SMALL
    if (s->parted)
        return step_zero_rise(s, first, net);
#endif
    uint64_t scaler = step_scales(s) ? 4 * STEP_SCALERS : 0;
    uint64_t kept = first ? s->optim_bytes - s->copy_bytes - s->sum_bytes : 0,
             held = scaler + (first ? scaler : 0);
    uint64_t clip = step_clips(s) ? 8 * s->trained_tensors + 4 * STEP_CLIP_SCALARS : 0;
    *net = (int64_t)(kept + (first ? scaler : 0)) - (int64_t)s->grad_bytes;
    return held + size_max(clip, kept + size_max(s->temp_peak, step_gathered(s)));
}
