// The backward pass in framework mode: autograd's order, and the tensors that each node frees when
// it has run.
//
// A weight's gradient is made in the type of the matmul and then cast, after the input's gradient
// has been cast. Sums of gradients are made in place. The output matrix shares its weight with the
// token table: its gradient waits until the table's is computed.
#include "kernels/step/gpt.h"

#include <math.h>

#define POOL (&g->pool)
#define OPS(operation, ...) g->ops->operation(g->ops->ctx, __VA_ARGS__)

static int64_t round_up(int64_t n, int64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

tensor *gpt_make_scalar(struct gpt *g, double value)
{
    tensor *t = tensor_new(POOL, gpt_master_type(&g->config), 1, CATEGORY_BACKWARD);
    OPS(fill, t, value);
    return t;
}

void gpt_add_gradient(struct gpt *g, int slot, tensor *gradient)
{
    if (!g->gradients[slot]) {
        POOL->by_category[gradient->category] -=
            (uint64_t)gradient->count * dtype_size(gradient->type);
        POOL->by_category[CATEGORY_GRADIENT] +=
            (uint64_t)gradient->count * dtype_size(gradient->type);
        gradient->category = CATEGORY_GRADIENT;
        g->gradients[slot] = gradient;
        return;
    }
    OPS(add_into, g->gradients[slot], gradient);
    tensor_drop(POOL, &gradient);
}

// Casts *t to the weights' type and frees the low one.
static void widen(struct gpt *g, tensor **t)
{
    enum dtype full = gpt_master_type(&g->config);
    if ((*t)->type == full)
        return;
    tensor *wide = gpt_cast(g, *t, full, CATEGORY_BACKWARD);
    tensor_drop(POOL, t);
    *t = wide;
}

// dx of a linear operation; *dweight and *dbias (NULL without bias) in the weights' type. Frees
// *dout and what was saved. input_was_cast: dx goes back to the weights' type too.
static tensor *linear_backward(struct gpt *g, struct linear_saved *s, tensor **dout,
                               bool input_was_cast, bool has_bias, tensor **dweight, tensor **dbias)
{
    int64_t rows = gpt_tokens(&g->config), n = (*dout)->count / rows, k = s->input->count / rows;
    *dweight = tensor_new(POOL, (*dout)->type, n * k, CATEGORY_BACKWARD);
    OPS(matmul, *dweight, *dout, s->input, NULL,
        (struct matmul_shape){.m = n, .n = k, .k = rows, .batch = 1, .a_transposed = true});
    tensor *dx = tensor_new(POOL, (*dout)->type, rows * k, CATEGORY_BACKWARD);
    OPS(matmul, dx, *dout, s->weight, NULL,
        (struct matmul_shape){.m = rows, .n = k, .k = n, .batch = 1});
    *dbias = has_bias ? tensor_new(POOL, (*dout)->type, n, CATEGORY_BACKWARD) : NULL;
    if (has_bias)
        OPS(sum_rows, *dbias, *dout);
    tensor_drop(POOL, &s->input);
    tensor_drop(POOL, &s->weight);
    tensor_drop(POOL, dout);
    if (input_was_cast)
        widen(g, &dx);
    widen(g, dweight);
    if (has_bias)
        widen(g, dbias);
    return dx;
}

static tensor *layer_linear_backward(struct gpt *g, int slot, struct linear_saved *s, tensor **dout,
                                     bool input_was_cast)
{
    tensor *dweight, *dbias;
    tensor *dx = linear_backward(g, s, dout, input_was_cast, g->config.bias, &dweight, &dbias);
    gpt_add_gradient(g, slot, dweight);
    if (dbias)
        gpt_add_gradient(g, slot + 1, dbias);
    return dx;
}

// *sum += *part, in place unless *sum has another holder. Drops *part.
static void sum_gradients(struct gpt *g, tensor **sum, tensor **part)
{
    if (!*sum) {
        *sum = *part;
        *part = NULL;
        return;
    }
    if ((*sum)->holders > 1) {
        tensor *whole = tensor_new(POOL, (*sum)->type, (*sum)->count, CATEGORY_BACKWARD);
        OPS(add, whole, *sum, *part);
        tensor_drop(POOL, sum);
        *sum = whole;
    } else {
        OPS(add_into, *sum, *part);
    }
    tensor_drop(POOL, part);
}

void gpt_norm_backward(struct gpt *g, int slot, tensor **dy, tensor **x, tensor **mean,
                       tensor **rstd, tensor **residual)
{
    int64_t C = g->config.n_embd;
    enum dtype full = gpt_master_type(&g->config);
    tensor *dx = tensor_new(POOL, full, (*x)->count, CATEGORY_BACKWARD);
    tensor *dweight = tensor_new(POOL, full, C, CATEGORY_BACKWARD);
    tensor *dbias = g->config.bias ? tensor_new(POOL, full, C, CATEGORY_BACKWARD) : NULL;
    OPS(layer_norm_backward, dx, dweight, dbias, *dy, *x, *mean, *rstd, g->weights[slot], C);
    tensor_drop(POOL, x);
    tensor_drop(POOL, mean);
    tensor_drop(POOL, rstd);
    tensor_drop(POOL, dy);
    sum_gradients(g, residual, &dx);
    gpt_add_gradient(g, slot, dweight);
    if (dbias)
        gpt_add_gradient(g, slot + 1, dbias);
}

static tensor *undo_dropout(struct gpt *g, tensor *d, tensor **mask)
{
    tensor *out = tensor_new(POOL, d->type, d->count, CATEGORY_BACKWARD);
    OPS(dropout_backward, out, d, *mask, g->config.dropout);
    tensor_drop(POOL, mask);
    tensor_drop(POOL, &d);
    return out;
}

tensor *gpt_branch_gradient(struct gpt *g, tensor *residual, tensor **mask)
{
    enum dtype low = g->config.dtype;
    tensor *d = residual->type == low ? tensor_hold(residual)
                                      : gpt_cast(g, residual, low, CATEGORY_BACKWARD);
    return *mask ? undo_dropout(g, d, mask) : d;
}

static void tiled_backward(struct gpt *g, struct block_saved *s, tensor *dout, tensor *gradients[3])
{
    struct attention_shape a = gpt_attention_shape(&g->config);
    enum dtype full = gpt_master_type(&g->config);
    bool framework = g->config.mode == GPT_FRAMEWORK, flash = framework && dout->type != full;
    // FlashAttention pads its rows to 128 and its accumulator's columns to 32.
    int64_t rows = a.B * a.H * (flash ? round_up(a.T, 128) : a.T);
    tensor *delta = tensor_new(POOL, full, rows, CATEGORY_BACKWARD);
    tensor *sums =
        flash ? tensor_new(POOL, full, rows * round_up(a.D, 32), CATEGORY_BACKWARD) : NULL;
    OPS(attention_backward, gradients[0], gradients[1], gradients[2], delta, sums, dout, s->qkv_out,
        s->attention_out, s->lse, a);
    tensor_drop(POOL, &delta);
    tensor_drop(POOL, &sums);
}

// The gradient of the scores from *dp, that of the probabilities: [B, H, T, T] in the type of the
// matmuls. Frees *dp and what each step had saved.
static tensor *scores_backward(struct gpt *g, struct block_saved *s, tensor **dp,
                               struct attention_shape a)
{
    enum dtype full = gpt_master_type(&g->config), low = g->config.dtype;
    widen(g, dp);
    enum dtype made = gpt_softmax_widens(low) ? low : full;
    tensor *ds = tensor_new(POOL, made, (*dp)->count, CATEGORY_BACKWARD);
    OPS(softmax_backward, ds, *dp, s->probabilities, a.T);
    tensor_drop(POOL, dp);
    tensor_drop(POOL, &s->probabilities);
    tensor *narrow = low == made ? tensor_hold(ds) : gpt_cast(g, ds, low, CATEGORY_BACKWARD);
    tensor_drop(POOL, &ds);
    tensor *masked = tensor_new(POOL, low, narrow->count, CATEGORY_BACKWARD);
    OPS(masked_fill, masked, narrow, s->mask, 0);
    tensor_drop(POOL, &narrow);
    tensor_drop(POOL, &s->mask);
    tensor *scaled = tensor_new(POOL, low, masked->count, CATEGORY_BACKWARD);
    OPS(scale, scaled, masked, 1 / sqrt((double)a.D));
    tensor_drop(POOL, &masked);
    return scaled;
}

static tensor *heads_product(struct gpt *g, const tensor *a, const tensor *b,
                             struct matmul_shape shape)
{
    tensor *out =
        tensor_new(POOL, g->config.dtype, shape.batch * shape.m * shape.n, CATEGORY_BACKWARD);
    OPS(matmul, out, a, b, NULL, shape);
    return out;
}

// *part [B, H, T, D] as [N, C], in one piece.
static void merge(struct gpt *g, tensor **part)
{
    tensor *out = tensor_new(POOL, (*part)->type, (*part)->count, CATEGORY_BACKWARD);
    OPS(merge_heads, out, *part, -1, gpt_attention_shape(&g->config));
    tensor_drop(POOL, part);
    *part = out;
}

// The gradient of qkv. Frees *dout.
static tensor *matrix_backward(struct gpt *g, struct block_saved *s, tensor **dout)
{
    struct attention_shape a = gpt_attention_shape(&g->config);
    struct matmul_shape square = {
        .m = a.T, .n = a.T, .k = a.D, .batch = a.B * a.H, .b_transposed = true};
    struct matmul_shape plain = {.m = a.T, .n = a.D, .k = a.T, .batch = a.B * a.H}, turned = plain;
    turned.a_transposed = true;
    tensor *heads = tensor_new(POOL, g->config.dtype, (*dout)->count, CATEGORY_BACKWARD);
    OPS(head_split, heads, *dout, a);
    tensor_drop(POOL, dout);
    tensor *dp = heads_product(g, heads, s->v, square);
    tensor *dv = heads_product(g, s->probabilities_low, heads, turned);
    tensor_drop(POOL, &s->v);
    tensor_drop(POOL, &s->probabilities_low);
    tensor_drop(POOL, &heads);
    tensor *ds = scores_backward(g, s, &dp, a);
    tensor *dq = heads_product(g, ds, s->k, plain), *dk = heads_product(g, ds, s->q, turned);
    tensor_drop(POOL, &s->q);
    tensor_drop(POOL, &s->k);
    tensor_drop(POOL, &ds);
    tensor **parts[] = {&dv, &dq, &dk};
    for (int i = 0; i < 3; i++)
        merge(g, parts[i]);
    tensor *dqkv = tensor_new(POOL, g->config.dtype, 3 * dq->count, CATEGORY_BACKWARD);
    OPS(concat_qkv, dqkv, dq, dk, dv, g->config.n_embd);
    for (int i = 0; i < 3; i++)
        tensor_drop(POOL, parts[i]);
    return dqkv;
}

static void drop_attention(struct gpt *g, struct block_saved *s)
{
    tensor **all[] = {
        &s->qkv_out,       &s->attention_out,    &s->lse, &s->rng, &s->q, &s->k, &s->v, &s->mask,
        &s->probabilities, &s->probabilities_low};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tensor_drop(POOL, all[i]);
}

void gpt_attention_backward(struct gpt *g, struct block_saved *s, tensor **dout, tensor **dqkv)
{
    int64_t U = (*dout)->count;
    if (g->config.attention == GPT_MATRIX) {
        *dqkv = matrix_backward(g, s, dout);
        drop_attention(g, s);
        return;
    }
    tensor *gradients[3];
    for (int i = 0; i < 3; i++)
        gradients[i] = tensor_new(POOL, g->config.dtype, U, CATEGORY_BACKWARD);
    tiled_backward(g, s, *dout, gradients);
    drop_attention(g, s);
    tensor_drop(POOL, dout);
    *dqkv = tensor_new(POOL, g->config.dtype, 3 * U, CATEGORY_BACKWARD);
    OPS(concat_qkv, *dqkv, gradients[0], gradients[1], gradients[2], g->config.n_embd);
    for (int i = 0; i < 3; i++)
        tensor_drop(POOL, &gradients[i]);
}

static void mlp_backward(struct gpt *g, int layer, struct block_saved *s, tensor **residual)
{
    tensor *d = gpt_branch_gradient(g, *residual, &s->mask2);
    tensor *dactive = layer_linear_backward(g, SLOT_LAYER(layer, OUT), &s->out, &d, false);
    tensor *dhidden = tensor_new(POOL, dactive->type, dactive->count, CATEGORY_BACKWARD);
    OPS(gelu_backward, dhidden, dactive, s->hidden);
    tensor_drop(POOL, &s->hidden);
    tensor_drop(POOL, &dactive);
    tensor *dy = layer_linear_backward(g, SLOT_LAYER(layer, FC), &s->fc, &dhidden, true);
    gpt_norm_backward(g, SLOT_LAYER(layer, LN2), &dy, &s->x2, &s->mean2, &s->rstd2, residual);
}

static void attention_half_backward(struct gpt *g, int layer, struct block_saved *s,
                                    tensor **residual)
{
    tensor *d = gpt_branch_gradient(g, *residual, &s->mask1);
    tensor *dout = layer_linear_backward(g, SLOT_LAYER(layer, PROJ), &s->proj, &d, false);
    tensor *dqkv;
    gpt_attention_backward(g, s, &dout, &dqkv);
    tensor *dy = layer_linear_backward(g, SLOT_LAYER(layer, QKV), &s->qkv, &dqkv, true);
    gpt_norm_backward(g, SLOT_LAYER(layer, LN1), &dy, &s->x1, &s->mean1, &s->rstd1, residual);
}

// A checkpointed block has kept its input: everything else is recomputed, its output too, which
// lives until the block's backward pass is done (torch.utils.checkpoint, use_reentrant=True). The
// cast cache of this pass ends with it.
static tensor *recompute(struct gpt *g, int layer)
{
    struct block_saved *s = &g->saved[layer];
    tensor *x = s->x1;
    s->x1 = NULL;
    gpt_block_forward(g, layer, &x, s);
    gpt_drop_casts(g);
    return x;
}

static void loss_backward(struct gpt *g, tensor **residual)
{
    enum dtype full = gpt_master_type(&g->config);
    int64_t V = g->config.vocab_size;
    tensor *dloss = tensor_new(POOL, full, 1, CATEGORY_BACKWARD);
    OPS(scale, dloss, g->root_gradient, 1 / (double)g->config.accumulation);
    tensor *d = tensor_new(POOL, full, g->log_probabilities->count, CATEGORY_LOGITS);
    OPS(nll_backward, d, dloss, g->total_weight, g->used_targets, V);
    tensor_drop(POOL, &g->used_targets);
    tensor_drop(POOL, &g->log_probabilities_full);
    tensor_drop(POOL, &g->total_weight);
    tensor_drop(POOL, &dloss);
    if (full != g->config.dtype) {
        tensor *narrow = gpt_cast(g, d, g->config.dtype, CATEGORY_LOGITS);
        tensor_drop(POOL, &d);
        d = narrow;
    }
    tensor *dlogits = tensor_new(POOL, d->type, d->count, CATEGORY_LOGITS);
    OPS(log_softmax_backward, dlogits, d, g->log_probabilities, V);
    tensor_drop(POOL, &g->log_probabilities);
    tensor_drop(POOL, &d);
    tensor *none,
        *dy = linear_backward(g, &g->head, &dlogits, true, false, &g->head_gradient, &none);
    gpt_norm_backward(g, g->slots - 2, &dy, &g->x_last, &g->mean_last, &g->rstd_last, residual);
}

static void embedding_backward(struct gpt *g, tensor **residual)
{
    int64_t C = g->config.n_embd;
    enum dtype full = gpt_master_type(&g->config);
    if (g->dropout_mask)
        *residual = undo_dropout(g, *residual, &g->dropout_mask);
    tensor *dposition = tensor_new(POOL, full, g->config.seq_len * C, CATEGORY_BACKWARD);
    OPS(sum_rows, dposition, *residual);
    tensor *dtable = tensor_new(POOL, full, g->config.block_size * C, CATEGORY_BACKWARD);
    OPS(embedding_backward, dtable, dposition, g->positions, C);
    tensor_drop(POOL, &g->positions);
    tensor_drop(POOL, &dposition);
    gpt_add_gradient(g, SLOT_WPE, dtable);
    dtable = tensor_new(POOL, full, g->config.vocab_size * C, CATEGORY_BACKWARD);
    OPS(embedding_backward, dtable, *residual, g->used_tokens, C);
    tensor_drop(POOL, &g->used_tokens);
    tensor_drop(POOL, residual);
    if (g->head_gradient) {
        OPS(add_into, g->head_gradient, dtable);
        tensor_drop(POOL, &dtable);
        dtable = g->head_gradient;
        g->head_gradient = NULL;
    }
    gpt_add_gradient(g, SLOT_WTE, dtable);
}

static void block_backward(struct gpt *g, int layer, tensor **residual)
{
    tensor *output = g->config.checkpointing ? recompute(g, layer) : NULL;
    if (g->config.mode == GPT_LEAN) {
        tensor_drop(POOL, &output);
        gpt_lean_block_backward(g, layer, residual);
        return;
    }
    tensor *root = output ? tensor_hold(*residual)
                          : NULL;  // the checkpoint's backward function holds it as its argument
    mlp_backward(g, layer, &g->saved[layer], residual);
    attention_half_backward(g, layer, &g->saved[layer], residual);
    tensor_drop(POOL, &root);
    tensor_drop(POOL, &output);
}

void gpt_backward(struct gpt *g)
{
    tensor *residual = NULL;
    bool lean = g->config.mode == GPT_LEAN;
    g->root_gradient = gpt_make_scalar(g, 1);
    if (g->scale)
        OPS(copy, g->root_gradient, g->scale);
    if (lean)
        gpt_norm_backward(g, g->slots - 2, &g->last_gradient, &g->x_last, &g->mean_last,
                          &g->rstd_last, &residual);
    else
        loss_backward(g, &residual);
    for (int layer = (int)g->config.n_layer - 1; layer >= 0; layer--)
        block_backward(g, layer, &residual);
    embedding_backward(g, &residual);
    tensor_drop(POOL, &g->root_gradient);
}
