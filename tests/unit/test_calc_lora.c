// Adapters, quantized weights and losses in chunks: counts and bytes that can be worked out by
// hand.

#include "calc/model/quantization.h"
#include "tests/unit/calc_words_fixture.h"

#define SMALL \
    "family=llama dtype=bfloat16_pure mode=reference gradient_accumulation_steps=1 n_layer=4 " \
    "n_embd=256 " \
    "n_head=4 n_inner=512 vocab_size=1024 block_size=128 batch_size=2 tie_embeddings=0 " \
    "keep_logits=no "

static uint64_t line_bytes(const struct vram_result *r, const char *name)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < r->saved_count; i++)
        if (strcmp(r->saved[i].name, name) == 0)
            bytes += r->saved[i].bytes;
    return bytes;
}

// A kernel that takes gpt-oss's sinks, which adapters leave as they are, has no scores.
static void test_frozen_sinks(void **state)
{
    (void)state;
    vram *v = fixture_open("preset=gpt-oss-20b lora_rank=8 lora_targets=q+v dtype=bfloat16_loaded "
                           "cross_entropy=cce seq_len=4096 batch_size=1 checkpointing=block");
    uint64_t scores = fixture_run(v)->peak_live.bytes;
    fixture_set(v, "attention=flash_attention_2");
    assert_true(fixture_run(v)->peak_live.bytes + UINT64_C(2) * 64 * 4096 * 4096 < scores);
    vram_free(v);
}

// r (in + out) for every adapted matrix.
static void test_trained_parameters(void **state)
{
    (void)state;
    vram *v = fixture_open(SMALL "lora_rank=8 lora_targets=all");
    const struct vram_result *r = fixture_run(v);
    uint64_t attention = 4 * (256 + 256), mlp = 3 * (256 + 512);
    assert_int_equal(r->trained_params, 4 * 8 * (attention + mlp));
    assert_int_equal(r->grad_bytes, 2 * r->trained_params);
    fixture_set(v, "lora_targets=qv");
    assert_int_equal(fixture_run(v)->trained_params, 4 * 8 * 2 * (256 + 256));
    vram_free(v);
}

// Under autocast the frozen weights are loaded in two bytes, the adapters stay in four: 4 + 4 + 8
// for each number.
static void test_state_under_autocast(void **state)
{
    (void)state;
    vram *v = fixture_open(SMALL "lora_rank=8 dtype=bfloat16_loaded optimizer=adamw_foreach");
    const struct vram_result *r = fixture_run(v);
    uint64_t frozen = r->params - r->trained_params;
    assert_int_equal(r->param_bytes, 2 * frozen + 4 * r->trained_params);
    assert_int_equal(r->grad_bytes, 4 * r->trained_params);
    assert_int_equal(r->optim_bytes, 8 * r->trained_params);
    vram_free(v);
}

// NF4: half a byte, a float32 for 64, and 16 values for each of the 4 x 7 matrices of the layers.
static void test_quantized_weights(void **state)
{
    (void)state;
    vram *v = fixture_open(SMALL "lora_rank=8");
    uint64_t plain = fixture_run(v)->param_bytes;
    uint64_t linear = 4 * (4 * 256 * 256 + 3 * 256 * 512);
    fixture_set(v, "quantization=nf4");
    assert_int_equal(fixture_run(v)->param_bytes,
                     plain - 2 * linear + linear / 2 + linear / 64 * 4 + 28 * 64);
    fixture_set(v, "quantization=int8");
    uint64_t outputs = 4 * (5 * 256 + 2 * 512);
    assert_int_equal(fixture_run(v)->param_bytes, plain - linear + 4 * outputs);
    vram_free(v);
}

