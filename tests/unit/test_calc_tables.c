// The tables of cards, contexts and presets: complete, plausible, with sources, found by the names
// people use.

#include "tests/unit/calc_fixture.h"

#include "calc/model/contexts.h"
#include "calc/model/gpus.h"
#include "calc/model/handle.h"
#include "calc/model/preset_ids.h"
#include "calc/model/presets.h"

static void test_cards(void **state)
{
    (void)state;
    const struct vram_gpu *g;
    size_t n = 0;
    for (; (g = vram_gpu_at(n)) != NULL; n++) {
        if (!g->source || strncmp(g->source, "https://", 8) ||
            g->memory_bytes < 4 * UINT64_C(1073741824) || g->memory_bytes % 1048576 ||
            g->bandwidth_mb_s < 100000 || g->fp32_gflops < 1000 || g->sm_count == 0)
            fail_msg("%s: a figure or its source is missing", g->name);
        if (g->memory_reported && strncmp(g->memory_source, "https://", 8))
            fail_msg("%s: reported, but where?", g->name);
        if (g->compute_capability && (g->compute_capability < 30 || g->compute_capability > 130))
            fail_msg("%s: compute capability %u", g->name, g->compute_capability);
        if (gpu_index(g->name, strlen(g->name)) != (int)n)
            fail_msg("%s is not found under its own name", g->name);
        // bfloat16 in hardware since compute capability 8.0
        if (g->compute_capability && (g->bf16_gflops > 0) != (g->compute_capability >= 80))
            fail_msg("%s: bf16", g->name);
    }
    printf("%zu cards\n", n);
    assert_true(n >= 70);
}

