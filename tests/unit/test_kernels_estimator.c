// The probe's comparison with the estimator, on a record that is made of reference values and was
// measured nowhere; configs read from nanoGPT's files; tokens from a file.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "calc/vram.h"
#include "kernels/probe/estimator.h"
#include "kernels/probe/probe.h"

#define FIXTURE "tests/kernels/fixtures/not-measured.json"

static struct rjson *fixture(void)
{
    char error[200];
    struct rjson *r = rjson_read_file(FIXTURE, error, sizeof error);
    assert_non_null(r);
    return r;
}

// The text that is printed; the caller frees it.
static __attribute__((noinline)) char *compared(const struct rjson *record,
                                                struct estimator_tally *t)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    *t = (struct estimator_tally){0};
    estimator_compare(record, out, t);
    fclose(out);
    return text;
}

static void reference_values_agree(void **state)
{
    (void)state;
    struct estimator_tally t;
    struct rjson *r = fixture();
    char *text = compared(r, &t);
    assert_int_equal(t.results, 4);
    assert_int_equal(t.figures, 8);  // of the two of the probe what is allocated alone
    assert_int_equal(t.off, 0);
    assert_int_equal(t.passed_over, 1);  // the lean mode
    assert_non_null(strstr(text, "torch-eager: B16 T512 C384 L6 V50304 x2 float16 reference"));
    assert_null(strstr(text, "OFF"));
    free(text);
    rjson_free(r);
}

static struct rjson *value_of(struct rjson *record, int result, const char *key)
{
    struct rjson *r = rjson_get(record, "results")->first;
    while (result--)
        r = r->next;
    return rjson_get(rjson_get(rjson_get(r, "values"), key), "value");
}

static __attribute__((noinline)) int times(const char *text, const char *wanted)
{
    const char *found = strstr(text, wanted);
    return found ? 1 + times(found + strlen(wanted), wanted) : 0;
}

// The text and tally of a record of content/measurements.
static char *compared_record(const char *path, struct estimator_tally *t)
{
    char error[200];
    struct rjson *r = rjson_read_file(path, error, sizeof error);
    assert_non_null(r);
    char *text = compared(r, t);
    rjson_free(r);
    return text;
}

#define H200 "content/measurements/nvidia-h200-2026-11-27"

// What PyTorch 2.11 took on an H200: what is reserved, and the process with it, is that of the
// estimate in 58 of 72 runs, what is allocated in 41, and one run is off, whose 128 micro-steps
// ended with one segment more.
static void an_h200_agrees(void **state)
{
    (void)state;
    struct estimator_tally t;
    char *text = compared_record(H200 "-torch.json", &t);
    assert_int_equal(t.results, 72);
    assert_int_equal(t.figures, 216);
    assert_int_equal(t.off, 2);
    assert_int_equal(times(text, "OFF"), 2);
    assert_int_equal(times(strstr(text, "x128 float16\n"), "OFF"), 2);
    assert_true(times(text, "+0.00 %") + times(text, "-0.00 %") >= 2 * 58 + 41);
    free(text);
}

// Of the probe, whose workspaces come first, only what is allocated is compared.
static void the_probe_on_an_h200_agrees(void **state)
{
    (void)state;
    struct estimator_tally t;
    char *text = compared_record(H200 ".json", &t);
    assert_int_equal(t.results, 33);
    assert_int_equal(t.figures, 33);
    assert_int_equal(t.off, 0);
    free(text);
}

// Each figure has its own bound, and stepping over it is counted.
static void differences_are_counted(void **state)
{
    (void)state;
    static const struct {
        const char *key;
        double within, beyond;
    } bounds[] = {{"max_memory_allocated_bytes", 1.005, 1.02},
                  {"max_memory_reserved_bytes", 1.02, 1.04},
                  {"process_bytes", 1.04, 1.06}};
    for (int i = 0; i < 3; i++)
        for (int far = 0; far < 2; far++) {
            struct rjson *r = fixture(), *v = value_of(r, 0, bounds[i].key);
            struct estimator_tally t;
            v->integer =
                (int64_t)((double)v->integer * (far ? bounds[i].beyond : bounds[i].within));
            char *text = compared(r, &t);
            assert_int_equal(t.off, far);
            assert_int_equal(strstr(text, "<- OFF") != NULL, far);
            free(text);
            rjson_free(r);
        }
}