// A frozen layer does not save its input: it needs the weight alone.
static void test_frozen_layers_save_less(void **state)
{
    (void)state;
    uint64_t stream = UINT64_C(2) * 128 * 256 * 2;
    vram *full = fixture_open(SMALL), *adapted = fixture_open(SMALL "lora_rank=8 lora_targets=qv");
    const struct vram_result *r = fixture_run(full);
    assert_int_equal(line_bytes(r, "block.ln_2 output"), 4 * stream);
    r = fixture_run(adapted);
    assert_int_equal(line_bytes(r, "block.ln_2 output"), 0);
    // For the adapters of q and v.
    assert_int_equal(line_bytes(r, "block.ln_1 output"), 4 * stream);
    assert_true(r->saved_bytes < vram_result(full)->saved_bytes);
    vram_free(full);
    vram_free(adapted);
}

static void test_checkpointing_with_adapters_has_gradients(void **state)
{
    (void)state;
    vram *v = fixture_open(SMALL "lora_rank=8 checkpointing=block");
    const struct vram_result *r = fixture_run(v);
    bool steps = false;
    for (size_t i = 0; i < r->phase_count; i++)
        steps = steps || strcmp(r->phases[i].name, "bwd:it1.m0") == 0;
    assert_true(steps);
    assert_true(r->peak_live.bytes > r->param_bytes + r->grad_bytes + r->optim_bytes);
    vram_free(v);
}

// Frozen weights are divided like trained ones.
static void test_frozen_weights_are_sharded(void **state)
{
    (void)state;
    vram *v = fixture_open(SMALL "lora_rank=8 vocab_size=2048");
    uint64_t whole = fixture_run(v)->param_bytes;
    fixture_set(v, "parallel=fsdp n_gpu=8");
    assert_int_equal(fixture_run(v)->param_bytes, whole / 8);
    vram_free(v);
}

// ---- which layers ------------------------------------------------------------------------------

static void assert_text(vram *v, const char *key, const char *want)
{
    char text[128];
    assert_true(vram_get(v, key, text, sizeof text) >= 0);
    assert_string_equal(text, want);
}

static void test_targets_are_sets(void **state)
{
    (void)state;
    static const char *const said[][2] = {{"q_proj,v_proj", "q+v"},
                                          {"[\"q_proj\", \"v_proj\"]", "q+v"},
                                          {"all-linear", "all"},
                                          {"all+head", "all+head"},
                                          {"q+k+v+o+gate+up+down", "all"},
                                          {"c_attn", "q+k+v"},
                                          {"query_key_value; dense", "q+k+v+o"},
                                          {"c_proj c_fc", "o+up+down"},
                                          {"lm_head+embed_tokens", "head+embed"}};
    vram *v = fixture_open(SMALL "lora_rank=8");
    assert_text(v, "lora_targets", "all");
    assert_text(v, "modules_to_save", "none");
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        assert_int_equal(vram_set(v, "lora_targets", said[i][0]), VRAM_OK);
        assert_text(v, "lora_targets", said[i][1]);
    }
    assert_int_equal(vram_set(v, "lora_targets", "q+foo"), VRAM_EVALUE);
    assert_int_equal(vram_set(v, "lora_targets", "none"), VRAM_EVALUE);
    assert_int_equal(vram_set(v, "modules_to_save", "q"), VRAM_EVALUE);
    vram_free(v);
}

// axolotl's functions keep gate, up and their input, and nothing of what PEFT makes between.
static void test_fused_adapters(void **state)
{
    (void)state;
    vram *v = fixture_open("preset=llama-3.2-1b framework=transformers dtype=bfloat16_pure "
                           "batch_size=1 seq_len=1024 lora_rank=8");
    uint64_t apart = fixture_run(v)->saved_bytes, n = UINT64_C(1024) * 16;
    fixture_set(v, "lora_kernels=mlp");
    assert_text(v, "lora_kernels", "mlp");
    uint64_t fused = fixture_run(v)->saved_bytes;
    // SiLU's result and the product, the products with A, the input and the product in float32
    assert_true(apart - fused > n * 4 * 8192 && apart > fused);
    fixture_set(v, "lora_kernels=qkv+o+mlp");
    assert_true(fixture_run(v)->saved_bytes < fused);
    assert_int_equal(vram_set(v, "lora_kernels", "gate"), VRAM_EVALUE);
    vram_free(v);
}

