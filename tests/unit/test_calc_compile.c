// A compiled model: the figures worked out by hand from a published graph, one measured process,
// what is saved. None of it is an exact rule; the tolerance is five per cent.

#include "tests/unit/calc_fixture.h"
#include "tests/unit/calc_words_fixture.h"
#include "tests/unit/calc_answers.h"

enum { TOLERANCE_PERMILLE = 50 };

static void check_near(const char *what, uint64_t got, uint64_t want_mib)
{
    print_message("%-44s %lu MiB, wanted %lu\n", what, got / MIB, want_mib);
    assert_true(fixture_permille(got, want_mib * MIB) <= TOLERANCE_PERMILLE);
}

// Allocated and reserved of an independent trace written from the same dump.
static void test_worked_out_figures(void **state)
{
    static const struct {
        const char *words;
        uint64_t allocated, reserved;
    } rows[] = {
        {"preset=nanogpt-30m", 3566, 4264},
        {"preset=oom-gpt2", 12148, 12396},
        {"preset=oom-gpt2 batch_size=8", 7174, 7368},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vram *v = fixture_open(rows[i].words);
        const struct vram_result *r = fixture_run(v);
        check_near(rows[i].words, r->peak_allocated.bytes, rows[i].allocated);
        check_near(rows[i].words, r->peak_reserved.bytes, rows[i].reserved);
        assert_int_equal(r->peak_allocated.basis, VRAM_BASIS_MODEL);
        vram_free(v);
    }
}

// nvidia-smi showed 4464 MiB for this process: https://lzwjava.github.io/rtx-4070-vram-usage-en
static void test_the_measured_process(void **state)
{
    (void)state;
    vram *v = fixture_open("preset=nanogpt-30m");
    const struct vram_result *r = fixture_run(v);
    print_message("process %lu MiB, measured 4464, bounds %lu to %lu\n", r->process.bytes / MIB,
                  r->process.low / MIB, r->process.high / MIB);
    assert_true(fixture_permille(r->process.bytes, 4464 * MIB) <= TOLERANCE_PERMILLE);
    assert_true(r->process.low <= 4464 * MIB && 4464 * MIB <= r->process.high);
    vram_free(v);
}

// Reported to run out of memory on 12 GB: https://lzwjava.github.io/gpu-memory-fix-en
static void test_the_case_that_did_not_fit(void **state)
{
    (void)state;
    bool fits = true;
    vram *v = fixture_open("preset=oom-gpt2");
    assert_int_equal(write_fit(v, &fits, VRAM_FORMAT_TEXT), VRAM_OK);
    assert_false(fits);
    fixture_set(v, "batch_size=8");
    assert_int_equal(write_fit(v, &fits, VRAM_FORMAT_TEXT), VRAM_OK);
    assert_true(fits);
    vram_free(v);
}

// The logits' bytes at the peak: 6 an element from 2.5 on, 10 before, 2 less each when only the
// loss is returned.
static void test_bytes_of_a_logit(void **state)
{
    static const struct {
        const char *words;
        uint64_t each;
    } rows[] = {{"compile=2.5", 6},
                {"compile=2.4", 10},
                {"compile=2.5 compile_logits=false", 4},
                {"compile=2.4 compile_logits=false", 8}};
    uint64_t elements = UINT64_C(16) * 512 * 50304;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vram *v = fixture_open("preset=nanogpt-30m mode=reference");
        fixture_set(v, rows[i].words);
        const struct vram_result *r = fixture_run(v);
        assert_int_equal(r->by_category[VRAM_CAT_LOGITS], rows[i].each * elements);
        vram_free(v);
    }
}

// 36 bytes an element of the residual stream in every layer, as in eager mode, though other
// tensors.
static void test_saved_bytes(void **state)
{
    uint64_t n = 16 * 512, c = 384, layers = 6, heads = 6, vocab = 50304;
    uint64_t u = n * c, layer = 36 * u + 2 * 4 * n + 4 * heads * n + 16,
             casts = 2 * (12 * layers * c * c + vocab * c);
    uint64_t end = 6 * u + 4 * n + 2 * n * vocab + 2 * 4 * n + 2 * 8 * n;
    (void)state;
    vram *v = fixture_open("preset=nanogpt-30m mode=reference");
    assert_int_equal(fixture_run(v)->saved_bytes, layers * layer + end + casts);
    vram_free(v);
}

