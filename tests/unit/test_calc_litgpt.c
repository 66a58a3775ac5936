// LitGPT's fine-tuning: one projection with one adapter, norms by version, the loss in chunks, what
// outlives a pass; against closed forms of its code and a trace of litgpt 0.4.13 with torch 2.4.1
// and bitsandbytes 0.42.

#include "tests/unit/calc_fixture.h"

#define RUN \
    "preset=llama-2-7b framework=litgpt torch=2.4 tie_embeddings=false dtype=bfloat16_pure " \
    "batch_size=2 seq_len=512 " \
    "gradient_accumulation_steps=4 lora_rank=32 lora_targets=q+v lora_dropout=0.05 " \
    "adapter_dtype=base optimizer=adamw_foreach " \
    "grad_clip=0 "
enum { N = 1024, C = 4096, F = 11008, R = 32, HEADS = 32 };

static const struct vram_result *run(vram *v, const char *more)
{
    vram_clear(v);
    set_all(v, RUN);
    set_all(v, more);
    assert_int_equal(vram_run(v), VRAM_OK);
    return vram_result(v);
}

static uint64_t phase_peak(const struct vram_result *r, const char *name)
{
    for (size_t i = 0; i < r->phase_count; i++)
        if (strcmp(r->phases[i].name, name) == 0)
            return r->phases[i].peak_live_bytes;
    fail_msg("no phase %s", name);
    return 0;
}

// lit-gpt's log of rank 8 on query and value of Llama 2 7B: 4,194,304; on all three A has three
// parts.
static void test_adapters(void **state)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    (void)state;
    assert_int_equal(run(v, "lora_rank=8")->trained_params, 4194304);
    assert_int_equal(run(v, "lora_rank=8 lora_targets=q+k+v")->trained_params,
                     32 * 8 * (3 * C + 3 * C));
    assert_int_equal(run(v, "lora_rank=8 lora_targets=o")->trained_params, 32 * 8 * 2 * C);
    close_vram(v, &h);
}

static uint64_t layer_saves(vram *v, const char *more)
{
    char text[256];
    snprintf(text, sizeof text, "n_layer=8 %s", more);
    uint64_t whole = run(v, text)->saved_bytes;
    snprintf(text, sizeof text, "n_layer=4 %s", more);
    return (whole - run(v, text)->saved_bytes) / 4;
}

// The projection, of which the values are a view; what index_copy_ keeps of the adapter; turned
// queries and keys; attention's output and its sums; gate, up and silu(gate); dropout's result and
// mask; the adapter's inner result; both norms.
static void test_what_a_layer_saves(void **state)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    uint64_t attention = 6 * C + 4 * C + 4 * C + 2 * C + 4 * HEADS, mlp = 6 * F,
             adapter = 3 * C + 2 * 2 * R;
    uint64_t norms = 2 * (4 * C + 4),
             copies = 2 * 4 * C;  // the norms' inputs, factors and weights in float32
    (void)state;
    assert_int_equal(layer_saves(v, ""), N * (attention + mlp + adapter + norms) + copies);
    // With adapters on all three nothing is put into zeros, and A is wider.
    assert_int_equal(layer_saves(v, "lora_targets=q+k+v"),
                     N * (attention - 4 * C + mlp + adapter + 2 * R + norms) + copies);
    // Before 0.4 the weight is not widened; the input is since October 2023.
    assert_int_equal(layer_saves(v, "framework_version=0.3"),
                     N * (attention + mlp + adapter + norms));
    assert_int_equal(layer_saves(v, "framework_version=0.1"),
                     N * (attention + mlp + adapter + norms));
    close_vram(v, &h);
}

// Of grouped keys and values each query head gets its own; the projection is not kept.
static void test_grouped(void **state)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    uint64_t f = 14336, attention = 2 * C + 2 * (C + 1024) + 4 * C + 2 * C + 4 * HEADS,
             adapter = 3 * C + 2 * 2 * R;
    (void)state;
    assert_int_equal(layer_saves(v, "n_kv_head=8 n_inner=14336"),
                     N * (attention + 6 * f + adapter + 2 * (4 * C + 4)) + 2 * 4 * C);
    close_vram(v, &h);
}

