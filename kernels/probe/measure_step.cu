// Whole training steps on the GPU: their memory at the peak by category, what the allocator and
// NVML show, their time, and the largest micro-batch that trains under a cap.
#include <math.h>
#include <string.h>

#include "kernels/cuda/cuda_ops.h"
#include "kernels/probe/measure.cuh"
#include "kernels/record/sha256.h"

// The memory that cuBLAS takes in addition to the tensors, as PyTorch sizes it
// (aten/src/ATen/cuda/CublasHandlePool.cpp): one workspace for the forward thread and one for
// autograd's.
static uint64_t workspace_bytes(void)
{
    int64_t major = device_attribute(cudaDevAttrComputeCapabilityMajor);
    return major >= 9 ? (uint64_t)32 << 20 : (uint64_t)4096 * 1024 * 2 + 16 * 1024 * 8;
}

struct run {
    const struct gpt_config *config;
    struct tokens tokens;
    struct token_batches drawn;
    struct caching_allocator *allocator;
    struct caching_block *workspaces[2];
    struct cuda_ops *ops;
    struct gpt g;
    bool opened;
};

// Tokens from a counter: the same in every run, none of them zero for long, in a pattern that can
// be learned.
static void counted_batch(const struct gpt_config *c, int64_t n, int64_t *tokens, int64_t *targets)
{
    uint64_t state = (uint64_t)n * 0x9e3779b97f4a7c15ull + 1;
    for (int64_t i = 0; i < gpt_tokens(c); i++) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        tokens[i] = (int64_t)((state >> 33) % (uint64_t)c->vocab_size);
        targets[i] = (tokens[i] * 31 + 7) % c->vocab_size;
    }
}

// From the file of tokens when there is one.
static void run_batch(void *ctx, int64_t n, int64_t *tokens, int64_t *targets)
{
    struct run *r = (struct run *)ctx;
    if (r->tokens.bytes)
        tokens_batch(&r->drawn, n, tokens, targets);
    else
        counted_batch(r->config, n, tokens, targets);
}

static enum gpt_status run_open(struct run *r, const struct gpt_config *c)
{
    r->config = c;
    r->drawn.tokens = &r->tokens;
    r->drawn.config = c;
    r->allocator = caching_new(cuda_device_memory());
    if (!r->allocator)
        return GPT_HOST_MEMORY;
    for (int i = 0; i < 2; i++)
        if (!(r->workspaces[i] = caching_malloc(r->allocator, workspace_bytes())))
            return GPT_OUT_OF_MEMORY;
    r->ops = cuda_ops_new(caching_address(r->workspaces[0]), workspace_bytes());
    if (!r->ops)
        return GPT_HOST_MEMORY;
    struct pool_watcher no_watcher = {NULL, NULL};
    r->opened = true;
    return gpt_open(&r->g, c, cuda_ops_table(r->ops), r->allocator, no_watcher);
}

static void run_close(struct run *r)
{
    CUDA_CHECK(cudaDeviceSynchronize());
    if (r->opened)
        gpt_close(&r->g);
    cuda_ops_delete(r->ops);
    for (int i = 0; i < 2; i++)
        caching_free(r->allocator, r->workspaces[i]);
    caching_delete(r->allocator);
}

static const char *no_room(const struct run *r, char message[256])
{
    const struct caching_stats *s = caching_stats(r->allocator);
    snprintf(message, 256,
             "tried to allocate %llu bytes in %s; %llu bytes allocated, %llu reserved",
             (unsigned long long)r->g.pool.wanted, r->g.phase, (unsigned long long)s->allocated,
             (unsigned long long)s->reserved);
    return "oom";
}

static void put_memory(struct run *r, struct rjson *values, uint64_t first_step_peak)
{
    const struct caching_stats *s = caching_stats(r->allocator);
    char key[64];
    put_bytes(values, "peak_live_bytes", (int64_t)r->g.pool.live_peak);
    put_bytes(values, "first_step_peak_bytes", (int64_t)first_step_peak);
    put_bytes(values, "max_memory_allocated_bytes", (int64_t)s->allocated_peak);
    put_bytes(values, "max_memory_reserved_bytes", (int64_t)s->reserved_peak);
    for (int i = 0; i < CATEGORIES; i++) {
        snprintf(key, sizeof key, "at_peak_%s_bytes", category_name((enum category)i));
        put_bytes(values, key, (int64_t)r->g.pool.at_peak[i]);
    }
    double logits = (double)gpt_tokens(&r->g.config) * (double)r->g.config.vocab_size;
    rjson_set(values, "at_peak_bytes_per_logit",
              record_reading("ratio", (double)r->g.pool.at_peak[CATEGORY_LOGITS] / logits));
}