// A checkpointed block keeps its input and nothing else, the last norm of one nothing; of the casts
// the head's alone is there in backward.
static void test_saved_bytes_of_checkpointed_blocks(void **state)
{
    uint64_t n = 16 * 512, c = 384, layers = 6, vocab = 50304, u = n * c;
    uint64_t end = 2 * u + 2 * n * vocab + 2 * 4 * n + 2 * 8 * n;
    (void)state;
    vram *v = fixture_open("preset=nanogpt-30m mode=reference checkpointing=block");
    assert_int_equal(fixture_run(v)->saved_bytes, layers * 4 * u + end + 2 * vocab * c);
    vram_free(v);
}

static void test_what_is_not_modelled_is_refused(void **state)
{
    static const char *const words[] = {
        "preset=llama-3.2-1b compile=2.5 kernels=liger",
        "preset=mixtral-8x7b compile=2.5 lora_rank=8 lora_targets=q+v quantization=nf4",
        "preset=llama-3.2-1b compile=2.5 cross_entropy=chunked",
        "preset=llama-3.2-1b compile=2.5 cross_entropy=tiled parallel=fsdp2 n_gpu=8",
        "preset=llama-3.2-1b compile=2.5 lora_rank=8 adapter=dora",
        "compile=2.5 attention=math",
        "compile=2.5 lora_rank=8"};
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        vram *v = fixture_open(words[i]);
        assert_int_equal(vram_run(v), VRAM_EUNSUPPORTED);
        vram_free(v);
    }
}

static uint64_t block_figure(const char *words, bool saved)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    set_all(v, "preset=llama-3.2-1b n_layer=4 batch_size=1 seq_len=8192 dtype=bfloat16_pure "
               "optimizer=adamw_fused");
    set_all(v, words);
    if (vram_run(v) != VRAM_OK)
        fail_msg("%s: %s", words, vram_error(v)->text);
    uint64_t bytes = saved ? vram_result(v)->saved_bytes : vram_result(v)->peak_live.bytes;
    close_vram(v, &h);
    return bytes;
}

// What each layer's graph hands over, by hand: traces titan_* have the whole step. The loss's part
// and the last norm's are the same in all of them.
static void test_blocks_save(void **state)
{
    (void)state;
    enum { LAYERS = 4, TOKENS = 8192, WIDTH = 2048, KEYS = 512, INNER = 8192, HEADS = 32 };
    const uint64_t stream = 2 * WIDTH;
    uint64_t full = block_figure("framework=torchtitan compile=2.5 checkpointing=block", true);
    uint64_t op = block_figure("framework=torchtitan compile=2.5 checkpointing=selective", true);
    uint64_t none = block_figure("framework=torchtitan compile=2.5", true);
    // query, value, attention's result and sums, gate
    uint64_t kept = 2 * stream + 2 * KEYS + 2 * INNER + 4 * HEADS;
    assert_int_equal(op - full, LAYERS * TOKENS * kept);
    // both norms and their statistics, key, the middle of the block, up and the product beside
    uint64_t more = 2 * stream + 8 + 2 * KEYS + stream + 4 * INNER;
    assert_int_equal(none - op, LAYERS * TOKENS * more);
}

// Before 2.6 torchtitan's model returns float32 logits, later those of its head: what a loop that
// holds them has.
static void test_logits_that_a_loop_holds(void **state)
{
    static const char *const loops[2][2] = {
        {"framework=torchtitan batch_size=2 seq_len=1024 torch=2.5 keep_logits=yes",
         "framework=torchtitan batch_size=2 seq_len=1024 torch=2.5 keep_logits=no"},
        {"framework=torchtitan batch_size=2 seq_len=1024 torch=2.6 keep_logits=yes",
         "framework=torchtitan batch_size=2 seq_len=1024 torch=2.6 keep_logits=no"}};
    const uint64_t logits = (uint64_t)2 * 1024 * 128256;
    (void)state;
    assert_int_equal(block_figure(loops[0][0], false) - block_figure(loops[0][1], false),
                     4 * logits);
    assert_int_equal(block_figure(loops[1][0], false) - block_figure(loops[1][1], false),
                     2 * logits);
}

