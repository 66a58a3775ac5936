// How fast the estimator is: estimates a second, live peaks a second, max-batch, advise, the
// allocator alone.
//
// The heap is as vramcalc has it. Prints one line for each: name, figure, unit, limit. Ends with 1
// when a limit is missed. Time is the processor's, and the best of several rounds counts, because
// other programs on the machine only ever make it slower.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "calc/cli/cli_heap.h"
#include "calc/replay/allocator.h"
#include "calc/vram.h"
#include "tests/unit/calc_answers.h"

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void need(vram *v, int code, const char *what)
{
    if (code == VRAM_OK)
        return;
    fprintf(stderr, "bench_calc: %s: %s\n", what, vram_error(v)->text);
    exit(2);
}

enum { ROUNDS = 5 };

// One measured thing: run(v, i) is called n times a round, i counts on, so that no two are the
// same.
struct measure {
    const char *name, *config;
    void (*run)(vram *v, unsigned i);
    unsigned n;
    const char *unit;
    double limit;  // calls a second at least, or milliseconds a call at most
    bool is_rate;
};

static void run_estimate(vram *v, unsigned i)
{
    vram_set_u64(v, "batch_size", 1 + i % 16);
    need(v, vram_run(v), "estimate");
}

static void run_live_peak(vram *v, unsigned i)
{
    uint64_t bytes;
    vram_set_u64(v, "batch_size", 1 + i % 64);
    need(v, vram_live_peak(v, &bytes), "live peak");
}

static void run_max_batch(vram *v, unsigned i)
{
    uint64_t batch;
    vram_set_u64(v, "batch_size", 1 + i % 64);
    need(v, write_max_batch(v, &batch, VRAM_FORMAT_JSON), "max-batch");
}

static void run_advise(vram *v, unsigned i)
{
    vram_set_u64(v, "batch_size", 12 + i % 4);
    need(v, write_advice(v, VRAM_FORMAT_JSON), "advise");
}

static void run_report(vram *v, unsigned i)
{
    run_estimate(v, i);
    need(v, write_report(v, VRAM_FORMAT_JSON), "report");
}

static vram *open_with(const char *config)
{
    struct vram_mem heap = vram_mem_malloc();
    vram *v = vram_new(&heap);
    if (!v)
        exit(2);
    need(v, parse_text(v, VRAM_KIND_FLAT, config, strlen(config), "bench"), "config");
    return v;
}

static double best_seconds(vram *v, const struct measure *m)
{
    double best = 1e9;
    m->run(v, 0);
    for (int round = 0; round < ROUNDS; round++) {
        double start = seconds();
        for (unsigned i = 0; i < m->n; i++)
            m->run(v, i + 1);
        double took = (seconds() - start) / m->n;
        best = took < best ? took : best;
    }
    return best;
}

static bool measure(const struct measure *m)
{
    vram *v = open_with(m->config);
    double each = best_seconds(v, m), figure = m->is_rate ? 1 / each : each * 1e3;
    bool good = m->limit <= 0 || (m->is_rate ? figure >= m->limit : figure <= m->limit);
    printf("%-34s %12.1f %-12s", m->name, figure, m->unit);
    if (m->limit > 0)
        printf(" limit %.0f%s", m->limit, good ? "" : "  MISSED");
    printf("\n");
    vram_free(v);
    return good;
}

// ---- the allocator alone, on the events of an estimate -----------------------------------------

struct step {
    uint64_t bytes;
    uint32_t id;
    bool is_free;
};

struct steps {
    struct step *at;
    size_t count, cap;
};

static int collect(void *ctx, const struct vram_event *e)
{
    struct steps *s = ctx;
    if (s->count == s->cap) {
        s->cap = s->cap ? s->cap * 2 : 4096;
        s->at = realloc(s->at, s->cap * sizeof *s->at);
        if (!s->at)
            exit(2);
    }
    s->at[s->count++] = (struct step){e->bytes, (uint32_t)e->id, e->is_free};
    return 0;
}

static void play(struct allocator *a, const struct steps *s, uint32_t *blocks)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct step *e = &s->at[i];
        if (e->is_free)
            allocator_free(a, blocks[e->id]);
        else if (allocator_malloc(a, e->bytes, &blocks[e->id]))
            exit(2);
    }
}

