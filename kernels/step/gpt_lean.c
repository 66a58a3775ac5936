// The lean mode's own parts: the loss in chunks with its gradient at once, and a block's backward
// pass that recomputes the outputs of the norms and of GELU instead of keeping them.
#include "kernels/step/gpt.h"

#define POOL (&g->pool)
#define OPS(operation, ...) g->ops->operation(g->ops->ctx, __VA_ARGS__)

// Rows of the loss that are computed at once.
static int64_t chunk_rows(const struct gpt_config *c)
{
    int64_t rows = (INT64_C(1) << 25) / c->vocab_size;  // 64 MiB of half-precision logits
    rows = rows < 128
               ? 128
               : rows / 128 * 128;  // a chunk begins at a multiple of 256 bytes, as a tensor does
    return rows < gpt_tokens(c) ? rows : gpt_tokens(c);
}

// Rows [first, first + rows) of a matrix with `columns` columns; not a tensor of the pool.
static tensor rows_of(const tensor *t, int64_t first, int64_t rows, int64_t columns)
{
    tensor view = *t;
    view.data = (char *)t->data + (uint64_t)(first * columns) * dtype_size(t->type);
    view.count = rows * columns;
    return view;
}

// The gradient of a slot to add to, zero when it is new.
static tensor *gradient_of(struct gpt *g, int slot)
{
    if (!g->gradients[slot]) {
        tensor *w = g->weights[slot];
        g->gradients[slot] = tensor_new(POOL, w->type, w->count, CATEGORY_GRADIENT);
        OPS(zero, g->gradients[slot]);
    }
    return g->gradients[slot];
}

struct chunk {
    int64_t first, rows;
    tensor *y, *weight, *logits;
};

static void chunk_loss(struct gpt *g, const struct chunk *c)
{
    int64_t C = g->config.n_embd, V = g->config.vocab_size;
    double n = (double)gpt_tokens(&g->config), share = 1 / (n * (double)g->config.accumulation);
    tensor y = rows_of(c->y, c->first, c->rows, C), logits = rows_of(c->logits, 0, c->rows, V);
    OPS(matmul, &logits, &y, c->weight, NULL,
        (struct matmul_shape){.m = c->rows, .n = V, .k = C, .batch = 1, .b_transposed = true});
    OPS(cross_entropy_in_place, &logits, g->loss, g->targets, c->first, c->rows, V, 1 / n, share,
        g->scale);
    if (!g->recording)
        return;
    tensor dy = rows_of(g->last_gradient, c->first, c->rows, C);
    OPS(matmul, &dy, &logits, c->weight, NULL,
        (struct matmul_shape){.m = c->rows, .n = C, .k = V, .batch = 1});
    OPS(matmul, gradient_of(g, SLOT_WTE), &logits, &y, NULL,
        (struct matmul_shape){
            .m = V, .n = C, .k = c->rows, .batch = 1, .a_transposed = true, .accumulate = true});
}

void gpt_lean_loss(struct gpt *g, tensor **y)
{
    int64_t n = gpt_tokens(&g->config), step = chunk_rows(&g->config);
    enum dtype low = g->config.dtype;
    struct chunk c = {.weight = gpt_low_weight(g, SLOT_WTE)};
    c.y = (*y)->type == low ? tensor_hold(*y) : gpt_cast(g, *y, low, CATEGORY_ACTIVATION);
    tensor_drop(POOL, y);
    c.logits = tensor_new(POOL, low, step * g->config.vocab_size, CATEGORY_LOGITS);
    tensor_drop(POOL, &g->loss);
    g->loss = tensor_new(POOL, gpt_master_type(&g->config), 1, CATEGORY_LOGITS);
    OPS(zero, g->loss);
    if (g->recording)
        g->last_gradient = tensor_new(POOL, low, c.y->count, CATEGORY_BACKWARD);
    for (c.first = 0; c.first < n; c.first += step) {
        c.rows = n - c.first < step ? n - c.first : step;
        chunk_loss(g, &c);
    }
    tensor_drop(POOL, &c.weight);
    tensor_drop(POOL, &c.y);
    tensor_drop(POOL, &c.logits);
}

