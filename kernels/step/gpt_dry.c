// Operations that touch no memory, and devices that are no GPU: a step's allocations without its
// arithmetic.
#include <stdlib.h>
#include <string.h>

#include "kernels/step/ops.h"

static void dry_upload(void *ctx, tensor *out, const void *host)
{
    (void)ctx;
    (void)out;
    (void)host;
}
static void dry_one(void *ctx, tensor *out)
{
    (void)ctx;
    (void)out;
}
static void dry_synchronize(void *ctx)
{
    (void)ctx;
}
static void dry_two(void *ctx, tensor *out, const tensor *in)
{
    (void)ctx;
    (void)out;
    (void)in;
}

static void dry_download(void *ctx, void *host, const tensor *in)
{
    (void)ctx;
    memset(host, 0, (size_t)in->count * dtype_size(in->type));
}

static void dry_add(void *ctx, tensor *out, const tensor *a, const tensor *b)
{
    (void)ctx;
    (void)out;
    (void)a;
    (void)b;
}

static void dry_adjust_scale(void *ctx, tensor *scale, tensor *growth, const tensor *found)
{
    (void)ctx;
    (void)scale;
    (void)growth;
    (void)found;
}

static void dry_scale(void *ctx, tensor *out, const tensor *in, double factor)
{
    (void)ctx;
    (void)out;
    (void)in;
    (void)factor;
}

static void dry_embedding(void *ctx, tensor *out, const tensor *table, const tensor *index,
                          int64_t C)
{
    (void)ctx;
    (void)out;
    (void)table;
    (void)index;
    (void)C;
}

static void dry_layer_norm(void *ctx, tensor *y, tensor *mean, tensor *rstd, const tensor *x,
                           const tensor *weight, const tensor *bias, int64_t C)
{
    (void)ctx;
    (void)y;
    (void)mean;
    (void)rstd;
    (void)x;
    (void)weight;
    (void)bias;
    (void)C;
}

static void dry_layer_norm_backward(void *ctx, tensor *dx, tensor *dweight, tensor *dbias,
                                    const tensor *dy, const tensor *x, const tensor *mean,
                                    const tensor *rstd, const tensor *weight, int64_t C)
{
    (void)ctx;
    (void)dx;
    (void)dweight;
    (void)dbias;
    (void)dy;
    (void)x;
    (void)mean;
    (void)rstd;
    (void)weight;
    (void)C;
}

static void dry_matmul(void *ctx, tensor *out, const tensor *a, const tensor *b, const tensor *bias,
                       struct matmul_shape shape)
{
    (void)ctx;
    (void)out;
    (void)a;
    (void)b;
    (void)bias;
    (void)shape;
}

static void dry_dropout(void *ctx, tensor *out, tensor *mask, const tensor *in, double p,
                        uint64_t seed)
{
    (void)ctx;
    (void)out;
    (void)mask;
    (void)in;
    (void)p;
    (void)seed;
}

static void dry_attention(void *ctx, tensor *out, tensor *lse, const tensor *qkv,
                          struct attention_shape shape)
{
    (void)ctx;
    (void)out;
    (void)lse;
    (void)qkv;
    (void)shape;
}

static void dry_attention_backward(void *ctx, tensor *dq, tensor *dk, tensor *dv, tensor *delta,
                                   tensor *accumulator, const tensor *dout, const tensor *qkv,
                                   const tensor *out, const tensor *lse,
                                   struct attention_shape shape)
{
    (void)ctx;
    (void)dq;
    (void)dk;
    (void)dv;
    (void)delta;
    (void)accumulator;
    (void)dout;
    (void)qkv;
    (void)out;
    (void)lse;
    (void)shape;
}

static void dry_concat(void *ctx, tensor *dqkv, const tensor *dq, const tensor *dk,
                       const tensor *dv, int64_t C)
{
    (void)ctx;
    (void)dqkv;
    (void)dq;
    (void)dk;
    (void)dv;
    (void)C;
}

static void dry_heads(void *ctx, tensor *out, const tensor *in, int part,
                      struct attention_shape shape)
{
    (void)ctx;
    (void)out;
    (void)in;
    (void)part;
    (void)shape;
}

static void dry_head_split(void *ctx, tensor *out, const tensor *in, struct attention_shape shape)
{
    (void)ctx;
    (void)out;
    (void)in;
    (void)shape;
}

static void dry_mask(void *ctx, tensor *mask, int64_t T)
{
    (void)ctx;
    (void)mask;
    (void)T;
}

static void dry_fill(void *ctx, tensor *out, const tensor *in, const tensor *mask, double value)
{
    (void)ctx;
    (void)out;
    (void)in;
    (void)mask;
    (void)value;
}

static void dry_rows(void *ctx, tensor *out, const tensor *in, int64_t columns)
{
    (void)ctx;
    (void)out;
    (void)in;
    (void)columns;
}

static void dry_rows_backward(void *ctx, tensor *dx, const tensor *dy, const tensor *y,
                              int64_t columns)
{
    (void)ctx;
    (void)dx;
    (void)dy;
    (void)y;
    (void)columns;
}