static void measure_allocator(const char *config)
{
    struct vram_mem heap = vram_mem_malloc();
    struct steps s = {0};
    vram *v = open_with(config);
    need(v, vram_trace(v, collect, &s), "trace");
    uint32_t *blocks = calloc(s.count, sizeof *blocks);
    struct allocator_config defaults = {0};
    struct allocator a;
    allocator_init(&a, &heap, &defaults);
    double best = 1e9;
    for (int round = 0; round < 200; round++) {
        allocator_reset(&a, &defaults);
        double start = seconds();
        play(&a, &s, blocks);
        double took = (seconds() - start) / (double)s.count;
        best = took < best ? took : best;
    }
    printf("%-34s %12zu %-12s\n", "events of a GPT-2 estimate", s.count, "events");
    printf("%-34s %12.1f %-12s\n", "allocator, malloc or free", best * 1e9, "ns");
    allocator_done(&a);
    free(blocks);
    free(s.at);
    vram_free(v);
}

// Every preset on a small, a middle and a large card: the slowest, and how many are above the
// limit. The worst cases are large models for which nothing is enough, because then every change is
// tried on top of the others.
enum { ADVICE_ROUNDS = 3 };

static double advice_ms(const char *preset, const char *gpu)
{
    char config[128];
    double best = 1e9;
    snprintf(config, sizeof config, "preset = %s\ngpu = %s\n", preset, gpu);
    for (int round = 0; round < ADVICE_ROUNDS; round++) {
        vram *v = open_with(config);
        double start = seconds();
        need(v, write_advice(v, VRAM_FORMAT_JSON), preset);
        double took = (seconds() - start) * 1e3;
        best = took < best ? took : best;
        vram_free(v);
    }
    return best;
}

static void measure_all_advice(double limit)
{
    static const char *const cards[] = {"RTX 4070", "RTX 4090", "H100 SXM"};
    char *names, *preset, worst[64] = "";
    double slowest = 0;
    unsigned count = 0, above = 0;
    vram *v = open_with("");
    need(v, vram_write(v, VRAM_ANSWER_PRESETS, VRAM_FORMAT_CSV, 0), "presets");
    names = strdup(vram_text(v, NULL));
    vram_free(v);
    char *rest = strchr(names, '\n');
    while (rest && *(preset = rest + 1)) {
        rest = strchr(preset, '\n');
        preset[strcspn(preset, ",\n")] = 0;
        for (size_t i = 0; i < sizeof cards / sizeof *cards; i++) {
            double ms = advice_ms(preset, cards[i]);
            count++;
            above += ms > limit;
            if (ms > slowest) {
                slowest = ms;
                snprintf(worst, sizeof worst, "%s on %s", preset, cards[i]);
            }
        }
    }
    printf("%-34s %12.1f %-12s %s; %u of %u above %.0f ms\n", "advise, slowest of all presets",
           slowest, "ms", worst, above, count, limit);
    free(names);
}

#define GPT2 "preset = gpt2\nmode = reference\n"
#define CARD "preset = gpt2\nbatch_size = 12\ngpu = RTX 4070\n"

int main(void)
{
    static const struct measure measures[] = {
        {"estimate, GPT-2 124M", GPT2, run_estimate, 400, "a second", 5000, true},
        {"estimate and JSON", GPT2, run_report, 400, "a second", 0, true},
        {"estimate of a whole process", "preset = gpt2\n", run_estimate, 200, "a second", 0, true},
        {"estimate, checkpointed", GPT2 "checkpointing = block\n", run_estimate, 200, "a second", 0,
         true},
        {"estimate, compiled", "preset = gpt2\ncompile = 2.5\n", run_estimate, 200, "a second", 0,
         true},
        {"live peak", GPT2, run_live_peak, 20000, "a second", 100000, true},
        {"max-batch", CARD, run_max_batch, 20, "ms", 20, false},
        {"advise", CARD, run_advise, 10, "ms", 20, false},
    };
    bool good = true;
    cli_keep_freed();
    measure_allocator(GPT2);
    for (size_t i = 0; i < sizeof measures / sizeof *measures; i++)
        good = measure(&measures[i]) && good;
    measure_all_advice(20);
    return good ? 0 : 1;
}