// Left out when it is not a number: a record cannot have one.
static void put_loss(struct rjson *values, const char *key, double loss)
{
    if (isfinite(loss))
        rjson_set(values, key, record_reading("ratio", loss));
}

// Whole steps by the host's clock, each ended by a synchronisation, which is short compared with a
// step. At most budget_s.
static enum gpt_status time_steps(struct run *r, struct rjson *values, double budget_s)
{
    double seconds[REPEATS], per_second[REPEATS], spent = 0, loss = 0;
    double tokens = (double)gpt_tokens(&r->g.config) * (double)r->g.config.accumulation;
    int count = 0;
    while (count < REPEATS && (count < 3 || spent < budget_s)) {
        struct timespec a, b;
        CUDA_CHECK(cudaDeviceSynchronize());
        clock_gettime(CLOCK_MONOTONIC, &a);
        enum gpt_status status = gpt_train_step(&r->g, run_batch, r, &loss);
        CUDA_CHECK(cudaDeviceSynchronize());
        clock_gettime(CLOCK_MONOTONIC, &b);
        if (status != GPT_OK)
            return status;
        seconds[count] = (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) * 1e-9;
        per_second[count] = tokens / seconds[count];
        spent += seconds[count++];
    }
    rjson_set(values, "step_s", record_samples("s", seconds, count));
    rjson_set(values, "tokens_per_s", record_samples("tokens/s", per_second, count));
    put_loss(values, "loss_last", loss);
    return GPT_OK;
}

// As train.py does before its first step: two splits, here of two batches each. The peak is of
// tensors alone.
static enum gpt_status evaluate(struct run *r, struct rjson *values)
{
    double loss;
    enum gpt_status status = gpt_evaluate(&r->g, 4, run_batch, r, &loss);
    if (status != GPT_OK)
        return status;
    put_bytes(values, "eval_peak_bytes", (int64_t)r->g.pool.live_peak);
    put_loss(values, "loss_before", loss);
    pool_reset_peak(&r->g.pool);
    return GPT_OK;
}

static enum gpt_status steps(struct run *r, struct nvml *nvml, struct rjson *values, bool evaluates)
{
    double loss;
    enum gpt_status status = evaluates ? evaluate(r, values) : GPT_OK;
    if (status == GPT_OK)
        status = gpt_train_step(&r->g, run_batch, r, &loss);
    if (status != GPT_OK)
        return status;
    put_loss(values, "loss_first", loss);
    uint64_t first_step_peak = r->g.pool.live_peak;
    for (int i = 0; i < 2; i++)
        if ((status = gpt_train_step(&r->g, run_batch, r, NULL)) != GPT_OK)
            return status;
    put_memory(r, values, first_step_peak);
    status = time_steps(r, values, 5);
    const char *method = "";
    put_bytes(values, "process_bytes", nvml_process_bytes(nvml, &method));
    rjson_set(values, "process_method", record_text(method));
    return status;
}

// Does nothing without a file. Returns false with the reason in message.
static bool open_tokens(struct tokens *t, const struct settings *s, const struct gpt_config *c,
                        struct rjson *values, char message[256])
{
    char digest[65];
    if (!*s->tokens)
        return true;
    if (!tokens_open(t, s->tokens, message, 256))
        return false;
    sha256_hex(t->bytes, (size_t)t->count * 2, digest);
    rjson_set(values, "tokens_sha256", record_text(digest));
    rjson_set(values, "tokens_in_file", record_reading("count", (double)t->count));
    const char *wrong = tokens_misfit(t, c);
    if (wrong)
        snprintf(message, 256, "%s", wrong);
    return !wrong;
}

const char *measure_step(const struct settings *s, struct nvml *nvml, struct rjson *values,
                         char message[256])
{
    struct gpt_config c;
    const char *wrong = settings_gpt(s, &c), *method = "";
    if (wrong) {
        snprintf(message, 256, "%s", wrong);
        return "failed";
    }
    struct run r;
    memset(&r, 0, sizeof r);
    if (!open_tokens(&r.tokens, s, &c, values, message))
        return "failed";
    CUDA_CHECK(cudaFree(0));
    put_bytes(values, "context_bytes", nvml_process_bytes(nvml, &method));
    enum gpt_status status = run_open(&r, &c);
    if (status == GPT_OK)
        status =
            steps(&r, nvml, values, strcmp(settings_text(s, "evaluation", "false"), "true") == 0);
    const char *out = status == GPT_OK              ? "ok"
                      : status == GPT_OUT_OF_MEMORY ? no_room(&r, message)
                                                    : "failed";
    run_close(&r);
    tokens_close(&r.tokens);
    return out;
}

