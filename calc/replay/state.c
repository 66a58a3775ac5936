// Owns weights, gradients and optimizer state: how many bytes each parameter needs, and the order
// of their making. SRC: pytorch torch/optim/{adamw,sgd}.py, torch/nn/utils/clip_grad.py,
// torch/amp/grad_scaler.py; bitsandbytes optim/optimizer.py (states of one byte, one float32 for
// 256, float32 below 4096 elements); transformers Adafactor; KellerJordan/Muon muon.py.

#include "calc/replay/state.h"

#include "calc/base/size.h"
#include "calc/model/precision.h"
#include "calc/model/quantization.h"
#include "calc/model/scheme.h"
#include "calc/trace/tape.h"

enum { STATE_8BIT_LEAST = 4096, STATE_8BIT_BLOCK = 256 };

static void state_keep(struct state_row *r, uint8_t part, uint8_t op, uint64_t bytes)
{
    r->kept[r->kept_count++] = (struct state_tensor){part, op, bytes};
}

static void state_adam(struct state_row *r)
{
    state_keep(r, PART_EXP_AVG, OP_EXP_AVG, r->update);
    state_keep(r, PART_EXP_AVG_SQ, OP_EXP_AVG_SQ, r->update);
}

static void state_adam_8bit(struct state_row *r, uint64_t n)
{
    if (n < STATE_8BIT_LEAST) {
        state_keep(r, PART_EXP_AVG, OP_EXP_AVG, 4 * n);
        state_keep(r, PART_EXP_AVG_SQ, OP_EXP_AVG_SQ, 4 * n);
        return;
    }
    uint64_t scales = (n + STATE_8BIT_BLOCK - 1) / STATE_8BIT_BLOCK * 4;
    state_keep(r, PART_EXP_AVG, OP_EXP_AVG, n);
    state_keep(r, PART_EXP_AVG_SQ, OP_EXP_AVG_SQ, n);
    state_keep(r, PART_SCALES, OP_EXP_AVG, scales);
    state_keep(r, PART_SCALES, OP_EXP_AVG_SQ, scales);
}

static void state_adafactor(struct state_row *r, uint64_t n)
{
    if (r->param->matrix) {
        state_keep(r, PART_EXP_AVG_SQ, OP_EXP_AVG_SQ, 4 * r->param->rows);
        state_keep(r, PART_EXP_AVG_SQ, OP_EXP_AVG_SQ, 4 * r->param->cols);
    } else {
        state_keep(r, PART_EXP_AVG_SQ, OP_EXP_AVG_SQ, 4 * n);
    }
    r->temps[r->temp_count++] = 4 * n;  // the squared gradient, then the update
    r->temps[r->temp_count++] = 4 * n;
}

// Hidden matrices: momentum, and Newton-Schulz in bfloat16 (X, its Gram matrix, the product).
static void state_muon(struct state_row *r, uint64_t n, bool hidden)
{
    if (!hidden || !r->param->matrix) {
        state_adam(r);
        return;
    }
    uint64_t rows = r->param->rows, cols = r->param->cols, side = rows < cols ? rows : cols;
    state_keep(r, PART_EXP_AVG, OP_EXP_AVG, r->update);
    r->temps[r->temp_count++] = 2 * n;
    r->temps[r->temp_count++] = 2 * side * side;
    r->temps[r->temp_count++] = 2 * n;
}

static void state_optimizer(const struct model *m, struct state_row *r, uint64_t n, bool hidden)
{
    switch (m->c.optimizer) {
    case OPTIMIZER_ADAMW_FUSED:
        state_adam(r);
        state_keep(r, PART_STEP, OP_STEP, 4);
        break;
    case OPTIMIZER_ADAMW_FOREACH:
        state_adam(r);
        r->temps[r->temp_count++] = r->update;  // _foreach_sqrt
        break;
    case OPTIMIZER_ADAMW_8BIT:
        state_adam_8bit(r, n);
        break;
    case OPTIMIZER_SGD_MOMENTUM:
        state_keep(r, PART_EXP_AVG, OP_EXP_AVG, r->update);
        break;
    case OPTIMIZER_ADAFACTOR:
        state_adafactor(r, n);
        break;
    case OPTIMIZER_MUON:
        state_muon(r, n, hidden);
        break;
    default:
        break;
    }
}

static uint64_t state_part(uint64_t bytes, uint64_t width, uint64_t parts)
{
    return (bytes / width + parts - 1) / parts * width;
}

