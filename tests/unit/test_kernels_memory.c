// The probe's allocator and its step in framework mode against the reference traces: no GPU, no
// arithmetic.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/record/rjson.h"
#include "kernels/step/gpt.h"

#define TRUTH "tests/calc/truth/"

struct line {
    bool is_free;
    long id;
    uint64_t bytes;
    char operation[48], phase[24];
};

struct trace {
    struct line *lines;
    size_t count;
};

static struct trace read_trace(const char *name)
{
    char command[256], text[256];
    snprintf(command, sizeof command, "gzip -dc " TRUTH "%s", name);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    struct trace t = {0};
    size_t capacity = 0;
    while (fgets(text, sizeof text, f)) {
        if (t.count == capacity) {
            capacity = capacity ? 2 * capacity : 1024;
            t.lines = realloc(t.lines, capacity * sizeof *t.lines);
            assert_non_null(t.lines);
        }
        struct line *l = &t.lines[t.count++];
        *l = (struct line){.is_free = text[0] == 'f'};
        if (l->is_free)
            assert_int_equal(sscanf(text, "f %ld", &l->id), 1);
        else
            assert_int_equal(
                sscanf(text, "a %ld %lu %47s %23s", &l->id, &l->bytes, l->operation, l->phase), 4);
    }
    assert_int_equal(pclose(f), 0);
    assert_true(t.count > 1000);
    return t;
}

static struct rjson *read_list(const char *path)
{
    char error[200];
    struct rjson *all = rjson_read_file(path, error, sizeof error);
    if (!all)
        fail_msg("%s: %s", path, error);
    return all;
}

static uint64_t get_u64(const struct rjson *object, const char *key)
{
    const struct rjson *v = rjson_get(object, key);
    assert_non_null(v);
    return (uint64_t)v->integer;
}

// Replays a trace; the cuBLAS workspace comes before the first matmul, as in the reference.
static void replay(const struct rjson *wanted)
{
    struct trace t = read_trace(rjson_text(rjson_get(wanted, "trace")));
    struct dry_device device = {0};
    struct caching_allocator *a = caching_new(dry_device_memory(&device));
    struct caching_block **blocks = calloc(t.count + 2, sizeof *blocks);
    struct caching_block *workspace = NULL;
    for (size_t i = 0; i < t.count; i++) {
        struct line *l = &t.lines[i];
        if (l->is_free) {
            caching_free(a, blocks[l->id]);
            continue;
        }
        if (!workspace && strstr(l->operation, "mm"))
            workspace = caching_malloc(a, get_u64(wanted, "workspace_bytes"));
        blocks[l->id] = caching_malloc(a, l->bytes);
        assert_non_null(blocks[l->id]);
    }
    const struct caching_stats *s = caching_stats(a);
    assert_int_equal(s->requested_peak, get_u64(wanted, "requested_peak_bytes"));
    assert_int_equal(s->allocated_peak, get_u64(wanted, "allocated_peak_bytes"));
    assert_int_equal(s->reserved_peak, get_u64(wanted, "reserved_peak_bytes"));
    assert_int_equal(s->segments, get_u64(wanted, "segments"));
    free(blocks);
    free(t.lines);
    caching_delete(a);
    assert_int_equal(device.used, 0);  // what was still held has been given back too
}

static void allocator_matches_reference(void **state)
{
    (void)state;
    struct rjson *all = read_list(TRUTH "allocator.json");
    int count = 0;
    for (const struct rjson *wanted = all->first; wanted; wanted = wanted->next, count++)
        replay(wanted);
    assert_true(count >= 5);
    rjson_free(all);
}

static void allocator_gives_cached_segments_back(void **state)
{
    (void)state;
    struct dry_device device = {.limit = 64 << 20};
    struct caching_allocator *a = caching_new(dry_device_memory(&device));
    struct caching_block *first = caching_malloc(a, 40 << 20);
    assert_non_null(first);
    assert_null(caching_malloc(a, 40 << 20));
    caching_free(a, first);
    assert_int_equal(caching_stats(a)->reserved, 40 << 20);
    struct caching_block *larger = caching_malloc(a, 60 << 20);
    assert_non_null(larger);
    assert_int_equal(caching_stats(a)->reserved, 60 << 20);
    assert_int_equal(caching_stats(a)->retries, 2);
    caching_free(a, larger);
    caching_delete(a);
    assert_int_equal(device.used, 0);
}

// Holds a run's events against a trace: allocations in order by bytes and phase, frees between two
// as sets.
struct follower {
    struct trace *trace;
    size_t at;
    const struct gpt *g;
    long *number_to_id;
    long freed[4096];
    size_t freed_count;
};

