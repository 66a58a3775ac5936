// Out of memory is a code: the n-th allocation fails, for every n until all succeed; nothing leaks, the handle works on.

#include "tests/unit/calc_fixture.h"

static int no_event(void *ctx, const struct vram_event *e)
{
    (void)ctx;
    (void)e;
    return 0;
}

static int do_run(vram *v)
{
    return vram_run(v);
}

static int do_live_peak(vram *v)
{
    uint64_t bytes;
    return vram_live_peak(v, &bytes);
}

static int do_trace(vram *v)
{
    return vram_trace(v, no_event, NULL);
}

static int do_param(vram *v)
{
    struct vram_param p;
    return vram_param_at(v, 3, &p);
}

// Fails every allocation once. The configuration is set while memory is there.
static void fail_each(const char *config, int (*call)(vram *v))
{
    struct heap h = {0};
    int rc = VRAM_ENOMEM;
    for (size_t n = 1; rc != VRAM_OK; n++) {
        h = (struct heap){0};
        vram *v = open_vram(&h);
        assert_non_null(v);
        set_all(v, config);
        h.fail_at = h.calls + n;
        rc = call(v);
        if (rc != VRAM_OK) {
            assert_int_equal(rc, VRAM_ENOMEM);
            assert_int_equal(vram_error(v)->code, VRAM_ENOMEM);
            assert_true(strlen(vram_error(v)->text) > 0);
            h.fail_at = 0;
            if (call(v) != VRAM_OK)
                fail_msg("%s after allocation %zu failed: %s", config, n, vram_error(v)->text);
        }
        vram_free(v);
        assert_int_equal(h.live, 0);
        assert_true(n < 2000);
    }
}

static const char *const configs[] = {
    "family=gpt2 n_layer=5 n_head=2 n_embd=64 vocab_size=300 block_size=32 batch_size=2",
    "family=gpt2 n_layer=4 n_head=2 n_embd=64 vocab_size=300 block_size=32 batch_size=2 checkpointing=block dtype=float32 "
    "attention=math dropout=0.1 optimizer=adamw_foreach",
    "family=gpt2 n_layer=4 n_head=2 n_embd=64 vocab_size=300 block_size=32 batch_size=2 compile=2.5",
    "family=qwen3_moe n_layer=4 n_head=4 n_kv_head=2 n_embd=64 n_inner=96 vocab_size=300 block_size=32 n_expert=4 "
    "checkpointing=every dtype=bfloat16_pure",
};

static void test_run(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++)
        fail_each(configs[i], do_run);
}

static void test_other_calls(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        fail_each(configs[i], do_live_peak);
        fail_each(configs[i], do_trace);
        fail_each(configs[i], do_param);
    }
}

static void test_no_handle(void **state)
{
    struct heap h = {.fail_at = 1};
    (void)state;
    assert_null(open_vram(&h));
    vram_free(NULL);
}

// The memory of a handle depends on the depth of the model, not on its size.
static void test_bounded(void **state)
{
    struct heap small = {0}, large = {0};
    vram *a = open_vram(&small), *b = open_vram(&large);
    (void)state;
    set_all(a, "family=gpt2 n_layer=12 n_head=1 n_embd=2 vocab_size=2 block_size=2 batch_size=1 mode=reference");
    set_all(b, "family=gpt2 n_layer=12 n_head=64 n_embd=8192 vocab_size=200000 block_size=4096 batch_size=512 mode=reference");
    run_vram(a);
    run_vram(b);
    assert_true(large.live < small.live + small.live / 2);
    assert_true(large.live < 2 << 20);
    close_vram(a, &small);
    close_vram(b, &large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run),
        cmocka_unit_test(test_other_calls),
        cmocka_unit_test(test_no_handle),
        cmocka_unit_test(test_bounded),
    };
    return cmocka_run_group_tests_name("calc_memory", tests, NULL, NULL);
}
