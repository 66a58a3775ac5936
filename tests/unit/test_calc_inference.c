// Generation: weights, the key-value cache and the copy that growing it takes, worked out by hand;
// the cache that a model returns in training.

#include "tests/unit/calc_words_fixture.h"

static uint64_t peak_of(const struct vram_result *r, const char *phase)
{
    for (size_t i = 0; i < r->phase_count; i++)
        if (strcmp(r->phases[i].name, phase) == 0)
            return r->phases[i].peak_live_bytes;
    fail_msg("there is no phase %s", phase);
    return 0;
}

// 2 bytes, keys and values: layers * sequences * positions * key heads * width of a head.
static void test_cache_bytes(void **state)
{
    static const struct {
        const char *words;
        uint64_t layers, sequences, positions, width;
    } rows[] = {
        {"preset=llama-3.2-1b batch_size=4 seq_len=1024 max_new_tokens=512", 16, 4, 1536, 8 * 64},
        {"preset=llama-3.1-8b batch_size=1 seq_len=100 max_new_tokens=28", 32, 1, 128, 8 * 128},
        {"preset=gpt2 batch_size=2 seq_len=512 max_new_tokens=512", 12, 2, 1024, 768},
        {"preset=mixtral-8x7b batch_size=1 seq_len=64 max_new_tokens=64", 32, 1, 128, 8 * 128},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vram *v = fixture_open(rows[i].words);
        fixture_set(v, "task=inference mode=reference");
        const struct vram_result *r = fixture_run(v);
        uint64_t cache =
            2 * 2 * rows[i].layers * rows[i].sequences * rows[i].positions * rows[i].width;
        assert_int_equal(r->param_bytes, 2 * r->params);
        assert_int_equal(r->grad_bytes, 0);
        assert_int_equal(r->optim_bytes, 0);
        assert_int_equal(r->saved_bytes, 0);
        assert_int_equal(r->steady_end_bytes, r->param_bytes + r->buffer_bytes + cache);
        vram_free(v);
    }
}

// The last step holds the whole cache, one layer's keys twice, and little else.
static void test_growing_takes_one_tensor_twice(void **state)
{
    (void)state;
    vram *v = fixture_open(
        "preset=gpt2 task=inference mode=reference batch_size=8 seq_len=1000 max_new_tokens=24");
    const struct vram_result *r = fixture_run(v);
    uint64_t one = UINT64_C(8) * 1024 * 768 * 2, still = r->param_bytes + 24 * one;
    uint64_t peak = peak_of(r, "decode:1");
    assert_true(peak >= still + one);
    assert_true(peak <= still + one + MIB);
    vram_free(v);
}

// LitGPT's autocast generates over weights in float32, of which every matrix but the embedding has
// a copy in two bytes to the end of a pass; elsewhere weights are loaded in two bytes.
static void test_autocast_of_litgpt(void **state)
{
    (void)state;
    vram *v = fixture_open("preset=llama-2-7b task=inference mode=reference dtype=bfloat16 "
                           "batch_size=1 seq_len=32 max_new_tokens=50");
    const struct vram_result *r = fixture_run(v);
    assert_int_equal(r->param_bytes, 2 * r->params);
    fixture_set(v, "framework=litgpt");
    r = fixture_run(v);
    assert_int_equal(r->param_bytes, 4 * r->params);
    uint64_t norms = 65 * 4096, copies = 2 * (r->params - 32000 * 4096 - norms);
    uint64_t peak = peak_of(r, "prefill");
    assert_true(peak >= r->param_bytes + copies);
    assert_true(peak <= r->param_bytes + copies + 32 * MIB);
    fixture_set(v, "dtype=bfloat16_pure");
    r = fixture_run(v);
    assert_int_equal(r->param_bytes, 2 * r->params);
    vram_free(v);
}