// Peaks of Unsloth's versions: whole logits of two bytes, none, those of one part of two in
// float32.
static void test_unsloths_layers(void **state)
{
    (void)state;
    const uint64_t logits = UINT64_C(4096) * 128256;
    vram *v = fixture_open("preset=llama-3.2-1b framework=transformers dtype=bfloat16_loaded "
                           "batch_size=2 seq_len=2048 lora_rank=8 quantization=nf4_double "
                           "checkpointing=block offload_activations=inputs");
    uint64_t plain = fixture_run(v)->peak_live.bytes;
    fixture_set(v, "kernels=unsloth framework_version=2025.6");
    assert_text(v, "framework_version", "2025.6");
    uint64_t cut = fixture_run(v)->peak_live.bytes;
    fixture_set(v, "framework_version=2024.8");
    uint64_t whole = fixture_run(v)->peak_live.bytes;
    fixture_set(v, "framework_version=2025.12");
    uint64_t parts = fixture_run(v)->peak_live.bytes;
    assert_true(cut < parts && parts < whole && whole < plain);
    assert_true(whole - cut > 5 * logits && whole - cut < 6 * logits);
    assert_true(parts - cut > 3 * logits && parts - cut < 4 * logits);
    fixture_set(v, "framework_version=2026.10");
    assert_true(fixture_run(v)->peak_live.bytes < cut + logits);
    vram_free(v);
}

// They are of adapters, of some families, and eager.
static void test_unsloths_limits(void **state)
{
    (void)state;
    static const char *const other[] = {"lora_rank=0 quantization=none",
                                        "adapter=dora quantization=none",
                                        "family=gemma",
                                        "compile=2.5",
                                        "checkpointing=selective",
                                        "parallel=fsdp2 n_gpu=2",
                                        "quantization=nf4"};
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        vram *v = fixture_open("preset=llama-3.2-1b framework=transformers dtype=bfloat16_loaded "
                               "lora_rank=8 quantization=nf4_double kernels=unsloth");
        fixture_run(v);
        fixture_set(v, other[i]);
        assert_int_equal(vram_run(v), VRAM_EUNSUPPORTED);
        vram_free(v);
    }
}

// A tied head that is trained gets a weight of its own; an untied one is there twice.
static void test_whole_layers_beside_adapters(void **state)
{
    (void)state;
    uint64_t head = UINT64_C(1024) * 256;
    vram *v = fixture_open(SMALL "lora_rank=8 lora_targets=q");
    const struct vram_result *r = fixture_run(v);
    uint64_t params = r->params, trained = r->trained_params;
    fixture_set(v, "modules_to_save=head");
    r = fixture_run(v);
    assert_int_equal(r->params, params + head);
    assert_int_equal(r->trained_params, trained + head);
    fixture_set(v, "modules_to_save=head+embed tie_embeddings=1");
    r = fixture_run(v);
    assert_int_equal(r->params, params - head + 2 * head);
    assert_int_equal(r->trained_params, trained + 2 * head);
    fixture_set(v, "modules_to_save=none lora_targets=q+head+embed");
    assert_int_equal(fixture_run(v)->trained_params, trained + 2 * 8 * (1024 + 256));
    vram_free(v);
}

static void test_dora_and_ia3(void **state)
{
    (void)state;
    vram *v = fixture_open(SMALL "lora_rank=8 lora_targets=q+down");
    uint64_t trained = fixture_run(v)->trained_params;
    uint64_t live = vram_result(v)->peak_live.bytes;
    fixture_set(v, "adapter=dora");
    const struct vram_result *r = fixture_run(v);
    assert_int_equal(r->trained_params, trained + 4 * (256 + 256));
    assert_true(r->peak_live.bytes > live);
    fixture_set(v, "adapter=ia3 lora_rank=0 lora_targets=k+v+down");
    assert_int_equal(fixture_run(v)->trained_params, 4 * (256 + 256 + 512));
    fixture_set(v, "adapter=dora");
    assert_int_equal(vram_run(v), VRAM_EMODEL);
    vram_free(v);
}