static void compiled_runs_have_their_own_bound(void **state)
{
    (void)state;
    struct rjson *r = fixture(), *first = rjson_get(r, "results")->first,
                 *engine = rjson_get(first, "engine");
    struct estimator_tally t;
    free(engine->text);
    engine->text = strdup("torch-compile");
    char *text = compared(r, &t);
    assert_non_null(strstr(text, "of at most 5 %"));
    assert_int_equal(t.off, 3);  // eager values are no measurement of a compiled run
    free(text);
    rjson_free(r);
}

static void *take(void *ctx, size_t bytes)
{
    (void)ctx;
    return malloc(bytes);
}

static void give(void *ctx, void *p, size_t bytes)
{
    (void)ctx;
    (void)bytes;
    free(p);
}

static void no_batch(void *ctx, int64_t n, int64_t *tokens, int64_t *targets)
{
    (void)ctx;
    (void)n;
    (void)tokens;
    (void)targets;
}

// Evaluation has no reference values: the estimator and the probe, which know nothing of each
// other, must agree on its peak, but for the scalars of a loss.
static void both_sides_agree_on_evaluation(void **state)
{
    (void)state;
    static const char *const runs[] = {"nanogpt-30m", "gpt2", "shakespeare-char"};
    const vram_mem mem = {.alloc = take, .free = give};
    for (int i = 0; i < 3; i++) {
        struct settings s = {0};
        struct gpt_config c;
        struct gpt g;
        struct dry_device device = {0};
        char error[256];
        double loss;
        assert_true(estimator_read_config(&s, runs[i], NULL, error, sizeof error));
        assert_null(settings_gpt(&s, &c));
        struct caching_allocator *a = caching_new(dry_device_memory(&device));
        assert_int_equal(gpt_open(&g, &c, gpt_dry_ops(), a, (struct pool_watcher){0}), GPT_OK);
        assert_int_equal(gpt_evaluate(&g, 3, no_batch, NULL, &loss), GPT_OK);
        vram *v = vram_new(&mem);
        assert_int_equal(vram_set(v, "preset", runs[i]), VRAM_OK);
        assert_int_equal(vram_set(v, "compile", "none"), VRAM_OK);
        assert_int_equal(vram_run(v), VRAM_OK);
        int64_t off = (int64_t)g.pool.live_peak - (int64_t)vram_result(v)->eval_peak_bytes;
        if (off < -64 || off > 64)
            fail_msg("%s: the probe has %ld bytes more than the estimator", runs[i], (long)off);
        vram_free(v);
        gpt_close(&g);
        caching_delete(a);
    }
}

// A number from a table of choices, by a counter of its own.
static int64_t pick(uint64_t *state, const int64_t *choices, int count)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return choices[(*state >> 33) % (uint64_t)count];
}
#define PICK(...) \
    pick(&state, (const int64_t[]){__VA_ARGS__}, \
         (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)))

