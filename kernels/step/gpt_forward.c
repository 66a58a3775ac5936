// The forward pass: the tensors that each operation makes, which of them the backward pass keeps,
// and when the others are freed.
//
// In framework mode the order of allocations and frees is PyTorch's in eager mode under autocast:
// weights are cast once a forward pass (bias, weight, then input: the order in which autocast
// evaluates a call's arguments), a function's argument lives until the function returns, and the
// caller's variables live until they are assigned again.
#include "kernels/step/gpt.h"

#include <math.h>

#define POOL (&g->pool)
#define OPS(operation, ...) g->ops->operation(g->ops->ctx, __VA_ARGS__)

tensor *gpt_cast(struct gpt *g, const tensor *in, enum dtype type, enum category category)
{
    tensor *out = tensor_new(POOL, type, in->count, category);
    OPS(cast, out, in);
    return out;
}

// One more holder for the backward pass, or NULL when nothing is recorded.
tensor *gpt_recorded(struct gpt *g, tensor *t)
{
    return g->recording ? tensor_hold(t) : NULL;
}

static bool lean(const struct gpt *g)
{
    return g->config.mode == GPT_LEAN;
}

// The weight of a slot in the type of the matmuls. Under autocast it is made once a forward pass
// and kept in the cast cache; the lean mode makes it for each use. The caller gets a holder.
tensor *gpt_low_weight(struct gpt *g, int slot)
{
    if (g->weights[slot]->type == g->config.dtype)
        return tensor_hold(g->weights[slot]);
    if (lean(g))
        return gpt_cast(g, g->weights[slot], g->config.dtype, CATEGORY_WEIGHT_CAST);
    if (!g->casts[slot])
        g->casts[slot] = gpt_cast(g, g->weights[slot], g->config.dtype, CATEGORY_WEIGHT_CAST);
    return tensor_hold(g->casts[slot]);
}

static tensor *low_input(struct gpt *g, tensor *in)
{
    return in->type == g->config.dtype ? tensor_hold(in)
                                       : gpt_cast(g, in, g->config.dtype, CATEGORY_ACTIVATION);
}

// out[rows, features] = in * weight^T + bias. Keeps input and weight in *saved when recording.
static tensor *linear(struct gpt *g, int slot, tensor *in, int64_t rows, struct linear_saved *saved,
                      enum category category)
{
    tensor *bias_weight = slot == SLOT_WTE ? NULL : g->weights[slot + 1];
    tensor *bias = bias_weight ? gpt_low_weight(g, slot + 1) : NULL;
    tensor *weight = gpt_low_weight(g, slot);
    tensor *input = low_input(g, in);
    int64_t k = input->count / rows, n = weight->count / k;
    tensor *out = tensor_new(POOL, g->config.dtype, rows * n, category);
    OPS(matmul, out, input, weight, bias,
        (struct matmul_shape){.m = rows, .n = n, .k = k, .batch = 1, .b_transposed = true});
    saved->input = lean(g) ? NULL : gpt_recorded(g, input);
    saved->weight = lean(g) ? NULL : gpt_recorded(g, weight);
    tensor_drop(POOL, &bias);
    tensor_drop(POOL, &weight);
    tensor_drop(POOL, &input);
    return out;
}

static tensor *layer_norm(struct gpt *g, int slot, tensor *x, tensor **kept_x, tensor **kept_mean,
                          tensor **kept_rstd)
{
    int64_t rows = x->count / g->config.n_embd;
    tensor *y = tensor_new(POOL, x->type, x->count, CATEGORY_ACTIVATION);
    tensor *mean = tensor_new(POOL, x->type, rows, CATEGORY_ACTIVATION);
    tensor *rstd = tensor_new(POOL, x->type, rows, CATEGORY_ACTIVATION);
    OPS(layer_norm, y, mean, rstd, x, g->weights[slot], g->weights[slot + 1], g->config.n_embd);
    *kept_x = gpt_recorded(g, x);
    *kept_mean = gpt_recorded(g, mean);
    *kept_rstd = gpt_recorded(g, rstd);
    tensor_drop(POOL, &mean);
    tensor_drop(POOL, &rstd);
    return y;
}

// Replaces *t by its value after dropout. Does nothing without dropout or in evaluation.
static void dropout(struct gpt *g, tensor **t, tensor **kept_mask, uint64_t *seed)
{
    if (g->config.dropout <= 0 || g->evaluating)
        return;  // F.dropout returns its input
    tensor *out = tensor_new(POOL, (*t)->type, (*t)->count, CATEGORY_ACTIVATION);
    tensor *mask = tensor_new(POOL, DTYPE_U8, (*t)->count, CATEGORY_ACTIVATION);
    OPS(dropout, out, mask, *t, g->config.dropout, *seed);
    *kept_mask = gpt_recorded(g, mask);
    tensor_drop(POOL, &mask);
    tensor_drop(POOL, t);
    *t = out;
}