// On a Blackwell card torchtitan has cuDNN's attention, which was on no list until 2.11: its result
// and sums are made again.
static void test_blocks_repeat_attention(void **state)
{
    static const struct {
        const char *words;
        bool repeats;
    } rows[] = {
        {"framework=torchtitan checkpointing=selective compile=2.5 torch=2.7", false},
        {"framework=torchtitan checkpointing=selective compile=2.5 torch=2.9", true},
        {"framework=torchtitan checkpointing=selective torch=2.9", true},
        {"framework=torchtitan checkpointing=selective compile=2.5 torch=2.11", false},
        {"framework=torchtitan checkpointing=none compile=2.5 torch=2.9", false},
    };
    (void)state;
    enum { LAYERS = 4, TOKENS = 8192, WIDTH = 2048, HEADS = 32 };
    const uint64_t attended = (uint64_t)LAYERS * TOKENS * (2 * WIDTH + 4 * HEADS);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char words[2][160];
        snprintf(words[0], sizeof words[0], "%s gpu=B200", rows[i].words);
        snprintf(words[1], sizeof words[1], "%s gpu=H100_SXM", rows[i].words);
        uint64_t less = block_figure(words[1], true) - block_figure(words[0], true);
        uint64_t state_of_it = rows[i].repeats ? LAYERS * 24 : 0;  // random numbers
        assert_in_range(less, rows[i].repeats ? attended : 0,
                        rows[i].repeats ? attended + state_of_it : 0);
    }
}

// torchtune checkpoints around its compiled blocks: the input stays, the graph for training runs
// twice.
static void test_blocks_of_torchtune(void **state)
{
    (void)state;
    uint64_t around = block_figure("framework=torchtune compile=2.5 checkpointing=block", true);
    uint64_t none = block_figure("framework=torchtune compile=2.5", true);
    enum { LAYERS = 4, TOKENS = 8192, WIDTH = 2048, INNER = 8192, HEADS = 32 };
    // norms, query, keys and values of every head, attention's result, the middle; two statistics
    const uint64_t kept = 7 * 2 * WIDTH + 2 * 4 + 4 * HEADS + 3 * 2 * INNER;
    assert_int_equal(none - around, (uint64_t)LAYERS * TOKENS * kept);
    assert_true(block_figure("framework=torchtune compile=2.5 checkpointing=block", false) <
                block_figure("framework=torchtune compile=2.5", false));
    assert_true(block_figure("framework=torchtune compile=2.5", false) <
                block_figure("framework=torchtune", false));
}

// Adapters keep what A makes of their inputs; weights of four bits all but the last one expanded.
static void test_blocks_with_adapters(void **state)
{
    (void)state;
    enum { LAYERS = 4, TOKENS = 8192, WIDTH = 2048, KEYS = 512, INNER = 8192, HEADS = 32 };
    static const char *const bits[] = {"", " quantization=nf4"};
    const uint64_t kept = 7 * 2 * WIDTH + 2 * 4 + 4 * HEADS + 3 * 2 * INNER, ranks = 6 * 2 * 16,
                   expanded = 2 * (2 * (uint64_t)WIDTH * (WIDTH + KEYS + INNER));
    for (uint64_t i = 0; i < 2; i++) {
        char words[240];
        snprintf(words, sizeof words,
                 "framework=torchtune compile=2.5 lora_rank=16 lora_targets=q+v+o+gate+up+down "
                 "lora_dropout=0 adapter_dtype=base%s",
                 bits[i]);
        uint64_t none = block_figure(words, true);
        strcat(words, " checkpointing=block");
        uint64_t around = block_figure(words, true);
        assert_int_equal(none - around, LAYERS * (TOKENS * (kept + ranks) + i * expanded));
    }
}

static void test_adapters_that_are_refused(void **state)
{
    static const char *const words[] = {"lora_dropout=0.1", "adapter_dtype=float32", "adapter=dora",
                                        "quantization=int8", "checkpointing=every"};
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct heap h = {0};
        vram *v = open_vram(&h);
        set_all(v, "preset=llama-3.1-8b framework=torchtune dtype=bfloat16_pure compile=2.5 "
                   "lora_rank=8 adapter_dtype=base");
        assert_int_equal(vram_run(v), VRAM_OK);
        set_all(v, words[i]);
        if (vram_run(v) != VRAM_EUNSUPPORTED)
            fail_msg("%s is not refused", words[i]);
        close_vram(v, &h);
    }
}

