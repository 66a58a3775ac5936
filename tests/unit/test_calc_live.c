// Three ways to the same numbers, on thousands of random configurations: the peak by the reels'
// rises, the peak by playing them, and playing tapes on which every layer is written out.

#include "calc/replay/run.h"
#include "tests/unit/calc_random.h"

static void test_rises(void **state)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    uint64_t seed = 1, peak, refused = 0, runs = 4000;
    (void)state;
    for (uint64_t i = 0; i < runs; i++) {
        set_random(v, &seed);
        int rc = vram_run(v);
        if (rc == VRAM_EUNSUPPORTED || rc == VRAM_EMODEL) {
            refused++;
            continue;
        }
        if (rc != VRAM_OK)
            fail_msg("run %llu: %s", (unsigned long long)i, vram_error(v)->text);
        assert_int_equal(vram_live_peak(v, &peak), VRAM_OK);
        if (peak != vram_result(v)->peak_live.bytes)
            fail_msg("run %llu: %llu by rises, %llu by playing", (unsigned long long)i,
                     (unsigned long long)peak, (unsigned long long)vram_result(v)->peak_live.bytes);
    }
    assert_true(refused < runs * 2 / 5);  // by operations no pipeline, no experts, no ZeRO-3
    close_vram(v, &h);
}

// The result's lines and categories add up to the peak, in every mode.
static void test_sums(void **state)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    uint64_t seed = 7;
    (void)state;
    for (int i = 0; i < 500; i++) {
        set_random(v, &seed);
        if (vram_run(v) != VRAM_OK)
            continue;
        const struct vram_result *r = vram_result(v);
        uint64_t lines = 0, categories = 0;
        for (size_t k = 0; k < r->at_peak_count; k++) {
            assert_true(r->at_peak[k].bytes > 0 && r->at_peak[k].count > 0 &&
                        r->at_peak[k].count < 10000);
            lines += r->at_peak[k].bytes;
        }
        for (size_t k = 0; k < VRAM_CAT_COUNT; k++)
            categories += r->by_category[k];
        assert_int_equal(lines, r->peak_live.bytes);
        assert_int_equal(categories, r->peak_live.bytes);
    }
    close_vram(v, &h);
}

struct digest {
    uint64_t sum, count;
};

// Order, bytes, layer and name of every event.
static int digest_event(void *ctx, const struct vram_event *e)
{
    struct digest *d = ctx;
    uint64_t word = e->bytes * 31 + (uint64_t)e->block * 7 + e->id * 2 + e->is_free +
                    (uint64_t)(uintptr_t)e->name;
    d->sum = (d->sum ^ word) * 1099511628211u;
    d->count++;
    return 0;
}

static struct digest digest_of(vram *v, bool whole)
{
    struct digest d = {0};
    if (vram_run(v) != VRAM_OK)
        return d;
    for (unsigned i = 0; i < ENGINE_REELS; i++)
        engine_in(v)->reels[i].whole = whole;
    engine_in(v)->set->used = engine_in(v)->has_run = false;
    assert_int_equal(vram_trace(v, digest_event, &d), VRAM_OK);
    for (unsigned i = 0; i < ENGINE_REELS; i++)
        engine_in(v)->reels[i].whole = false;
    engine_in(v)->set->used = engine_in(v)->has_run = false;
    return d;
}

static void test_layers_written_out(void **state)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    uint64_t seed = 3, repeated = 0, runs = 0;
    (void)state;
    for (int i = 0; i < 1000; i++) {
        set_random(v, &seed);
        set_number(v, "n_layer", between(&seed, 4, 12));
        struct digest folded = digest_of(v, false);
        if (folded.count == 0)
            continue;
        runs++;
        repeated += engine_in(v)->reels[ENGINE_NEXT].tape.repeats;
        struct digest whole = digest_of(v, true);
        assert_int_equal(folded.count, whole.count);
        assert_int_equal(folded.sum, whole.sum);
    }
    assert_true(runs > 500);
    printf("%llu of %llu tapes stand on three units\n", (unsigned long long)repeated,
           (unsigned long long)runs);
    close_vram(v, &h);
}

