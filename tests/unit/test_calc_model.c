// Configurations as a whole: counts by hand, contradictions, absurd sizes, keys and values that are
// wrong, the time of a step.

#include "tests/unit/calc_fixture.h"

static void refuse(const char *config, int code, const char *part)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    uint64_t bytes;
    set_all(v, config);
    assert_int_equal(vram_run(v), code);
    assert_null(vram_result(v));
    if (!strstr(vram_error(v)->text, part))
        fail_msg("%s: %s", config, vram_error(v)->text);
    assert_int_equal(vram_live_peak(v, &bytes), code);
    close_vram(v, &h);
}

static void test_contradictions(void **state)
{
    (void)state;
    refuse("n_embd=512 n_head=12", VRAM_EMODEL,
           "n_embd = 512 cannot be divided among n_head = 12 heads: take n_head");
    refuse("seq_len=2048 block_size=1024", VRAM_EMODEL, "longer than block_size");
    refuse("family=llama n_head=32 n_kv_head=5 n_embd=4096", VRAM_EMODEL, "not a multiple");
    refuse("n_kv_head=4", VRAM_EMODEL, "gpt2 has as many key heads");
    refuse("n_expert=8", VRAM_EMODEL, "no experts");
    refuse("family=mixtral n_expert=2 n_expert_active=4", VRAM_EMODEL, "more than n_expert");
    refuse("quantization=nf4", VRAM_EMODEL, "lora_rank");
    refuse("max_split_size_mb=20", VRAM_EMODEL, "more than 20");
    refuse("roundup_power2_divisions=3", VRAM_EMODEL, "power of two");
    refuse("tensor_parallel=5", VRAM_EMODEL, "does not divide");
    refuse("pipeline_parallel=13", VRAM_EMODEL, "only 12 layers");
    refuse("preset=qwen3-0.6b compile=2.5 n_gpu=2", VRAM_EUNSUPPORTED, "gpt2 and for transformers");
    refuse("preset=qwen3-0.6b compile=2.5 kernels=liger", VRAM_EUNSUPPORTED, "Liger 0.8.5");
}

static void test_overflow(void **state)
{
    (void)state;
    refuse("batch_size=1048576 block_size=16777216", VRAM_EOVERFLOW, "2^53");
    refuse("n_layer=2000 n_embd=1048576 n_head=1", VRAM_EOVERFLOW, "2^53");
    refuse("n_layer=2000 batch_size=1048576 block_size=8192 n_embd=4096 n_head=32", VRAM_EOVERFLOW,
           "2^53");
    refuse("framework=transformers eval_batch_size=1000 eval_accumulation_steps=65535",
           VRAM_EOVERFLOW, "2^53");
}

static void test_fields(void **state)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    (void)state;
    static const struct {
        const char *key, *value;
        int code;
        const char *text;
    } rows[] = {
        {"n_layer", "1000000000000000000", VRAM_ERANGE,
         "n_layer cannot be 1000000000000000000: from 1 to 2000"},
        {"n_layer", "99999999999999999999999", VRAM_ERANGE, "from 1 to 2000"},
        {"n_layer", "0", VRAM_ERANGE, "from 1"},
        {"n_layer", "-3", VRAM_EVALUE, "it is a whole number"},
        {"n_layer", "1e3", VRAM_EVALUE, "it is a whole number"},
        {"n_layer", "", VRAM_EVALUE, "it is a whole number"},
        {"batch_size", "nan", VRAM_EVALUE, "whole number"},
        {"dropout", "nan", VRAM_EVALUE, "it is a number"},
        {"dropout", "inf", VRAM_EVALUE, "it is a number"},
        {"dropout", "1.5", VRAM_ERANGE, "from 0 to 0.999999"},
        {"dropout", "-0.1", VRAM_EVALUE, "it is a number"},
        {"dropout", "1e400", VRAM_ERANGE, "from 0"},
        {"dtype", "float8", VRAM_EVALUE, "it is one of float32, float16"},
        {"bias", "maybe", VRAM_EVALUE, "true or false"},
        {"n_layers_", "3", VRAM_EKEY, "did you mean 'n_layer'?"},
        {"batchsize", "3", VRAM_EKEY, "did you mean 'batch_size'?"},
        {"xyzzy", "3", VRAM_EKEY, "unknown key 'xyzzy'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(vram_set(v, rows[i].key, rows[i].value), rows[i].code);
        assert_int_equal(vram_error(v)->code, rows[i].code);
        if (!strstr(vram_error(v)->text, rows[i].text))
            fail_msg("%s=%s: %s", rows[i].key, rows[i].value, vram_error(v)->text);
    }
    close_vram(v, &h);
}

// What meant.def says to write is a key, or keys with values that they take, and its words are no
// keys themselves.
static void test_meant(void **state)
{
    static const struct {
        const char *words, *write;
    } rows[] = {
#define MEANT(words, write) {words, write},
#include "calc/model/meant.def"
    };
    struct heap h = {0};
    vram *v = open_vram(&h);
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char words[512], key[64];
        snprintf(words, sizeof words, "%s", rows[i].words);
        for (char *rest, *word = strtok_r(words, " ", &rest); word;
             word = strtok_r(NULL, " ", &rest)) {
            assert_int_equal(vram_set(v, word, "1"), VRAM_EKEY);
            if (!strstr(vram_error(v)->text, rows[i].write))
                fail_msg("%s: %s", word, vram_error(v)->text);
        }
        snprintf(key, sizeof key, "%.*s", (int)strcspn(rows[i].write, "="), rows[i].write);
        if (strchr(rows[i].write, '='))
            set_all(v, rows[i].write);
        else if (strcmp(key, "preset") && strcmp(key, "gpu"))
            assert_non_null(vram_field_find(key));
    }
    close_vram(v, &h);
}

