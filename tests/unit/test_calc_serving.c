// Servers: llama.cpp's types against the sizes that it publishes, caches by hand, vLLM's pool by
// its rule, weights and cache against public measurements.

#include <ctype.h>
#include <math.h>
#include <strings.h>

#include "calc/answer/serve.h"
#include "calc/model/gguf.h"
#include "calc/model/handle.h"
#include "calc/model/layout.h"
#include "calc/model/model_make.h"
#include "tests/unit/calc_answers.h"
#include "tests/unit/calc_fixture.h"
#include "tests/unit/calc_schema.h"

static struct model model_of(const char *pairs)
{
    struct heap h = {0};
    struct model m;
    struct message e;
    vram *v = open_vram(&h);
    set_all(v, pairs);
    message_clear(&e);
    assert_int_equal(model_make(&m, &v->config, &e), VRAM_OK);
    close_vram(v, &h);
    return m;
}

// Bits of a parameter of Llama 3.1 8B in each type. SRC: llama.cpp tools/quantize/README.md at
// 311c2c9. Those of iq4_xs and iq4_nl were made with an importance matrix: there the first layers
// have no rule of their own, so ours are more.
static const struct published {
    const char *type;
    double bits, most;
} PUBLISHED[] = {
    {"q2_k", 3.1593, 0.0005},   {"q3_k_s", 3.6429, 0.0005}, {"q3_k_l", 4.2979, 0.0005},
    {"q4_k_s", 4.6672, 0.0005}, {"q4_k_m", 4.8944, 0.0005}, {"q5_k_s", 5.5704, 0.0005},
    {"q5_k_m", 5.7036, 0.0005}, {"q6_k", 6.5633, 0.0005},   {"q8_0", 8.5008, 0.0005},
    {"iq4_xs", 4.4597, 0.0200}, {"iq4_nl", 4.6818, 0.0200},
};

static void test_published_types(void **state)
{
    (void)state;
    struct model m = model_of("preset=llama-3.1-8b task=inference");
    struct layout l;
    layout_make(&l, &m);
    const struct layout_param *embedding = layout_find(&l, false, P_WTE);
    for (size_t i = 0; i < sizeof PUBLISHED / sizeof *PUBLISHED; i++) {
        struct heap h = {0};
        uint64_t type;
        vram *v = open_vram(&h);
        assert_int_equal(vram_set(v, "quantization", PUBLISHED[i].type), VRAM_OK);
        vram_get_u64(v, "quantization", &type);
        // the file has the embedding that the card does not
        uint64_t bytes = serve_weights(&m, type) + gguf_bytes(&m, type, embedding, false, 0);
        double bits = 8.0 * (double)bytes / (double)m.params;
        if (fabs(bits - PUBLISHED[i].bits) > PUBLISHED[i].most)
            fail_msg("%s: %.4f bits, %.4f are published", PUBLISHED[i].type, bits,
                     PUBLISHED[i].bits);
        close_vram(v, &h);
    }
}

static const struct vram_serving *serve(vram *v, const char *pairs)
{
    const struct vram_serving *s;
    set_all(v, pairs);
    if (vram_serve(v, &s) != VRAM_OK)
        fail_msg("%s: %s", pairs, vram_error(v)->text);
    return s;
}

