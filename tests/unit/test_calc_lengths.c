// A run whose steps differ in length: each is the step that a run of its length alone has, what it
// finds of the one before it has that one's bytes, and PyTorch's allocator, given its events one by
// one, reserves what the estimate says.

#include "calc/replay/allocator.h"
#include "tests/unit/calc_fixture.h"

struct event {
    bool is_free, is_batch, is_workspace;
    uint64_t bytes, id;
    uint32_t step;  // UINT32_MAX: before the first
    char what[96];
};

struct events {
    struct event *at;
    size_t count, cap;
};

static int note(void *ctx, const struct vram_event *in)
{
    struct events *e = ctx;
    const char *it = strstr(in->phase, ":it");
    struct event one = {.is_free = in->is_free,
                        .is_batch = in->category == VRAM_CAT_INPUT,
                        .is_workspace = in->category == VRAM_CAT_WORKSPACE,
                        .bytes = in->bytes,
                        .id = in->id,
                        .step = it ? (uint32_t)strtoul(it + 3, NULL, 10) : UINT32_MAX};
    snprintf(one.what, sizeof one.what, "%s %s %d", in->name, in->op, (int)in->block);
    if (e->count == e->cap) {
        e->cap = e->cap ? 2 * e->cap : 4096;
        e->at = realloc(e->at, e->cap * sizeof *e->at);
        assert_non_null(e->at);
    }
    e->at[e->count++] = one;
    return 0;
}

static struct vram_result trace_of(struct events *e, const char *config, const char *lengths)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    uint64_t live;
    set_all(v, config);
    set_all(v, lengths);
    *e = (struct events){0};
    if (vram_trace(v, note, e) != VRAM_OK)
        fail_msg("%s %s: %s", config, lengths, vram_error(v)->text);
    struct vram_result r = *vram_result(v);
    assert_int_equal(vram_live_peak(v, &live), VRAM_OK);
    assert_int_equal(live, r.peak_live.bytes);
    close_vram(v, &h);
    return r;
}

// The next allocation of a step from event *at on; a batch is fetched a step before its own.
static const struct event *next_of(const struct events *e, uint32_t step, size_t *at)
{
    while (*at < e->count) {
        const struct event *one = &e->at[(*at)++];
        if (one->step == step && !one->is_free && !one->is_batch)
            return one;
    }
    return NULL;
}

// Step number `step` of a list is the first step of its length alone, or one of its later ones.
static void assert_step(const char *config, const struct events *list, uint32_t step,
                        const char *length)
{
    struct events alone;
    size_t a = 0, b = 0;
    trace_of(&alone, config, length);
    for (uint32_t twin = step ? 1 : 0;;) {
        const struct event *x = next_of(list, step, &a), *y = next_of(&alone, twin, &b);
        if (!x && !y)
            break;
        if (!x || !y || x->bytes != y->bytes || strcmp(x->what, y->what) != 0)
            fail_msg("%s %s step %u: %s of %llu bytes, alone %s of %llu", config, length, step,
                     x ? x->what : "nothing", x ? (unsigned long long)x->bytes : 0,
                     y ? y->what : "nothing", y ? (unsigned long long)y->bytes : 0);
    }
    assert_true(a > 100);
    free(alone.at);
}