// In float8 the products' inputs are made again: the norms' results and the last product's. What
// the list of operations keeps is the same.
static void test_blocks_in_float8(void **state)
{
    (void)state;
    enum { LAYERS = 4, TOKENS = 8192, WIDTH = 2048, INNER = 8192, KEYS = 512 };
    static const char *const scalings[] = {"tensorwise", "rowwise"};
    uint64_t none = block_figure("framework=torchtitan compile=2.5", true);
    uint64_t op = block_figure("framework=torchtitan compile=2.5 checkpointing=selective", true);
    for (size_t i = 0; i < 2; i++) {
        char words[120];
        snprintf(words, sizeof words, "framework=torchtitan compile=2.5 float8=%s", scalings[i]);
        uint64_t low = block_figure(words, true);
        assert_int_equal(none - low, (uint64_t)LAYERS * TOKENS * (2 * 2 * WIDTH + 2 * INNER));
        strcat(words, " checkpointing=selective");
        assert_int_equal(block_figure(words, true), op);
    }
    // gathered in one byte a number, the three wide weights are kept turned, in one byte, too
    const char *gathers = "framework=torchtitan compile=2.5 dtype=bfloat16_fsdp parallel=fsdp2 "
                          "n_gpu=8 float8=tensorwise float8_all_gather=1";
    uint64_t kept = block_figure(gathers, true) -
                    block_figure("framework=torchtitan compile=2.5 dtype=bfloat16_fsdp "
                                 "parallel=fsdp2 n_gpu=8 float8=tensorwise",
                                 true);
    assert_int_equal(kept, (uint64_t)LAYERS * 3 * WIDTH * INNER);
}

// Without compile: what is kept is what two bytes keep, and at the peak are the casts of the widest
// weight. The written kernels keep the products' inputs in one byte, each its own.
static void test_float8_as_it_is_written(void **state)
{
    (void)state;
    enum { LAYERS = 4, TOKENS = 8192, WIDTH = 2048, INNER = 8192 };
    uint64_t none = block_figure("framework=torchtitan", true);
    assert_int_equal(block_figure("framework=torchtitan float8=tensorwise", true), none);
    assert_int_equal(block_figure("framework=torchtitan float8=rowwise", true), none);
    assert_int_equal(none - block_figure("framework=torchtitan float8=nocompile", true),
                     (uint64_t)LAYERS * TOKENS * (INNER - 2 * WIDTH));
    // of a block that runs twice they keep what the others keep
    const char *every = "framework=torchtitan checkpointing=every checkpoint_every=2";
    char words[120];
    snprintf(words, sizeof words, "%s float8=nocompile", every);
    assert_int_equal(block_figure(every, true) - block_figure(words, true),
                     (uint64_t)LAYERS / 2 * TOKENS * (INNER - 2 * WIDTH));
    struct heap h = {0};
    vram *v = open_vram(&h);
    set_all(v, "preset=llama-3.2-1b framework=torchtitan compile=2.5 float8=nocompile");
    assert_int_equal(vram_run(v), VRAM_EMODEL);
    set_all(v,
            "dtype=bfloat16_pure compile=none float8=tensorwise checkpointing=selective torch=2.7");
    assert_int_equal(vram_run(v), VRAM_EUNSUPPORTED);
    close_vram(v, &h);
}

static int least_gathered(void *ctx, const struct vram_event *e)
{
    uint64_t *least = ctx;
    if (!e->is_free && strcmp(e->op, "all_gather") == 0 && e->bytes < *least)
        *least = e->bytes;
    return 0;
}

static uint64_t gathered_layer(const char *word)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    uint64_t least = UINT64_MAX;
    set_all(v, "preset=llama-3.2-1b n_layer=4 batch_size=1 seq_len=64 framework=torchtitan "
               "compile=2.5 dtype=bfloat16_fsdp parallel=fsdp2 n_gpu=8 float8=tensorwise "
               "tie_embeddings=0");
    set_all(v, word);
    if (vram_trace(v, least_gathered, &least) != VRAM_OK)
        fail_msg("%s: %s", word, vram_error(v)->text);
    close_vram(v, &h);
    return least;
}

// Linear layers are gathered in one byte a number, norms in two.
static void test_float8_is_gathered(void **state)
{
    enum { WIDTH = 2048, KEYS = 512, INNER = 8192 };
    uint64_t linear = 2 * WIDTH * (WIDTH + KEYS) + 3 * (uint64_t)WIDTH * INNER;
    (void)state;
    assert_int_equal(gathered_layer("float8_all_gather=0"), 2 * linear + 2 * 2 * WIDTH);
    assert_int_equal(gathered_layer("float8_all_gather=1"), linear + 2 * 2 * WIDTH);
}

static void test_blocks_are_refused(void **state)
{
    static const char *const words[] = {"lora_rank=8",
                                        "dtype=bfloat16",
                                        "dtype=float32",
                                        "family=qwen2",
                                        "n_gpu=1 tensor_parallel=2",
                                        "float8=rowwise family=qwen2 compile=none"};
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct heap h = {0};
        vram *v = open_vram(&h);
        set_all(v, "preset=llama-3.1-8b framework=torchtitan dtype=bfloat16_pure compile=2.5");
        set_all(v, words[i]);
        if (vram_run(v) != VRAM_EUNSUPPORTED)
            fail_msg("%s is not refused", words[i]);
        close_vram(v, &h);
    }
}