static void test_cache(void **state)
{
    (void)state;
    static const struct {
        const char *config;
        uint64_t bytes;
    } rows[] = {
        {"preset=llama-3.1-8b", 2 * 32 * 8 * 128 * 2},
        {"preset=llama-3.1-8b kv_dtype=fp8", 2 * 32 * 8 * 128},
        {"preset=llama-3.1-8b kv_dtype=q8_0", 2 * 32 * 8 * 128 / 32 * 34},
        {"preset=llama-3.1-8b kv_dtype=q4_0", 2 * 32 * 8 * 128 / 32 * 18},
        {"preset=llama-3.1-8b tensor_parallel=4", 2 * 32 * 2 * 128 * 2},
        {"preset=llama-3.1-70b tensor_parallel=16", 2 * 80 * 1 * 128 * 2},
        {"preset=qwen3-8b", 2 * 36 * 8 * 128 * 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct heap h = {0};
        vram *v = open_vram(&h);
        set_all(v, rows[i].config);
        assert_int_equal(serve(v, "gpu=H200")->token_bytes, rows[i].bytes);
        close_vram(v, &h);
    }
}

// available = total * gpu_memory_utilization - weights - profile - what is outside of PyTorch, in
// whole blocks
static void test_pool(void **state)
{
    (void)state;
    struct heap h = {0};
    vram *v = open_vram(&h);
    const struct vram_serving *s =
        serve(v, "preset=llama-3.1-8b seq_len=8192 max_new_tokens=1024 gpu=RTX_4090");
    assert_string_equal(s->server, "vllm");
    assert_int_equal(s->weights_bytes, 2 * s->params);
    uint64_t share = (uint64_t)((double)s->capacity.cuda_bytes * 0.92);
    assert_int_equal(s->pool_bytes, share - s->weights_bytes - s->work_bytes - s->context_bytes);
    assert_int_equal(s->blocks, s->pool_bytes / (16 * s->token_bytes));
    assert_int_equal(s->tokens, 16 * s->blocks);
    assert_int_equal(s->sequences, s->blocks / ((8192 + 1024) / 16));
    assert_int_equal(s->longest, s->tokens);
    uint64_t tokens = s->tokens;
    assert_true(serve(v, "gpu_memory_utilization=0.95")->tokens > tokens);
    assert_true(serve(v, "kv_dtype=fp8")->tokens > 2 * tokens);
    assert_true(serve(v, "max_num_batched_tokens=16384")->work_bytes > s->work_bytes / 2);
    s = serve(v, "preset=qwen2.5-0.5b seq_len=100 kv_dtype=auto gpu=H100");
    assert_int_equal(s->longest, 32768);  // what the model knows
    assert_int_equal(s->batched_tokens, 8192);
    assert_int_equal(serve(v, "gpu=B200")->batched_tokens, 16384);
    assert_int_equal(serve(v, "gpu=A100_80GB")->batched_tokens, 2048);
    assert_int_equal(serve(v, "gpu=GB10")->batched_tokens, 2048);
    close_vram(v, &h);
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *config, *id;
    } rows[] = {
        {"preset=llama-3.1-70b gpu=RTX_4090", "serve_no_room"},
        {"preset=llama-3.1-8b gpu=RTX_4090 seq_len=65536", "serve_too_short"},
        {"preset=llama-3.2-1b gpu=RTX_4090 other_memory=4000", "serve_refuses"},
    };
    struct heap h = {0};
    const struct vram_serving *s;
    uint64_t live;
    vram *v = open_vram(&h);
    assert_int_equal(vram_serve(v, &s), VRAM_EGPU);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vram_clear(v);
        s = serve(v, rows[i].config);
        if (!s->refusal || strcmp(s->refusal->id, rows[i].id) != 0)
            fail_msg("%s: %s", rows[i].config, s->refusal ? s->refusal->id : "is served");
    }
    vram_clear(v);
    set_all(v,
            "preset=llama-3.2-1b task=inference quantization=q4_k_m");  // PyTorch does not run it
    assert_int_equal(vram_live_peak(v, &live), VRAM_EUNSUPPORTED);
    set_all(v, "quantization=none kv_dtype=q8_0");
    assert_int_equal(vram_live_peak(v, &live), VRAM_EUNSUPPORTED);
    close_vram(v, &h);
}

// ---- measurements ------------------------------------------------------------------------------

enum { COLUMNS = 20 };

static int split(char *line, char *column[COLUMNS])
{
    int n = 0;
    line[strcspn(line, "\n")] = 0;
    for (char *at = line; at && n < COLUMNS; n++)
        column[n] = strsep(&at, "\t");
    return n;
}

static const char *format_of(const char *precision)
{
    return strncasecmp(precision, "GPTQ-Int4", 9) == 0   ? "gptq"
           : strncasecmp(precision, "GPTQ-Int8", 9) == 0 ? "gptq_int8"
           : strncmp(precision, "AWQ", 3) == 0           ? "awq"
           : strcmp(precision, "FP8") == 0               ? "fp8"
                                                         : "none";
}