// Over four bits each layer's weight is expanded for its outputs' lengths; PEFT has it over
// bitsandbytes' alone.
static void test_dora_over_bits(void **state)
{
    (void)state;
    const uint64_t eye = UINT64_C(4096) * 4096 * 4;
    vram *v = fixture_open(
        "preset=llama-3.1-8b n_layer=2 dtype=bfloat16_loaded lora_rank=8 "
        "quantization=nf4 checkpointing=block lora_targets=q seq_len=128 batch_size=1");
    uint64_t live = fixture_run(v)->peak_live.bytes;
    fixture_set(v, "adapter=dora cross_entropy=chunked");
    uint64_t chunked = fixture_run(v)->peak_live.bytes;
    fixture_set(v, "adapter=lora");
    assert_true(chunked > fixture_run(v)->peak_live.bytes + eye / 4);
    fixture_set(v, "adapter=dora cross_entropy=eager quantization=int8");
    assert_true(fixture_run(v)->peak_live.bytes > live);
    fixture_set(v, "quantization=gptq");
    assert_int_equal(vram_run(v), VRAM_EUNSUPPORTED);
    fixture_set(v, "quantization=nf4 framework=torchtune");
    assert_int_equal(vram_run(v), VRAM_EUNSUPPORTED);
    vram_free(v);
}

// Frozen weights that were loaded in float32 are divided in four bytes.
static void test_wide_shards(void **state)
{
    (void)state;
    vram *v = fixture_open("preset=llama-3.2-1b parallel=fsdp2 n_gpu=8 lora_rank=8 "
                           "dtype=bfloat16_accelerate");
    uint64_t narrow = fixture_run(v)->param_bytes;
    fixture_set(v, "dtype=bfloat16_accelerate_wide");
    uint64_t wide = fixture_run(v)->param_bytes;
    assert_true(wide > narrow + narrow / 2 && wide <= 2 * narrow);
    vram_free(v);
}

// The trained numbers are those of PEFT's own runs; where A is frozen, no layer keeps what it was
// given. SRC: peft method_comparison/MetaMathQA/results, lora--llama-3.2-3B-rank32-lorafa and
// -mica.
static void test_one_half_trained(void **state)
{
    enum { LAYERS = 28, TOKENS = 4 * 768, WIDTH = 3072 };
    (void)state;
    vram *v = fixture_open("preset=llama-3.2-3b framework=transformers dtype=bfloat16_pure "
                           "batch_size=4 seq_len=768 lora_rank=32 lora_targets=q+v lora_dropout=0");
    const struct vram_result *r = fixture_run(v);
    assert_int_equal(r->trained_params, 9175040);
    uint64_t params = r->params, saved = r->saved_bytes;
    fixture_set(v, "adapter=mica");
    r = fixture_run(v);
    assert_int_equal(r->trained_params, 5505024);
    assert_int_equal(r->params, params);
    assert_in_range(saved - r->saved_bytes, 1, LAYERS * UINT64_C(4) * TOKENS * 2 * 32);
    fixture_set(v, "adapter=lora_fa");
    r = fixture_run(v);
    assert_int_equal(r->trained_params, 3670016);
    assert_in_range(saved - r->saved_bytes, (LAYERS - 1) * UINT64_C(4) * TOKENS * WIDTH,
                    2 * LAYERS * UINT64_C(4) * TOKENS * WIDTH);
    vram_free(v);
}

// ---- number formats ----------------------------------------------------------------------------

static void test_format_of_adapters(void **state)
{
    (void)state;
    vram *v = fixture_open(SMALL "lora_rank=8 mode=process adapter_dtype=base");
    const struct vram_result *r = fixture_run(v);
    uint64_t frozen = r->params - r->trained_params;
    assert_int_equal(r->param_bytes, 2 * r->params);
    fixture_set(v, "adapter_dtype=auto");  // as PEFT
    r = fixture_run(v);
    assert_int_equal(r->param_bytes, 2 * frozen + 4 * r->trained_params);
    assert_int_equal(r->grad_bytes, 4 * r->trained_params);
    vram_free(v);
}