// Two layers of Llama 2 7B, 2 x 512. The trace has 2,035,694,592 allocated at most in the first
// pass, 2,047,877,632 in all.
static void test_peak(void **state)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    uint64_t nv = UINT64_C(1024) * 32000;
    (void)state;
    const struct vram_result *r = run(v, "n_layer=2");
    assert_in_range(r->peak_allocated.bytes, 2047877632 - (UINT64_C(2) << 20),
                    2047877632 + (UINT64_C(2) << 20));
    // Logits and log-probabilities in float32, and twice a chunk of 128 of both sequences.
    uint64_t logits = 0;
    for (size_t i = 0; i < r->at_peak_count; i++)
        logits += r->at_peak[i].category == VRAM_CAT_LOGITS ? r->at_peak[i].bytes : 0;
    assert_int_equal(logits, 2 * 4 * nv + 2 * 4 * UINT64_C(256) * 32000);
    // A variable has the logits of the pass before until the model returns again.
    uint64_t before = phase_peak(r, "fwd:it0.m0"), after = phase_peak(r, "fwd:it0.m1");
    assert_true(after > before && after - before < 4 * nv);
    close_vram(v, &h);
}

// MatMul4Bit's nodes hold their inputs as attributes, and the variable `loss` holds the nodes:
// inputs of the projection, of the attention's output and of both halves of the feed-forward part
// are there twice at the end of the second forward pass.
static void test_what_outlives_a_pass(void **state)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    const char *quantized = "quantization=nf4 optimizer=adamw_paged n_layer=";
    char text[128];
    uint64_t grown[2];
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        snprintf(text, sizeof text, "%s%d", quantized, i ? 8 : 4);
        const struct vram_result *r = run(v, text);
        grown[i] = phase_peak(r, "fwd:it0.m1") - phase_peak(r, "fwd:it0.m0");
    }
    uint64_t adapters = 2 * 2 * (2 * R * C + 2 * R * C) / 2;  // gradients of a layer, in two bytes
    assert_int_equal((grown[1] - grown[0]) / 4, N * 2 * (3 * C + F) + adapters);
    // Allocated in the trace of two layers: 1,842,690,048; one chunk of 32 MB counts twice here.
    const struct vram_result *two = run(v, "quantization=nf4 optimizer=adamw_paged n_layer=2");
    assert_in_range(two->peak_allocated.bytes, 1842690048, 1842690048 + (UINT64_C(20) << 20));
    // lit-gpt of 2023 begins with its longest sequence.
    const struct vram_result *old =
        run(v, "quantization=nf4 optimizer=adamw_paged framework_version=0.1");
    uint64_t first = phase_peak(old, "bwd:it0.m0"), second = phase_peak(old, "bwd:it0.m1");
    assert_in_range(second, first, first + (UINT64_C(64) << 20));
    close_vram(v, &h);
}

// torchtune: logits in two bytes, log-probabilities in float32, an eighth of them twice on the way
// back.
static void test_chunked_output(void **state)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    uint64_t nv = UINT64_C(2048) * 128256, logits = 0;
    (void)state;
    vram_clear(v);
    set_all(v, "preset=llama-3.2-1b framework=torchtune dtype=bfloat16_pure batch_size=1 "
               "seq_len=2048 cross_entropy=chunked_output "
               "checkpointing=block lora_rank=8 adapter_dtype=base");
    assert_int_equal(vram_run(v), VRAM_OK);
    const struct vram_result *r = vram_result(v);
    for (size_t i = 0; i < r->at_peak_count; i++)
        logits += r->at_peak[i].category == VRAM_CAT_LOGITS ? r->at_peak[i].bytes : 0;
    assert_int_equal(logits, 2 * nv + 4 * nv + 4 * nv / 8);
    close_vram(v, &h);
}