// Layers that differ from the others are on a tape beside three units of the rest.
static void test_layers_before_units(void **state)
{
    static const struct {
        uint64_t layers, lead, units;
        const char *fields;
    } rows[] = {
        {12, 0, 12, "family=llama"},
        {61, 3, 58, "family=deepseek_v3 n_expert=8 first_k_dense_replace=3"},
        {27, 1, 26, "family=deepseek_v3 n_expert=8 first_k_dense_replace=1 checkpointing=block"},
        {14, 2, 4, "family=llama checkpointing=every checkpoint_every=3"},
        {26, 2, 4, "family=llama sliding_window=64 sliding_window_pattern=6"},
        {12, 1, 11, "family=llama lora_rank=8"},
        {13, 1, 6, "family=llama lora_rank=8 sliding_window=64 sliding_window_pattern=2"},
        {16, 3, 13, "family=deepseek_v3 n_expert=8 first_k_dense_replace=3 parallel=fsdp1 n_gpu=2"},
    };
    struct heap h = {0};
    vram *v = open_vram(&h);
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vram_clear(v);
        set_all(v, rows[i].fields);
        set_number(v, "n_layer", rows[i].layers);
        struct digest folded = digest_of(v, false);
        const struct reel *r = &engine_in(v)->reels[ENGINE_NEXT];
        assert_true(folded.count > 0 && r->tape.repeats);
        assert_int_equal(r->stack.lead, rows[i].lead);
        assert_int_equal(r->stack.units, rows[i].units);
        struct digest whole = digest_of(v, true);
        assert_int_equal(folded.count, whole.count);
        assert_int_equal(folded.sum, whole.sum);
    }
    close_vram(v, &h);
}

// A free names the storage as its allocation did.
struct ledger {
    struct vram_event *by_id;
    size_t cap;
    uint64_t live;
};

static int ledger_event(void *ctx, const struct vram_event *e)
{
    struct ledger *l = ctx;
    if (e->id >= l->cap) {
        l->cap = e->id * 2 + 1024;
        l->by_id = realloc(l->by_id, l->cap * sizeof *l->by_id);
        assert_non_null(l->by_id);
    }
    l->live += e->is_free ? 0 - e->bytes : e->bytes;
    assert_int_equal(l->live, e->live);
    if (!e->is_free) {
        l->by_id[e->id] = *e;
        return 0;
    }
    const struct vram_event *made = &l->by_id[e->id];
    assert_int_equal(made->bytes, e->bytes);
    assert_int_equal(made->category, e->category);
    assert_int_equal(made->block, e->block);
    if (strcmp(made->name, e->name))
        fail_msg("allocated as %s, freed as %s", made->name, e->name);
    return 0;
}

static void test_ledger(void **state)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    struct ledger l = {0};
    uint64_t seed = 5;
    (void)state;
    for (int i = 0; i < 300; i++) {
        set_random(v, &seed);
        l.live = 0;
        int rc = vram_trace(v, ledger_event, &l);
        assert_true(rc == VRAM_OK || rc == VRAM_EMODEL || rc == VRAM_EUNSUPPORTED);
    }
    free(l.by_id);
    close_vram(v, &h);
}

// What a handle has run before does not show: after every change of a field or two it says what a
// new handle says.
static void test_no_history(void **state)
{
    static const char *const near[] = {"gradient_accumulation_steps",
                                       "mode",
                                       "attention",
                                       "checkpointing",
                                       "dropout",
                                       "evaluation",
                                       "keep_logits",
                                       "grad_clip",
                                       "seq_len",
                                       "dtype",
                                       "task",
                                       "bias"};
    struct heap h = {0}, h2 = {0};
    vram *v = open_vram(&h);
    uint64_t seed = 11, runs = 0;
    (void)state;
    for (int i = 0; i < 1700; i++) {
        const char *key = near[next_random(&seed) % (sizeof near / sizeof *near)];
        if (i % 25 == 0)
            set_random(v, &seed);
        const struct vram_field *f = vram_field_find(key);
        set_number(v, key, between(&seed, f->min, f->max < f->min + 5 ? f->max : f->min + 5));
        vram *fresh = open_vram(&h2);
        vram_copy(fresh, v);
        struct digest old = {0}, new = {0};
        int rc = vram_trace(v, digest_event, &old);
        assert_int_equal(vram_trace(fresh, digest_event, &new), rc);
        if (rc == VRAM_OK) {
            assert_int_equal(vram_result(v)->saved_count, vram_result(fresh)->saved_count);
            assert_int_equal(vram_result(v)->saved_bytes, vram_result(fresh)->saved_bytes);
            const struct vram_result *a = vram_result(v), *b = vram_result(fresh);
            runs++;
            if (old.count != new.count || a->events != b->events)
                fail_msg("run %d, after %s: %llu events, %llu in a new handle", i, key,
                         (unsigned long long)a->events, (unsigned long long)b->events);
            assert_int_equal(a->peak_live.bytes, b->peak_live.bytes);
            assert_int_equal(a->peak_reserved.bytes, b->peak_reserved.bytes);
            assert_int_equal(a->saved_bytes, b->saved_bytes);
        }
        close_vram(fresh, &h2);
    }
    assert_true(runs > 500);
    close_vram(v, &h);
}

