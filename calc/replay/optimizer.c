// Owns optimizers: bytes kept and taken for each parameter.
// SRC: pytorch torch/optim/{adamw,sgd}.py; bitsandbytes optim/optimizer.py (states of one byte with
// a float32 scale for 256, float32 below 4,096 numbers; get_state_buffer: paged from 100,000
// numbers on); torchao optim/{adam,subclass_8bit, subclass_4bit}.py; transformers optimization.py
// (Adafactor; AdamW before 5.0); KellerJordan/Muon muon.py. The traces llama_8bit, llama_paged8bit,
// llama_paged32, llama_lion, llama_lion8bit, llama_pagedlion*, llama_*ademamix*, llama_ao8bit,
// llama_ao4bit, llama_adafactor, llama_rmsprop, llama_adagrad and llama_sgd of
// tests/calc/truth/frameworks.

#include "calc/replay/optimizer.h"

#include "calc/model/names.h"
#include "calc/trace/tape.h"

enum {
    LEAST_QUANTIZED = 4096,
    LEAST_PAGED = 100000,
    BLOCK_BNB = 256,
    BLOCK_AO8 = 256,
    BLOCK_AO4 = 128,
    TABLE = 1024,
    TABLE_AO4 = 64
};

typedef void optimizer_fn(struct optimizer_state *s, const struct optimizer_param *p);

static void keep(struct optimizer_state *s, uint8_t part, uint8_t op, uint64_t bytes)
{
    s->kept[s->kept_count++] = (struct optimizer_tensor){part, op, bytes};
}

static void temp(struct optimizer_state *s, uint64_t bytes)
{
    s->temps[s->temp_count++] = bytes;
}

// ---- torch.optim -------------------------------------------------------------------------------

static void adam(struct optimizer_state *s, const struct optimizer_param *p)
{
    keep(s, PART_EXP_AVG, OP_EXP_AVG, p->update);
    keep(s, PART_EXP_AVG_SQ, OP_EXP_AVG_SQ, p->update);
}

static void adam_fused(struct optimizer_state *s, const struct optimizer_param *p)
{
    adam(s, p);
    keep(s, PART_STEP, OP_STEP, 4);
}

// The root of the second moment, for all parameters at once (foreach) or one by one (transformers'
// AdamW).
static void adam_root(struct optimizer_state *s, const struct optimizer_param *p)
{
    adam(s, p);
    temp(s, p->update);
}

#ifndef VRAM_SMALL
// Of one parameter after the other: the root, and the root divided. SRC: pytorch
// torch/optim/adam.py, _single_tensor_adam.
static void adam_alone(struct optimizer_state *s, const struct optimizer_param *p)
{
    adam(s, p);
    temp(s, p->update);
    temp(s, p->update);
}

// The root of the squares takes part in the step (foreach).
static void rmsprop(struct optimizer_state *s, const struct optimizer_param *p)
{
    keep(s, PART_EXP_AVG_SQ, OP_EXP_AVG_SQ, p->update);
    temp(s, p->update);
}

// And the gradient times the rate. The sums are there before the first step, here they come in it.
static void adagrad(struct optimizer_state *s, const struct optimizer_param *p)
{
    rmsprop(s, p);
    temp(s, p->update);
}
#endif

static void sgd(struct optimizer_state *s, const struct optimizer_param *p)
{
    (void)s;
    (void)p;
}

static void sgd_momentum(struct optimizer_state *s, const struct optimizer_param *p)
{
    keep(s, PART_EXP_AVG, OP_EXP_AVG, p->update);
}

// ---- bitsandbytes ------------------------------------------------------------------------------

static uint64_t scales(uint64_t n, uint64_t block)
{
    return (n + block - 1) / block * 4;
}

// States of float32 or of one byte; paged ones above a size are in managed memory, their scales are
// not. firsts: how many first moments are one tensor.
static void bnb_of(struct optimizer_state *s, const struct optimizer_param *p, unsigned moments,
                   unsigned firsts, bool bytes, bool paged)
{
    static const uint8_t parts[2] = {PART_EXP_AVG, PART_EXP_AVG_SQ},
                         ops[2] = {OP_EXP_AVG, OP_EXP_AVG_SQ};
    bool quantized = bytes && p->n >= LEAST_QUANTIZED;
    uint64_t each = quantized ? p->n : 4 * p->n;
    for (unsigned i = 0; i < moments; i++) {
        uint64_t moment = i ? each : firsts * each;
        if (paged && p->n >= LEAST_PAGED)
            s->paged += moment;
        else
            keep(s, parts[i], ops[i], moment);
    }
    for (unsigned i = 0; i < moments && quantized; i++)
        keep(s, PART_SCALES, ops[i], (i ? 1 : firsts) * scales(p->n, BLOCK_BNB));
}