static tensor *tiled_attention(struct gpt *g, tensor *qkv, struct block_saved *s)
{
    struct attention_shape shape = gpt_attention_shape(&g->config);
    enum dtype full = gpt_master_type(&g->config);
    // The memory-efficient kernel, which fp32 uses, pads its rows to 32.
    int64_t rows = qkv->type == DTYPE_F32 && !lean(g) ? (shape.T + 31) / 32 * 32 : shape.T;
    tensor *out = tensor_new(POOL, qkv->type, qkv->count / 3, CATEGORY_ACTIVATION);
    tensor *lse = tensor_new(POOL, full, shape.B * shape.H * rows, CATEGORY_ACTIVATION);
    tensor *rng = lean(g) ? NULL : tensor_new(POOL, DTYPE_I64, 2, CATEGORY_ACTIVATION);
    OPS(attention, out, lse, qkv, shape);
    s->lse = gpt_recorded(g, lse);
    s->rng = gpt_recorded(g, rng);
    tensor_drop(POOL, &lse);
    tensor_drop(POOL, &rng);
    return out;
}

static tensor *scores(struct gpt *g, const tensor *q, const tensor *k, struct attention_shape a)
{
    tensor *raw = tensor_new(POOL, q->type, a.B * a.H * a.T * a.T, CATEGORY_ACTIVATION);
    OPS(matmul, raw, q, k, NULL,
        (struct matmul_shape){
            .m = a.T, .n = a.T, .k = a.D, .batch = a.B * a.H, .b_transposed = true});
    tensor *scaled = tensor_new(POOL, q->type, raw->count, CATEGORY_ACTIVATION);
    OPS(scale, scaled, raw, 1 / sqrt((double)a.D));
    tensor_drop(POOL, &raw);
    return scaled;
}

// PyTorch's softmax on a GPU reads fp16 and writes fp32; bf16 is cast before
// (aten/src/ATen/native/SoftMax.cpp, softmax).
bool gpt_softmax_widens(enum dtype type)
{
    return type == DTYPE_F16;
}

// Drops t, unless the backward pass keeps it.
static void keep(struct gpt *g, tensor **kept, tensor *t)
{
    *kept = gpt_recorded(g, t);
    tensor_drop(POOL, &t);
}

// softmax(mask(q k^T / sqrt D)) with its steps as autocast types them: softmax in full precision,
// the rest low. Frees *scaled, and keeps the mask in *kept_mask.
static tensor *probabilities(struct gpt *g, tensor **scaled, tensor *mask, tensor **kept_mask,
                             int64_t columns)
{
    enum dtype full = gpt_master_type(&g->config);
    int64_t count = (*scaled)->count;
    tensor *masked = tensor_new(POOL, (*scaled)->type, count, CATEGORY_ACTIVATION);
    OPS(masked_fill, masked, *scaled, mask, -INFINITY);
    keep(g, kept_mask, mask);
    tensor_drop(POOL, scaled);
    bool direct = masked->type == full || gpt_softmax_widens(masked->type);
    tensor *wide = direct ? tensor_hold(masked) : gpt_cast(g, masked, full, CATEGORY_ACTIVATION);
    tensor *p = tensor_new(POOL, full, count, CATEGORY_ACTIVATION);
    OPS(softmax, p, wide, columns);
    tensor_drop(POOL, &wide);
    tensor_drop(POOL, &masked);
    return p;
}

static tensor *part_of(struct gpt *g, const tensor *qkv, int part)
{
    tensor *out = tensor_new(POOL, qkv->type, qkv->count / 3, CATEGORY_ACTIVATION);
    OPS(split_heads, out, qkv, part, gpt_attention_shape(&g->config));
    return out;
}

// A matrix product copies operands that are not contiguous: q and k for the first, v for the
// second.
static tensor *matrix_attention(struct gpt *g, tensor *qkv, struct block_saved *s)
{
    struct attention_shape a = gpt_attention_shape(&g->config);
    tensor *q = part_of(g, qkv, 0), *k = part_of(g, qkv, 1);
    tensor *scaled = scores(g, q, k, a);
    keep(g, &s->q, q);
    keep(g, &s->k, k);
    tensor *mask = tensor_new(POOL, DTYPE_U8, a.T * a.T, CATEGORY_ACTIVATION);
    OPS(causal_mask, mask, a.T);
    tensor *p = probabilities(g, &scaled, mask, &s->mask, a.T);
    tensor *low =
        p->type == qkv->type ? tensor_hold(p) : gpt_cast(g, p, qkv->type, CATEGORY_ACTIVATION);
    tensor *v = part_of(g, qkv, 2);
    tensor *heads = tensor_new(POOL, qkv->type, v->count, CATEGORY_ACTIVATION);
    OPS(matmul, heads, low, v, NULL,
        (struct matmul_shape){.m = a.T, .n = a.D, .k = a.T, .batch = a.B * a.H});
    tensor *out = tensor_new(POOL, qkv->type, heads->count, CATEGORY_ACTIVATION);
    OPS(merge_heads, out, heads, -1, a);
    keep(g, &s->v, v);
    keep(g, &s->probabilities, p);
    keep(g, &s->probabilities_low, low);
    tensor_drop(POOL, &heads);
    return out;
}