// Everything but the quantized matrices doubles: embedding, head, norms.
static void test_preparation_for_kbit_training(void **state)
{
    (void)state;
    uint64_t whole = 2 * UINT64_C(1024) * 256 + 9 * 256;
    vram *v = fixture_open(SMALL "lora_rank=8 dtype=bfloat16_loaded quantization=nf4_double");
    uint64_t before = fixture_run(v)->param_bytes;
    fixture_set(v, "prepare_kbit=true");
    assert_int_equal(fixture_run(v)->param_bytes, before + 2 * whole);
    fixture_set(v, "prepare_kbit=trl");  // of that only the nine norms remain
    assert_int_equal(fixture_run(v)->param_bytes, before + 2 * (UINT64_C(9) * 256));
    fixture_set(v, "prepare_kbit=true quantization=gptq");  // PEFT leaves it alone
    uint64_t gptq = fixture_run(v)->param_bytes;
    fixture_set(v, "prepare_kbit=false");
    assert_int_equal(fixture_run(v)->param_bytes, gptq);
    fixture_set(v, "quantization=none prepare_kbit=true");
    assert_int_equal(vram_run(v), VRAM_EMODEL);
    vram_free(v);
}

// A matrix of 512 x 384: what each way of storing keeps of its 196,608 weights.
static void test_table_of_stored_weights(void **state)
{
    (void)state;
    enum { N = 196608 };
    static const uint64_t want[quantization_COUNT] = {
        [QUANTIZATION_INT8] = N + 4 * 512,
        [QUANTIZATION_NF4] = N / 2 + 3072 * 4 + 64,
        [QUANTIZATION_NF4_DOUBLE] = N / 2 + 3072 + 12 * 4 + 4 + 64,
        [QUANTIZATION_GPTQ] = N / 2 + 3 * 256 + 3 * 512 * 2 + 384 * 4,
        [QUANTIZATION_GPTQ_INT8] = N + 3 * 512 + 3 * 512 * 2 + 384 * 4,
        [QUANTIZATION_AWQ] = N / 2 + 3 * 256 + 3 * 512 * 2,
        [QUANTIZATION_FP8] = N + 4 * 3 * 4,
    };
    struct quantization_tensor tensors[QUANTIZATION_TENSORS];
    struct vram_config c = {.quantization_group = 128};
    for (uint64_t kind = 0; kind < quantization_COUNT; kind++) {
        uint64_t sum = 0;
        c.quantization = kind;
        for (unsigned i = quantization_tensors(&c, false, 512, 384, tensors); i-- > 0;)
            sum += tensors[i].bytes;
        assert_int_equal(sum, want[kind]);
        sum = 0;
        for (unsigned i = quantization_tensors(&c, true, 512, 384, tensors); i-- > 0;)
            sum += tensors[i].bytes;
        assert_int_equal(sum, want[kind] + (kind == QUANTIZATION_NF4_DOUBLE) * 1024);
    }
    // Without groups a column has one scale and one zero.
    c = (struct vram_config){.quantization = QUANTIZATION_GPTQ};
    assert_int_equal(quantization_tensors(&c, false, 512, 384, tensors), 4);
    assert_int_equal(tensors[1].bytes, 256);
    assert_int_equal(tensors[2].bytes, 512 * 2);
    // The last group is shorter.
    c.quantization = QUANTIZATION_NF4;
    assert_int_equal(quantization_tensors(&c, false, 3, 3, tensors), 3);
    assert_int_equal(tensors[0].bytes, 5);
    assert_int_equal(tensors[1].bytes, 4);
}

// ---- losses ------------------------------------------------------------------------------------

static uint64_t logits_at_peak(const char *words)
{
    vram *v = fixture_open("preset=gpt2 mode=reference batch_size=8");
    fixture_set(v, words);
    uint64_t bytes = fixture_run(v)->by_category[VRAM_CAT_LOGITS];
    vram_free(v);
    return bytes;
}