// dx of a linear operation in the matmuls' type; adds to its weight's gradient in place. Frees
// *input and *dout.
static tensor *linear_backward(struct gpt *g, int slot, tensor **input, tensor **dout)
{
    int64_t rows = gpt_tokens(&g->config), n = (*dout)->count / rows, k = (*input)->count / rows;
    OPS(matmul, gradient_of(g, slot), *dout, *input, NULL,
        (struct matmul_shape){
            .m = n, .n = k, .k = rows, .batch = 1, .a_transposed = true, .accumulate = true});
    tensor_drop(POOL, input);
    if (g->config.bias) {
        tensor *dbias = tensor_new(POOL, gpt_master_type(&g->config), n, CATEGORY_BACKWARD);
        OPS(sum_rows, dbias, *dout);
        gpt_add_gradient(g, slot + 1, dbias);
    }
    tensor *weight = gpt_low_weight(g, slot);
    tensor *dx = tensor_new(POOL, (*dout)->type, rows * k, CATEGORY_BACKWARD);
    OPS(matmul, dx, *dout, weight, NULL,
        (struct matmul_shape){.m = rows, .n = k, .k = n, .batch = 1});
    tensor_drop(POOL, &weight);
    tensor_drop(POOL, dout);
    return dx;
}

// Recomputes the output of a norm, in the matmuls' type.
static tensor *norm_again(struct gpt *g, int slot, const tensor *x)
{
    int64_t rows = gpt_tokens(&g->config);
    tensor *y = tensor_new(POOL, g->config.dtype, x->count, CATEGORY_BACKWARD);
    tensor *mean = tensor_new(POOL, x->type, rows, CATEGORY_BACKWARD);
    tensor *rstd = tensor_new(POOL, x->type, rows, CATEGORY_BACKWARD);
    OPS(layer_norm, y, mean, rstd, x, g->weights[slot], g->weights[slot + 1], g->config.n_embd);
    tensor_drop(POOL, &mean);
    tensor_drop(POOL, &rstd);
    return y;
}

void gpt_lean_block_backward(struct gpt *g, int layer, tensor **residual)
{
    struct block_saved *s = &g->saved[layer];
    tensor *d = gpt_branch_gradient(g, *residual, &s->mask2);
    tensor *active = tensor_new(POOL, s->hidden->type, s->hidden->count, CATEGORY_BACKWARD);
    OPS(gelu, active, s->hidden);
    tensor *dhidden = linear_backward(g, SLOT_LAYER(layer, OUT), &active, &d);
    OPS(gelu_backward, dhidden, dhidden, s->hidden);
    tensor_drop(POOL, &s->hidden);
    tensor *y = norm_again(g, SLOT_LAYER(layer, LN2), s->x2);
    tensor *dy = linear_backward(g, SLOT_LAYER(layer, FC), &y, &dhidden);
    gpt_norm_backward(g, SLOT_LAYER(layer, LN2), &dy, &s->x2, &s->mean2, &s->rstd2, residual);
    d = gpt_branch_gradient(g, *residual, &s->mask1);
    tensor *out = tensor_hold(s->attention_out), *dqkv;
    tensor *dout = linear_backward(g, SLOT_LAYER(layer, PROJ), &out, &d);
    gpt_attention_backward(g, s, &dout, &dqkv);
    y = norm_again(g, SLOT_LAYER(layer, LN1), s->x1);
    dy = linear_backward(g, SLOT_LAYER(layer, QKV), &y, &dqkv);
    gpt_norm_backward(g, SLOT_LAYER(layer, LN1), &dy, &s->x1, &s->mean1, &s->rstd1, residual);
}
