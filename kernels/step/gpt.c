// A run: config, weights, the next batch, the loop of micro-steps, and the exit when memory runs
// out.
#include "kernels/step/gpt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t gpt_tokens(const struct gpt_config *c)
{
    return c->batch_size * c->seq_len;
}

enum dtype gpt_master_type(const struct gpt_config *c)
{
    return c->dtype == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32;
}

struct attention_shape gpt_attention_shape(const struct gpt_config *c)
{
    return (struct attention_shape){c->batch_size, c->seq_len, c->n_head, c->n_embd / c->n_head};
}

static const struct {
    int64_t rows, columns;
    bool is_bias;
} layer_weights[LAYER_WEIGHTS] = {
#define X(id, rows, columns, is_bias) {rows, columns, is_bias},
    GPT_LAYER_WEIGHTS
#undef X
};

// Elements of a slot; 0 when the config does not have it.
static int64_t slot_size(const struct gpt_config *c, int slot)
{
    int last = SLOT_LAYERS + (int)c->n_layer * LAYER_WEIGHTS;
    if (slot == SLOT_WTE)
        return c->vocab_size * c->n_embd;
    if (slot == SLOT_WPE)
        return c->block_size * c->n_embd;
    if (slot >= last)
        return slot == last || c->bias ? c->n_embd : 0;
    int kind = (slot - SLOT_LAYERS) % LAYER_WEIGHTS;
    if (layer_weights[kind].is_bias && !c->bias)
        return 0;
    int64_t rows = layer_weights[kind].rows * c->n_embd;
    return layer_weights[kind].columns ? rows * layer_weights[kind].columns * c->n_embd : rows;
}

bool gpt_slot_is_matrix(int slot)
{
    return slot < SLOT_LAYERS || layer_weights[(slot - SLOT_LAYERS) % LAYER_WEIGHTS].columns > 0;
}

static int slot_count(const struct gpt_config *c)
{
    return SLOT_LAYERS + (int)c->n_layer * LAYER_WEIGHTS + 2;
}

uint64_t gpt_parameter_count(const struct gpt_config *c)
{
    uint64_t sum = 0;
    for (int slot = 0; slot < slot_count(c); slot++)
        sum += (uint64_t)slot_size(c, slot);
    return sum;
}

const char *gpt_config_error(const struct gpt_config *c)
{
    const int64_t sizes[] = {c->batch_size, c->block_size, c->seq_len,    c->n_layer,
                             c->n_head,     c->n_embd,     c->vocab_size, c->accumulation};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i] < 1 || sizes[i] > 1 << 24)
            return "sizes must lie between 1 and 16777216";
    if (c->n_layer > 4096)
        return "more than 4096 layers";
    if (c->n_embd % c->n_head)
        return "n_embd cannot be divided among n_head";
    if (c->seq_len > c->block_size)
        return "seq_len is longer than block_size";
    if (!(c->dropout >= 0 && c->dropout < 1))
        return "dropout must be at least 0 and less than 1";
    return NULL;
}

// xorshift64*, good enough for weights and tokens. Marsaglia, Xorshift RNGs (2003); Vigna, arXiv
// 1402.6246.
static uint64_t next_random(struct gpt *g)
{
    g->random ^= g->random >> 12;
    g->random ^= g->random << 25;
    g->random ^= g->random >> 27;
    return g->random * UINT64_C(2685821657736338717);
}

// The sum of four uniform numbers, which is close to a normal one and much cheaper: 124 million are
// drawn for GPT-2. Each has 16 bits and a variance of (65536^2 - 1) / 12.
static double next_normal(struct gpt *g)
{
    uint64_t r = next_random(g);
    double sum = (double)(r & 0xffff) + (double)(r >> 16 & 0xffff) + (double)(r >> 32 & 0xffff) +
                 (double)(r >> 48);
    return (sum - 2 * 65535.0) / (65536 / 1.7320508075688772);
}

// Standard deviation of a slot's first values; 0 for a bias, -1 for a norm's weight, which begins
// at one.
static double slot_deviation(const struct gpt_config *c, int slot)
{
    int last = SLOT_LAYERS + (int)c->n_layer * LAYER_WEIGHTS;
    if (slot < SLOT_LAYERS)
        return 0.02;
    if (slot >= last)
        return slot == last ? -1 : 0;
    int kind = (slot - SLOT_LAYERS) % LAYER_WEIGHTS;
    if (layer_weights[kind].is_bias)
        return 0;
    if (!layer_weights[kind].columns)
        return -1;
    bool residual = kind == WEIGHT_PROJ || kind == WEIGHT_OUT;
    return residual ? 0.02 / sqrt(2 * (double)c->n_layer) : 0.02;
}

