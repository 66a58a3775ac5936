// DeepSpeed's stages whose state stays on the card: what they keep, and that what a step takes is
// given back.

#include "tests/unit/calc_fixture.h"

// Stages 1 and 2 keep the gradients of the tensors in which their part lies whole: of the first
// GPU the embedding. Stage 3 has its parts for good, beside the bucket.
static void test_zero(void **state)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    (void)state;
    const struct vram_result *r = run_gpt2(v, "");
    uint64_t p = r->params, n = r->tensors, live = r->peak_live.bytes, gpus = 8,
             wte = UINT64_C(50304) * 768;
    r = run_gpt2(v, "parallel=zero1 n_gpu=8 reduce_bucket_size=1");
    assert_int_equal(r->param_bytes, 4 * p);
    assert_int_equal(r->grad_bytes, 4 * p);
    assert_in_range(r->optim_bytes, 8 * p / gpus + 4 * n, 8 * p / gpus + 12 * n);
    assert_in_range(live - r->peak_live.bytes, 7 * p - 8 * n, 7 * p + 8 * n);
    uint64_t small = r->peak_live.bytes, bucket = 500000000;
    r = run_gpt2(v, "parallel=zero1 n_gpu=8 reduce_bucket_size=500000000");
    assert_in_range(r->peak_live.bytes - small, bucket, 4 * bucket);
    r = run_gpt2(v, "parallel=zero2 n_gpu=8");
    assert_int_equal(r->param_bytes, 4 * p);
    assert_int_equal(r->grad_bytes, 4 * wte);
    assert_int_equal(
        run_gpt2(v, "parallel=zero1 n_gpu=8 gradient_accumulation_steps=1")->grad_bytes, 4 * wte);
    r = run_gpt2(v, "parallel=zero3 n_gpu=8");
    assert_in_range(r->param_bytes, up(4 * p, gpus), up(4 * p, gpus) + 4 * n);
    uint64_t states = r->param_bytes + r->grad_bytes + r->optim_bytes - 4 * bucket;
    assert_in_range(states, 16 * p / gpus, 16 * p / gpus + 24 * n);
    assert_int_equal(r->params, p);
    close_vram(v, &h);
}

// The sum of what lives is at its highest what the run says, and the same after each step.
struct live {
    uint64_t now, most, steps[5];
    unsigned count;
    char phase[32];
};

static int live_event(void *ctx, const struct vram_event *e)
{
    struct live *l = ctx;
    bool step = !strncmp(l->phase, "step", 4);
    if (strcmp(l->phase, e->phase)) {
        if (step && l->count < 4)
            l->steps[l->count++] = l->now;
        snprintf(l->phase, sizeof l->phase, "%s", e->phase);
    }
    l->now += e->is_free ? 0 - e->bytes : e->bytes;
    l->most = l->now > l->most ? l->now : l->most;
    return 0;
}

static void test_steps(void **state)
{
    static const char *const runs[] = {
        "parallel=zero1",
        "parallel=zero1 gradient_accumulation_steps=2",
        "parallel=zero2",
        "parallel=zero2 gradient_accumulation_steps=2 lora_rank=8",
        "parallel=zero3",
        "parallel=zero3 gradient_accumulation_steps=2 tie_embeddings=false",
        "parallel=zero3 lora_rank=8 offload_optimizer=true",
        "parallel=zero3 dtype=float32"};
    struct heap h = {0};
    vram *v = open_vram(&h);
    (void)state;
    for (unsigned i = 0; i < sizeof runs / sizeof *runs; i++) {
        struct live l = {0};
        vram_clear(v);
        set_all(v,
                "preset=llama-3.2-1b n_layer=4 seq_len=512 batch_size=1 n_gpu=4 evaluation=false "
                "gradient_accumulation_steps=1 dtype=bfloat16_deepspeed checkpointing=block "
                "reduce_bucket_size=100000000");
        set_all(v, runs[i]);
        run_vram(v);
        assert_int_equal(vram_trace(v, live_event, &l), VRAM_OK);
        assert_int_equal(l.most, vram_result(v)->peak_live.bytes);
        l.steps[l.count++] = l.now;  // with the last one's end
        for (unsigned k = 1; k < l.count; k++)
            assert_int_equal(l.steps[k], l.steps[0]);
    }
    close_vram(v, &h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zero),
        cmocka_unit_test(test_steps),
    };
    return cmocka_run_group_tests_name("calc_zero", tests, NULL, NULL);
}
