// Advice, fit, the largest batch, sweeps: right, consistent with a plain run, and fast enough to be
// asked for.

#include <time.h>

#include "calc/answer/probe.h"
#include "calc/model/capacities.h"
#include "calc/model/contexts.h"
#include "calc/replay/report.h"
#include "calc/replay/run.h"
#include "tests/unit/calc_fixture.h"
#include "tests/unit/calc_answers.h"

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static json_t *asked(vram *v, int (*ask)(vram *, enum vram_format))
{
    if (ask(v, VRAM_FORMAT_JSON) != VRAM_OK)
        fail_msg("%s", vram_error(v)->text);
    json_t *j = json_loads(vram_text(v, NULL), 0, NULL);
    assert_non_null(j);
    return j;
}

static const json_t *row_named(const json_t *advice, const char *change)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(advice, "changes"), i,
                       row) if (strcmp(json_text(row, "change"), change) == 0) return row;
    fail_msg("no row %s", change);
    return NULL;
}

static uint64_t process_of(const char *pairs)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    set_all(v, pairs);
    run_vram(v);
    uint64_t bytes = vram_result(v)->process.bytes;
    close_vram(v, &h);
    return bytes;
}

static void test_the_out_of_memory_case(void **state)
{
    (void)state;
    struct heap h = {0};
    vram *v = open_vram(&h);
    set_all(v, "preset=oom-gpt2 compile=none");
    json_t *j = asked(v, write_advice);
    assert_true(json_is_false(json_object_get(j, "fits")));
    const json_t *half = row_named(j, "batch_size=8 gradient_accumulation_steps=64");
    assert_string_equal(json_text(half, "effect"), "same");
    // every number is that of a whole estimate
    assert_int_equal(
        json_u64(half, "process_bytes"),
        process_of("preset=oom-gpt2 compile=none batch_size=8 gradient_accumulation_steps=64"));
    assert_int_equal(json_u64(half, "saved_bytes"),
                     json_u64(j, "process_bytes") - json_u64(half, "process_bytes"));
    const json_t *refused = row_named(j, "n_embd=512");
    assert_non_null(strstr(json_sentence_text(refused, "refused"),
                           "not divisible by n_head = 12; with n_head=8"));
    json_decref(j);
    close_vram(v, &h);
}

static void test_order(void **state)
{
    (void)state;
    static const char *const order[] = {"same", "close", "different"};
    struct heap h = {0};
    vram *v = open_vram(&h);
    set_all(v, "preset=gpt2 batch_size=16 gpu=T4 optimizer=adamw_foreach attention=math");
    json_t *j = asked(v, write_advice), *row;
    size_t i, stage = 0;
    json_array_foreach(json_object_get(j, "changes"), i, row)
    {
        while (stage < 3 && strcmp(json_text(row, "effect"), order[stage]))
            stage++;
        assert_true(stage < 3);  // never back to an earlier group
        assert_true(strlen(json_sentence_text(row, "slowdown_basis")) > 0);
        if (json_sentence_text(row, "refused"))
            assert_true(strlen(json_sentence_text(row, "refused")) > 20);
        assert_true(strlen(json_sentence_text(row, "result")) > 0);
    }
    row_named(j, "attention=flash");
    json_decref(j);
    set_all(v, "batch_size=1 block_size=64");  // the optimizer's step is the peak
    j = asked(v, write_advice);
    row_named(j, "optimizer=adamw_fused");
    json_decref(j);
    close_vram(v, &h);
}