static void test_one_byte_cache(void **state)
{
    (void)state;
    vram *v = fixture_open(
        "preset=gpt2 task=inference mode=reference batch_size=8 seq_len=512 max_new_tokens=512");
    const struct vram_result *r = fixture_run(v);
    uint64_t two = r->steady_end_bytes, weights = r->param_bytes;
    fixture_set(v, "kv_dtype=int8");
    uint64_t one = fixture_run(v)->steady_end_bytes;
    assert_int_equal((one - weights) * 2, two - weights);
    vram_free(v);
}

// Blocks that no longer cache fits into are left behind at each step, up to a full card, where they
// go back. SRC: github.com/huggingface/optimum-benchmark f75d9f93,
// examples/running-llamas/artifacts/Llama-7b/full_report.csv: Llama 2 7B, 256 tokens and 512 new
// ones, A100 80GB, MB reserved.
static void test_what_steps_leave_behind(void **state)
{
    static const struct {
        const char *words;
        uint64_t megabytes;
    } rows[] = {{"batch_size=1", 14480}, {"batch_size=2", 15617},  {"batch_size=4", 24960},
                {"batch_size=8", 63503}, {"batch_size=16", 84420}, {"batch_size=64", 84420},
                {"batch_size=8", 63503}};
    (void)state;
    vram *v = fixture_open("preset=llama-2-7b task=inference torch=2.1 transformers=4.35 "
                           "dtype=float16_pure attention=math seq_len=256 max_new_tokens=512 "
                           "gpu=A100_80GB");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture_set(v, rows[i].words);
        const struct vram_result *r = fixture_run(v);
        uint64_t measured = rows[i].megabytes * 1000000, reserved = r->peak_reserved.bytes;
        assert_in_range(reserved, measured * 98 / 100, measured * 102 / 100);
        assert_true(vram_verdict_fits(r->verdict));
        uint64_t live;
        assert_int_equal(vram_live_peak(v, &live), VRAM_OK);
        assert_in_range(r->peak_live.bytes, live - live / 1000, live);  // a token less
    }
    vram_free(v);
}

static bool has_note(const struct vram_result *r, const char *id)
{
    for (size_t i = 0; i < r->note_count; i++)
        if (strcmp(r->notes[i].id, id) == 0)
            return true;
    return false;
}

// Whether it fits is said of the same bytes by the estimate, by `fit` and by the searches, which
// play no cache that a full card gets back; without a card there is none either.
static void test_what_has_to_fit(void **state)
{
    (void)state;
    vram *v = fixture_open("preset=llama-2-7b task=inference torch=2.1 transformers=4.35 "
                           "dtype=float16_pure attention=math seq_len=256 max_new_tokens=512 "
                           "batch_size=8 gpu=A100_80GB");
    const struct vram_result *r = fixture_run(v);
    uint64_t reserved = r->needed.bytes - r->context.bytes;
    assert_true(r->process.bytes > 2 * r->needed.bytes);
    assert_int_equal(r->verdict, VRAM_VERDICT_FITS);
    assert_true(has_note(r, "cache_kept"));
    const struct vram_max_batch *most;
    assert_int_equal(vram_max_batch(v, &most), VRAM_OK);
    char words[32];
    snprintf(words, sizeof words, "batch_size=%u", (unsigned)most->batch_size);
    fixture_set(v, words);
    const struct vram_fit *fit;
    assert_int_equal(vram_fit(v, &fit), VRAM_OK);
    assert_int_equal(fit->process.bytes, most->process_bytes);
    fixture_set(v, "batch_size=8 gpu=none");
    r = fixture_run(v);
    assert_int_equal(r->needed.bytes, r->process.bytes);
    assert_int_equal(r->peak_reserved.bytes, reserved);
    assert_false(has_note(r, "cache_kept"));
    vram_free(v);
}

// What it takes beside a card that is too small, or without one, is what the last steps take.
static void test_what_does_not_fit(void **state)
{
    (void)state;
    vram *v = fixture_open("preset=llama-2-7b task=inference dtype=float16_pure batch_size=32 "
                           "seq_len=256 max_new_tokens=512 gpu=RTX_4090");
    const struct vram_result *r = fixture_run(v);
    uint64_t reserved = r->peak_reserved.bytes;
    assert_false(vram_verdict_fits(r->verdict));
    fixture_set(v, "gpu=none");
    assert_int_equal(fixture_run(v)->peak_reserved.bytes, reserved);
    fixture_set(v, "gpu=A100_80GB");
    assert_true(fixture_run(v)->peak_reserved.bytes > 2 * reserved);
    vram_free(v);
}

