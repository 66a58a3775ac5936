// Hugging Face configurations: every family, the defaults of its class, and what is refused.

#include "tests/unit/calc_fixture.h"
#include "tests/unit/calc_answers.h"

#include "calc/model/unmodelled.h"

static uint64_t params_of(const char *flat)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    if (parse_text(v, VRAM_KIND_HF, flat, strlen(flat), "config.json") != VRAM_OK)
        fail_msg("%s", vram_error(v)->text);
    run_vram(v);
    uint64_t n = vram_result(v)->params;
    close_vram(v, &h);
    return n;
}

// The counts that the model cards or transformers' num_parameters() give.
static const struct published {
    const char *flat;
    uint64_t params;
} PUBLISHED[] = {
    {"model_type = \"gpt2\"\nn_layer = 12\nn_head = 12\nn_embd = 768\nvocab_size = "
     "50257\nn_positions = 1024\nn_inner = null\n",
     124439808},
    {"model_type = gpt_neox\nhidden_size = 768\nnum_hidden_layers = 12\nnum_attention_heads = "
     "12\nintermediate_size = 3072\n"
     "vocab_size = 50304\ntie_word_embeddings = false\nuse_parallel_residual = true\n",
     162322944},
    {"model_type = llama\nhidden_size = 2048\nintermediate_size = 8192\nnum_attention_heads = "
     "32\nnum_hidden_layers = 16\n"
     "num_key_value_heads = 8\nvocab_size = 128256\ntie_word_embeddings = "
     "true\nmax_position_embeddings = 131072\n"
     "rope_scaling.factor = 32.0\nrms_norm_eps = 1e-05\ntorch_dtype = \"bfloat16\"\n",
     1235814400},
    {"model_type = llama\nvocab_size = 32000\n", 6738415616},  // the class's defaults are Llama 7B
    {"model_type = mistral\nvocab_size = 32000\n", 7241732096},
    {"model_type = qwen2\nhidden_size = 896\nintermediate_size = 4864\nnum_attention_heads = "
     "14\nnum_hidden_layers = 24\n"
     "num_key_value_heads = 2\nvocab_size = 151936\ntie_word_embeddings = true\n",
     494032768},
    {"model_type = qwen3\nhidden_size = 1024\nhead_dim = 128\nintermediate_size = "
     "3072\nnum_attention_heads = 16\n"
     "num_hidden_layers = 28\nnum_key_value_heads = 8\nvocab_size = 151936\ntie_word_embeddings = "
     "true\n",
     596049920},
    {"model_type = gemma\nhidden_size = 2048\nhead_dim = 256\nintermediate_size = "
     "16384\nnum_attention_heads = 8\n"
     "num_hidden_layers = 18\nnum_key_value_heads = 1\nvocab_size = 256000\n",
     2506172416},
    {"model_type = gemma2\nhidden_size = 2304\n", 2614341888},
    {"model_type = gemma3\ntext_config.model_type = gemma3_text\ntext_config.hidden_size = "
     "1152\ntext_config.num_hidden_layers = 26\n"
     "text_config.num_attention_heads = 4\ntext_config.num_key_value_heads = "
     "1\ntext_config.head_dim = 256\n"
     "text_config.intermediate_size = 6912\ntext_config.vocab_size = 262144\n",
     999885952},
    {"model_type = falcon\nhidden_size = 4544\nnum_kv_heads = 71\n", 6921720704},
    {"model_type = falcon\nnew_decoder_architecture = true\nnum_attention_heads = 128\nhidden_size "
     "= 8192\n"
     "num_hidden_layers = 60\nnum_kv_heads = 8\n",
     41303293952},
    {"model_type = falcon\nnew_decoder_architecture = true\nnum_attention_heads = 32\nhidden_size "
     "= 4096\n"
     "num_hidden_layers = 60\nnum_kv_heads = 8\nnum_ln_in_parallel_attn = 1\nffn_hidden_size = "
     "16384\n"
     "tie_word_embeddings = false\n",
     11102822400},
    {"model_type = bert\nhidden_size = 768\nseq_len = 512\n", 109514298},
    {"model_type = phi\nhidden_size = 2048\npartial_rotary_factor = 0.5\nqk_layernorm = false\n",
     1418270720},
    {"model_type = phi\nhidden_size = 2560\nintermediate_size = 10240\nnum_hidden_layers = 32\n"
     "num_key_value_heads = null\npartial_rotary_factor = 0.4\n",
     2779683840},
    {"model_type = mixtral\nhidden_size = 4096\nnum_local_experts = 8\nnum_experts_per_tok = 2\n",
     46702792704},
    {"model_type = qwen3_moe\nhead_dim = 128\nhidden_size = 2048\nmoe_intermediate_size = "
     "768\nnum_attention_heads = 32\n"
     "num_experts = 128\nnum_experts_per_tok = 8\nnum_hidden_layers = 48\nnum_key_value_heads = "
     "4\nvocab_size = 151936\n",
     30532122624},
};