tensor *gpt_attention_forward(struct gpt *g, tensor *qkv, struct block_saved *s)
{
    return g->config.attention == GPT_TILED ? tiled_attention(g, qkv, s)
                                            : matrix_attention(g, qkv, s);
}

// attention(layer_norm(x)), up to and with its dropout. y is the norm's output; the caller drops
// it.
static tensor *attention_half(struct gpt *g, int layer, tensor *y, struct block_saved *s)
{
    int64_t rows = gpt_tokens(&g->config);
    bool tiled = g->config.attention == GPT_TILED;
    tensor *qkv = linear(g, SLOT_LAYER(layer, QKV), y, rows, &s->qkv, CATEGORY_ACTIVATION);
    tensor *out = gpt_attention_forward(g, qkv, s);
    s->qkv_out = tiled ? gpt_recorded(g, qkv) : NULL;
    if (lean(g))
        tensor_drop(POOL, &qkv);  // else the function's variables name parts of it until it returns
    tensor *projected =
        linear(g, SLOT_LAYER(layer, PROJ), out, rows, &s->proj, CATEGORY_ACTIVATION);
    s->attention_out = tiled || lean(g) ? gpt_recorded(g, out) : NULL;
    tensor_drop(POOL, &out);
    dropout(g, &projected, &s->mask1, &s->seed1);
    tensor_drop(POOL, &qkv);
    return projected;
}

static tensor *mlp_half(struct gpt *g, int layer, tensor *y, struct block_saved *s)
{
    int64_t rows = gpt_tokens(&g->config);
    tensor *hidden = linear(g, SLOT_LAYER(layer, FC), y, rows, &s->fc, CATEGORY_ACTIVATION);
    tensor *active = tensor_new(POOL, hidden->type, hidden->count, CATEGORY_ACTIVATION);
    OPS(gelu, active, hidden);
    s->hidden = gpt_recorded(g, hidden);
    tensor_drop(POOL, &hidden);
    tensor *out = linear(g, SLOT_LAYER(layer, OUT), active, rows, &s->out, CATEGORY_ACTIVATION);
    tensor_drop(POOL, &active);
    dropout(g, &out, &s->mask2, &s->seed2);
    return out;
}

// *x = *x + branch, as a new tensor.
static void add_branch(struct gpt *g, tensor **x, tensor *branch)
{
    tensor *sum = tensor_new(POOL, (*x)->type, (*x)->count, CATEGORY_ACTIVATION);
    OPS(add, sum, *x, branch);
    tensor_drop(POOL, &branch);
    tensor_drop(POOL, x);
    *x = sum;
}

void gpt_block_forward(struct gpt *g, int layer, tensor **x, struct block_saved *s)
{
    tensor *y = layer_norm(g, SLOT_LAYER(layer, LN1), *x, &s->x1, &s->mean1, &s->rstd1);
    tensor *branch = attention_half(g, layer, y, s);
    tensor_drop(POOL, &y);
    add_branch(g, x, branch);
    y = layer_norm(g, SLOT_LAYER(layer, LN2), *x, &s->x2, &s->mean2, &s->rstd2);
    branch = mlp_half(g, layer, y, s);
    tensor_drop(POOL, &y);
    add_branch(g, x, branch);
}

// Under checkpointing a block keeps only its input; the rest is recomputed in the backward pass.
static void block(struct gpt *g, int layer, tensor **x)
{
    struct block_saved *s = &g->saved[layer];
    *s = (struct block_saved){
        .seed1 = g->config.seed + (uint64_t)(g->micro_number * 4096 + layer) * 2,
        .seed2 = g->config.seed + (uint64_t)(g->micro_number * 4096 + layer) * 2 + 1};
    if (!g->config.checkpointing || !g->recording) {
        tensor *caller =
            lean(g) ? NULL
                    : tensor_hold(*x);  // the model's variable names it until the block returns
        gpt_block_forward(g, layer, x, s);
        tensor_drop(POOL, &caller);
        return;
    }
    tensor *input = tensor_hold(*x);
    uint64_t seed1 = s->seed1, seed2 = s->seed2;
    g->recording = false;
    gpt_block_forward(g, layer, x, s);
    g->recording = true;
    *s = (struct block_saved){.x1 = input, .seed1 = seed1, .seed2 = seed2};
}