// A change by its id in the framework of a configuration, and the line for it; NULL: it is not
// offered.
static const struct line {
    const char *config, *id, *line;
} LINES[] = {
    {"preset=gpt2", "micro_batch", "--batch_size=6 --gradient_accumulation_steps=4"},
    {"preset=gpt2 batch_size=1 block_size=64", "fused", NULL},
    {"preset=gpt2", "expandable", "PYTORCH_ALLOC_CONF=expandable_segments:True"},
    {"preset=gpt2 torch=2.9", "expandable", "PYTORCH_ALLOC_CONF=expandable_segments:True"},
    {"preset=gpt2 torch=2.8", "expandable", "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"},
    {"preset=gpt2", "lora", NULL},
    {"preset=gpt2", "adafactor", NULL},
    {"preset=oom-gpt2 compile=none", "chunked",
     "LigerFusedLinearCrossEntropyLoss(ignore_index=-1)(self.lm_head.weight, x.view(-1, "
     "x.size(-1)), targets.view(-1))"},
    {"preset=llama-3.1-8b", "checkpoint_half", NULL},
    {"preset=llama-3.1-8b", "adam_8bit_paged", "optim=\"paged_adamw_8bit\""},
    {"preset=llama-3.1-8b", "lora", "peft_config=LoraConfig(r=16, target_modules=\"all-linear\")"},
    {"preset=mixtral-8x7b", "lora",
     "peft_config=LoraConfig(r=16, target_modules=[\"q_proj\", \"k_proj\", \"v_proj\", "
     "\"o_proj\"])"},
    {"preset=deepseek-v3", "lora",
     "peft_config=LoraConfig(r=16, target_modules=[\"q_a_proj\", \"q_b_proj\", "
     "\"kv_a_proj_with_mqa\", \"kv_b_proj\", \"o_proj\"])"},
    {"preset=mixtral-8x7b", "qlora",
     "peft_config=LoraConfig(r=16, target_modules=[\"q_proj\", \"k_proj\", \"v_proj\", "
     "\"o_proj\"]), quantization_config=BitsAndBytesConfig(load_in_4bit=True, "
     "bnb_4bit_quant_type=\"nf4\", bnb_4bit_compute_dtype=torch.bfloat16)"},
    {"preset=llama-3.1-8b framework=torchtune", "in_backward", "optimizer_in_bwd=True"},
    {"preset=llama-3.1-8b", "in_backward", NULL},
    {"preset=llama-3.2-1b batch_size=8", "checkpoint", "gradient_checkpointing=True"},
    {"preset=llama-3.2-1b batch_size=8", "chunked", "use_liger_kernel=True"},
    {"preset=llama-3.2-1b batch_size=8", "compile_whole", "torch_compile=True"},
    {"preset=llama-3.2-1b batch_size=8 compile=2.5", "compile_whole", NULL},
    {"preset=llama-3.2-1b batch_size=8 parallel=ddp n_gpu=2", "compile_whole",
     "torch_compile=True"},
    {"preset=llama-3.2-1b batch_size=8 parallel=zero2 n_gpu=2", "compile_whole", NULL},
    {"preset=llama-3.2-1b batch_size=8 framework=torchtune", "compile_whole", NULL},
    {"preset=llama-3.2-1b batch_size=8 seq_len=512", "block_size", "max_length=256"},
    {"preset=llama-3.2-1b batch_size=8 framework=torchtitan", "checkpoint",
     "--activation_checkpoint.mode full"},
    {"preset=llama-3.2-1b batch_size=8 framework=torchtitan", "chunked", NULL},
    {"preset=llama-3.2-1b batch_size=8 framework=litgpt", "micro_batch_4",
     "--train.micro_batch_size 2"},
    {"preset=llama-3.2-1b framework=nanotron batch_size=4 dtype=bfloat16_master", "micro_batch",
     "tokens: {micro_batch_size: 2, batch_accumulation_per_replica: 2}"},
    {"preset=llama-3.1-8b lora_rank=32 quantization=nf4", "rank_8", "LoraConfig(r=16)"},
    {"preset=llama-3.1-8b lora_rank=32 quantization=nf4", "nf4_double",
     "bnb_4bit_use_double_quant=True"},
    {"preset=llama-3.1-8b lora_rank=32 quantization=nf4", "vocabulary", NULL},
    {"preset=llama-3.1-8b parallel=ddp n_gpu=4", "zero3",
     "deepspeed={\"zero_optimization\": {\"stage\": 3}, \"bf16\": {\"enabled\": \"auto\"}}"},
    {"preset=llama-3.1-8b", "zero3", NULL},
    {"preset=llama-3.1-8b task=inference", "weights_int8",
     "quantization_config=BitsAndBytesConfig(load_in_8bit=True)"},
};

static void test_lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof LINES / sizeof *LINES; i++) {
        const struct line *l = &LINES[i];
        struct heap h = {0};
        const struct vram_advice *a;
        const struct vram_change *found = NULL;
        vram *v = open_vram(&h);
        set_all(v, l->config);
        if (vram_advise(v, &a) != VRAM_OK)
            fail_msg("%s: %s", l->config, vram_error(v)->text);
        for (size_t k = 0; k < a->change_count; k++)
            if (strcmp(a->changes[k].id, l->id) == 0)
                found = &a->changes[k];
        if (!found != !l->line)
            fail_msg("%s of %s is%s offered", l->id, l->config, found ? "" : " not");
        if (found && (!found->line || strcmp(found->line, l->line) != 0))
            fail_msg("%s of %s: %s", l->id, l->config, found->line);
        close_vram(v, &h);
    }
}

