// No memory: for every function the n-th allocation fails, for every n, and nothing is lost or
// broken by it.

#include "calc/trace/tape.h"
#include "tests/unit/calc_fixture.h"
#include "tests/unit/calc_answers.h"

#define OOM \
    "CUDA out of memory. Tried to allocate 786.00 MiB (GPU 0; 15.78 GiB total capacity; 14.28 " \
    "GiB already allocated; " \
    "37.75 MiB free; 14.32 GiB reserved in total by PyTorch)"
#define NANOGPT \
    "n_layer = 2\nn_head = 2\nn_embd = 64\nblock_size = 64\ndataset = 'shakespeare_char'\n"

static bool fits;
static uint64_t batch;

static int parse_nanogpt(vram *v)
{
    return parse_text(v, VRAM_KIND_NANOGPT, NANOGPT, strlen(NANOGPT), "file");
}

static int parse_log(vram *v)
{
    const char *log = "number of parameters: 29.94M\nnum decayed parameter tensors: 26, with "
                      "30,130,176 parameters\n"
                      "num non-decayed parameter tensors: 13, with 4,992 parameters\n";
    return parse_text(v, VRAM_KIND_LOG, log, strlen(log), "file");
}

static int run(vram *v)
{
    return vram_run(v);
}

// A compiled model out of the code of transformers: its graphs have memory of their own.
static int run_compiled(vram *v)
{
    static const char *const words[][2] = {
        {"preset", "qwen3-0.6b"}, {"n_layer", "2"},           {"compile", "2.5"},
        {"lora_rank", "4"},       {"checkpointing", "block"}, {"dtype", "bfloat16_loaded"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        int rc = vram_set(v, words[i][0], words[i][1]);
        if (rc != VRAM_OK)
            return rc;
    }
    return vram_run(v);
}

#define EMIT(name, call) \
    static int name(vram *v) \
    { \
        int rc = vram_run(v); \
        return rc ? rc : call; \
    }
EMIT(emit_json, write_report(v, VRAM_FORMAT_JSON))
EMIT(emit_text, write_report(v, VRAM_FORMAT_TEXT))
EMIT(emit_csv, write_report(v, VRAM_FORMAT_CSV))
EMIT(emit_md, write_report(v, VRAM_FORMAT_MD))
EMIT(emit_trace, vram_write(v, VRAM_ANSWER_TRACE, VRAM_FORMAT_CSV, 0))
EMIT(emit_viz, vram_write(v, VRAM_ANSWER_TRACE, VRAM_FORMAT_VIZ, 0))
EMIT(emit_perfetto, vram_write(v, VRAM_ANSWER_TRACE, VRAM_FORMAT_PERFETTO, 0))
EMIT(emit_timeline, vram_write(v, VRAM_ANSWER_TIMELINE, VRAM_FORMAT_SVG, 0))
EMIT(emit_config, vram_write(v, VRAM_ANSWER_CONFIG, VRAM_FORMAT_JSON, 0))
EMIT(emit_gpus, vram_write(v, VRAM_ANSWER_GPUS, VRAM_FORMAT_JSON, 0))
EMIT(emit_presets, vram_write(v, VRAM_ANSWER_PRESETS, VRAM_FORMAT_MD, 0))
EMIT(emit_fields, vram_write(v, VRAM_ANSWER_FIELDS, VRAM_FORMAT_JSON, 0))
EMIT(fit, write_fit(v, &fits, VRAM_FORMAT_TEXT))
EMIT(max_batch, write_max_batch(v, &batch, VRAM_FORMAT_TEXT))
EMIT(advise, write_advice(v, VRAM_FORMAT_TEXT))
EMIT(sweep, vram_write_sweep(v, "batch_size=1:3 n_embd=64,128", VRAM_FORMAT_CSV))
EMIT(explain, write_oom(v, OOM, strlen(OOM), true, VRAM_FORMAT_TEXT))
EMIT(guess, write_oom(v, OOM, strlen(OOM), false, VRAM_FORMAT_JSON))
EMIT(compare, write_comparison(v, VRAM_FORMAT_MD))
EMIT(live, vram_live_peak(v, &batch))

static const struct action {
    const char *name;
    int (*call)(vram *v);
} ACTIONS[] = {
    {"run", run},
    {"run compiled", run_compiled},
    {"parse nanogpt", parse_nanogpt},
    {"parse log", parse_log},
    {"json", emit_json},
    {"text", emit_text},
    {"csv", emit_csv},
    {"md", emit_md},
    {"trace", emit_trace},
    {"viz", emit_viz},
    {"perfetto", emit_perfetto},
    {"timeline", emit_timeline},
    {"config", emit_config},
    {"gpus", emit_gpus},
    {"presets", emit_presets},
    {"fields", emit_fields},
    {"fit", fit},
    {"max-batch", max_batch},
    {"advise", advise},
    {"sweep", sweep},
    {"explain", explain},
    {"guess", guess},
    {"compare", compare},
    {"live peak", live},
};

static const char SMALL[] =
    "n_layer=2 n_head=2 n_embd=64 block_size=64 vocab_size=512 batch_size=4 gpu=T4";

// Fails allocation n of the action; true while it still mattered.
static bool fails_at(const struct action *a, size_t n)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    set_all(v, SMALL);
    h.fail_at = h.calls + n;
    int rc = a->call(v);
    bool reached = h.calls >= h.fail_at;
    if (reached && rc != VRAM_ENOMEM)
        fail_msg("%s, allocation %zu: code %d, wanted no-memory", a->name, n, rc);
    if (!reached && rc != VRAM_OK)
        fail_msg("%s: %s", a->name, vram_error(v)->text);
    h.fail_at = 0;
    if (a->call(v) != VRAM_OK)  // the handle is as good as before
        fail_msg("%s after a failure at %zu: %s", a->name, n, vram_error(v)->text);
    close_vram(v, &h);
    return reached;
}

static void test_every_allocation(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ACTIONS / sizeof *ACTIONS; i++) {
        size_t n = 1;
        while (fails_at(&ACTIONS[i], n))
            n++;
        printf("%-14s %zu allocations\n", ACTIONS[i].name, n - 1);
        assert_true(n < 20000);
    }
}

static void test_no_handle(void **state)
{
    (void)state;
    struct heap h = {.fail_at = 1};
    assert_null(open_vram(&h));
    vram_free(NULL);
}

// A variable of a pass has 22 bits for its tensor's number: a tape that would need more has failed.
static void test_full_tape(void **state)
{
    (void)state;
    struct heap h = {0};
    struct vram_mem mem = {heap_alloc, heap_free, &h};
    struct tape t;
    tape_init(&t, &mem);
    tape_reset(&t, (struct tape_stack){0, 1, 1});
    size_t room = t.cap;
    t.cap = TAPE_STORAGES + 1;  // as if it had grown
    t.count = TAPE_STORAGES;
    assert_int_equal(tape_existing(&t, 0, 0, 0, 0, HOME_NONE, 0), TAPE_NONE);
    assert_true(t.failed);
    t.cap = room;
    tape_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_allocation),
                                       cmocka_unit_test(test_no_handle),
                                       cmocka_unit_test(test_full_tape)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