static enum gpt_status train_two_steps(struct run *r, const struct gpt_config *c)
{
    enum gpt_status status = run_open(r, c);
    for (int i = 0; status == GPT_OK && i < 2; i++)
        status = gpt_train_step(&r->g, run_batch, r, NULL);
    CUDA_CHECK(cudaDeviceSynchronize());
    return status;
}

// One batch size, given as try, next to a ballast that takes the memory that a card of cap_mib does
// not have; this process's context counts as that card's.
static const char *try_batch(const struct settings *s, struct nvml *nvml, struct rjson *values,
                             char message[256])
{
    struct gpt_config c;
    const char *wrong = settings_gpt(s, &c), *method = "";
    size_t free_bytes, total;
    CUDA_CHECK(cudaFree(0));
    CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total));
    int64_t context = nvml_process_bytes(nvml, &method), cap = settings_int(s, "cap_mib", 12282)
                                                               << 20;
    int64_t room = cap - (context > 0 ? context : 0), ballast = (int64_t)free_bytes - room;
    if (wrong || room <= 0 || ballast < 0) {
        snprintf(message, 256, "%s",
                 wrong ? wrong : "the card has no more memory than the cap leaves");
        return wrong ? "failed" : "skipped";
    }
    void *weight = NULL;
    if (ballast > 0)
        CUDA_CHECK(cudaMalloc(&weight, (size_t)ballast));
    put_bytes(values, "cap_bytes", cap);
    put_bytes(values, "ballast_bytes", ballast);
    put_bytes(values, "context_bytes", context);
    struct run r;
    memset(&r, 0, sizeof r);
    c.batch_size = settings_int(s, "try", 1);
    enum gpt_status status = train_two_steps(&r, &c);
    const char *out = status == GPT_OK              ? "ok"
                      : status == GPT_OUT_OF_MEMORY ? no_room(&r, message)
                                                    : "failed";
    run_close(&r);
    CUDA_CHECK(cudaFree(weight));
    return out;
}

// A search for the largest batch size that trains. Each try is a process of its own: when memory is
// nearly full a library may fail instead of reporting that there is no room; that counts as no
// room.
struct search {
    const struct settings *settings;
    struct rjson *values;  // of the largest that trained
    int64_t good, bad, tries;
};

// Returns false when no try can be made here at all, with the reason in message.
static bool try_size(struct search *search, int64_t size, char message[256])
{
    struct settings s = *search->settings;
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)size);
    settings_put(&s, "try", text);
    struct rjson *r = runs_child("max_batch", &s);
    const char *status = rjson_text(rjson_get(r, "status"));
    bool good = strcmp(status, "ok") == 0, skipped = strcmp(status, "skipped") == 0;
    search->tries++;
    *(good ? &search->good : &search->bad) = size;
    if (skipped)
        snprintf(message, 256, "%s", rjson_text(rjson_get(r, "message")));
    for (const struct rjson *v = good ? rjson_get(r, "values")->first : NULL; v; v = v->next)
        if (!rjson_get(search->values, v->key))
            rjson_set(search->values, v->key, rjson_copy(v));
    rjson_free(r);
    return !skipped;
}

// Doubles the size until it fails, then bisects.
const char *measure_max_batch(const struct settings *s, struct nvml *nvml, struct rjson *values,
                              char message[256])
{
    if (settings_int(s, "try", 0) > 0)
        return try_batch(s, nvml, values, message);
    struct gpt_config c;
    const char *wrong = settings_gpt(s, &c);
    if (wrong) {
        snprintf(message, 256, "%s", wrong);
        return "failed";
    }
    struct search search = {s, values, 0, 0, 0};
    for (int64_t size = 1; !search.bad && size <= 4096; size *= 2)
        if (!try_size(&search, size, message))
            return "skipped";
    while (search.bad - search.good > 1)
        if (!try_size(&search, (search.good + search.bad) / 2, message))
            return "skipped";
    rjson_set(values, "max_batch_size", record_reading("count", (double)search.good));
    rjson_set(values, "tries", record_reading("count", (double)search.tries));
    return "ok";
}
