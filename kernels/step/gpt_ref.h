// Shared by the files of the CPU reference: a tensor's elements are read and written as doubles,
// whatever its type.
#ifndef KERNELS_GPT_REF_H
#define KERNELS_GPT_REF_H

#include <string.h>

#include "kernels/step/ops.h"

#ifdef __cplusplus
extern "C" {
#endif

float half_to_float(uint16_t h);
uint16_t float_to_half(float f);  // nearest, ties to even; too large becomes infinity
float bfloat16_to_float(uint16_t b);
uint16_t float_to_bfloat16(float f);  // nearest, ties to even

static inline double ref_get(const tensor *t, int64_t i)
{
    switch (t->type) {
    case DTYPE_F32: return ((const float *)t->data)[i];
    case DTYPE_F16: return half_to_float(((const uint16_t *)t->data)[i]);
    case DTYPE_BF16: return bfloat16_to_float(((const uint16_t *)t->data)[i]);
    case DTYPE_F64: return ((const double *)t->data)[i];
    case DTYPE_I64: return (double)((const int64_t *)t->data)[i];
    default: return ((const uint8_t *)t->data)[i];
    }
}

static inline void ref_set(tensor *t, int64_t i, double v)
{
    switch (t->type) {
    case DTYPE_F32: ((float *)t->data)[i] = (float)v; break;
    case DTYPE_F16: ((uint16_t *)t->data)[i] = float_to_half((float)v); break;
    case DTYPE_BF16: ((uint16_t *)t->data)[i] = float_to_bfloat16((float)v); break;
    case DTYPE_F64: ((double *)t->data)[i] = v; break;
    case DTYPE_I64: ((int64_t *)t->data)[i] = (int64_t)v; break;
    default: ((uint8_t *)t->data)[i] = (uint8_t)v; break;
    }
}

static inline int64_t ref_index(const tensor *t, int64_t i)
{
    return ((const int64_t *)t->data)[i];
}

// gpt_ref_attention.c
void ref_attention(void *ctx, tensor *out, tensor *lse, const tensor *qkv,
                   struct attention_shape shape);
void ref_attention_backward(void *ctx, tensor *dq, tensor *dk, tensor *dv, tensor *delta,
                            tensor *accumulator, const tensor *dout, const tensor *qkv,
                            const tensor *out, const tensor *lse, struct attention_shape shape);
void ref_concat_qkv(void *ctx, tensor *dqkv, const tensor *dq, const tensor *dk, const tensor *dv,
                    int64_t C);
void ref_split_heads(void *ctx, tensor *out, const tensor *qkv, int part,
                     struct attention_shape shape);
void ref_merge_heads(void *ctx, tensor *out, const tensor *in, int part,
                     struct attention_shape shape);
void ref_head_split(void *ctx, tensor *out, const tensor *in, struct attention_shape shape);
void ref_causal_mask(void *ctx, tensor *mask, int64_t T);
void ref_masked_fill(void *ctx, tensor *out, const tensor *in, const tensor *mask, double value);
void ref_softmax(void *ctx, tensor *out, const tensor *in, int64_t columns);
void ref_softmax_backward(void *ctx, tensor *dx, const tensor *dy, const tensor *y,
                          int64_t columns);

// gpt_ref_loss.c
void ref_log_softmax(void *ctx, tensor *out, const tensor *in, int64_t V);
void ref_log_softmax_backward(void *ctx, tensor *dx, const tensor *dy, const tensor *y, int64_t V);
void ref_nll(void *ctx, tensor *loss, tensor *weight, const tensor *logp, const tensor *target,
             int64_t V);
void ref_nll_backward(void *ctx, tensor *dlogp, const tensor *dloss, const tensor *weight,
                      const tensor *target, int64_t V);
void ref_cross_entropy_in_place(void *ctx, tensor *logits, tensor *loss, const tensor *target,
                                int64_t first_row, int64_t rows, int64_t V, double loss_factor,
                                double gradient_factor, const tensor *scale);

// gpt_ref_update.c
void ref_sum_squares(void *ctx, tensor *out, tensor *const *list, int count);
void ref_clip(void *ctx, tensor *const *list, int count, const tensor *squares, double most);
void ref_unscale(void *ctx, tensor *const *list, int count, tensor *found, const tensor *scale);
void ref_count_steps(void *ctx, tensor *const *steps, int count, const tensor *found);
void ref_adamw(void *ctx, const struct adamw_lists *lists, const struct adamw_settings *settings,
               const tensor *found);
void ref_adjust_scale(void *ctx, tensor *scale, tensor *growth, const tensor *found);

#ifdef __cplusplus
}
#endif

#endif
