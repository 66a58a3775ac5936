// Whole training runs on the GPU compared with the CPU reference: both modes, both kinds of
// attention, every type. Their losses agree, and decrease.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/cuda/cuda_ops.h"
#include "kernels/probe/probe.h"

// A pattern that can be learned.
static void learnable(void *ctx, int64_t n, int64_t *tokens, int64_t *targets)
{
    const struct gpt_config *c = (const struct gpt_config *)ctx;
    uint64_t state = (uint64_t)n * 7919 + 17;
    for (int64_t i = 0; i < gpt_tokens(c); i++) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        tokens[i] = (int64_t)((state >> 33) % (uint64_t)c->vocab_size);
        targets[i] = (tokens[i] * 5 + 3) % c->vocab_size;
    }
}

enum { STEPS = 3 };

// Loss before the first step, then of each step.
static bool train(struct gpt_config c, const struct gpt_ops *ops, struct device_memory device,
                  double losses[STEPS + 1])
{
    struct caching_allocator *a = caching_new(device);
    struct gpt g;
    struct pool_watcher no_watcher = {NULL, NULL};
    bool good = gpt_open(&g, &c, ops, a, no_watcher) == GPT_OK &&
                gpt_evaluate(&g, 1, learnable, &c, &losses[0]) == GPT_OK;
    for (int i = 0; good && i < STEPS; i++)
        good = gpt_train_step(&g, learnable, &c, &losses[i + 1]) == GPT_OK;
    gpt_close(&g);
    good = good && caching_stats(a)->allocated == 0;
    caching_delete(a);
    return good;
}

static int compare_training(const struct cuda_ops *o, struct gpt_config c, const char *name)
{
    double wanted[STEPS + 1], got[STEPS + 1];
    char why[160];
    // On the GPU fp32 is multiplied as tf32, with as many bits as fp16, but the reference does not
    // round it.
    const double allowed = c.dtype == DTYPE_BF16 ? 4e-2 : c.dtype == DTYPE_F16 ? 5e-3 : 1e-2;
    bool good = train(c, gpt_ref_ops(), host_device_memory(), wanted) &&
                train(c, cuda_ops_table(o), cuda_device_memory(), got);
    snprintf(why, sizeof why, "it does not run");
    double off = 0;
    for (int i = 0; good && i <= STEPS; i++)
        off = fmax(off, fabs(got[i] - wanted[i]));
    for (int i = 0; good && i <= STEPS; i++)
        if (!(fabs(got[i] - wanted[i]) <= allowed)) {
            good = false;
            snprintf(why, sizeof why, "loss %d is %.6f, by the reference %.6f", i, got[i],
                     wanted[i]);
        }
    if (good && !(wanted[STEPS] < wanted[1])) {
        good = false;
        snprintf(why, sizeof why, "nothing is learned: %.6f, then %.6f", wanted[1], wanted[STEPS]);
    }
    if (good)
        printf("ok     training %s, losses within %.1e\n", name, off);
    else
        printf("not ok training %s: %s\n", name, why);
    return !good;
}

int training_check(const struct cuda_ops *o, bool has_bf16)
{
    int wrong = 0;
    const enum dtype types[] = {DTYPE_F32, DTYPE_F16, DTYPE_BF16};
    for (int i = 0; i < 12; i++) {
        struct gpt_config c;
        char name[96];
        memset(&c, 0, sizeof c);
        c.batch_size = 2;
        c.block_size = 24;
        c.seq_len = 19;
        c.n_layer = 2;
        c.n_head = 2;
        c.n_embd = 64;
        c.vocab_size = 57;
        c.accumulation = 2;
        c.dtype = types[i % 3];
        if (c.dtype == DTYPE_BF16 && !has_bf16)
            continue;
        c.mode = i / 3 % 2 ? GPT_LEAN : GPT_FRAMEWORK;
        c.attention = i / 6 % 2 ? GPT_MATRIX : GPT_TILED;
        c.bias = c.checkpointing = (i / 3 + i / 6) % 2;
        c.dropout = c.bias ? 0.1 : 0;
        c.train_loop = i % 2;
        c.lr = 1e-2;
        c.weight_decay = 0.1;
        c.seed = 42;
        snprintf(name, sizeof name, "%s %s %s%s%s", dtype_name(c.dtype),
                 c.mode == GPT_LEAN ? "lean" : "framework",
                 c.attention == GPT_MATRIX ? "matrices" : "tiled",
                 c.bias ? " bias dropout checkpointed" : "", c.train_loop ? " clipped" : "");
        wrong += compare_training(o, c, name);
    }
    return wrong;
}