static void dry_nll(void *ctx, tensor *loss, tensor *weight, const tensor *logp,
                    const tensor *target, int64_t V)
{
    (void)ctx;
    (void)loss;
    (void)weight;
    (void)logp;
    (void)target;
    (void)V;
}

static void dry_nll_backward(void *ctx, tensor *dlogp, const tensor *dloss, const tensor *weight,
                             const tensor *target, int64_t V)
{
    (void)ctx;
    (void)dlogp;
    (void)dloss;
    (void)weight;
    (void)target;
    (void)V;
}

static void dry_in_place(void *ctx, tensor *logits, tensor *loss, const tensor *target,
                         int64_t first_row, int64_t rows, int64_t V, double loss_factor,
                         double gradient_factor, const tensor *scale)
{
    (void)ctx;
    (void)logits;
    (void)loss;
    (void)target;
    (void)first_row;
    (void)rows;
    (void)V;
    (void)loss_factor;
    (void)gradient_factor;
    (void)scale;
}

static void dry_fill_value(void *ctx, tensor *out, double value)
{
    (void)ctx;
    (void)out;
    (void)value;
}

static void dry_squares(void *ctx, tensor *out, tensor *const *list, int count)
{
    (void)ctx;
    (void)out;
    (void)list;
    (void)count;
}

static void dry_clip(void *ctx, tensor *const *list, int count, const tensor *squares, double most)
{
    (void)ctx;
    (void)list;
    (void)count;
    (void)squares;
    (void)most;
}

static void dry_unscale(void *ctx, tensor *const *list, int count, tensor *found,
                        const tensor *scale)
{
    (void)ctx;
    (void)list;
    (void)count;
    (void)found;
    (void)scale;
}

static void dry_count_steps(void *ctx, tensor *const *steps, int count, const tensor *found)
{
    (void)ctx;
    (void)steps;
    (void)count;
    (void)found;
}

static void dry_adamw(void *ctx, const struct adamw_lists *l, const struct adamw_settings *s,
                      const tensor *found)
{
    (void)ctx;
    (void)l;
    (void)s;
    (void)found;
}

static const struct gpt_ops dry = {
    .name = "dry",
    .upload = dry_upload,
    .download = dry_download,
    .zero = dry_one,
    .fill = dry_fill_value,
    .synchronize = dry_synchronize,
    .range = dry_one,
    .cast = dry_two,
    .copy = dry_two,
    .add = dry_add,
    .add_into = dry_two,
    .scale = dry_scale,
    .sum_rows = dry_two,
    .embedding = dry_embedding,
    .embedding_backward = dry_embedding,
    .layer_norm = dry_layer_norm,
    .layer_norm_backward = dry_layer_norm_backward,
    .matmul = dry_matmul,
    .gelu = dry_two,
    .gelu_backward = dry_add,
    .dropout = dry_dropout,
    .dropout_backward = dry_fill,
    .attention = dry_attention,
    .attention_backward = dry_attention_backward,
    .concat_qkv = dry_concat,
    .split_heads = dry_heads,
    .merge_heads = dry_heads,
    .head_split = dry_head_split,
    .causal_mask = dry_mask,
    .masked_fill = dry_fill,
    .softmax = dry_rows,
    .softmax_backward = dry_rows_backward,
    .log_softmax = dry_rows,
    .log_softmax_backward = dry_rows_backward,
    .nll = dry_nll,
    .nll_backward = dry_nll_backward,
    .cross_entropy_in_place = dry_in_place,
    .sum_squares = dry_squares,
    .clip = dry_clip,
    .unscale = dry_unscale,
    .count_steps = dry_count_steps,
    .adamw = dry_adamw,
    .adjust_scale = dry_adjust_scale,
};

const struct gpt_ops *gpt_dry_ops(void)
{
    return &dry;
}

static int dry_take(void *ctx, uint64_t bytes, void **address)
{
    struct dry_device *d = ctx;
    if (d->limit && (bytes > d->limit || d->used > d->limit - bytes))
        return -1;
    d->next = d->next ? d->next : UINT64_C(1) << 32;
    *address = (void *)(uintptr_t)d->next;
    d->next += bytes;
    d->used += bytes;
    return 0;
}

static void dry_give(void *ctx, void *address, uint64_t bytes)
{
    struct dry_device *d = ctx;
    (void)address;
    d->used -= bytes;
}

struct device_memory dry_device_memory(struct dry_device *d)
{
    return (struct device_memory){.take = dry_take, .give = dry_give, .ctx = d};
}

static int host_take(void *ctx, uint64_t bytes, void **address)
{
    (void)ctx;
    void *p = malloc(bytes);
    if (!p)
        return -1;
    memset(p, 0xa5, bytes);  // so that nothing relies on zeroed memory
    *address = p;
    return 0;
}

static void host_give(void *ctx, void *address, uint64_t bytes)
{
    (void)ctx;
    (void)bytes;
    free(address);
}

struct device_memory host_device_memory(void)
{
    return (struct device_memory){.take = host_take, .give = host_give};
}