// Without a token to make there is the prompt alone; quantized weights are smaller.
static void test_prompt_alone_and_quantized(void **state)
{
    (void)state;
    vram *v = fixture_open("preset=llama-3.1-8b task=inference seq_len=128 max_new_tokens=0");
    const struct vram_result *r = fixture_run(v);
    uint64_t plain = r->param_bytes;
    assert_string_equal(r->phases[r->phase_count - 1].name, "prefill");
    fixture_set(v, "quantization=nf4");
    assert_true(fixture_run(v)->param_bytes * 2 < plain);
    vram_free(v);
}

// generate() for one token is the prompt's pass: no step makes the cache of tuples (transformers
// before 4.42) once more beside the old one. SRC: transformers 4.32 generation/utils.py,
// greedy_search.
static void test_one_token_is_the_prompts(void **state)
{
    static const char old[] = "preset=llama-2-7b task=inference transformers=4.35 "
                              "dtype=float16_pure seq_len=512 batch_size=4";
    (void)state;
    vram *v = fixture_open(old);
    fixture_set(v, "max_new_tokens=1");
    uint64_t one = fixture_run(v)->peak_live.bytes;
    fixture_set(v, "max_new_tokens=0");
    assert_int_equal(fixture_run(v)->peak_live.bytes, one);
    fixture_set(v, "max_new_tokens=2");
    uint64_t cache = UINT64_C(2) * 2 * 32 * 4096 * 4 * 512;
    assert_true(fixture_run(v)->peak_live.bytes > one + cache / 2);
    vram_free(v);
}

static void test_live_peak_is_the_same(void **state)
{
    static const char *const words[] = {"max_new_tokens=0",
                                        "max_new_tokens=1",
                                        "max_new_tokens=2",
                                        "max_new_tokens=300",
                                        "kv_dtype=int8",
                                        "family=llama n_kv_head=4",
                                        "family=gpt_neox",
                                        "dtype=float32",
                                        "transformers=4.38",
                                        "family=phi",
                                        "family=falcon framework=litgpt"};
    (void)state;
    vram *v =
        fixture_open("task=inference n_layer=7 n_head=12 n_embd=384 block_size=512 seq_len=128");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        uint64_t live;
        fixture_set(v, words[i]);
        assert_int_equal(vram_live_peak(v, &live), VRAM_OK);
        assert_int_equal(live, fixture_run(v)->peak_live.bytes);
    }
    vram_free(v);
}