// What a GPU keeps of a parameter under the data parallel scheme. Scalars stay whole.
static void state_divide(const struct model *m, struct state_row *r, uint64_t width)
{
    uint64_t parts = m->c.n_gpu;
    if (scheme_divides_weights(&m->c))
        r->weight = state_part(r->weight, width, parts);
    if (scheme_divides_gradients(&m->c))
        r->gradient = state_part(r->gradient, width, parts);
    if (scheme_in_buckets(&m->c))
        r->gradient = 0;
    for (unsigned i = 0; i < r->kept_count && scheme_divides_state(&m->c); i++)
        if (r->kept[i].part != PART_STEP &&
            (r->kept[i].part != PART_WEIGHT_GRAD || scheme_divides_gradients(&m->c)))
            r->kept[i].bytes = state_part(r->kept[i].bytes, 1, parts);
    for (unsigned i = 0; i < r->temp_count && scheme_divides_state(&m->c); i++)
        r->temps[i] = state_part(r->temps[i], 1, parts);
}

static void state_quantized(struct state_row *r, uint64_t kind)
{
    r->stored_count = (uint8_t)quantization_tensors(kind, r->param->rows, r->param->cols, r->stored);
    r->weight = 0;
    for (unsigned i = 0; i < r->stored_count; i++)
        r->weight = size_add(r->weight, r->stored[i].bytes);
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
        state_quantized(r, m->c.quantization);
    if (frozen) {
        if (scheme_divides_weights(&m->c)) {
            r->weight = state_part(r->weight, 1, m->c.n_gpu);
            r->stored_count = 0;
        }
        return;
    }
    r->whole_gradient = width * n;
    if (precision->copies)
        state_keep(r, PART_COPY, OP_TO_COPY, r->update);
    if (precision->copies > 1)
        state_keep(r, PART_WEIGHT_GRAD, OP_ZEROS, r->update);
    if (!m->c.eval_only) {  // no backward pass, and the optimizer makes its state in its first step
        bool summed = precision->copies > 1 && !scheme_divides_gradients(&m->c);
        r->gradient = summed ? 0 : r->whole_gradient;
        state_optimizer(m, r, n, block);
    }
    state_divide(m, r, width);
}

static void state_sum(struct state *s, const struct state_row *r, uint64_t times)
{
    uint64_t kept = 0, temps = 0;
    for (unsigned i = 0; i < r->kept_count; i++)
        kept += r->kept[i].bytes;
    for (unsigned i = 0; i < r->temp_count; i++)
        temps += r->temps[i];
    s->param_bytes = size_add(s->param_bytes, size_mul(times, r->weight));
    s->grad_bytes = size_add(s->grad_bytes, size_mul(times, r->gradient));
    s->optim_bytes = size_add(s->optim_bytes, size_mul(times, kept));
    s->trained_tensors += r->whole_gradient ? times : 0;
    s->trained_bytes = size_add(s->trained_bytes, size_mul(times, r->whole_gradient));
    s->temp_peak = s->temps_together ? size_add(s->temp_peak, size_mul(times, temps))
                                     : size_max(s->temp_peak, temps);
}

int state_make(struct state *s, const struct model *m, const uint64_t elements[SHAPE_COUNT])
{
    mem_zero(s, sizeof *s);
    s->m = m;
    layout_make(&s->layout, m);
    s->temps_together = m->c.optimizer == OPTIMIZER_ADAMW_FOREACH;
    s->buffer_bytes = m->buffer_bytes;
    for (unsigned i = 0; i < s->layout.before_count; i++) {
        const struct layout_param *p = &s->layout.before[i];
        state_row_make(&s->before[i], m, p, elements[p->shape], false);
        state_sum(s, &s->before[i], 1);
    }
    for (unsigned i = 0; i < s->layout.block_count; i++) {
        const struct layout_param *p = &s->layout.block[i];
        state_row_make(&s->block[i], m, p, elements[p->shape], true);
        state_sum(s, &s->block[i], m->c.n_layer);
    }
    for (unsigned i = 0; i < s->layout.after_count; i++) {
        const struct layout_param *p = &s->layout.after[i];
        state_row_make(&s->after[i], m, p, elements[p->shape], false);
        state_sum(s, &s->after[i], 1);
    }
    bool fits = size_ok(s->param_bytes) && size_ok(s->grad_bytes) && size_ok(s->optim_bytes) &&
                size_ok(s->temp_peak);
    return fits ? VRAM_OK : VRAM_EOVERFLOW;
}