static void test_names_of_cards(void **state)
{
    (void)state;
    static const char *const same[][2] = {
        {"NVIDIA GeForce RTX 4070", "RTX 4070"},
        {"rtx4070", "RTX 4070"},
        {"4070", "RTX 4070"},
        {"NVIDIA A100-SXM4-80GB", "A100 80GB SXM"},
        {"NVIDIA A100-PCIE-40GB", "A100 40GB"},
        {"Tesla T4", "T4"},
        {"Tesla V100-SXM2-16GB", "V100 16GB"},
        {"NVIDIA H100 80GB HBM3", "H100 SXM"},
        {"NVIDIA H100 PCIe", "H100 PCIe"},
        {"NVIDIA RTX A6000", "RTX A6000"},
        {"A6000", "RTX A6000"},
        {"NVIDIA RTX 6000 Ada Generation", "RTX 6000 Ada"},
        {"NVIDIA GeForce RTX 4090 Laptop GPU", "RTX 4090 Laptop"},
        {"NVIDIA L40S", "L40S"},
        {"AMD Instinct MI300X", "MI300X"},
        {"NVIDIA GeForce GTX 1080 Ti", "GTX 1080 Ti"},
        {"RTX_5090", "RTX 5090"},
        {"NVIDIA H200", "H200"},
        {"NVIDIA B200", "B200"},
        {"RTX-3060", "RTX 3060"},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        const struct vram_gpu *g = vram_gpu_find(same[i][0]);
        if (!g || strcmp(g->name, same[i][1]))
            fail_msg("%s is %s, wanted %s", same[i][0], g ? g->name : "unknown", same[i][1]);
    }
    static const char *const unknown[] = {"", " ", "RTX", "NVIDIA", "RTX 9999", "40", "4070 4070"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        assert_null(vram_gpu_find(unknown[i]));
}

// What nvidia-smi shows on the cards of the documents.
static void test_known_memory(void **state)
{
    (void)state;
    assert_int_equal(vram_gpu_find("RTX 4070")->memory_bytes, 12282 * UINT64_C(1048576));
    assert_int_equal(vram_gpu_find("RTX 4090")->memory_bytes, 24564 * UINT64_C(1048576));
    assert_int_equal(vram_gpu_find("H100")->memory_bytes, 81559 * UINT64_C(1048576));
    assert_int_equal(vram_gpu_find("MI300X")->memory_bytes, UINT64_C(206141652992));
}

static void test_contexts(void **state)
{
    (void)state;
    struct context_row row;
    struct vram_figure f;
    struct vram_config c;
    size_t n = 0;
    for (; context_at(n, &row); n++) {
        assert_true(row.low_mib <= row.high_mib && row.low_mib >= 100 && row.high_mib < 2000);
        assert_true(!strncmp(row.source, "https://", 8) ||
                    !strcmp(row.source, "tests/calc/capacities.tsv") ||
                    !strncmp(row.source, "content/measurements/", 21));
        if (row.card[0])
            assert_non_null(vram_gpu_find(row.card));
    }
    assert_true(n >= 5);
    config_defaults(&c);
    context_figure(&c, &f);
    assert_int_equal(f.bytes, 300 * 1048576);
    assert_int_equal(f.low, 200 * 1048576);
    assert_int_equal(f.high, 430 * 1048576);
    c.gpu = gpu_index("RTX 6000 Ada", 12);
    context_figure(&c, &f);
    assert_int_equal(f.bytes, 426 * 1048576);
    c.gpu = gpu_index("RTX 4090", 8);  // seen without PyTorch: not less, perhaps more
    context_figure(&c, &f);
    assert_true(f.low == 392 * UINT64_C(1048576) && f.bytes == 395 * UINT64_C(1048576) &&
                f.high == 525 * UINT64_C(1048576));
    c.gpu = gpu_index("RTX 3060", 8);  // its own is less than the default without PyTorch's kernels
    context_figure(&c, &f);
    assert_int_equal(f.bytes, 300 * 1048576);
    c.context_mib = 512;
    context_figure(&c, &f);
    assert_true(f.bytes == 512 * 1048576 && f.low == f.bytes && f.high == f.bytes);
}

// Parameter counts that the models' cards, papers or transformers give.
static const struct known {
    const char *preset;
    uint64_t params;
} KNOWN[] = {
    {"gpt2", 124373760},
    {"hf-gpt2", 124439808},
    {"hf-gpt2-medium", 354823168},
    {"hf-gpt2-large", 774030080},
    {"hf-gpt2-xl", 1557611200},
    {"nanogpt-30m", 30135168},
    {"tinyllama-1.1b", 1100048384},
    {"llama-2-7b", 6738415616},
    {"llama-2-13b", 13015864320},
    {"llama-2-70b", 68976648192},
    {"llama-3.1-8b", 8030261248},
    {"llama-3.1-70b", 70553706496},
    {"llama-3.2-1b", 1235814400},
    {"llama-3.2-3b", 3212749824},
    {"smollm2-135m", 134515008},
    {"mistral-7b", 7241732096},
    {"qwen2-0.5b", 494032768},
    {"qwen2-7b", 7615616512},
    {"qwen2.5-1.5b", 1543714304},
    {"qwen2.5-14b", 14770033664},
    {"qwen3-0.6b", 596049920},
    {"qwen3-8b", 8190735360},
    {"qwen3-30b-a3b", 30532122624},
    {"mixtral-8x7b", 46702792704},
    {"gemma-2b", 2506172416},
    {"gemma-7b", 8537680896},
    {"gemma-2-2b", 2614341888},
    {"gemma-2-9b", 9241705984},
    {"gemma-3-1b", 999885952},
    {"pythia-70m", 70426624},
    {"pythia-160m", 162322944},
    {"pythia-1b", 1011781632},
    {"pythia-6.9b", 6857302016},
    {"gpt-neox-20b", 20554567680},
    {"codellama-7b", 6738546688},
    {"codellama-34b", 33743970304},
    {"falcon3-7b", 7455550464},
    {"mistral-nemo-12b", 12247782400},
    {"mistral-large-123b", 122610069504},
    {"olmo-2-7b", 7298617344},
    {"gemma-3n-e2b", 4435182688},
    {"gemma-3n-e4b", 6835235568},
    {"gemma-4-e2b", 4628569344},
    {"gemma-4-e4b", 7463013376},
    {"gemma-4-26b-a4b", 25233141760},
    {"ernie-4.5-21b-a3b", 21825436160},  // without 1,728 frozen biases of the choice
    {"hunyuan-a13b", 80393183232},
    {"gemma-4-31b", 30697345280},
    {"olmo-1b", 1176764416},
    {"olmo-7b", 6888095744},
    {"minitron-4b", 4190509056},
    {"cwm-32b", 32581097472},
    {"phi-4-mini", 3836021760},
    {"stablelm-3b", 2795443200},
    {"gemma-3-270m", 268098176},
    {"gemma-3-4b", 4300079472},
    {"medgemma-27b-text", 27009002240},
    // Qwen3.5: keras-hub's counts without the part for images, which its sizes give: 100,592,896 of
    // 852,985,920, 331,416,576 of 2,213,241,664, 333,514,240 of 4,539,265,536, 456,010,480 of
    // 9,409,813,744 and 460,730,096 of 27,356,728,560
    {"qwen3.5-0.8b", 752393024},
    {"qwen3.5-2b", 1881825088},
    {"qwen3.5-4b", 4205751296},
    {"qwen3.5-9b", 8953803264},
    {"qwen3.5-27b", 26895998464},
    {"qwen3-coder-480b-a35b", 480154875392},
    {"qwen3-vl-2b", 2127532032},
    {"qwen3-vl-8b", 8767123696},
    {"mistral-small-24b", 23572403200},
    {"granite-3.1-2b", 2533531648},
    {"qwen1.5-1.8b", 1836828672},
    {"qwen1.5-7b", 7721324544},
    {"qwen2-72b", 72706203648},
    {"deepseek-r1-distill-qwen-1.5b", 1777088000},
    {"deepseek-coder-1.3b", 1346471936},
    {"starcoder2-7b", 7173923840},
    {"starcoder2-15b", 15957889024},
    {"glm-4-32b-0414", 32566081536},
    {"exaone-4.0-1.2b", 1279391488},
    {"exaone-4.0-32b", 32003216384},
    {"granite-3.1-8b", 8170848256},
    {"granite-3.3-8b", 8170864640},
    {"hf-distilgpt2", 81912576},
    {"phi-3-medium", 13960238080},
    {"qwen2-vl-2b", 2208985600},
    {"qwen2-vl-7b", 8291375616},
    {"qwen2.5-vl-32b", 33452718336},
    {"qwen2.5-vl-72b", 73410777344},
    {"solar-10.7b", 10731524096},
    {"command-r-08-2024", 32296476672},
    {"deepseek-llm-67b", 67425001472},
    {"openhermes-2.5-mistral-7b", 7241748480},
    {"falcon-180b", 178557088768},
    {"granite-3.1-3b-a800m", 3298793472},
    {"yi-coder-1.5b", 1476495360},
    {"opencoder-1.5b", 1905650880},
    {"opencoder-8b", 7771262976},
    {"orpheus-3b-0.1-ft", 3300867072},
    {"chinese-llama-2-7b", 6929256448},
    {"chinese-alpaca-2-13b", 13254415360},
    {"llama-3.1-tulu-3-8b", 8030326784},
    {"hermes-2-pro-llama-3-8b", 8030523392},
    {"dolphin-2.9-llama3-8b", 8030277632},
    {"xgen-7b-8k", 6895702016},
    {"breeze-7b", 7487098880},
    {"reka-flash-3", 20905482240},
    {"cerebras-gpt-111m", 111050496},
    {"cerebras-gpt-13b", 12853386240},
    {"llava-1.5-7b", 7063427072},
    {"llava-v1.6-mistral-7b", 7566747648},
    {"paligemma-3b-224", 2923466480},
    {"paligemma2-3b-224", 3032242416},
};

static void test_presets_have_the_published_counts(void **state)
{
    (void)state;
    struct heap h = {0};
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++) {
        vram *v = open_vram(&h);
        assert_int_equal(vram_set(v, "preset", KNOWN[i].preset), VRAM_OK);
        run_vram(v);
        if (vram_result(v)->params != KNOWN[i].params)
            fail_msg("%s: %llu, published are %llu", KNOWN[i].preset,
                     (unsigned long long)vram_result(v)->params,
                     (unsigned long long)KNOWN[i].params);
        close_vram(v, &h);
    }
}

