// What is made once for two passes or two runs: it is what recording or playing both gives.

#include "calc/replay/run.h"
#include "tests/unit/calc_random.h"

static void same_storages(const struct tape *a, const struct tape *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 1; i < a->count; i++) {
        const struct storage *x = &a->storages[i], *y = &b->storages[i];
        assert_true(x->name == y->name && x->op == y->op && x->category == y->category);
        assert_true(x->dtype == y->dtype && x->shape == y->shape && x->home == y->home);
        assert_true(x->unit == y->unit && x->sub == y->sub && x->stream == y->stream);
        assert_true(x->home >= HOME_NONE || x->slot == y->slot);
        assert_true(x->sent == y->sent && x->taken == y->taken && x->earlier == y->earlier);
    }
}

static void same_tapes(const struct tape *a, const struct tape *b)
{
    same_storages(a, b);
    assert_int_equal(a->code_count, b->code_count);
    assert_memory_equal(a->code, b->code, a->code_count * sizeof *a->code);
    assert_int_equal(a->segment_count, b->segment_count);
    for (size_t i = 0; i < a->segment_count; i++) {
        const struct tape_segment *x = &a->segments[i], *y = &b->segments[i];
        assert_true(x->begin == y->begin && x->end == y->end && x->unit == y->unit);
        assert_int_equal(x->backward, y->backward);
    }
    assert_true(a->repeats == b->repeats && a->slots_global == b->slots_global);
    assert_true(a->slots_lead == b->slots_lead && a->slots_unit == b->slots_unit);
}

// The tape of a pass that finds gradients is made from that of the first one: it is what recording
// it gives.
static void test_passes_made(void **state)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    uint64_t seed = 17, made = 0;
    struct reel recorded;
    (void)state;
    for (int i = 0; i < 1500; i++) {
        set_random(v, &seed);
        set_number(v, "gradient_accumulation_steps", 2 + next_random(&seed) % 3);
        if (vram_run(v) != VRAM_OK || v->config.eval_only || v->config.task != TASK_TRAIN)
            continue;
        struct engine *e = engine_in(v);
        const struct reel *again = &e->reels[ENGINE_AGAIN];
        made += e->reels[ENGINE_NEXT].tape.left_alone;
        reel_init(&recorded, &v->mem);
        assert_int_equal(reel_record(&recorded, &e->graph, &e->model, &again->pass), VRAM_OK);
        assert_int_equal(reel_unroll(&recorded, &e->graph.spare), VRAM_OK);
        same_tapes(&again->tape, &recorded.tape);
        assert_int_equal(again->saved_count, recorded.saved_count);
        reel_free(&recorded);
    }
    printf("%llu tapes made of others\n", (unsigned long long)made);
    assert_true(made > 500);
    close_vram(v, &h);
}

// The process of a configuration on a handle, or 0 where it has none.
static uint64_t process_of(vram *v, uint64_t enough)
{
    struct vram_figure process;
    uint64_t retries;
    int rc = run_process(v, enough, &process, &retries);
    return rc == VRAM_OK ? process.bytes + retries : (uint64_t)-rc;
}

// A run that begins before the first step, where one with another optimizer stood, is the whole
// run.
static void test_resumed(void **state)
{
    struct heap h = {0}, h2 = {0};
    vram *v = open_vram(&h);
    uint64_t seed = 23, resumed = 0;
    (void)state;
    run_resumes(v, true);
    for (int i = 0; i < 1500; i++) {
        if (i % 5 == 0)
            set_random(v, &seed);
        set_any(v, &seed, "optimizer");
        set_number(v, "batch_size", between(&seed, 1, 2));
        set_number(v, "gpu_memory", next_random(&seed) % 4 ? 0 : between(&seed, 800, 3000));
        vram *fresh = open_vram(&h2);
        vram_copy(fresh, v);
        uint64_t enough = next_random(&seed) % 2 ? 0 : between(&seed, 1, 40) << 25;
        uint64_t whole = process_of(fresh, enough), rest = process_of(v, enough);
        if (whole != rest)
            fail_msg("run %d: %llu, from a start %llu", i, (unsigned long long)whole,
                     (unsigned long long)rest);
        resumed += engine_in(v)->player.events < engine_in(fresh)->player.events;
        close_vram(fresh, &h2);
    }
    printf("%llu runs resumed\n", (unsigned long long)resumed);
    assert_true(resumed > 200);
    close_vram(v, &h);
}

// A handle that comes back to a kind of model, whose tapes it still has, answers as at first.
static void test_come_back(void **state)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    uint64_t seed = 31;
    (void)state;
    for (int i = 0; i < 200; i++) {
        set_random(v, &seed);
        set_number(v, "n_gpu", 4);
        set_any(v, &seed, "parallel");
        uint64_t parallel = v->config.parallel, first = process_of(v, 0);
        set_any(v, &seed, "parallel");
        process_of(v, 0);
        set_number(v, "parallel", parallel);
        assert_int_equal(process_of(v, 0), first);
    }
    close_vram(v, &h);
}

// A configuration by chance on a card about as large as what it takes. False: it has no run.
static bool set_tight(vram *v, uint64_t *seed)
{
    set_random(v, seed);
    set_number(v, "batch_size", between(seed, 1, 64));
    if (vram_run(v) != VRAM_OK)
        return false;
    const struct vram_result *r = vram_result(v);
    uint64_t holes = (r->peak_reserved.bytes - r->peak_allocated.bytes) >> 20;
    set_number(v, "gpu_memory", (r->process.bytes >> 20) + 2 - between(seed, 0, holes + 2));
    return true;
}

// Whether a run stays within a card is found pool by pool as it is in order, event by event.
static void test_by_pools(void **state)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    uint64_t seed = 29, passed = 0, over = 0, again = 0;
    (void)state;
    run_resumes(v, true);
    for (int i = 0; i < 2100; i++) {
        struct vram_figure process;
        uint64_t retries;
        if (i % 3 == 0 && !set_tight(v, &seed))
            continue;
        set_any(v, &seed, "optimizer");
        if (vram_run(v) != VRAM_OK)
            continue;
        uint64_t bytes = vram_result(v)->process.bytes, tries = vram_result(v)->alloc_retries;
        assert_int_equal(run_process(v, 0, &process, &retries), VRAM_OK);
        if (process.bytes != bytes || retries != tries)
            fail_msg("run %d: %llu, %llu; in order %llu, %llu", i,
                     (unsigned long long)process.bytes, (unsigned long long)retries,
                     (unsigned long long)bytes, (unsigned long long)tries);
        passed += engine_in(v)->player.passed;
        over += engine_in(v)->room > 0;
        again += tries > 0;
    }
    printf("%llu stretches passed over; %llu runs over the card's memory, %llu of them fit in it\n",
           (unsigned long long)passed, (unsigned long long)over, (unsigned long long)again);
    assert_true(passed > 10000 && over > 200 && again > 20);
    close_vram(v, &h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_passes_made),
        cmocka_unit_test(test_resumed),
        cmocka_unit_test(test_come_back),
        cmocka_unit_test(test_by_pools),
    };
    return cmocka_run_group_tests_name("calc_shared", tests, NULL, NULL);
}