static int64_t probe_peak(const struct gpt_config *c)
{
    struct gpt g;
    struct dry_device device = {0};
    struct caching_allocator *a = caching_new(dry_device_memory(&device));
    assert_int_equal(gpt_open(&g, c, gpt_dry_ops(), a, (struct pool_watcher){0}), GPT_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(gpt_train_step(&g, no_batch, NULL, NULL), GPT_OK);
    int64_t peak = (int64_t)g.pool.live_peak;
    gpt_close(&g);
    caching_delete(a);
    return peak;
}

static int64_t estimated_peak(const char *words)
{
    const vram_mem mem = {.alloc = take, .free = give};
    vram *v = vram_new(&mem);
    struct settings s;
    char error[256];
    assert_true(settings_parse(&s, words, error, sizeof error));
    for (int i = 0; i < s.count; i++)
        assert_int_equal(vram_set(v, s.pairs[i].key, s.pairs[i].value), VRAM_OK);
    assert_int_equal(vram_set(v, "mode", "reference"), VRAM_OK);
    assert_int_equal(vram_run(v), VRAM_OK);
    int64_t peak = (int64_t)vram_result(v)->peak_live.bytes;
    vram_free(v);
    return peak;
}

// Two programs that know nothing of each other, on configs that no one chose. Dropout is not for
// attention's matrices here: the probe has none between them.
static void both_sides_agree_on_steps(void **state_of_test)
{
    (void)state_of_test;
    static const char *const dtypes[] = {"float32", "float16", "bfloat16"};
    uint64_t state = 20261121;
    int wrong = 0;
    for (int i = 0; i < 250; i++) {
        char words[512];
        int64_t head = PICK(1, 2, 6), type = PICK(0, 1, 2), math = PICK(0, 0, 1),
                block = PICK(64, 256, 1000);
        snprintf(words, sizeof words,
                 "batch_size=%ld block_size=%ld seq_len=%ld n_layer=%ld n_head=%ld n_embd=%ld "
                 "vocab_size=%ld bias=%s "
                 "dropout=%s dtype=%s attention=%s optimizer=%s checkpointing=%s "
                 "gradient_accumulation_steps=%ld",
                 (long)PICK(1, 3, 8), (long)block, (long)(PICK(0, 1) ? block : block / 2),
                 (long)PICK(1, 2, 3, 7), (long)head, (long)(head * PICK(16, 64, 128)),
                 (long)PICK(65, 1024, 50304), PICK(0, 1) ? "true" : "false",
                 PICK(0, 1) && !math ? "0.1" : "0", dtypes[type],
                 math   ? "math"
                 : type ? "flash"
                        : "mem_efficient",
                 PICK(0, 1) ? "adamw_fused" : "adamw_foreach", PICK(0, 0, 1) ? "block" : "none",
                 (long)PICK(1, 2, 3));
        struct settings s;
        struct gpt_config c;
        char error[256];
        assert_true(settings_parse(&s, words, error, sizeof error));
        assert_null(settings_gpt(&s, &c));
        int64_t ours = probe_peak(&c), theirs = estimated_peak(words);
        if (ours != theirs)
            print_message("%s: %ld, estimated %ld: %ld\n", words, (long)ours, (long)theirs,
                          (long)(ours - theirs));
        wrong += ours != theirs;
    }
    assert_int_equal(wrong, 0);
}

// A run that is checkpointed the other way is estimated the other way.
static void both_forms_of_checkpointing_are_told_apart(void **state)
{
    (void)state;
    char *texts[2];
    for (int form = 0; form < 2; form++) {
        struct rjson *r = fixture(), *config = rjson_get(rjson_get(r, "results")->first, "config");
        struct rjson *checkpointing = rjson_get(config, "checkpointing");
        struct estimator_tally t;
        free(checkpointing->text);
        checkpointing->text = strdup("block");
        rjson_set(config, "use_reentrant", rjson_bool(form));
        texts[form] = compared(r, &t);
        assert_int_equal(t.results, 4);
        assert_int_equal(strstr(texts[form], " block reference reentrant") != NULL, form);
        rjson_free(r);
    }
    assert_string_not_equal(texts[0], texts[1]);
    free(texts[0]);
    free(texts[1]);
}

static char path[] = "/tmp/vramprobe-test-XXXXXX";

static const char *file_of(const void *bytes, size_t length)
{
    memcpy(path + sizeof path - 7, "XXXXXX", 7);
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, length), length);
    close(file);
    return path;
}

static bool read_config(const char *preset, const char *text, struct settings *s, char error[256])
{
    const char *name = text ? file_of(text, strlen(text)) : NULL;
    *s = (struct settings){0};
    bool good = estimator_read_config(s, preset, name, error, 256);
    if (name)
        unlink(name);
    return good;
}

static void configs_are_read(void **state)
{
    (void)state;
    struct settings s;
    struct gpt_config c;
    char error[256] = "";
    assert_true(read_config(
        NULL,
        "batch_size = 4\nblock_size = 256 # context\ngradient_accumulation_steps = 5 * 8\n"
        "dropout = 0.2\ncompile = True\nlearning_rate = 1e-3\ndtype = 'float16'\nbias = True\n",
        &s, error));
    assert_null(settings_gpt(&s, &c));
    assert_int_equal(c.batch_size, 4);
    assert_int_equal(c.block_size, 256);
    assert_int_equal(c.seq_len, 256);
    assert_int_equal(c.accumulation, 40);
    assert_int_equal(c.n_embd, 768);
    assert_true(c.dropout == 0.2 && c.bias && c.dtype == DTYPE_F16);
    assert_true(read_config("nanogpt-30m", "batch_size = 8\n", &s, error));
    assert_null(settings_gpt(&s, &c));
    assert_int_equal(c.batch_size, 8);
    assert_int_equal(c.n_layer, 6);
    assert_int_equal(c.vocab_size, 50304);
}