static tensor *embed(struct gpt *g, tensor **token_part, tensor **position_part)
{
    int64_t C = g->config.n_embd, n = gpt_tokens(&g->config);
    enum dtype full = gpt_master_type(&g->config);
    tensor_drop(POOL, &g->positions);
    g->positions = tensor_new(POOL, DTYPE_I64, g->config.seq_len, CATEGORY_DATA);
    OPS(range, g->positions);
    *token_part = tensor_new(POOL, full, n * C, CATEGORY_ACTIVATION);
    OPS(embedding, *token_part, g->weights[SLOT_WTE], g->tokens, C);
    *position_part = tensor_new(POOL, full, g->config.seq_len * C, CATEGORY_ACTIVATION);
    OPS(embedding, *position_part, g->weights[SLOT_WPE], g->positions, C);
    tensor *x = tensor_new(POOL, full, n * C, CATEGORY_ACTIVATION);
    OPS(add, x, *token_part, *position_part);
    uint64_t seed = g->config.seed + (uint64_t)g->micro_number * 8192 + 8191;
    dropout(g, &x, &g->dropout_mask, &seed);
    return x;
}

// The loss as PyTorch makes it: log-softmax in the logits' type, a copy in full precision, then the
// likelihood.
static tensor *framework_loss(struct gpt *g, const tensor *logits)
{
    enum dtype full = gpt_master_type(&g->config);
    int64_t V = g->config.vocab_size;
    tensor *p = tensor_new(POOL, logits->type, logits->count, CATEGORY_LOGITS);
    OPS(log_softmax, p, logits, V);
    tensor *wide = p->type == full ? tensor_hold(p) : gpt_cast(g, p, full, CATEGORY_LOGITS);
    tensor *loss = tensor_new(POOL, full, 1, CATEGORY_LOGITS);
    tensor *weight = tensor_new(POOL, full, 1, CATEGORY_LOGITS);
    OPS(nll, loss, weight, wide, g->targets, V);
    g->log_probabilities = gpt_recorded(g, p);
    g->log_probabilities_full = gpt_recorded(g, wide);
    g->total_weight = gpt_recorded(g, weight);
    tensor_drop(POOL, &p);
    tensor_drop(POOL, &wide);
    tensor_drop(POOL, &weight);
    return loss;
}

static void head_and_loss(struct gpt *g, tensor *y)
{
    int64_t rows = gpt_tokens(&g->config);
    tensor *logits = linear(g, SLOT_WTE, y, rows, &g->head, CATEGORY_LOGITS);
    tensor *loss = framework_loss(g, logits);
    // The training loop's variables are assigned when forward returns.
    tensor_drop(POOL, &g->logits);
    tensor_drop(POOL, &g->loss);
    g->logits = logits;
    g->loss = loss;
}

void gpt_drop_casts(struct gpt *g)
{
    for (int slot = 0; slot < g->slots; slot++)
        tensor_drop(POOL, &g->casts[slot]);
}

static void divide_loss(struct gpt *g)
{
    tensor *divided = tensor_new(POOL, g->loss->type, 1, CATEGORY_LOGITS);
    OPS(scale, divided, g->loss, 1 / (double)g->config.accumulation);
    tensor_drop(POOL, &g->loss);
    g->loss = divided;
}

void gpt_forward(struct gpt *g)
{
    tensor *token_part, *position_part;
    tensor *x = embed(g, &token_part, &position_part);
    for (int layer = 0; layer < (int)g->config.n_layer; layer++)
        block(g, layer, &x);
    if (lean(g)) {
        tensor_drop(POOL, &token_part);
        tensor_drop(POOL, &position_part);
    }
    tensor *y = layer_norm(g, g->slots - 2, x, &g->x_last, &g->mean_last, &g->rstd_last);
    tensor_drop(POOL, &x);
    g->used_tokens = gpt_recorded(g, g->tokens);
    g->used_targets = lean(g) ? NULL : gpt_recorded(g, g->targets);
    if (lean(g))
        gpt_lean_loss(g, &y);
    else
        head_and_loss(g, y);
    tensor_drop(POOL, &token_part);
    tensor_drop(POOL, &position_part);
    tensor_drop(POOL, &y);
    if (!g->recording)
        tensor_drop(POOL, &g->positions);
    gpt_drop_casts(g);
    divide_loss(g);
}