// The events through an allocator of their own: what is freed has the bytes that it was given.
static void assert_replay(const char *config, const struct events *e, const struct vram_result *r)
{
    struct heap h = {0};
    struct vram_mem mem = {heap_alloc, heap_free, &h};
    struct allocator_config none = {.falling = true};
    struct allocator a;
    uint32_t *block = calloc(e->count, sizeof *block);
    uint64_t *bytes = calloc(e->count, sizeof *bytes), live = 0, peak = 0;
    assert_int_equal(allocator_init(&a, &mem, &none), VRAM_OK);
    for (size_t i = 0; i < e->count; i++) {
        const struct event *one = &e->at[i];
        if (!one->is_free) {
            bytes[one->id] = one->bytes;
            assert_int_equal(allocator_malloc(&a, one->bytes, &block[one->id]), VRAM_OK);
        } else if (bytes[one->id] != one->bytes) {
            fail_msg("%s: %s was %llu bytes and goes as %llu", config, one->what,
                     (unsigned long long)bytes[one->id], (unsigned long long)one->bytes);
        } else {
            assert_int_equal(allocator_free(&a, block[one->id]), VRAM_OK);
        }
        if (!one->is_workspace)
            live += one->is_free ? 0 - one->bytes : one->bytes;
        peak = live > peak ? live : peak;
    }
    assert_int_equal(peak, r->peak_live.bytes);
    assert_int_equal(live, r->steady_end_bytes);
    assert_int_equal(a.stats.reserved.peak, r->peak_reserved.bytes);
    assert_int_equal(a.stats.allocated.peak, r->peak_allocated.bytes);
    allocator_done(&a);
    assert_int_equal(h.live, 0);
    free(block);
    free(bytes);
}

static const char *const CONFIGS[] = {
    "preset=smollm2-135m framework=transformers batch_size=2",
    "preset=smollm2-135m framework=transformers batch_size=2 keep_logits=yes "
    "gradient_accumulation_steps=2 optimizer=adamw_foreach",
    "preset=smollm2-135m framework=litgpt batch_size=3 checkpointing=block",
    "preset=qwen3-0.6b batch_size=1 lora_rank=8 dtype=bfloat16_loaded kernels=liger",
    "preset=gemma-3-1b sliding_window=0 batch_size=1 n_layer=8 checkpointing=block "
    "use_reentrant=false",
    "preset=hf-gpt2-medium framework=transformers batch_size=1 n_layer=6 cross_entropy=chunked",
};

static void test_steps(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CONFIGS / sizeof *CONFIGS; i++) {
        struct events list;
        struct vram_result r = trace_of(&list, CONFIGS[i], "seq_lens=300+704+128");
        assert_true(r.iterations >= 6 && r.iterations % 3 == 0);
        assert_step(CONFIGS[i], &list, 0, "seq_len=300");
        assert_step(CONFIGS[i], &list, 1, "seq_len=704");
        assert_step(CONFIGS[i], &list, 2, "seq_len=128");
        assert_step(CONFIGS[i], &list, 3, "seq_len=300");
        assert_replay(CONFIGS[i], &list, &r);
        free(list.at);
    }
}

// A list of one length, or of that length again and again, is the length.
static void test_alike(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CONFIGS / sizeof *CONFIGS; i++) {
        struct events e;
        struct vram_result alone = trace_of(&e, CONFIGS[i], "seq_len=512");
        free(e.at);
        for (unsigned k = 0; k < 2; k++) {
            struct vram_result r =
                trace_of(&e, CONFIGS[i], k ? "seq_lens=512+512" : "seq_lens=512");
            assert_int_equal(r.peak_live.bytes, alone.peak_live.bytes);
            assert_int_equal(r.peak_reserved.bytes, alone.peak_reserved.bytes);
            assert_int_equal(r.process.bytes, alone.process.bytes);
            assert_int_equal(r.saved_bytes, alone.saved_bytes);
            assert_int_equal(r.steady_end_bytes, alone.steady_end_bytes);
            free(e.at);
        }
    }
}

// The peak is the longest's; what is saved for it, too; the order is seen in what is reserved.
static void test_longest(void **state)
{
    const char *config = CONFIGS[0];
    struct events e;
    (void)state;
    struct vram_result alone = trace_of(&e, config, "seq_len=1024");
    free(e.at);
    struct vram_result last = trace_of(&e, config, "seq_lens=300+700+1024");
    free(e.at);
    struct vram_result first = trace_of(&e, config, "seq_lens=1024+700+300");
    free(e.at);
    assert_int_equal(last.saved_bytes, alone.saved_bytes);
    assert_int_equal(first.peak_live.bytes, last.peak_live.bytes);
    assert_true(last.peak_live.bytes >= alone.peak_live.bytes);
    assert_true(last.peak_reserved.bytes > alone.peak_reserved.bytes);
    assert_true(first.peak_reserved.bytes != last.peak_reserved.bytes);
}