// What is written can be read back, for every field and every value of an enum; names are found in
// any spelling.
static void test_read_back(void **state)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    const struct vram_field *f;
    (void)state;
    for (size_t i = 0; (f = vram_field_at(i)); i++) {
        uint64_t probes[] = {f->min, f->initial, f->max, f->min + (f->max - f->min) / 3};
        for (size_t k = 0; k < 4; k++) {
            char text[64];
            uint64_t n;
            assert_int_equal(vram_set_u64(v, f->key, probes[k]), VRAM_OK);
            assert_true(vram_get(v, f->key, text, sizeof text) > 0);
            assert_int_equal(vram_set_u64(v, f->key, f->initial), VRAM_OK);
            if (vram_set(v, f->key, text) != VRAM_OK)
                fail_msg("%s=%s: %s", f->key, text, vram_error(v)->text);
            assert_int_equal(vram_get_u64(v, f->key, &n), VRAM_OK);
            assert_int_equal(n, probes[k]);
        }
        assert_int_equal(vram_set_u64(v, f->key, f->max + 1), VRAM_ERANGE);
        assert_ptr_equal(vram_field_find(f->key), f);
    }
    assert_int_equal(vram_set(v, " Batch-Size ", " 7 "), VRAM_OK);
    char text[8];
    assert_int_equal(vram_get(v, "bs", text, sizeof text), 1);
    assert_string_equal(text, "7");
    close_vram(v, &h);
}

// nanoGPT's own count, by hand: V C + block C + 12 L C^2 + (2L + 1) C, and with biases 9 C + 2 C a
// layer and C more.
static void test_counts(void **state)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    (void)state;
    set_all(v, "preset=gpt2 batch_size=1 mode=reference");
    run_vram(v);
    const struct vram_result *r = vram_result(v);
    uint64_t c = 768, l = 12;
    assert_int_equal(r->params, 50304 * c + 1024 * c + 12 * l * c * c + (2 * l + 1) * c);
    assert_int_equal(r->reported_params, r->params - 1024 * c);
    assert_int_equal(r->tensors, 3 + 6 * l);
    assert_int_equal(r->decayed_tensors, 2 + 4 * l);
    assert_int_equal(r->decayed_tensors + r->nodecay_tensors, r->tensors);
    assert_int_equal(r->param_bytes, 4 * r->params);
    assert_int_equal(r->optim_bytes, 8 * r->params + 4 * r->tensors);
    uint64_t plain = r->params;
    set_all(v, "bias=true");
    run_vram(v);
    r = vram_result(v);
    assert_int_equal(r->params, plain + 11 * c * l + c);
    assert_int_equal(r->tensors, 4 + 12 * l);
    close_vram(v, &h);
}

static void test_params_in_order(void **state)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    struct vram_param p;
    uint64_t sum = 0, n = 0;
    (void)state;
    set_all(v, "preset=gpt2 batch_size=1");
    run_vram(v);
    uint64_t wanted = vram_result(v)->param_bytes;
    for (; vram_param_at(v, n, &p) == VRAM_OK; n++)
        sum += p.bytes;
    assert_int_equal(sum, wanted);
    assert_int_equal(n, 75);
    assert_int_equal(vram_param_at(v, 2, &p), VRAM_OK);
    assert_string_equal(p.name, "block.ln_1.weight");
    assert_int_equal(p.block, 0);
    assert_false(p.decayed);
    close_vram(v, &h);
}

static double seconds(const char *config)
{
    struct heap h = {0};
    double out = 0;
    vram *v = open_vram(&h);
    set_all(v, config);
    assert_int_equal(vram_step_seconds(v, &out), VRAM_OK);
    close_vram(v, &h);
    return out;
}

// A reference's forward pass is a third of what the policy's three come to.
static void test_reference_takes_time(void **state)
{
    (void)state;
#define DPO "preset=qwen3-0.6b trainer=dpo cross_entropy=selective batch_size=8 seq_len=4096 "
    double alone = seconds(DPO "precompute_ref_log_probs=1"), both = seconds(DPO);
    if (both < 1.3 * alone || both > 1.34 * alone)
        fail_msg("%f seconds with a reference, %f without", both, alone);
}

static uint64_t resident(const char *words)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    set_all(v, words);
    assert_int_equal(vram_run(v), VRAM_OK);
    uint64_t bytes = vram_result(v)->peak_live.bytes;
    close_vram(v, &h);
    return bytes;
}

// GPT-2 registers a causal mask in every block before transformers 5.2.
static void test_registered_masks(void **state)
{
    (void)state;
#define GPT2 "preset=hf-gpt2 framework=transformers task=inference seq_len=8 "
    assert_int_equal(resident(GPT2 "transformers=5.1"),
                     resident(GPT2 "transformers=5.2") + UINT64_C(12) * 1024 * 1024);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contradictions),   cmocka_unit_test(test_overflow),
        cmocka_unit_test(test_fields),           cmocka_unit_test(test_meant),
        cmocka_unit_test(test_read_back),        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_params_in_order),  cmocka_unit_test(test_reference_takes_time),
        cmocka_unit_test(test_registered_masks),
    };
    return cmocka_run_group_tests_name("calc_model", tests, NULL, NULL);
}