static void bad_configs_are_named(void **state)
{
    (void)state;
    struct settings s;
    char error[256];
    assert_false(read_config(NULL, "batch_size = 4\nn_layer = 'many'\n", &s, error));
    assert_non_null(strstr(error, ":2:"));
    assert_false(read_config("llama-2-7b", NULL, &s, error));
    assert_non_null(strstr(error, "family=llama"));
    assert_false(read_config("no such", NULL, &s, error));
    assert_false(estimator_read_config(&s, NULL, "/nowhere/at/all.py", error, sizeof error));
    assert_non_null(strstr(error, "/nowhere/at/all.py: "));
}

static void tokens_are_checked(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t length;
        const char *reason;
    } bad[] = {{"", 0, "least"}, {"\1\0", 2, "least"}, {"\1\0\2\0\3", 5, "odd number"}};
    struct tokens t;
    char error[256];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(tokens_open(&t, file_of(bad[i].bytes, bad[i].length), error, sizeof error));
        assert_non_null(strstr(error, bad[i].reason));
        unlink(path);
    }
    assert_false(tokens_open(&t, "/nowhere", error, sizeof error));
    assert_false(tokens_open(&t, "/tmp", error, sizeof error));
    assert_non_null(strstr(error, "not a file"));
}

// Sequences are runs of the file, their targets are one token further, and no id goes beyond the
// vocabulary.
static void tokens_are_drawn(void **state)
{
    (void)state;
    unsigned char bytes[2 * 1000];
    for (int i = 0; i < 1000; i++) {
        bytes[2 * i] = (unsigned char)(i % 256);
        bytes[2 * i + 1] = (unsigned char)(i / 256);
    }
    struct tokens t;
    struct gpt_config c = {.batch_size = 3, .seq_len = 40, .vocab_size = 1000};
    char error[256];
    assert_true(tokens_open(&t, file_of(bytes, sizeof bytes), error, sizeof error));
    assert_int_equal(t.count, 1000);
    assert_int_equal(t.largest, 999);
    assert_null(tokens_misfit(&t, &c));
    c.vocab_size = 999;
    assert_non_null(tokens_misfit(&t, &c));
    c.seq_len = 1000;
    assert_non_null(tokens_misfit(&t, &c));
    c = (struct gpt_config){.batch_size = 3, .seq_len = 999, .vocab_size = 1000};
    assert_null(tokens_misfit(&t, &c));
    for (int64_t n = 0; n < 50; n++) {
        struct token_batches b = {&t, &c};
        int64_t tokens[3 * 999], targets[3 * 999];
        c.seq_len = n ? 40 : 999;  // the longest that the file allows, then many
        tokens_batch(&b, n, tokens, targets);
        for (int i = 0; i < 3 * c.seq_len; i++) {
            assert_true(tokens[i] >= 0 && tokens[i] < 999);
            assert_int_equal(targets[i], tokens[i] + 1);
            if (i % c.seq_len)
                assert_int_equal(tokens[i], tokens[i - 1] + 1);
        }
    }
    tokens_close(&t);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference_values_agree),
        cmocka_unit_test(an_h200_agrees),
        cmocka_unit_test(the_probe_on_an_h200_agrees),
        cmocka_unit_test(differences_are_counted),
        cmocka_unit_test(compiled_runs_have_their_own_bound),
        cmocka_unit_test(configs_are_read),
        cmocka_unit_test(bad_configs_are_named),
        cmocka_unit_test(tokens_are_checked),
        cmocka_unit_test(tokens_are_drawn),
        cmocka_unit_test(both_sides_agree_on_evaluation),
        cmocka_unit_test(both_sides_agree_on_steps),
        cmocka_unit_test(both_forms_of_checkpointing_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