// generate_tp divides the layers' products among four GPUs; embedding, head and norms are whole on
// each. 35.46 GB were measured for 70B on four A100 (tutorials/inference.md).
static void test_tensor_parallel_leaves_both_ends_whole(void **state)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    (void)state;
    set_all(v, "preset=llama-2-70b tie_embeddings=false framework=litgpt task=inference "
               "dtype=bfloat16_pure batch_size=1 seq_len=8 max_new_tokens=256 tensor_parallel=4");
    assert_int_equal(vram_run(v), VRAM_OK);
    uint64_t c = 8192, ends = 2 * 32000 * c + c, layer = 2 * c * c + 2 * c * 1024 + 3 * c * 28672;
    assert_int_equal(vram_result(v)->param_bytes, 2 * (ends + 80 * (layer / 4 + 2 * c)));
    assert_in_range(vram_result(v)->peak_allocated.bytes, 35200000000, 35600000000);
    close_vram(v, &h);
}

// Gemma 2 in LitGPT: a layer's scores are kept as the soft cap's tangent, as the softmax in float32
// and as its copy, whatever kernel is asked for. Nothing else grows with the square of the length.
static void test_capped_scores(void **state)
{
    static const char *const kernels[] = {"attention=flash", "attention=math"};
    (void)state;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        uint64_t saved[2];
        for (unsigned k = 0; k < 2; k++) {
            struct heap h = {0};
            vram *v = open_vram(&h);
            set_all(v,
                    "preset=gemma-2-2b tie_embeddings=false framework=litgpt torch=2.4 n_layer=3 "
                    "batch_size=2 dtype=bfloat16_pure");
            set_all(v, kernels[i]);
            set_all(v, k ? "seq_len=1024" : "seq_len=512");
            assert_int_equal(vram_run(v), VRAM_OK);
            saved[k] = vram_result(v)->saved_bytes;
            close_vram(v, &h);
        }
        uint64_t more = UINT64_C(3) * 2 * 8 * (2 + 4 + 2) * (1024 * 1024 - 2 * 512 * 512);
        const uint64_t slack = UINT64_C(1) << 20;  // of what does not grow with the length
        assert_in_range(saved[1] - 2 * saved[0] + slack, more, more + 2 * slack);
    }
}

// Layers of any family: Falcon trained and generating, its branches' one norm kept once though two
// quantized layers take it.
static void test_falcon(void **state)
{
    static const char *const words[] = {
        "preset=falcon-7b", "preset=falcon-7b task=inference quantization=nf4",
        "preset=falcon-7b lora_rank=8 lora_targets=q+v quantization=nf4",
        "preset=falcon-40b task=inference", "preset=phi-2 lora_rank=8 quantization=nf4"};
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct heap h = {0};
        vram *v = open_vram(&h);
        set_all(v, words[i]);
        set_all(v, "framework=litgpt torch=2.4 batch_size=1 seq_len=512 dtype=bfloat16_pure");
        if (vram_run(v) != VRAM_OK)
            fail_msg("%s: %s", words[i], vram_error(v)->text);
        close_vram(v, &h);
    }
}

// As many tokens in sequences of 512, 256 and 128: four chunks, two and one go through the head,
// each with its own two-byte copy of the frozen weight; and angles of as many positions.
static void test_copies_of_the_head(void **state)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    uint64_t copy = UINT64_C(2) * 32000 * C, angles = UINT64_C(2) * 4 * 128;
    (void)state;
    uint64_t four = run(v, "n_layer=2 dtype=bfloat16")->saved_bytes;
    uint64_t two = run(v, "n_layer=2 dtype=bfloat16 batch_size=4 seq_len=256")->saved_bytes;
    uint64_t one = run(v, "n_layer=2 dtype=bfloat16 batch_size=8 seq_len=128")->saved_bytes;
    assert_int_equal(four - two, 2 * copy + 256 * angles);
    assert_int_equal(two - one, copy + 128 * angles);
    close_vram(v, &h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_adapters),
        cmocka_unit_test(test_what_a_layer_saves),
        cmocka_unit_test(test_capped_scores),
        cmocka_unit_test(test_falcon),
        cmocka_unit_test(test_grouped),
        cmocka_unit_test(test_peak),
        cmocka_unit_test(test_what_outlives_a_pass),
        cmocka_unit_test(test_chunked_output),
        cmocka_unit_test(test_copies_of_the_head),
        cmocka_unit_test(test_tensor_parallel_leaves_both_ends_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