static void bnb(struct optimizer_state *s, const struct optimizer_param *p, unsigned moments,
                bool bytes, bool paged)
{
    bnb_of(s, p, moments, 1, bytes, paged);
}

static void adam_8bit(struct optimizer_state *s, const struct optimizer_param *p)
{
    bnb(s, p, 2, true, false);
}

static void adam_8bit_paged(struct optimizer_state *s, const struct optimizer_param *p)
{
    bnb(s, p, 2, true, true);
}

static void adam_paged(struct optimizer_state *s, const struct optimizer_param *p)
{
    bnb(s, p, 2, false, true);
}

static void lion(struct optimizer_state *s, const struct optimizer_param *p)
{
    bnb(s, p, 1, false, false);
}

static void lion_8bit(struct optimizer_state *s, const struct optimizer_param *p)
{
    bnb(s, p, 1, true, false);
}

#ifndef VRAM_SMALL
static void lion_paged(struct optimizer_state *s, const struct optimizer_param *p)
{
    bnb(s, p, 1, false, true);
}

static void lion_8bit_paged(struct optimizer_state *s, const struct optimizer_param *p)
{
    bnb(s, p, 1, true, true);
}

// A fast and a slow first moment, one behind the other. SRC: bitsandbytes optim/ademamix.py,
// AdEMAMix.init_state.
static void ademamix(struct optimizer_state *s, const struct optimizer_param *p)
{
    bnb_of(s, p, 2, 2, false, false);
}

static void ademamix_8bit(struct optimizer_state *s, const struct optimizer_param *p)
{
    bnb_of(s, p, 2, 2, true, false);
}

static void ademamix_paged(struct optimizer_state *s, const struct optimizer_param *p)
{
    bnb_of(s, p, 2, 2, false, true);
}

static void ademamix_8bit_paged(struct optimizer_state *s, const struct optimizer_param *p)
{
    bnb_of(s, p, 2, 2, true, true);
}
#endif

// ---- torchao -----------------------------------------------------------------------------------

// Codes, scales and a table for each moment; what is small or no multiple of the block stays as it
// is.
static bool torchao(struct optimizer_state *s, const struct optimizer_param *p, unsigned shift,
                    uint64_t block, uint64_t table)
{
    static const uint8_t parts[2] = {PART_EXP_AVG, PART_EXP_AVG_SQ},
                         ops[2] = {OP_EXP_AVG, OP_EXP_AVG_SQ};
    bool quantized = p->n >= LEAST_QUANTIZED && p->n % block == 0;
    for (unsigned i = 0; i < 2; i++) {
        keep(s, parts[i], ops[i], quantized ? p->n >> shift : p->update);
        if (quantized) {
            keep(s, PART_SCALES, ops[i], scales(p->n, block));
            keep(s, PART_CODE, ops[i], table);
        }
    }
    return quantized;
}

static void torchao_8bit(struct optimizer_state *s, const struct optimizer_param *p)
{
    torchao(s, p, 0, BLOCK_AO8, TABLE);
}

// The compiled step holds both moments in float32 and their codes as int64 before they are packed.
static void torchao_4bit(struct optimizer_state *s, const struct optimizer_param *p)
{
    if (!torchao(s, p, 1, BLOCK_AO4, TABLE_AO4))
        return;
    for (unsigned i = 0; i < 2; i++) {
        temp(s, 4 * p->n + scales(p->n, BLOCK_AO4));
        temp(s, 8 * p->n);
    }
}

// ---- others ------------------------------------------------------------------------------------

// Without a first moment, as Trainer sets it: sums of rows and columns; gradient, weight, its
// square and the square's sum with eps live in float32 at once, what is in float32 already is not
// copied.
static void adafactor(struct optimizer_state *s, const struct optimizer_param *p)
{
    if (p->param->matrix) {
        keep(s, PART_EXP_AVG_SQ, OP_EXP_AVG_SQ, 4 * p->param->rows);
        keep(s, PART_EXP_AVG_SQ, OP_EXP_AVG_SQ, 4 * p->param->cols);
    } else {
        keep(s, PART_EXP_AVG_SQ, OP_EXP_AVG_SQ, 4 * p->n);
    }
    keep(s, PART_NORMS, OP_DIV, 4);
    temp(s, p->param->matrix ? 4 * (p->param->rows + p->param->cols) : 0);  // the roots of the sums
    for (unsigned i = 0; i < (p->update == 4 * p->n ? 2 : 4); i++)
        temp(s, 4 * p->n);
}

// Hidden matrices: momentum, and Newton-Schulz in bfloat16 (X, its Gram matrix, the product).
static void muon(struct optimizer_state *s, const struct optimizer_param *p)
{
    uint64_t rows = p->param->rows, cols = p->param->cols, side = rows < cols ? rows : cols;
    if (!p->hidden || !p->param->matrix) {
        adam(s, p);
        return;
    }
    keep(s, PART_EXP_AVG, OP_EXP_AVG, p->update);
    temp(s, 2 * p->n);
    temp(s, 2 * side * side);
    temp(s, 2 * p->n);
}