static void test_published_counts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof PUBLISHED / sizeof *PUBLISHED; i++)
        if (params_of(PUBLISHED[i].flat) != PUBLISHED[i].params)
            fail_msg("%s: %llu, published are %llu", PUBLISHED[i].flat,
                     (unsigned long long)params_of(PUBLISHED[i].flat),
                     (unsigned long long)PUBLISHED[i].params);
}

static void assert_refused(const char *flat, int code, unsigned line, const char *part)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    int rc = parse_text(v, VRAM_KIND_HF, flat, strlen(flat), "config.json");
    if (rc != code || vram_error(v)->line != line || !strstr(vram_error(v)->text, part))
        fail_msg("%s gives %d at %u: %s", flat, rc, vram_error(v)->line, vram_error(v)->text);
    close_vram(v, &h);
}

static void test_refusals(void **state)
{
    (void)state;
    assert_refused("hidden_size = 768\n", VRAM_EPARSE, 1, "no model_type");
    assert_refused("a = 1\nmodel_type = llamma\n", VRAM_EUNSUPPORTED, 2, "nearest is llama");
    assert_refused("model_type = t5\n", VRAM_EUNSUPPORTED, 1, "not modelled");
    assert_refused("model_type = llama\nhidden_sise = 768\n", VRAM_EKEY, 2,
                   "did you mean 'hidden_size'");
    assert_refused("model_type = llama\nnum_hiden_layers = 3\n", VRAM_EKEY, 2,
                   "did you mean 'num_hidden_layers'");
    assert_refused("model_type = llama\nhidden_size = -1\n", VRAM_EVALUE, 2, "whole number");
    assert_refused("model_type = llama\nnum_hidden_layers = 1000000000000000000\n", VRAM_ERANGE, 2,
                   "n_layer");
    assert_refused("model_type = llama\nhidden_size = \"big\"\n", VRAM_EVALUE, 2, "n_embd");
}

// What is said of a name is what a config.json of its type is told, and the nearest type is
// modelled.
static void test_unmodelled_families(void **state)
{
    (void)state;
    static const char *const types[] = {
#define NAMED(type, starts) type,
#include "calc/model/unmodelled.def"
#undef NAMED
    };
    static const char *const modelled[] = {
#define HF_FAMILY(type, defaults) type,
#include "calc/parse/hf_keys.def"
#undef HF_FAMILY
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const char *near = unmodelled_near(span_of(types[i]));
        size_t k = 0;
        while (near && k < sizeof modelled / sizeof *modelled && strcmp(modelled[k], near) != 0)
            k++;
        if (!near || k == sizeof modelled / sizeof *modelled)
            fail_msg("%s: the nearest is %s", types[i], near ? near : "none");
    }
}