static const char *const CHANGE_IDS[] = {
#define CHANGE(id, task, effect, edit, result, cost, basis) #id,
#include "calc/answer/advise.def"
#undef CHANGE
};

static const char *const LINE_IDS[] = {
#define LINE(change, framework, text) #change,
#include "calc/answer/advise_lines.def"
};

// Each line is of a change, and each change has a framework that has it.
static void test_every_change_has_a_line(void **state)
{
    (void)state;
    enum {
        CHANGES = sizeof CHANGE_IDS / sizeof *CHANGE_IDS,
        ROWS = sizeof LINE_IDS / sizeof *LINE_IDS
    };
    for (size_t i = 0; i < CHANGES + ROWS; i++) {
        bool is_line = i >= CHANGES, found = false;
        const char *wanted = is_line ? LINE_IDS[i - CHANGES] : CHANGE_IDS[i];
        for (size_t k = 0; k < (is_line ? CHANGES : ROWS); k++) {
            const char *id = is_line ? CHANGE_IDS[k] : wanted,
                       *line = is_line ? wanted : LINE_IDS[k];
            size_t n = strlen(line);
            if (strncmp(id, line, n) != 0)
                continue;
            const char *rest = id + n;
            found |= !*rest || (*rest == '_' && strspn(rest + 1, "0123456789") == strlen(rest + 1));
        }
        if (!found)
            fail_msg("%s is in one table only", wanted);
    }
}

// Where the tensors alone are more than the card has, before and after, theirs are compared; else
// all is replayed.
static void test_by_tensors(void **state)
{
    (void)state;
    struct heap h = {0};
    const struct vram_advice *a;
    size_t rough = 0, whole = 0;
    vram *v = open_vram(&h);
    set_all(v, "preset=llama-3.1-8b gpu=A100_40GB");
    assert_int_equal(vram_advise(v, &a), VRAM_OK);
    for (size_t i = 0; i < a->change_count; i++) {
        const struct vram_change *c = &a->changes[i];
        char pairs[256];
        if (c->refusal)
            continue;
        rough += c->by_tensors;
        whole += !c->by_tensors;
        snprintf(pairs, sizeof pairs, "preset=llama-3.1-8b gpu=A100_40GB %s", c->what);
        uint64_t bytes = process_of(pairs), off = bytes > c->process_bytes
                                                      ? bytes - c->process_bytes
                                                      : c->process_bytes - bytes;
        if (c->by_tensors)
            assert_true(!c->fits && off < a->process_bytes / 7);
        else
            assert_int_equal(off, 0);
    }
    assert_true(rough > 3 && whole > 1);
    close_vram(v, &h);
}

// Generation has no optimizer and no backward: what is offered is of another kind.
static void test_inference(void **state)
{
    (void)state;
    struct heap h = {0};
    vram *v = open_vram(&h);
    set_all(v, "preset=llama-3.1-8b task=inference batch_size=8 seq_len=8192 gpu=4090");
    json_t *j = asked(v, write_advice), *row;
    size_t i;
    json_array_foreach(json_object_get(j, "changes"), i, row)
    {
        const char *change = json_text(row, "change");
        assert_null(strstr(change, "optimizer"));
        assert_null(strstr(change, "checkpoint"));
        assert_null(strstr(change, "accumulation"));
        assert_true(json_is_null(json_object_get(row, "slowdown_permille")));
    }
    row_named(j, "kv_dtype=int8");
    row_named(j, "quantization=nf4");
    assert_true(json_is_object(json_object_get(j, "plan")));
    json_decref(j);
    close_vram(v, &h);
}

static void test_fit(void **state)
{
    (void)state;
    struct heap h = {0};
    vram *v = open_vram(&h);
    bool fits = false;
    assert_int_equal(write_fit(v, &fits, VRAM_FORMAT_TEXT), VRAM_EGPU);  // which card?
    set_all(v, "preset=nanogpt-30m");
    assert_int_equal(write_fit(v, &fits, VRAM_FORMAT_TEXT), VRAM_OK);
    assert_true(fits);
    set_all(v, "preset=oom-gpt2");
    assert_int_equal(write_fit(v, &fits, VRAM_FORMAT_JSON), VRAM_OK);
    assert_false(fits);
    close_vram(v, &h);
}

