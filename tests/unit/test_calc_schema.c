// Each answer as JSON is what calc/vramcalc.schema.json says of it, and the schema refuses what is
// none.

#include "tests/unit/calc_answers.h"
#include "tests/unit/calc_fixture.h"
#include "tests/unit/calc_schema.h"

static json_t *loaded(vram *v)
{
    json_error_t error;
    json_t *j = json_loads(vram_text(v, NULL), JSON_REJECT_DUPLICATES, &error);
    if (!j)
        fail_msg("%d: %s", error.line, error.text);
    return j;
}

static const char OOM[] = "CUDA out of memory. Tried to allocate 6.14 GiB.";
static const char COMFYUI[] = "torch.OutOfMemoryError: Allocation on device ";
static const char OTHER[] =
    "Out of memory error on GPU 0. Cannot allocate 1.250000GB memory on GPU 0";

static int ask(vram *v, const char *answer)
{
    bool fits;
    uint64_t batch;
    if (strcmp(answer, "fit") == 0)
        return write_fit(v, &fits, VRAM_FORMAT_JSON);
    if (strcmp(answer, "max-batch") == 0)
        return write_max_batch(v, &batch, VRAM_FORMAT_JSON);
    if (strcmp(answer, "advise") == 0)
        return write_advice(v, VRAM_FORMAT_JSON);
    if (strcmp(answer, "compare") == 0)
        return write_comparison(v, VRAM_FORMAT_JSON);
    if (strcmp(answer, "explain-oom") == 0)
        return write_oom(v, OOM, strlen(OOM), true, VRAM_FORMAT_JSON);
    if (strcmp(answer, "comfyui") == 0)
        return write_oom(v, COMFYUI, strlen(COMFYUI), true, VRAM_FORMAT_JSON);
    if (strcmp(answer, "other") == 0)
        return write_oom(v, OTHER, strlen(OTHER), true, VRAM_FORMAT_JSON);
    if (strcmp(answer, "cards") == 0)
        return write_cards(v, VRAM_FORMAT_JSON);
    if (strcmp(answer, "sweep") == 0)
        return vram_write_sweep(v, "n_head=12,7 preset=gpt2,gpt2-xl", VRAM_FORMAT_JSON);
    if (strcmp(answer, "timeline") == 0)
        return vram_write(v, VRAM_ANSWER_TIMELINE, VRAM_FORMAT_JSON, 0);
    if (strcmp(answer, "gpus") == 0)
        return vram_write(v, VRAM_ANSWER_GPUS, VRAM_FORMAT_JSON, 0);
    if (strcmp(answer, "presets") == 0)
        return vram_write(v, VRAM_ANSWER_PRESETS, VRAM_FORMAT_JSON, 0);
    return write_solution(v, answer, VRAM_FORMAT_JSON);  // "solve" below: a field
}

// A definition, what is asked for (a field for solve), and the configuration.
static const struct row {
    const char *schema, *ask, *config;
} ROWS[] = {
    {"fit", "fit", "preset=oom-gpt2"},
    {"max-batch", "max-batch", "preset=gpt2 gpu=RTX_4070"},
    {"max-batch", "max-batch", "preset=llama-2-70b gpu=T4"},
    {"solve", "seq_len", "preset=gpt2 gpu=RTX_4070"},
    {"solve", "seq_len", "preset=gpt2 batch_size=1 gpu=RTX_4090"},
    {"solve", "n_gpu", "preset=llama-3.1-8b parallel=fsdp2 gpu=RTX_4090"},
    {"solve", "batch_size", "preset=llama-2-70b gpu=T4"},
    {"cards", "cards", "preset=gpt2"},
    {"cards", "cards", "preset=llama-3.1-8b checkpointing=block"},
    {"cards", "cards", "preset=llama-3.1-405b"},
    {"advise", "advise", "preset=oom-gpt2 compile=none"},
    {"advise", "advise", "preset=gpt2"},
    {"advise", "advise", "preset=llama-3.1-8b task=inference gpu=RTX_4090"},
    {"explain-oom", "explain-oom", "preset=gpt2 batch_size=32"},
    {"explain-oom", "comfyui", "preset=gpt2"},
    {"explain-oom", "other", "preset=gpt2"},
    {"compare", "compare", "preset=gpt2"},
    {"sweep", "sweep", "gpu=RTX_4070"},
    {"timeline", "timeline", "preset=nanogpt-30m"},
    {"timeline", "timeline", "preset=llama-3.2-1b task=inference max_new_tokens=8"},
    {"gpus", "gpus", ""},
    {"presets", "presets", ""},
};

static void test_every_answer(void **state)
{
    (void)state;
    json_t *schema = schema_file();
    root_schema = schema;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        struct heap h = {0};
        vram *v = open_vram(&h);
        set_all(v, ROWS[i].config);
        if (ask(v, ROWS[i].ask) != VRAM_OK)
            fail_msg("%s of %s: %s", ROWS[i].ask, ROWS[i].config, vram_error(v)->text);
        json_t *j = loaded(v);
        if (!valid(j, schema_of(ROWS[i].schema), ROWS[i].schema))
            fail_msg("%s of %s is not what its schema says", ROWS[i].ask, ROWS[i].config);
        json_decref(j);
        close_vram(v, &h);
    }
    json_decref(schema);
}

static void test_error(void **state)
{
    (void)state;
    struct heap h = {0};
    json_t *schema = schema_file();
    root_schema = schema;
    vram *v = open_vram(&h);
    assert_int_equal(vram_set(v, "n_layers_", "3"), VRAM_EKEY);
    assert_int_equal(vram_write(v, VRAM_ANSWER_ERROR, VRAM_FORMAT_JSON, 0), VRAM_OK);
    json_t *j = loaded(v);
    assert_true(valid(j, schema_of("error"), "error"));
    json_decref(j);
    json_decref(schema);
    close_vram(v, &h);
}

// Every member of an answer is needed by its schema: without it, or with another type, it is
// refused.
static void test_refused(void **state)
{
    (void)state;
    json_t *schema = schema_file();
    root_schema = schema;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        struct heap h = {0};
        vram *v = open_vram(&h);
        set_all(v, ROWS[i].config);
        ask(v, ROWS[i].ask);
        json_t *j = loaded(v), *of = json_is_array(j) ? json_array_get(j, 0) : j, *value;
        const json_t *one = schema_of(ROWS[i].schema);
        if (json_is_array(j))
            one = json_object_get(one, "items");
        const char *key;
        size_t k;
        json_array_foreach(json_object_get(one, "required"), k, value)
        {
            json_t *copy = json_copy(of);
            key = json_string_value(value);
            json_object_del(copy, key);
            if (valid(copy, one, "cut"))
                fail_msg("%s: without %s it is accepted", ROWS[i].schema, key);
            json_object_set_new(copy, key, json_real(-0.5));
            if (valid(copy, one, "changed"))
                fail_msg("%s: %s = -0.5 is accepted", ROWS[i].schema, key);
            json_decref(copy);
        }
        json_decref(j);
        close_vram(v, &h);
    }
    json_decref(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_answer),
        cmocka_unit_test(test_error),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