// A delta rule has other operations for whole chunks, one chunk, as many heads of keys as of
// values.
static void test_delta_history(void **state)
{
    static const uint64_t lengths[] = {512, 500, 512, 512, 64}, heads[] = {32, 32, 32, 16, 16};
    struct heap h = {0}, h2 = {0};
    vram *v = open_vram(&h);
    (void)state;
    assert_int_equal(vram_set(v, "preset", "qwen3.5-9b"), VRAM_OK);
    assert_int_equal(vram_set(v, "dtype", "float32"), VRAM_OK);
    set_number(v, "n_layer", 4);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        set_number(v, "seq_len", lengths[i]);
        set_number(v, "linear_num_value_heads", heads[i]);
        vram *fresh = open_vram(&h2);
        vram_copy(fresh, v);
        struct digest old = {0}, new = {0};
        assert_int_equal(vram_trace(v, digest_event, &old), VRAM_OK);
        assert_int_equal(vram_trace(fresh, digest_event, &new), VRAM_OK);
        assert_int_equal(old.count, new.count);
        assert_int_equal(vram_result(v)->peak_live.bytes, vram_result(fresh)->peak_live.bytes);
        close_vram(fresh, &h2);
    }
    close_vram(v, &h);
}

// A unit has more storages than two bytes count.
static void test_long_rule(void **state)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    (void)state;
    assert_int_equal(vram_set(v, "preset", "qwen3.5-9b"), VRAM_OK);
    set_number(v, "n_layer", 16);
    set_number(v, "seq_len", 49152);
    struct digest folded = digest_of(v, false);
    assert_true(engine_in(v)->reels[ENGINE_NEXT].tape.slots_unit > UINT16_MAX);
    struct digest whole = digest_of(v, true);
    assert_true(folded.count > 0);
    assert_int_equal(folded.count, whole.count);
    assert_int_equal(folded.sum, whole.sum);
    close_vram(v, &h);
}

// A rule's chunks are alike but for the first and the last: few of them are recorded, and a peak by
// rises does with those.
static void test_turns(void **state)
{
    static const char *const rows[] = {
        "preset=qwen3.5-9b seq_len=832",
        "preset=qwen3.5-9b seq_len=500 checkpointing=block",
        "preset=qwen3.5-9b seq_len=1000 checkpointing=block use_reentrant=false",
        "preset=qwen3.5-9b seq_len=512 checkpointing=selective use_reentrant=false",
        "preset=qwen3.5-9b seq_len=640 dtype=float32 gradient_accumulation_steps=4",
        "preset=qwen3.5-9b seq_len=640 lora_rank=8 linear_num_value_heads=16",
        "preset=qwen3.5-9b seq_len=700 optimizer_in_backward=true dtype=bfloat16_pure",
        "preset=qwen3.5-9b seq_len=512 parallel=ddp n_gpu=2",
        "preset=qwen3-next-80b-a3b seq_len=512 checkpointing=block",
        "preset=qwen3.5-35b-a3b seq_len=576 lora_rank=8",
    };
    struct heap h = {0};
    vram *v = open_vram(&h);
    unsigned unrolled = 0;
    uint64_t peak = 0;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vram_clear(v);
        set_all(v, rows[i]);
        set_number(v, "n_layer", 16);
        assert_int_equal(vram_live_peak(v, &peak), VRAM_OK);
        assert_true(engine_in(v)->reels[ENGINE_NEXT].brief);
        struct digest few = digest_of(v, false);
        const struct reel *reels = engine_in(v)->reels;
        if (few.count == 0)
            fail_msg("%s: %s", rows[i], vram_error(v)->text);
        unrolled += reels[ENGINE_NEXT].more_turns > 0;
        assert_int_equal(peak, vram_result(v)->peak_live.bytes);
        struct digest all = digest_of(v, true);
        assert_int_equal(few.count, all.count);
        assert_int_equal(few.sum, all.sum);
    }
    assert_int_equal(unrolled, sizeof rows / sizeof *rows);
    close_vram(v, &h);
}