static void test_max_batch(void **state)
{
    (void)state;
    struct heap h = {0};
    static const char *const cases[] = {
        "preset=gpt2 gpu=RTX_4070", "preset=gpt2-medium gpu=A100_80GB",
        "preset=shakespeare-char gpu=T4", "preset=llama-3.2-1b gpu=H100"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vram *v = open_vram(&h);
        uint64_t batch = 0;
        bool fits = true;
        set_all(v, cases[i]);
        double start = now_ms();
        assert_int_equal(write_max_batch(v, &batch, VRAM_FORMAT_TEXT), VRAM_OK);
        printf("%s: %llu in %.1f ms\n", cases[i], (unsigned long long)batch, now_ms() - start);
        vram_set_u64(v, "batch_size", batch);
        assert_int_equal(write_fit(v, &fits, VRAM_FORMAT_TEXT), VRAM_OK);
        assert_true(fits);
        vram_set_u64(v, "batch_size", batch + 1);
        assert_int_equal(write_fit(v, &fits, VRAM_FORMAT_TEXT), VRAM_OK);
        assert_false(fits);
        close_vram(v, &h);
    }
    vram *v = open_vram(&h);
    uint64_t batch = 0;
    set_all(v, "preset=llama-2-70b gpu=T4");
    assert_int_equal(write_max_batch(v, &batch, VRAM_FORMAT_TEXT), VRAM_OK);
    assert_int_equal(batch, 0);
    assert_non_null(strstr(vram_text(v, NULL), "not even batch_size = 1 fits in the T4"));
    close_vram(v, &h);
}

static void test_sweep(void **state)
{
    (void)state;
    struct heap h = {0};
    vram *v = open_vram(&h);
    set_all(v, "preset=nanogpt-30m compile=none mode=reference");
    assert_int_equal(vram_write_sweep(v, "batch_size=4:16:4 block_size=256,512", VRAM_FORMAT_JSON),
                     VRAM_OK);
    json_t *j = json_loads(vram_text(v, NULL), 0, NULL);
    assert_int_equal(json_array_size(j), 8);
    const json_t *last = json_array_get(j, 7);
    assert_int_equal(json_u64(last, "batch_size"), 16);
    assert_int_equal(json_u64(last, "block_size"), 512);
    assert_int_equal(json_u64(last, "peak_live_bytes"), 6187763980);  // the reference value
    json_decref(j);
    // a preset starts its row, wherever it stands
    assert_int_equal(vram_write_sweep(v,
                                      "batch_size=4,16 preset=shakespeare-char,nanogpt-30m "
                                      "mode=reference compile=none dtype=bfloat16",
                                      VRAM_FORMAT_JSON),
                     VRAM_OK);
    j = json_loads(vram_text(v, NULL), 0, NULL);
    assert_int_equal(json_array_size(j), 4);
    assert_string_equal(json_text(json_array_get(j, 0), "preset"), "shakespeare-char");
    assert_int_equal(json_u64(json_array_get(j, 3), "batch_size"), 16);
    assert_int_equal(json_u64(json_array_get(j, 3), "peak_live_bytes"), 6187763980);
    assert_true(json_u64(json_array_get(j, 1), "peak_live_bytes") < 6187763980);
    json_decref(j);
    assert_int_equal(vram_write_sweep(v, "batch_size=1:2 preset=nope", VRAM_FORMAT_CSV),
                     VRAM_EPRESET);
    assert_int_equal(vram_error(v)->col, 23);
    // an impossible row says so, and the others are there
    assert_int_equal(vram_write_sweep(v, "n_embd=384,400", VRAM_FORMAT_CSV), VRAM_OK);
    assert_non_null(strstr(vram_text(v, NULL), "\n384,"));
    assert_non_null(strstr(vram_text(v, NULL), "\n400,"));
    assert_int_equal(vram_write_sweep(v, "batch_sise=1:4", VRAM_FORMAT_CSV), VRAM_EKEY);
    static const char *const bad[] = {"",
                                      "batch_size",
                                      "batch_size=",
                                      "batch_size=4:1",
                                      "batch_size=1:x",
                                      "batch_size=1:9:0",
                                      "batch_size=1:99999999",
                                      "batch_size=1:2:3:4",
                                      "batch_size=1:4096 block_size=1:4096"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (vram_write_sweep(v, bad[i], VRAM_FORMAT_TEXT) != VRAM_EPARSE)
            fail_msg("'%s' is taken", bad[i]);
    close_vram(v, &h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_out_of_memory_case),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_every_change_has_a_line),
        cmocka_unit_test(test_by_tensors),
        cmocka_unit_test(test_inference),
        cmocka_unit_test(test_fit),
        cmocka_unit_test(test_max_batch),
        cmocka_unit_test(test_sweep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