// What names of the Hub, of folders and of frameworks mean; no preset where the sizes are others.
static const struct id {
    const char *id, *preset;
    uint8_t stored;
} IDS[] = {
    {"meta-llama/Llama-3.2-1B-Instruct", "llama-3.2-1b", QUANTIZATION_NONE},
    {"meta-llama/Meta-Llama-3-70B-Instruct", "llama-3.1-70b", QUANTIZATION_NONE},
    {"Qwen2.5-7B-Instruct-1M", "qwen2.5-7b", QUANTIZATION_NONE},
    {"models/Qwen/QwQ-32B-Preview/", "qwen2.5-32b", QUANTIZATION_NONE},
    {"Qwen/Qwen3-30B-A3B-Thinking-2507", "qwen3-30b-a3b", QUANTIZATION_NONE},
    {"EleutherAI/pythia-1.4b-deduped", "pythia-1.4b", QUANTIZATION_NONE},
    {"microsoft/Phi-3.5-mini-instruct", "phi-3-mini", QUANTIZATION_NONE},
    {"microsoft/Phi-4-reasoning-plus", "phi-4", QUANTIZATION_NONE},
    {"mistralai/Mistral-7B-Instruct-v0.2", "mistral-7b", QUANTIZATION_NONE},
    {"mistralai/Mistral-7B-Instruct-v0.3", "mistral-7b-v0.3", QUANTIZATION_NONE},
    {"codellama/CodeLlama-7b-Instruct-hf", "codellama-7b", QUANTIZATION_NONE},
    {"codellama/CodeLlama-7b-Python-hf", "llama-2-7b", QUANTIZATION_NONE},
    {"allenai/OLMo-2-1124-7B-DPO", "olmo-2-7b", QUANTIZATION_NONE},
    {"gpt2-large", "hf-gpt2-large", QUANTIZATION_NONE},
    {"unsloth/llama-3-8b-bnb-4bit", "llama-3-8b", QUANTIZATION_NF4_DOUBLE},
    {"unsloth/Qwen3-4B-unsloth-bnb-4bit", "qwen3-4b", QUANTIZATION_NF4_DOUBLE},
    {"Qwen/Qwen2.5-7B-Instruct-AWQ", "qwen2.5-7b", QUANTIZATION_AWQ},
    {"Qwen/Qwen2.5-7B-Instruct-GPTQ-Int4", "qwen2.5-7b", QUANTIZATION_GPTQ},
    {"Qwen/Qwen2.5-7B-Instruct-GPTQ-Int8", "qwen2.5-7b", QUANTIZATION_GPTQ_INT8},
    {"Qwen/Qwen3-30B-A3B-Instruct-2507-FP8", "qwen3-30b-a3b", QUANTIZATION_FP8},
    {"google/gemma-3-4b-pt", "gemma-3-4b", QUANTIZATION_NONE},
    {"google/medgemma-1.5-4b-it", "gemma-3-4b", QUANTIZATION_NONE},
    {"unsloth/gemma-3-270m-it-unsloth-bnb-4bit", "gemma-3-270m", QUANTIZATION_NF4_DOUBLE},
    {"unsloth/gpt-oss-20b-BF16", "gpt-oss-20b", QUANTIZATION_NONE},
    {"Qwen/Qwen3.5-4B-Base", "qwen3.5-4b", QUANTIZATION_NONE},
    {"Qwen/Qwen3.6-27B-FP8", "qwen3.5-27b", QUANTIZATION_FP8},
    {"Qwen/Qwen3-VL-8B-Thinking", "qwen3-vl-8b", QUANTIZATION_NONE},
    {"mistralai/Mistral-Small-24B-Instruct-2501", "mistral-small-24b", QUANTIZATION_NONE},
    {"mistralai/Magistral-Small-2506", "mistral-small-24b", QUANTIZATION_NONE},
    {"mistralai/Magistral-Small-2509", "mistral-small-3.1-24b", QUANTIZATION_NONE},
    {"mistralai/Ministral-3-8B-Reasoning-2512", "ministral-3-8b", QUANTIZATION_NONE},
    {"01-ai/Yi-1.5-9B-Chat", "yi-9b", QUANTIZATION_NONE},
    {"allenai/Olmo-3-7B-Think-SFT", "olmo-3-7b", QUANTIZATION_NONE},
    {"allenai/Olmo-3.1-32B-Instruct", "olmo-3-32b", QUANTIZATION_NONE},
    {"Qwen/Qwen2-72B-Instruct-GPTQ-Int8", "qwen2-72b", QUANTIZATION_GPTQ_INT8},
    {"CohereForAI/aya-expanse-32b", "command-r-08-2024", QUANTIZATION_NONE},
    {"unsloth/c4ai-command-r-08-2024-bnb-4bit", "command-r-08-2024", QUANTIZATION_NF4_DOUBLE},
    {"mistralai/Codestral-22B-v0.1", "mistral-small-22b", QUANTIZATION_NONE},
    {"upstage/SOLAR-10.7B-Instruct-v1.0", "solar-10.7b", QUANTIZATION_NONE},
    {"allenai/Llama-3.1-Tulu-3-8B-DPO", "llama-3.1-tulu-3-8b", QUANTIZATION_NONE},
    {"shenzhi-wang/Llama3-70B-Chinese-Chat", "llama-3.1-70b", QUANTIZATION_NONE},
    {"TheBloke/Llama-2-7B-GPTQ", "llama-2-7b", QUANTIZATION_GPTQ},
    {"01-ai/Yi-34B-Chat-4bits", "yi-34b", QUANTIZATION_AWQ},
    {"01-ai/Yi-6B-Chat-8bits", "yi-6b", QUANTIZATION_GPTQ_INT8},
    {"casperhansen/llama-3-70b-fp16", "llama-3.1-70b", QUANTIZATION_NONE},
    {"lmsys/vicuna-7b-v1.5-16k", "llama-2-7b", QUANTIZATION_NONE},
    {"lmsys/longchat-13b-16k", "llama-2-13b", QUANTIZATION_NONE},
    {"stabilityai/stablecode-completion-alpha-3b-4k", "stablecode-completion-alpha-3b",
     QUANTIZATION_NONE},
    {"MediaTek-Research/Breeze-7B-Instruct-v1_0", "breeze-7b", QUANTIZATION_NONE},
    {"google/paligemma2-10b-mix-448", "paligemma2-10b-448", QUANTIZATION_NONE},
    {"unsloth/llava-1.5-7b-hf-bnb-4bit", "llava-1.5-7b", QUANTIZATION_NF4_DOUBLE},
    {"cerebras/Cerebras-GPT-1.3B", "cerebras-gpt-1.3b", QUANTIZATION_NONE},
    {"Qwen/Qwen2.5-8B", NULL, QUANTIZATION_NONE},
    {"mistralai/Mistral-7B-v0.4", NULL, QUANTIZATION_NONE},
    {"awq", NULL, QUANTIZATION_NONE},
    {"/", NULL, QUANTIZATION_NONE},
    {"", NULL, QUANTIZATION_NONE},
};