// "Qwen2.5-7B-Instruct" -> qwen2.5-7b
static void preset_of(const char *model, char out[64])
{
    size_t n = 0;
    for (; model[n] && n < 63 && strcmp(model + n, "-Instruct") != 0; n++)
        out[n] = (char)tolower((unsigned char)model[n]);
    out[n] = 0;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Weights and the cache at the end of 2048 tokens, against what was measured on one GPU; 0 for
// another row.
static double error_of(char *const *column)
{
    struct heap h = {0};
    char words[160], preset[64];
    vram *v = open_vram(&h);
    preset_of(column[3], preset);
    snprintf(words, sizeof words,
             "task=inference gpu=H200 seq_len=%s max_new_tokens=2048 quantization=%s", column[10],
             format_of(column[7]));
    int rc = vram_set(v, "preset", preset);
    double error = NAN;
    if (rc == VRAM_OK) {
        const struct vram_serving *s = serve(v, words);
        double ours = (double)(s->weights_bytes + s->length * s->token_bytes);
        error = ours / strtod(column[17], NULL) - 1;
    }
    close_vram(v, &h);
    return error;
}

// The figures of Qwen3 are weights, cache and 40 MiB, those of Qwen2.5 have a prompt's peak on top;
// the latter are from transformers, whose cache is copied as it grows.
static const struct group {
    const char *name;
    bool short_only;  // rows of one token of input
    size_t rows;
    double median, ninety;
} GROUPS[] = {{"Qwen3 speed benchmark", false, 50, 0.015, 0.11},
              {"Qwen2.5 speed benchmark", true, 15, 0.03, 0.21}};

static void test_measured(void **state)
{
    (void)state;
    for (size_t g = 0; g < sizeof GROUPS / sizeof *GROUPS; g++) {
        double errors[200];
        size_t n = 0;
        char line[4096], *column[COLUMNS];
        FILE *f = fopen("tests/calc/measured.tsv", "r");
        assert_non_null(f);
        while (fgets(line, sizeof line, f) && n < 200)
            if (split(line, column) == COLUMNS && strcmp(column[1], GROUPS[g].name) == 0 &&
                strcmp(column[5], "1") == 0 &&
                (!GROUPS[g].short_only || strcmp(column[10], "1") == 0)) {
                double error = error_of(column);
                if (!isnan(error))
                    errors[n++] = fabs(error);
            }
        fclose(f);
        qsort(errors, n, sizeof *errors, by_size);
        printf("%s: %zu rows, median %.4f, ninety in a hundred within %.4f, most %.4f\n",
               GROUPS[g].name, n, errors[n / 2], errors[n * 9 / 10], errors[n - 1]);
        assert_true(n >= GROUPS[g].rows);
        assert_true(errors[n / 2] <= GROUPS[g].median && errors[n * 9 / 10] <= GROUPS[g].ninety);
    }
}

// What vLLM's logs say of one GPU: GiB of weights, GiB of the profile run's peak (V0; 0: not said),
// bytes of the cache for a token (pool over blocks of 16 tokens; 0: not said).
static const struct logged {
    const char *config;
    double weights, peak;
    uint64_t token;
    const char *source;
} LOGS[] = {
    {"preset=llama-3-8b", 14.96, 1.26, 0, "https://github.com/vllm-project/vllm/pull/10511"},
    {"preset=llama-3-8b tensor_parallel=2", 7.48, 1.26, 0,
     "https://github.com/vllm-project/vllm/pull/10511"},
    {"preset=qwen2.5-32b tensor_parallel=2", 30.71, 1.26, 131072,
     "https://github.com/vllm-project/vllm/issues/15815"},
    {"preset=qwen3-30b-a3b tensor_parallel=4", 14.2474, 0, 0,
     "https://github.com/vllm-project/vllm/issues/17469"},
};

static void test_logs(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof LOGS / sizeof *LOGS; i++) {
        struct heap h = {0};
        vram *v = open_vram(&h);
        char config[160];
        snprintf(config, sizeof config,
                 "%s gpu=H100_SXM seq_len=2048 max_num_batched_tokens=8192 max_num_seqs=256",
                 LOGS[i].config);
        const struct vram_serving *s = serve(v, config);
        double weights = (double)s->weights_bytes / (1 << 30),
               peak = (double)s->work_bytes / (1 << 30);
        if (fabs(weights - LOGS[i].weights) > 0.01 * LOGS[i].weights)
            fail_msg("%s: %.4f GiB of weights, %s has %.4f", LOGS[i].config, weights,
                     LOGS[i].source, LOGS[i].weights);
        if (LOGS[i].peak > 0 && (peak > LOGS[i].peak || peak < LOGS[i].peak - 0.41))
            fail_msg("%s: a peak of %.4f GiB, %s has %.4f", LOGS[i].config, peak, LOGS[i].source,
                     LOGS[i].peak);
        if (LOGS[i].token)
            assert_int_equal(s->token_bytes, LOGS[i].token);
        close_vram(v, &h);
    }
}

static void test_schema(void **state)
{
    (void)state;
    static const char *const configs[] = {"preset=llama-3.1-8b gpu=RTX_4090 seq_len=4096",
                                          "preset=llama-3.1-8b gpu=RTX_3060 quantization=q4_k_m",
                                          "preset=llama-3.1-70b gpu=T4"};
    json_t *schema = schema_file();
    root_schema = schema;
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        struct heap h = {0};
        vram *v = open_vram(&h);
        serve(v, configs[i]);
        assert_int_equal(vram_write(v, VRAM_ANSWER_SERVING, VRAM_FORMAT_JSON, 0), VRAM_OK);
        json_t *j = json_loads(vram_text(v, NULL), 0, NULL);
        assert_true(valid(j, schema_of("serve"), "serve"));
        json_decref(j);
        close_vram(v, &h);
    }
    json_decref(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published_types),
        cmocka_unit_test(test_cache),
        cmocka_unit_test(test_pool),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_measured),
        cmocka_unit_test(test_logs),
        cmocka_unit_test(test_schema),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