static void test_values(void **state)
{
    static const char *const wrong[] = {"",
                                        "0",
                                        "512+0",
                                        "512++4",
                                        "+512",
                                        "512+",
                                        "long",
                                        "-4",
                                        "1.5",
                                        "512 1024",
                                        "16777217",
                                        "1+2+3+4+5+6+7+8+9+10+11+12+13+14+15+16+17",
                                        "99999999999999999999999",
                                        "[512",
                                        "[]"};
    static const char *const right[][2] = {{"512", "512"},
                                           {"512,1024", "512+1024"},
                                           {"[512, 1024]", "512+1024"},
                                           {"512 + 1024+ 7", "512+1024+7"},
                                           {"none", "none"}};
    struct heap h = {0};
    vram *v = open_vram(&h);
    char text[200];
    uint64_t n;
    (void)state;
    assert_int_equal(vram_set(v, "seq_lens", "8+9"), VRAM_OK);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (vram_set(v, "seq_lens", wrong[i]) != VRAM_EVALUE)
            fail_msg("seq_lens=%s was taken", wrong[i]);
    assert_int_equal(vram_get(v, "seq_lens", text, sizeof text), 3);
    assert_string_equal(text, "8+9");
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        assert_int_equal(vram_set(v, "seq_lens", right[i][0]), VRAM_OK);
        assert_true(vram_get(v, "seq_lens", text, sizeof text) > 0);
        assert_string_equal(text, right[i][1]);
    }
    assert_int_equal(vram_set_u64(v, "seq_lens", 77), VRAM_OK);
    assert_int_equal(vram_get_u64(v, "seq_lens", &n), VRAM_OK);
    assert_int_equal(n, 77);
    vram_get(v, "seq_lens", text, sizeof text);
    assert_string_equal(text, "77");
    close_vram(v, &h);
}

static void test_refused(void **state)
{
    static const char *const runs[] = {"preset=gpt2", "preset=llama-3.2-1b task=inference",
                                       "preset=llama-3.2-1b framework=nanotron",
                                       "preset=llama-3.2-1b framework=torchtitan compile=2.5",
                                       "preset=llama-3.2-1b n_gpu=2 pipeline_parallel=2"};
    (void)state;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        struct heap h = {0};
        vram *v = open_vram(&h);
        set_all(v, runs[i]);
        assert_int_equal(vram_check(v), VRAM_OK);
        set_all(v, "seq_lens=512+256");
        assert_int_equal(vram_check(v), VRAM_EUNSUPPORTED);
        assert_string_equal(vram_error(v)->id, "lengths_here");
        close_vram(v, &h);
    }
}

// What is advised cuts the longest; the length that is looked for is that of every step.
static void test_answers(void **state)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    const struct vram_advice *advice;
    const struct vram_solution *solution;
    uint64_t value[2];
    bool cut = false;
    (void)state;
    set_all(v, "preset=llama-3.2-1b batch_size=4 gpu=T4 seq_lens=256+2048");
    assert_int_equal(vram_advise(v, &advice), VRAM_OK);
    for (size_t i = 0; i < advice->change_count; i++)
        cut |= strstr(advice->changes[i].what, "seq_lens=256+1024") != NULL;
    assert_true(cut);
    for (unsigned k = 0; k < 2; k++) {
        set_all(v, k ? "seq_lens=none gpu=RTX_4090" : "gpu=RTX_4090");
        if (vram_solve(v, "seq_len", &solution) != VRAM_OK)
            fail_msg("%s", vram_error(v)->text);
        value[k] = solution->value;
    }
    assert_int_equal(value[0], value[1]);
    assert_true(value[0] > 100);
    close_vram(v, &h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps),   cmocka_unit_test(test_alike),
        cmocka_unit_test(test_longest), cmocka_unit_test(test_values),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