static void test_ids_name_presets(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof IDS / sizeof *IDS; i++) {
        uint8_t stored = UINT8_MAX;
        const struct vram_preset *p = preset_of_id(span_of(IDS[i].id), &stored);
        if (!p != !IDS[i].preset || (p && strcmp(p->name, IDS[i].preset) != 0) ||
            stored != IDS[i].stored)
            fail_msg("%s: %s, stored as %u", IDS[i].id, p ? p->name : "no preset", stored);
    }
}

// A name alone is first that of a preset; what an id says of the weights is set, too.
static void test_presets_are_set_by_ids(void **state)
{
    (void)state;
    struct heap h = {0};
    vram *v = open_vram(&h);
    set_all(v, "preset=gpt2");
    assert_int_equal(v->config.vocab_size, 50304);
    set_all(v, "preset=openai-community/gpt2");
    assert_int_equal(v->config.vocab_size, 50257);
    set_all(v, "preset=Qwen/Qwen2.5-7B-Instruct-AWQ");
    assert_int_equal(v->config.quantization, QUANTIZATION_AWQ);
    set_all(v, "preset=Qwen2.5-7B-Instruct");
    assert_int_equal(v->config.quantization, QUANTIZATION_NONE);
    assert_int_equal(v->config.n_layer, 28);
    close_vram(v, &h);
}