static optimizer_fn *const optimizers[optimizer_COUNT] = {
    [OPTIMIZER_ADAMW_FUSED] = adam_fused,
    [OPTIMIZER_ADAMW_FOREACH] = adam_root,
    [OPTIMIZER_ADAMW_8BIT] = adam_8bit,
    [OPTIMIZER_SGD] = sgd,
    [OPTIMIZER_SGD_MOMENTUM] = sgd_momentum,
    [OPTIMIZER_ADAFACTOR] = adafactor,
    [OPTIMIZER_MUON] = muon,
    [OPTIMIZER_ADAMW_HF] = adam_root,
    [OPTIMIZER_ADAMW_PAGED] = adam_paged,
    [OPTIMIZER_ADAMW_8BIT_PAGED] = adam_8bit_paged,
    [OPTIMIZER_ADAMW_TORCHAO_8BIT] = torchao_8bit,
    [OPTIMIZER_ADAMW_TORCHAO_4BIT] = torchao_4bit,
    [OPTIMIZER_LION] = lion,
    [OPTIMIZER_LION_8BIT] = lion_8bit,
#ifndef VRAM_SMALL
    [OPTIMIZER_LION_PAGED] = lion_paged,
    [OPTIMIZER_LION_8BIT_PAGED] = lion_8bit_paged,
    [OPTIMIZER_ADEMAMIX] = ademamix,
    [OPTIMIZER_ADEMAMIX_8BIT] = ademamix_8bit,
    [OPTIMIZER_ADEMAMIX_PAGED] = ademamix_paged,
    [OPTIMIZER_ADEMAMIX_8BIT_PAGED] = ademamix_8bit_paged,
    [OPTIMIZER_RMSPROP] = rmsprop,
    [OPTIMIZER_ADAGRAD] = adagrad,
#endif
};

// bitsandbytes' code books of states of one byte: signed, and unsigned for the second moment.
static unsigned optimizer_books(const struct vram_config *c)
{
    static const uint8_t books[optimizer_COUNT] = {
        [OPTIMIZER_ADAMW_8BIT] = 2,          [OPTIMIZER_ADAMW_8BIT_PAGED] = 2,
        [OPTIMIZER_LION_8BIT] = 1,
#ifndef VRAM_SMALL
        [OPTIMIZER_LION_8BIT_PAGED] = 1,     [OPTIMIZER_ADEMAMIX_8BIT] = 2,
        [OPTIMIZER_ADEMAMIX_8BIT_PAGED] = 2,
#endif
    };
    return books[c->optimizer];
}

#ifndef VRAM_SMALL
// Up to 5.17 weights of which some are divided have one step each. SRC: transformers 5.17
// trainer_optimizer.py (has_mixed_dtensor); traces qwen3_moe_ep8_summed*.
static bool optimizer_goes_alone(const struct vram_config *c)
{
    bool adam = c->optimizer == OPTIMIZER_ADAMW_FUSED || c->optimizer == OPTIMIZER_ADAMW_FOREACH;
    return adam && c->expert_shared_batch && !c->lora_rank && c->transformers < 5018;
}
#else
#define optimizer_goes_alone(c) false
#define adam_alone optimizers[0]
#endif

void optimizer_state(struct optimizer_state *out, const struct vram_config *c,
                     const struct optimizer_param *p)
{
    *out = (struct optimizer_state){.kept_count = 0};
    if (p->copies)
        keep(out, PART_COPY, OP_TO_COPY, p->update);
    if (p->copies > 1)
        keep(out, PART_WEIGHT_GRAD, OP_ZEROS, p->update);
    if (c->eval_only)
        return;
    (optimizer_goes_alone(c) ? adam_alone : optimizers[c->optimizer])(out, p);
    for (unsigned i = 0;
         i < optimizer_books(c) && c->optimizer_in_backward && p->n >= LEAST_QUANTIZED; i++)
        keep(out, PART_CODE, OP_STEP,
             TABLE);  // an optimizer for each parameter, tables for each optimizer
}

uint64_t optimizer_tables(const struct vram_config *c, unsigned *count)
{
    *count = c->optimizer_in_backward ? 0 : optimizer_books(c);
    return TABLE;
}

bool optimizer_temps_together(const struct vram_config *c)
{
#ifndef VRAM_SMALL
    if (c->optimizer == OPTIMIZER_RMSPROP || c->optimizer == OPTIMIZER_ADAGRAD)
        return true;
#endif
    return c->optimizer == OPTIMIZER_ADAMW_FOREACH && !optimizer_goes_alone(c);
}