// device_map: what the cards hold together is the model's weights, the cache and what each needs of
// its own while its blocks run; the reported figures are of the fullest card.
static void test_device_map(void **state)
{
    (void)state;
    vram *v = fixture_open("preset=qwen2.5-72b task=inference dtype=bfloat16_pure batch_size=1 "
                           "seq_len=6144 max_new_tokens=2048");
    const struct vram_result *r = fixture_run(v);
    uint64_t whole = r->peak_allocated.bytes, weights = r->param_bytes;
    assert_int_equal(r->cards_allocated_bytes, whole);
    uint64_t own = whole - weights -
                   2 * 2 * UINT64_C(80) * 6144 * 1024;  // beside the prompt's keys and values
    for (unsigned cards = 2; cards <= 3; cards++) {
        char text[32];
        uint64_t live;
        snprintf(text, sizeof text, "device_map=%u", cards);
        fixture_set(v, text);
        r = fixture_run(v);
        assert_in_range(r->cards_allocated_bytes, whole + (cards - 1) * own / 2,
                        whole + (cards - 1) * own);
        assert_in_range(r->peak_allocated.bytes, whole / cards, whole / cards + weights / 20);
        assert_int_equal(vram_live_peak(v, &live), VRAM_OK);
        assert_int_equal(live, r->peak_live.bytes);
    }
    // Each card has the tables of its own layers; what the last one returns goes to the first, and
    // is there while the next step makes the cache of the first one's layers once more.
    fixture_set(v, "device_map=1 framework=transformers transformers=4.38 block_size=32768 "
                   "seq_len=30720");
    r = fixture_run(v);
    uint64_t tables = r->buffer_bytes, one = r->cards_allocated_bytes,
             logits = UINT64_C(4) * 30720 * 152064, cache = UINT64_C(4) * 80 * 30720 * 1024;
    assert_int_equal(tables, 2 * 2 * UINT64_C(80) * 32768 * 128);
    fixture_set(v, "device_map=2");
    r = fixture_run(v);
    assert_int_equal(r->buffer_bytes % (tables / 80), 0);
    assert_in_range(r->buffer_bytes, tables / 4, 3 * tables / 4);
    assert_in_range(r->cards_allocated_bytes, one + logits, one + logits + cache);
    // LitGPT: blocks in equal numbers, embedding, norm and head on the first card.
    fixture_set(v, "framework=litgpt device_map=8 seq_len=8 max_new_tokens=256");
    r = fixture_run(v);
    assert_int_equal(r->pipeline_stage, 0);
    assert_int_equal(r->param_bytes - 2 * (2 * r->parameters[0].elements + 8192),
                     (weights - 2 * (2 * r->parameters[0].elements + 8192)) / 8);
    fixture_set(v, "device_map=81");
    assert_int_equal(vram_run(v), VRAM_EMODEL);
    fixture_set(v, "device_map=2 task=train");
    assert_int_equal(vram_run(v), VRAM_EUNSUPPORTED);
    vram_free(v);
}

// A checkpoint of AutoAWQ has a head of its own: it is on the card until it is tied.
// Qwen2.5-0.5B-Instruct-AWQ took 0.68 GiB.
static void test_second_head(void **state)
{
    (void)state;
    vram *v = fixture_open("preset=qwen2.5-0.5b framework=transformers torch=2.3 transformers=4.46 "
                           "task=inference dtype=bfloat16_pure batch_size=1 "
                           "seq_len=1 max_new_tokens=16 quantization=awq");
    const struct vram_result *r = fixture_run(v);
    uint64_t head = UINT64_C(2) * 151936 * 896, live;
    assert_int_equal(r->peak_live.bytes, r->param_bytes + head);
    assert_int_equal(vram_live_peak(v, &live), VRAM_OK);
    assert_int_equal(live, r->param_bytes + head);
    // The tables of cosines and sines come after it is gone: Qwen2-0.5B-Instruct-AWQ, 0.68 GiB.
    fixture_set(v, "transformers=4.38 block_size=32768");
    r = fixture_run(v);
    assert_int_equal(r->buffer_bytes, 2 * 2 * UINT64_C(24) * 32768 * 64);
    assert_int_equal(r->peak_live.bytes, r->param_bytes + head);
    assert_int_equal(vram_live_peak(v, &live), VRAM_OK);
    assert_int_equal(live, r->param_bytes + head);
    fixture_set(v, "transformers=4.46 quantization=gptq");
    r = fixture_run(v);
    assert_true(r->peak_live.bytes < r->param_bytes + head / 2);
    fixture_set(v, "quantization=awq tie_embeddings=false");
    r = fixture_run(v);
    assert_true(r->peak_live.bytes < r->param_bytes + head / 2);
    vram_free(v);
}