static bool fill_weight(struct gpt *g, int slot)
{
    tensor *t = g->weights[slot];
    double deviation = slot_deviation(&g->config, slot);
    void *host = malloc((size_t)t->count * dtype_size(t->type));
    if (!host)
        return false;
    for (int64_t i = 0; i < t->count; i++) {
        double v = deviation < 0 ? 1 : deviation > 0 ? deviation * next_normal(g) : 0;
        if (t->type == DTYPE_F64)
            ((double *)host)[i] = v;
        else
            ((float *)host)[i] = (float)v;
    }
    g->ops->upload(g->ops->ctx, t, host);
    free(host);
    return true;
}

static bool make_host_arrays(struct gpt *g)
{
    size_t n = (size_t)g->slots, layers = (size_t)g->config.n_layer;
    tensor ***arrays[] = {&g->weights,        &g->gradients, &g->first_moments,
                          &g->second_moments, &g->steps,     &g->casts};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        if (!(*arrays[i] = calloc(n, sizeof(tensor *))))
            return false;
    for (size_t i = 0; i < sizeof g->listed / sizeof *g->listed; i++)
        if (!(g->listed[i] = calloc(n, sizeof(tensor *))))
            return false;
    g->decays = calloc(n, sizeof *g->decays);
    g->mask_buffers = calloc(layers, sizeof *g->mask_buffers);
    g->saved = calloc(layers, sizeof *g->saved);
    return g->decays && g->mask_buffers && g->saved;
}

// The causal mask that attention without SDPA registers in each layer; the part in use is made
// again each time.
static void make_mask_buffers(struct gpt *g)
{
    if (g->config.attention != GPT_MATRIX || g->config.mode != GPT_FRAMEWORK)
        return;
    for (int64_t layer = 0; layer < g->config.n_layer; layer++)
        g->mask_buffers[layer] =
            tensor_new(&g->pool, gpt_master_type(&g->config),
                       g->config.block_size * g->config.block_size, CATEGORY_PARAMETER);
}

enum gpt_status gpt_open(struct gpt *g, const struct gpt_config *c, const struct gpt_ops *ops,
                         struct caching_allocator *allocator, struct pool_watcher watcher)
{
    *g = (struct gpt){.config = *c,
                      .ops = ops,
                      .slots = slot_count(c),
                      .random = c->seed | 1,
                      .pool = {.allocator = allocator, .watcher = watcher},
                      .phase = "param"};
    if (!make_host_arrays(g))
        return GPT_HOST_MEMORY;
    g->pool.out_of_memory = &g->out_of_memory;
    if (setjmp(g->out_of_memory))
        return GPT_OUT_OF_MEMORY;
    for (int slot = 0; slot < g->slots; slot++) {
        int64_t size = slot_size(c, slot);
        if (!size)
            continue;
        g->weights[slot] = tensor_new(&g->pool, gpt_master_type(c), size, CATEGORY_PARAMETER);
        if (!fill_weight(g, slot))
            return GPT_HOST_MEMORY;
    }
    make_mask_buffers(g);
    return GPT_OK;
}

void gpt_close(struct gpt *g)
{
    pool_clear(&g->pool);
    tensor **arrays[] = {g->weights, g->gradients, g->first_moments, g->second_moments,
                         g->steps,   g->casts,     g->mask_buffers};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    for (size_t i = 0; i < sizeof g->listed / sizeof *g->listed; i++)
        free(g->listed[i]);
    free(g->decays);
    free(g->saved);
    *g = (struct gpt){0};
}

// setjmp's value after a jump: 1 when the device had no room, 2 when the host had none.
static enum gpt_status jumped(int value)
{
    return value == 1 ? GPT_OUT_OF_MEMORY : GPT_HOST_MEMORY;
}

// The new batch is made while the old one is still held, as the loop's assignment does it.
static void fetch_batch(struct gpt *g, gpt_batch *batch, void *ctx)
{
    int64_t n = gpt_tokens(&g->config);
    tensor *tokens = tensor_new(&g->pool, DTYPE_I64, n, CATEGORY_DATA);
    tensor *targets = tensor_new(&g->pool, DTYPE_I64, n, CATEGORY_DATA);
    tensor_drop(&g->pool, &g->tokens);
    tensor_drop(&g->pool, &g->targets);
    g->tokens = tokens;
    g->targets = targets;
    int64_t *host = malloc((size_t)n * 2 * sizeof *host);
    if (!host)
        longjmp(g->out_of_memory, 2);
    batch(ctx, g->micro_number++, host, host + n);
    g->ops->upload(g->ops->ctx, tokens, host);
    g->ops->upload(g->ops->ctx, targets, host + n);
    free(host);
}