// What may be asked between two traces: each leaves the engine otherwise than a run does.
static void ask_else(vram *v, uint64_t question)
{
    uint64_t peak;
    struct vram_param param;
    const struct vram_segments *segments;
    switch (question) {
    case 0: vram_live_peak(v, &peak); break;
    case 1: vram_param_at(v, 0, &param); break;
    case 2: vram_segments(v, VRAM_MOMENT_PEAK, 0, &segments); break;
    default: break;
    }
}

// A trace is the same events whether the handle has just run or has been asked something else
// since; pipelines have stages, of which a question may look at another one.
static void test_trace_again(void **state)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    uint64_t seed = 17, runs = 0;
    (void)state;
    for (int i = 0; i < 300; i++) {
        struct digest first = {0}, again = {0};
        set_random(v, &seed);
        if (i % 3 == 0) {
            set_number(v, "n_gpu", 2);
            set_number(v, "pipeline_parallel", 2);
        }
        if (vram_run(v) != VRAM_OK)
            continue;
        engine_in(v)->has_run = false;  // the first trace makes its run itself
        assert_int_equal(vram_trace(v, digest_event, &first), VRAM_OK);
        ask_else(v, (uint64_t)i % 4);
        assert_int_equal(vram_trace(v, digest_event, &again), VRAM_OK);
        assert_int_equal(again.count, first.count);
        assert_int_equal(again.sum, first.sum);
        runs++;
    }
    assert_true(runs > 100);
    close_vram(v, &h);
}

// What advice and max-batch ask for is the report's own figure, replayed without sums; it is never
// less than its lower bound, and a limit stops the replay exactly where the figure reaches it.
static void test_process_alone(void **state)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    uint64_t seed = 13, runs = 0, floors = 0;
    (void)state;
    for (int i = 0; i < 1700; i++) {
        struct vram_figure lean, limited;
        uint64_t least, retries;
        set_random(v, &seed);
        set_number(v, "expandable_segments", next_random(&seed) % 2);
        int rc = vram_run(v);
        if (rc != VRAM_OK) {
            assert_int_equal(run_process(v, 0, &lean, &retries), rc);
            continue;
        }
        struct vram_figure full = vram_result(v)->process;
        runs++;
        assert_int_equal(run_process(v, 0, &lean, &retries), VRAM_OK);
        assert_int_equal(lean.bytes, full.bytes);
        assert_int_equal(lean.low, full.low);
        assert_int_equal(lean.high, full.high);
        assert_int_equal(lean.basis, full.basis);
        assert_int_equal(lean.tolerance_permille, full.tolerance_permille);
        assert_int_equal(lean.measurements, full.measurements);
        assert_int_equal(run_process_least(v, &least), VRAM_OK);
        assert_true(least <= full.bytes);
        uint64_t floor = run_process_floor(v);
        assert_true(floor <= least);
        floors += floor > 0;
        assert_int_equal(run_process(v, full.bytes, &limited, &retries), VRAM_ENOFIT);
        assert_int_equal(run_process(v, full.bytes + 1, &limited, &retries), VRAM_OK);
        assert_int_equal(limited.bytes, full.bytes);
    }
    assert_true(runs > 1000 && floors > 800);
    close_vram(v, &h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rises),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_layers_written_out),
        cmocka_unit_test(test_layers_before_units),
        cmocka_unit_test(test_ledger),
        cmocka_unit_test(test_no_history),
        cmocka_unit_test(test_delta_history),
        cmocka_unit_test(test_long_rule),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_trace_again),
        cmocka_unit_test(test_process_alone),
    };
    return cmocka_run_group_tests_name("calc_live", tests, NULL, NULL);
}