static void test_float8_that_is_not_gathered(void **state)
{
    static const char *const words[] = {"float8=rowwise", "float8=none",
                                        "float8=tensorwise n_gpu=1",
                                        "float8=tensorwise parallel=ddp"};
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct heap h = {0};
        vram *v = open_vram(&h);
        set_all(v, "preset=llama-3.1-8b framework=torchtitan dtype=bfloat16_pure compile=2.5 "
                   "parallel=fsdp2 n_gpu=8 float8_all_gather=1");
        set_all(v, words[i]);
        if (vram_run(v) != VRAM_EMODEL)
            fail_msg("%s is gathered", words[i]);
        close_vram(v, &h);
    }
}

// Heads that together are as wide as the stream, and such that are not, have other passes: one
// handle after the other, as a sweep does, and each by itself.
static void test_widths_that_follow_each_other(void **state)
{
    static const char *const words[] = {"n_embd=4096 n_inner=12288", "n_embd=2560 n_inner=9728"};
    const char *base = "family=qwen3 framework=torchtitan n_layer=6 n_head=32 n_kv_head=8 "
                       "head_dim=128 vocab_size=151936 dtype=bfloat16_pure compile=2.5 "
                       "seq_len=8192 batch_size=1";
    (void)state;
    vram *both = fixture_open(base);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        vram *alone = fixture_open(base);
        set_all(both, words[i]);
        set_all(alone, words[i]);
        assert_int_equal(fixture_run(both)->peak_live.bytes, fixture_run(alone)->peak_live.bytes);
        vram_free(alone);
    }
    vram_free(both);
}

// Of the whole model in transformers' Llama: what is modelled, and what is not.
static void test_whole_llama(void **state)
{
    static const struct {
        const char *words;
        int rc;
    } rows[] = {{"", VRAM_OK},
                {"checkpointing=block", VRAM_OK},
                {"dtype=bfloat16", VRAM_OK},
                {"family=qwen2", VRAM_OK},
                {"transformers=4.57", VRAM_EUNSUPPORTED},
                {"torch=2.8", VRAM_EUNSUPPORTED},
                {"n_kv_head=32", VRAM_OK},
                {"dtype=bfloat16 checkpointing=block", VRAM_OK},
                {"dtype=bfloat16_loaded lora_rank=8", VRAM_OK},
                {"lora_rank=8 quantization=nf4 checkpointing=block", VRAM_OK},
                {"checkpointing=every checkpoint_every=2", VRAM_OK},
                {"family=qwen3", VRAM_OK},
                {"family=gemma3", VRAM_OK},
                {"preset=qwen3.5-9b n_layer=8", VRAM_OK},
                {"preset=llama-4-scout n_layer=8", VRAM_OK},
                {"n_gpu=2", VRAM_EUNSUPPORTED},
                {"attention=flash_attention_2", VRAM_EUNSUPPORTED},
                {"quantization=gptq lora_rank=8", VRAM_EUNSUPPORTED},
                {"dtype=float32", VRAM_OK}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct heap h = {0};
        vram *v = open_vram(&h);
        set_all(v, "preset=llama-3.1-8b dtype=bfloat16_pure compile=2.5 n_layer=9");
        set_all(v, rows[i].words);
        if (vram_run(v) != rows[i].rc)
            fail_msg("%s: %d", rows[i].words, vram_run(v));
        close_vram(v, &h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_worked_out_figures),
        cmocka_unit_test(test_the_measured_process),
        cmocka_unit_test(test_the_case_that_did_not_fit),
        cmocka_unit_test(test_bytes_of_a_logit),
        cmocka_unit_test(test_saved_bytes),
        cmocka_unit_test(test_saved_bytes_of_checkpointed_blocks),
        cmocka_unit_test(test_what_is_not_modelled_is_refused),
        cmocka_unit_test(test_blocks_save),
        cmocka_unit_test(test_logits_that_a_loop_holds),
        cmocka_unit_test(test_blocks_repeat_attention),
        cmocka_unit_test(test_blocks_of_torchtune),
        cmocka_unit_test(test_blocks_with_adapters),
        cmocka_unit_test(test_adapters_that_are_refused),
        cmocka_unit_test(test_blocks_in_float8),
        cmocka_unit_test(test_float8_as_it_is_written),
        cmocka_unit_test(test_float8_is_gathered),
        cmocka_unit_test(test_float8_that_is_not_gathered),
        cmocka_unit_test(test_blocks_are_refused),
        cmocka_unit_test(test_widths_that_follow_each_other),
        cmocka_unit_test(test_whole_llama),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