double gpt_read_scalar(struct gpt *g, const tensor *t)
{
    double wide = 0;
    float narrow = 0;
    if (t->type == DTYPE_F64)
        g->ops->download(g->ops->ctx, &wide, t);
    else
        g->ops->download(g->ops->ctx, &narrow, t);
    return t->type == DTYPE_F64 ? wide : (double)narrow;
}

static void name_phase(struct gpt *g, const char *what, int64_t micro)
{
    if (micro < 0)
        snprintf(g->phase, sizeof g->phase, "%s:it%lld", what, (long long)g->step_number);
    else
        snprintf(g->phase, sizeof g->phase, "%s:it%lld.m%lld", what, (long long)g->step_number,
                 (long long)micro);
}

// One micro-step: forward, the next batch, backward.
static void micro_step(struct gpt *g, gpt_batch *batch, void *ctx, int64_t micro)
{
    name_phase(g, "fwd", micro);
    g->recording = true;
    gpt_forward(g);
    fetch_batch(g, batch, ctx);
    name_phase(g, "bwd", micro);
    gpt_backward(g);
}

bool gpt_is_scaled(const struct gpt_config *c)
{
    return c->train_loop && c->dtype == DTYPE_F16;
}

// torch.amp.GradScaler makes its state when it is first used.
static void make_scaler(struct gpt *g)
{
    if (!gpt_is_scaled(&g->config) || g->scale)
        return;
    g->scale = tensor_new(&g->pool, DTYPE_F32, 1, CATEGORY_OPTIMIZER);
    g->ops->fill(g->ops->ctx, g->scale, 65536);
    g->growth = tensor_new(&g->pool, DTYPE_F32, 1, CATEGORY_OPTIMIZER);
    g->ops->fill(g->ops->ctx, g->growth, 0);
}

static void first_batch(struct gpt *g, gpt_batch *batch, void *ctx)
{
    if (g->tokens)
        return;
    snprintf(g->phase, sizeof g->phase, "data");
    fetch_batch(g, batch, ctx);
}

enum gpt_status gpt_train_step(struct gpt *g, gpt_batch *batch, void *ctx, double *loss)
{
    int jump = setjmp(g->out_of_memory);
    if (jump)
        return jumped(jump);
    first_batch(g, batch, ctx);
    make_scaler(g);
    for (int64_t micro = 0; micro < g->config.accumulation; micro++)
        micro_step(g, batch, ctx, micro);
    name_phase(g, "step", -1);
    gpt_update(g);
    g->step_number++;
    if (loss)
        *loss = gpt_read_scalar(g, g->loss) * (double)g->config.accumulation;
    return GPT_OK;
}

// The training loop's variables and evaluation's own change places; a second call changes them
// back.
static void exchange(struct gpt *g)
{
    tensor **variables[4] = {&g->tokens, &g->targets, &g->logits, &g->loss};
    for (int i = 0; i < 4; i++) {
        tensor *t = *variables[i];
        *variables[i] = g->held[i];
        g->held[i] = t;
    }
}

static void end_evaluation(struct gpt *g)
{
    g->evaluating = false;
    exchange(g);
    for (int i = 0; i < 4; i++)
        tensor_drop(&g->pool, &g->held[i]);
}

enum gpt_status gpt_evaluate(struct gpt *g, int64_t batches, gpt_batch *batch, void *ctx,
                             double *loss)
{
    volatile double sum = 0;
    int jump = setjmp(g->out_of_memory);
    if (jump) {
        if (g->evaluating)
            end_evaluation(g);
        return jumped(jump);
    }
    first_batch(g, batch, ctx);
    snprintf(g->phase, sizeof g->phase, "eval");
    exchange(g);
    g->recording = false;
    g->evaluating = true;
    for (int64_t i = 0; i < batches; i++) {
        fetch_batch(g, batch, ctx);
        gpt_forward(g);
        sum = sum + gpt_read_scalar(g, g->loss) * (double)g->config.accumulation;
    }
    end_evaluation(g);
    *loss = sum / (double)batches;
    return GPT_OK;
}