// Each name of preset_ids.def is its preset's, which is there and another one's name.
static void test_names_of_the_same_sizes(void **state)
{
    (void)state;
    static const struct id NAMES[] = {
#define SAME_SIZES(name, preset) {name, preset, QUANTIZATION_NONE},
#include "calc/model/preset_ids.def"
#undef SAME_SIZES
    };
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        uint8_t stored;
        const struct vram_preset *p = preset_of_id(span_of(NAMES[i].id), &stored);
        if (!p || strcmp(p->name, NAMES[i].preset) != 0)
            fail_msg("%s: %s", NAMES[i].id, p ? p->name : "no preset");
        for (size_t j = 0; j < i; j++)
            if (!strcmp(NAMES[i].id, NAMES[j].id))
                fail_msg("%s is there twice", NAMES[i].id);
    }
}

// With adapters and without training: it runs, or a sentence says what its family has not.
static void run_otherwise(vram *v, const char *preset, const char *key, const char *value)
{
    vram_clear(v);
    assert_int_equal(vram_set(v, "preset", preset), VRAM_OK);
    assert_int_equal(vram_set(v, key, value), VRAM_OK);
    const struct vram_message *m = vram_error(v);
    if (vram_run(v) != VRAM_OK && (!m->text[0] || !strcmp(m->id, "played_wrongly")))
        fail_msg("preset=%s %s=%s: '%s'", preset, key, value, m->text);
}