// Names of models of families that are not modelled; nothing of others.
static void test_ids_name_families(void **state)
{
    (void)state;
    static const char *const families[][2] = {
        {"LiquidAI/LFM2-1.2B", "lfm2"},
        {"unsloth/LFM2.5-1.2B-Instruct", "lfm2"},
        {"LiquidAI/LFM2-8B-A1B", "lfm2_moe"},
        {"models/Falcon-H1-7B-Base/", "falcon_h1"},
        {"nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", "nemotron_h"},
        {"ai21labs/Jamba-v0.1", "jamba"},
        {"deepseek-ai/DeepSeek-V3.2", "deepseek_v32"},
        {"zai-org/GLM-5.1-FP8", "glm_moe_dsa"},
        {"arcee-ai/Trinity-Nano-Preview", "afmoe"},
        {"tencent/Hy3-preview", "hy_v3"},
        {"meituan-longcat/LongCat-Flash-Chat", "longcat_flash"},
        {"openbmb/MiniCPM3-4B", "minicpm3"},
        {"Qwen/Qwen-7B", "qwen"},
        {"Qwen/Qwen2.5-8B", NULL},
        {"me/lfm", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        const char *type = unmodelled_type(span_of(families[i][0]));
        if (!type != !families[i][1] || (type && strcmp(type, families[i][1]) != 0))
            fail_msg("%s: %s", families[i][0], type ? type : "none");
    }
}

// What a config.json has besides is read over.
static void test_other_keys_are_read_over(void **state)
{
    (void)state;
    assert_int_equal(
        params_of("model_type = gpt2\nn_embd = 768\nactivation_function = "
                  "\"gelu_new\"\ntask_specific_params.text-generation.max_length = 50\n"
                  "something_of_its_own = 3\narchitecture_notes = \"x = y\"\n"),
        124439808);
}

static void test_quantization_and_dtype(void **state)
{
    (void)state;
    struct heap h = {0};
    char got[32];
    vram *v = open_vram(&h);
    const char *flat = "model_type = llama\nhidden_size = 4096\ntorch_dtype = "
                       "float32\nquantization_config.load_in_4bit = true\n"
                       "quantization_config.bnb_4bit_use_double_quant = true\n";
    assert_int_equal(parse_text(v, VRAM_KIND_HF, flat, strlen(flat), NULL), VRAM_OK);
    vram_get(v, "quantization", got, sizeof got);
    assert_string_equal(got, "nf4_double");
    vram_get(v, "dtype", got, sizeof got);
    assert_string_equal(got, "float32");
    close_vram(v, &h);
}

static void test_long_contexts_are_not_trained_whole(void **state)
{
    (void)state;
    struct heap h = {0};
    uint64_t n;
    vram *v = open_vram(&h);
    const char *flat = "model_type = llama\nhidden_size = 4096\nmax_position_embeddings = 131072\n";
    assert_int_equal(parse_text(v, VRAM_KIND_HF, flat, strlen(flat), NULL), VRAM_OK);
    vram_get_u64(v, "seq_len", &n);
    assert_int_equal(n, 2048);
    assert_non_null(strstr(notes_of(v), "131072"));
    set_all(v, "batch_size=2");
    assert_non_null(strstr(notes_of(v), "131072"));
    set_all(v, "seq_len=4096");
    assert_null(strstr(notes_of(v), "131072"));  // it was a guess; now it is given
    assert_int_equal(parse_text(v, VRAM_KIND_HF, flat, strlen(flat), NULL), VRAM_OK);
    vram_get_u64(v, "seq_len", &n);
    assert_int_equal(n, 4096);
    close_vram(v, &h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published_counts),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_unmodelled_families),
        cmocka_unit_test(test_ids_name_families),
        cmocka_unit_test(test_other_keys_are_read_over),
        cmocka_unit_test(test_quantization_and_dtype),
        cmocka_unit_test(test_long_contexts_are_not_trained_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