static int by_number(const void *a, const void *b)
{
    long x = *(const long *)a, y = *(const long *)b;
    return (x > y) - (x < y);
}

static void compare_frees(struct follower *f)
{
    long wanted[4096];
    size_t n = 0;
    while (f->at < f->trace->count && f->trace->lines[f->at].is_free)
        wanted[n++] = f->trace->lines[f->at++].id;
    qsort(wanted, n, sizeof *wanted, by_number);
    qsort(f->freed, f->freed_count, sizeof *f->freed, by_number);
    assert_int_equal(f->freed_count, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(f->freed[i], wanted[i]);
    f->freed_count = 0;
}

static const char *wanted_phase(const struct line *l)
{
    return strcmp(l->phase, "params") == 0 ? "param" : l->phase;
}

static void follow(void *ctx, const struct tensor *made, const struct tensor *freed)
{
    struct follower *f = ctx;
    if (freed) {
        f->freed[f->freed_count++] = f->number_to_id[freed->number];
        return;
    }
    if (f->at == f->trace->count)
        return;
    compare_frees(f);
    if (f->at == f->trace->count)
        return;
    const struct line *l = &f->trace->lines[f->at++];
    f->number_to_id[made->number] = l->id;
    assert_int_equal((uint64_t)made->count * dtype_size(made->type), l->bytes);
    // A batch is fetched between forward and backward; the reference counts it to either.
    if (strcmp(l->operation, "X") != 0 && strcmp(l->operation, "Y") != 0)
        assert_string_equal(f->g->phase, wanted_phase(l));
}

static void no_batch(void *ctx, int64_t n, int64_t *tokens, int64_t *targets)
{
    (void)ctx;
    (void)n;
    (void)tokens;
    (void)targets;
}

static struct gpt_config small(void)
{
    return (struct gpt_config){.batch_size = 16,
                               .block_size = 512,
                               .seq_len = 512,
                               .n_layer = 6,
                               .n_head = 6,
                               .n_embd = 384,
                               .vocab_size = 50304,
                               .accumulation = 2,
                               .dtype = DTYPE_F16};
}

static void step_follows(const char *name, struct gpt_config c)
{
    struct trace t = read_trace(name);
    struct gpt g;
    struct follower f = {.trace = &t, .g = &g, .number_to_id = calloc(t.count + 2, sizeof(long))};
    struct dry_device device = {0};
    struct caching_allocator *a = caching_new(dry_device_memory(&device));
    assert_int_equal(gpt_open(&g, &c, gpt_dry_ops(), a, (struct pool_watcher){follow, &f}), GPT_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(gpt_train_step(&g, no_batch, NULL, NULL), GPT_OK);
    compare_frees(&f);
    assert_int_equal(f.at, t.count);
    g.pool.watcher.event = NULL;
    gpt_close(&g);
    caching_delete(a);
    free(f.number_to_id);
    free(t.lines);
}

static void step_follows_traces(void **state)
{
    (void)state;
    struct gpt_config c = small();
    step_follows("trace_rtx4070_fp16.txt.gz", c);
    c.vocab_size = 256;
    step_follows("trace_rtx4070_V256.txt.gz", c);
    c = (struct gpt_config){.block_size = 1024,
                            .seq_len = 1024,
                            .n_layer = 12,
                            .n_head = 12,
                            .n_embd = 768,
                            .vocab_size = 50304,
                            .accumulation = 2,
                            .dtype = DTYPE_F16};
    const int64_t batches[] = {16, 4, 1};
    const char *names[] = {"trace_oom_gpt2_B16.txt.gz", "trace_gpt2_B4.txt.gz",
                           "trace_gpt2_B1.txt.gz"};
    for (int i = 0; i < 3; i++) {
        c.batch_size = batches[i];
        step_follows(names[i], c);
    }
}

static bool has_text(const struct rjson *row, const char *key, const char *text)
{
    return strcmp(rjson_text(rjson_get(row, key)), text) == 0;
}

static struct gpt_config config_of(const struct rjson *row)
{
    struct gpt_config c = {.batch_size = (int64_t)get_u64(row, "batch_size"),
                           .block_size = (int64_t)get_u64(row, "block_size"),
                           .seq_len = (int64_t)get_u64(row, "seq_len"),
                           .n_layer = (int64_t)get_u64(row, "n_layer"),
                           .n_head = (int64_t)get_u64(row, "n_head"),
                           .n_embd = (int64_t)get_u64(row, "n_embd"),
                           .vocab_size = (int64_t)get_u64(row, "vocab_size"),
                           .dropout = rjson_number(rjson_get(row, "dropout")),
                           .accumulation = (int64_t)get_u64(row, "gradient_accumulation_steps"),
                           .bias = rjson_get(row, "bias")->truth,
                           .checkpointing = has_text(row, "checkpointing", "block"),
                           .split_adamw = has_text(row, "optimizer", "adamw_foreach"),
                           .attention = has_text(row, "attention", "math") ? GPT_MATRIX : GPT_TILED,
                           .dtype = has_text(row, "dtype", "float32")   ? DTYPE_F32
                                    : has_text(row, "dtype", "float16") ? DTYPE_F16
                                                                        : DTYPE_BF16};
    return c;
}

// Parameters and the peak of live bytes of every reference config.
static void step_peaks_match(void **state)
{
    (void)state;
    struct rjson *all = read_list(TRUTH "nanogpt.json");
    int wrong = 0, count = 0;
    for (const struct rjson *row = all->first; row; row = row->next, count++) {
        struct gpt_config c = config_of(row);
        struct dry_device device = {0};
        struct caching_allocator *a = caching_new(dry_device_memory(&device));
        struct gpt g;
        assert_int_equal(gpt_parameter_count(&c), get_u64(row, "params"));
        assert_int_equal(gpt_open(&g, &c, gpt_dry_ops(), a, (struct pool_watcher){0}), GPT_OK);
        for (int step = 0; step < 2; step++)
            assert_int_equal(gpt_train_step(&g, no_batch, NULL, NULL), GPT_OK);
        long long off = (long long)g.pool.live_peak - (long long)get_u64(row, "peak_live_bytes");
        if (off != 0)
            print_message("%s: %lld bytes off\n", rjson_text(rjson_get(row, "name")), off);
        wrong += off != 0;
        gpt_close(&g);
        caching_delete(a);
    }
    rjson_free(all);
    assert_true(count >= 23);
    assert_int_equal(wrong, 0);
}

static void lean_takes_less(void **state)
{
    (void)state;
    uint64_t peaks[2];
    for (int mode = 0; mode < 2; mode++) {
        struct gpt_config c = small();
        c.mode = mode;
        struct dry_device device = {0};
        struct caching_allocator *a = caching_new(dry_device_memory(&device));
        struct gpt g;
        assert_int_equal(gpt_open(&g, &c, gpt_dry_ops(), a, (struct pool_watcher){0}), GPT_OK);
        for (int step = 0; step < 2; step++)
            assert_int_equal(gpt_train_step(&g, no_batch, NULL, NULL), GPT_OK);
        peaks[mode] = g.pool.live_peak;
        gpt_close(&g);
        assert_int_equal(caching_stats(a)->allocated, 0);
        caching_delete(a);
    }
    print_message("peak: framework %lu MiB, lean %lu MiB\n", peaks[0] >> 20, peaks[1] >> 20);
    assert_true(peaks[1] * 4 < peaks[0]);
}

// What the host has to wait for, counted around operations that do nothing.
struct waits {
    int downloads, synchronizations;
    struct gpt_ops ops;
};

static void counted_download(void *ctx, void *host, const tensor *in)
{
    ((struct waits *)ctx)->downloads++;
    memset(host, 0, (size_t)in->count * dtype_size(in->type));
}

static void counted_synchronize(void *ctx)
{
    ((struct waits *)ctx)->synchronizations++;
}

// A step reads nothing back but the loss, once, however many micro-steps it has; foreach AdamW in
// fp16 reads whether a gradient was not finite, as GradScaler does.
static void step_does_not_wait(void **state)
{
    (void)state;
    for (int variant = 0; variant < 8; variant++) {
        struct gpt_config c = small();
        c.vocab_size = 512;
        c.n_layer = 2;
        c.accumulation = 5;
        c.train_loop = true;
        c.dtype = variant & 1 ? DTYPE_BF16 : DTYPE_F16;
        c.mode = variant & 2 ? GPT_LEAN : GPT_FRAMEWORK;
        c.split_adamw = variant & 4;
        struct waits w = {.ops = *gpt_dry_ops()};
        w.ops.ctx = &w;
        w.ops.download = counted_download;
        w.ops.synchronize = counted_synchronize;
        struct dry_device device = {0};
        struct caching_allocator *a = caching_new(dry_device_memory(&device));
        struct gpt g;
        double loss;
        int looks = c.split_adamw && c.dtype == DTYPE_F16;
        assert_int_equal(gpt_open(&g, &c, &w.ops, a, (struct pool_watcher){0}), GPT_OK);
        assert_int_equal(gpt_train_step(&g, no_batch, NULL, NULL), GPT_OK);
        assert_int_equal(w.downloads, looks);
        assert_int_equal(gpt_train_step(&g, no_batch, NULL, &loss), GPT_OK);
        assert_int_equal(w.downloads, 2 * looks + 1);
        assert_int_equal(w.synchronizations, 0);
        gpt_close(&g);
        caching_delete(a);
    }
}

// Evaluation's peak is at the loss: old and new logits, log-probabilities and their fp32 copy, 10
// bytes a logit; besides the weights and their casts, the residual stream's end and the token and
// position parts that forward still names.
static void evaluation_peak_matches(void **state)
{
    (void)state;
    const int64_t batches[] = {16, 8};
    for (int i = 0; i < 2; i++) {
        struct gpt_config c = small();
        c.batch_size = batches[i];
        uint64_t N = (uint64_t)gpt_tokens(&c), U = N * 384, V = 50304, T = 512, C = 384,
                 P = gpt_parameter_count(&c);
        struct dry_device device = {0};
        struct caching_allocator *a = caching_new(dry_device_memory(&device));
        struct gpt g;
        double loss;
        assert_int_equal(gpt_open(&g, &c, gpt_dry_ops(), a, (struct pool_watcher){0}), GPT_OK);
        assert_int_equal(gpt_evaluate(&g, 3, no_batch, NULL, &loss), GPT_OK);
        uint64_t casts = 2 * (12 * 6 * C * C + V * C), batch = 2 * 16 * N, scalars = 3 * 4;
        assert_int_equal(g.pool.live_peak, 4 * P + casts + 10 * N * V + 4 * U + 4 * U + 4 * T * C +
                                               8 * T + batch + scalars);
        assert_int_equal(g.pool.live, 4 * P + 16 * N);  // nothing stays but the first batch
        gpt_close(&g);
        caching_delete(a);
    }
}

// Wherever memory ends, the step says so, and closing it leaves nothing behind.
static void memory_may_end_anywhere(void **state)
{
    (void)state;
    struct gpt_config c = small();
    c.n_layer = 2;
    c.vocab_size = 512;
    int ended = 0, ran = 0;
    for (uint64_t limit = 20; limit < 420; limit += 7) {
        struct dry_device device = {.limit = limit << 20};
        struct caching_allocator *a = caching_new(dry_device_memory(&device));
        struct gpt g;
        enum gpt_status status = gpt_open(&g, &c, gpt_dry_ops(), a, (struct pool_watcher){0});
        if (status == GPT_OK)
            status = gpt_train_step(&g, no_batch, NULL, NULL);
        if (status == GPT_OUT_OF_MEMORY)
            assert_true(g.pool.wanted > 0);
        ended += status == GPT_OUT_OF_MEMORY;
        ran += status == GPT_OK;
        gpt_close(&g);
        assert_int_equal(caching_stats(a)->allocated, 0);
        caching_delete(a);
        assert_int_equal(device.used, 0);
    }
    assert_true(ended > 10 && ran > 3);
}

// An evaluation that finds no room leaves the training loop's variables as they were, and dropout
// on.
static void evaluation_may_end_anywhere(void **state)
{
    (void)state;
    struct gpt_config c = small();
    c.n_layer = 2;
    c.vocab_size = 512;
    int ended = 0;
    for (uint64_t limit = 20; limit < 420; limit += 7) {
        struct dry_device device = {.limit = limit << 20};
        struct caching_allocator *a = caching_new(dry_device_memory(&device));
        struct gpt g;
        double loss;
        if (gpt_open(&g, &c, gpt_dry_ops(), a, (struct pool_watcher){0}) == GPT_OK) {
            enum gpt_status status = gpt_evaluate(&g, 2, no_batch, NULL, &loss);
            struct tensor *tokens = g.tokens;
            assert_false(g.evaluating);
            assert_null(g.logits);
            for (int i = 0; i < 4; i++)
                assert_null(g.held[i]);
            device.limit = 0;
            assert_int_equal(gpt_evaluate(&g, 2, no_batch, NULL, &loss), GPT_OK);
            assert_true(!tokens || g.tokens == tokens);
            ended += status == GPT_OUT_OF_MEMORY && tokens;
        }
        gpt_close(&g);
        assert_int_equal(caching_stats(a)->allocated, 0);
        caching_delete(a);
    }
    assert_true(ended > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocator_matches_reference),
        cmocka_unit_test(allocator_gives_cached_segments_back),
        cmocka_unit_test(step_follows_traces),
        cmocka_unit_test(step_peaks_match),
        cmocka_unit_test(lean_takes_less),
        cmocka_unit_test(step_does_not_wait),
        cmocka_unit_test(evaluation_peak_matches),
        cmocka_unit_test(memory_may_end_anywhere),
        cmocka_unit_test(evaluation_may_end_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