static void test_every_preset_runs(void **state)
{
    (void)state;
    struct heap h = {0};
    const struct vram_preset *p;
    size_t n = 0;
    vram *v = open_vram(&h);
    for (; (p = vram_preset_at(n)) != NULL; n++) {
        assert_int_equal(strncmp(p->source, "https://", 8), 0);
        if (vram_set(v, "preset", p->name) != VRAM_OK || vram_run(v) != VRAM_OK)
            fail_msg("%s: %s", p->name, vram_error(v)->text);
        run_otherwise(v, p->name, "lora_rank", "16");
        run_otherwise(v, p->name, "task", "inference");
        vram_clear(v);
    }
    printf("%zu presets\n", n);
    assert_int_equal(vram_set(v, "preset", "gpt3"), VRAM_EPRESET);
    assert_non_null(strstr(vram_error(v)->text, "did you mean 'gpt2'"));
    close_vram(v, &h);
}

// The first preset of a family, of three layers; false: no preset is of it.
static bool set_family(vram *v, const char *family)
{
    const struct vram_preset *p;
    char wanted[40];
    snprintf(wanted, sizeof wanted, "family=%s ", family);
    for (size_t i = 0; (p = vram_preset_at(i)) != NULL; i++)
        if (strstr(p->fields, wanted))
            return vram_set(v, "preset", p->name) == VRAM_OK &&
                   vram_set(v, "n_layer", "3") == VRAM_OK;
    return false;
}

// A run that is refused is so with a sentence about it, whatever is chosen for whichever family.
static void test_no_choice_is_a_fault(void **state)
{
    (void)state;
    struct heap h = {0};
    const struct vram_field *f, *family = vram_field_find("family");
    size_t runs = 0;
    vram *v = open_vram(&h);
    for (size_t i = 0; family->values[i]; i++)
        for (size_t j = 0; (f = vram_field_at(j)) != NULL; j++)
            for (size_t k = 0; f->type == VRAM_TYPE_ENUM && f != family && f->values[k]; k++) {
                vram_clear(v);
                if (!set_family(v, family->values[i]) || vram_set(v, f->key, f->values[k]))
                    continue;
                runs++;
                const struct vram_message *m = vram_error(v);
                if (vram_run(v) != VRAM_OK && (!m->text[0] || !strcmp(m->id, "played_wrongly")))
                    fail_msg("family=%s %s=%s: '%s'", family->values[i], f->key, f->values[k],
                             m->text);
            }
    assert_true(runs > 3000);
    close_vram(v, &h);
}

// A preset leaves nothing of an earlier one behind.
static void test_presets_replace_the_model(void **state)
{
    (void)state;
    struct heap h = {0};
    vram *v = open_vram(&h);
    set_all(v, "preset=mixtral-8x7b preset=gpt2");
    run_vram(v);
    assert_int_equal(vram_result(v)->params, 124373760);
    close_vram(v, &h);
}

// Memory that is given back and not held is a fault of the program, and no lack of memory.
static void test_codes_from_within(void **state)
{
    (void)state;
    struct vram_mem mem = vram_mem_malloc();
    vram *v = vram_new(&mem);
    assert_int_equal(handle_failed(v, VRAM_EARG), VRAM_EUNSUPPORTED);
    assert_string_equal(vram_error(v)->id, "played_wrongly");
    assert_int_equal(vram_set(v, "batch_size", "2"), VRAM_OK);
    assert_int_equal(handle_failed(v, VRAM_ENOMEM), VRAM_ENOMEM);
    assert_string_equal(vram_error(v)->id, "out_of_memory");
    vram_free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_codes_from_within),
        cmocka_unit_test(test_cards),
        cmocka_unit_test(test_names_of_cards),
        cmocka_unit_test(test_known_memory),
        cmocka_unit_test(test_contexts),
        cmocka_unit_test(test_presets_have_the_published_counts),
        cmocka_unit_test(test_ids_name_presets),
        cmocka_unit_test(test_presets_are_set_by_ids),
        cmocka_unit_test(test_names_of_the_same_sizes),
        cmocka_unit_test(test_every_preset_runs),
        cmocka_unit_test(test_no_choice_is_a_fault),
        cmocka_unit_test(test_presets_replace_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