// ExLlama's buffer for the largest weight in two bytes, of four bits alone and of generation alone.
static void test_where_exllama_expands(void **state)
{
    static const struct {
        const char *words;
        uint64_t bytes;
    } cases[] = {
        {"quantization=gptq", UINT64_C(2) * 3584 * 18944},
        {"quantization=gptq_int8", 0},
        {"quantization=awq", 0},
        {"quantization=gptq task=train lora_rank=8 dtype=bfloat16_loaded", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        vram *v = fixture_open("preset=qwen2.5-7b framework=transformers transformers=5.0 "
                               "torch=2.9 task=inference batch_size=1 seq_len=64 "
                               "max_new_tokens=8 dtype=bfloat16_pure");
        uint64_t plain = fixture_run(v)->buffer_bytes;
        fixture_set(v, cases[i].words);
        assert_int_equal(fixture_run(v)->buffer_bytes - plain, cases[i].bytes);
        vram_free(v);
    }
}

// What a phase of a generation with Qwen2.5 0.5B takes beside weights and buffers.
static uint64_t of_qwen(const char *words, const char *phase)
{
    vram *v = fixture_open("preset=qwen2.5-0.5b framework=transformers task=inference batch_size=1 "
                           "seq_len=4096 max_new_tokens=1024 dtype=bfloat16_pure");
    fixture_set(v, words);
    const struct vram_result *r = fixture_run(v);
    uint64_t bytes = peak_of(r, phase) - r->param_bytes - r->buffer_bytes;
    vram_free(v);
    return bytes;
}

enum { QWEN_LAYERS = 24, QWEN_KEYS = 2 * 64, QWEN_WORDS = 151936 };

// Before 4.45 the whole prompt has logits, in two bytes and in four.
static void test_logits_of_the_prompt(void **state)
{
    const uint64_t logits = UINT64_C(4096) * QWEN_WORDS,
                   cache = 4 * UINT64_C(4096) * QWEN_LAYERS * QWEN_KEYS;
    (void)state;
    uint64_t whole = of_qwen("transformers=4.44", "prefill"),
             last = of_qwen("transformers=4.46", "prefill");
    assert_in_range(whole, 6 * logits + cache, 6 * logits + cache + 20 * MIB);
    assert_true(last < logits);
}

// LLM.int8 multiplies integers: no matrix is expanded but in backward; bitsandbytes of before
// PyTorch 2.6 keeps the input's columns in one byte for it.
static void test_products_of_integers(void **state)
{
    (void)state;
    vram *v = fixture_open("preset=llama-3.2-1b task=inference quantization=int8 seq_len=8 "
                           "max_new_tokens=4");
    const struct vram_result *r = fixture_run(v);
    assert_true(r->peak_live.bytes < r->param_bytes + UINT64_C(2) * 2048 * 8192);
    fixture_set(v, "task=train lora_rank=8 lora_targets=q+v dtype=bfloat16_loaded batch_size=1 "
                   "seq_len=64 torch=2.6");
    uint64_t rows = fixture_run(v)->saved_bytes;
    fixture_set(v, "torch=2.5");
    // The first layer's queries, keys and values have an input without a gradient.
    uint64_t columns = UINT64_C(64) * ((6 * 2048 + 8192) * 16 - 3 * 2048);
    assert_in_range(fixture_run(v)->saved_bytes, rows + columns - 1024, rows + columns);
    vram_free(v);
}

// Before 4.42 a step makes a cache beside the one that it has; the first one with the prompt's
// logits still there.
static void test_two_caches(void **state)
{
    const uint64_t token = 4 * QWEN_LAYERS * QWEN_KEYS, cache = 5120 * token,
                   heads = 2 * 2 * 5120 * 896;  // one key and value for each query
    (void)state;
    uint64_t two = of_qwen("transformers=4.41", "decode:1"),
             one = of_qwen("transformers=4.44", "decode:1");
    assert_in_range(two, 2 * cache + heads, 2 * cache + heads + MIB);
    assert_in_range(one, cache + heads, cache + heads + MIB);
    const char *words = "transformers=4.41 batch_size=8 seq_len=8192 vocab_size=512";
    uint64_t logits = UINT64_C(8) * 8192 * 512, prompt = UINT64_C(8) * 8192 * token;
    assert_true(of_qwen(words, "prefill") >= 2 * prompt + 4 * logits);
}

// Cosines and sines of all positions in every layer, by family and version.
static void test_tables_of_positions(void **state)
{
    static const struct {
        const char *words;
        uint64_t bytes;
    } rows[] = {
        {"preset=qwen2.5-0.5b block_size=32768 transformers=4.44", 24 * 2 * 32768 * 64 * 2},
        {"preset=qwen2.5-0.5b block_size=32768 transformers=4.45", 0},
        {"preset=qwen2.5-0.5b block_size=32768 transformers=4.36", 0},
        {"preset=qwen2.5-0.5b block_size=32768 transformers=4.44 dtype=float32",
         24 * 2 * 32768 * 64 * 4},
        {"preset=llama-2-7b transformers=4.40", 32 * 2 * 4096 * 128 * 2},
        {"preset=llama-2-7b transformers=4.41", 0},
        {"preset=mistral-7b block_size=32768 transformers=4.41",
         UINT64_C(32) * 2 * 32768 * 128 * 2},
        {"preset=mistral-7b block_size=32768 transformers=4.42", 0},
        {"preset=phi-2 transformers=4.44", 32 * 2 * 2048 * 32 * 2},
        {"preset=llama-2-7b transformers=4.40 framework=litgpt", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vram *v = fixture_open("task=inference batch_size=1 seq_len=16 dtype=bfloat16_pure "
                               "framework=transformers");
        fixture_set(v, rows[i].words);
        assert_int_equal(fixture_run(v)->buffer_bytes, rows[i].bytes);
        vram_free(v);
    }
}

static uint64_t peak_with(vram *v, const char *words)
{
    fixture_set(v, words);
    return fixture_run(v)->peak_live.bytes;
}

// Keys and values of all layers go with what the model returns. transformers' own checkpointing
// takes them away, as 4.43 and 4.44 do in training; a wrapper's leaves the tuples of old versions.
static void test_returned_cache(void **state)
{
    static const struct {
        const char *words;
        bool there;
    } cases[] = {
        {"transformers=5.23 keep_logits=backward checkpointing=none", true},
        {"transformers=5.23 keep_logits=backward checkpointing=block", false},
        {"transformers=5.23 keep_logits=no checkpointing=none", false},
        {"transformers=4.48 keep_logits=yes checkpointing=none", true},
        {"transformers=4.44 keep_logits=yes checkpointing=none", false},
        {"transformers=4.35 keep_logits=yes checkpointing=block", true},
    };
    const uint64_t bytes = UINT64_C(2) * 16 * 1024 * 512 * 2;
    (void)state;
    vram *v = fixture_open("preset=llama-3.2-1b framework=transformers dtype=bfloat16_pure "
                           "optimizer=sgd batch_size=1 seq_len=1024 evaluation=false");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture_set(v, cases[i].words);
        uint64_t without = peak_with(v, "use_cache=false"), with = peak_with(v, "use_cache=true");
        assert_int_equal(with - without, cases[i].there ? bytes : 0);
    }
    fixture_set(v, "kernels=foak");
    assert_int_equal(vram_run(v), VRAM_EUNSUPPORTED);
    vram_free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cache_bytes),
        cmocka_unit_test(test_growing_takes_one_tensor_twice),
        cmocka_unit_test(test_autocast_of_litgpt),
        cmocka_unit_test(test_where_exllama_expands),
        cmocka_unit_test(test_one_byte_cache),
        cmocka_unit_test(test_what_steps_leave_behind),
        cmocka_unit_test(test_what_has_to_fit),
        cmocka_unit_test(test_what_does_not_fit),
        cmocka_unit_test(test_prompt_alone_and_quantized),
        cmocka_unit_test(test_one_token_is_the_prompts),
        cmocka_unit_test(test_live_peak_is_the_same),
        cmocka_unit_test(test_device_map),
        cmocka_unit_test(test_second_head),
        cmocka_unit_test(test_logits_of_the_prompt),
        cmocka_unit_test(test_products_of_integers),
        cmocka_unit_test(test_two_caches),
        cmocka_unit_test(test_tables_of_positions),
        cmocka_unit_test(test_returned_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