static void test_losses_without_logits(void **state)
{
    (void)state;
    uint64_t elements = UINT64_C(8) * 1024 * 50304;
    assert_int_equal(logits_at_peak("cross_entropy=eager"), 12 * elements);
    assert_int_equal(logits_at_peak("cross_entropy=cce"), 0);
    assert_true(logits_at_peak("cross_entropy=chunked") <= 2 * UINT64_C(2) * 128 * 50304);
}

// The gradient takes the place of the float32 logits: one tensor of their size less, two numbers a
// row more.
static void test_gradient_in_place(void **state)
{
    (void)state;
    uint64_t rows = 2 * (512 - 1);
    vram *v = fixture_open(
        "family=llama framework=transformers torch=2.4 transformers=4.48 dtype=bfloat16_pure "
        "n_layer=2 n_embd=64 "
        "n_head=2 vocab_size=32000 block_size=512 batch_size=2 gradient_accumulation_steps=1");
    uint64_t upcast = fixture_run(v)->peak_live.bytes;
    fixture_set(v, "cross_entropy=inplace");
    uint64_t less = upcast - fixture_run(v)->peak_live.bytes;
    assert_true(less >= 4 * rows * 32000 - 8 * rows - 256 && less <= 4 * rows * 32000);
    vram_free(v);
}

// Liger keeps the gradients from forward on: 2 U and the head's weight in its own format.
static void test_chunked_loss_saves_gradients(void **state)
{
    (void)state;
    uint64_t u = UINT64_C(8) * 1024 * 768, head = UINT64_C(50304) * 768;
    vram *v = fixture_open("preset=gpt2 mode=reference batch_size=8 cross_entropy=chunked");
    const struct vram_result *r = fixture_run(v);
    uint64_t bytes = 0;
    for (size_t i = 0; i < r->saved_count; i++)
        if (strncmp(r->saved[i].op, "FusedLinearCrossEntropy", 23) == 0)
            bytes += r->saved[i].bytes;
    assert_int_equal(bytes, 2 * u + 4 * head);
    vram_free(v);
}

static void test_one_chunk_is_all_tokens(void **state)
{
    (void)state;
    uint64_t elements = UINT64_C(2) * 64 * 512;
    vram *v = fixture_open(
        "n_layer=1 n_embd=512 n_head=8 vocab_size=512 block_size=64 batch_size=2 mode=reference "
        "cross_entropy=chunked");
    fixture_run(v);
    uint64_t with = 0;
    const struct vram_result *r = vram_result(v);
    for (size_t i = 0; i < r->at_peak_count; i++)
        with += r->at_peak[i].category == VRAM_CAT_LOGITS ? r->at_peak[i].bytes : 0;
    assert_true(with <= 2 * elements);
    fixture_set(v, "cross_entropy_chunk=32");
    fixture_run(v);
    vram_free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trained_parameters),
        cmocka_unit_test(test_state_under_autocast),
        cmocka_unit_test(test_quantized_weights),
        cmocka_unit_test(test_frozen_layers_save_less),
        cmocka_unit_test(test_checkpointing_with_adapters_has_gradients),
        cmocka_unit_test(test_frozen_weights_are_sharded),
        cmocka_unit_test(test_targets_are_sets),
        cmocka_unit_test(test_fused_adapters),
        cmocka_unit_test(test_unsloths_layers),
        cmocka_unit_test(test_unsloths_limits),
        cmocka_unit_test(test_whole_layers_beside_adapters),
        cmocka_unit_test(test_dora_and_ia3),
        cmocka_unit_test(test_dora_over_bits),
        cmocka_unit_test(test_wide_shards),
        cmocka_unit_test(test_frozen_sinks),
        cmocka_unit_test(test_one_half_trained),
        cmocka_unit_test(test_format_of_adapters),
        cmocka_unit_test(test_preparation_for_kbit_training),
        cmocka_unit_test(test_table_of_stored_weights),
        cmocka_unit_test(test_losses_without_logits),
        cmocka_unit_test(test_gradient_in_place),
        cmocka_unit_test(test_chunked_loss_saves_gradients),
        cmocka_unit_test(test_one_chunk_is_all_tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
