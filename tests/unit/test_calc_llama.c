// Llama-style models against the reference values: saved bytes exact, peaks of live bytes within
// half a per cent. What MeanBackward1 saves exists in PyTorch 1.13 only and is taken off both.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "calc/vram.h"

static void *heap_alloc(void *ctx, size_t bytes)
{
    (void)ctx;
    return malloc(bytes);
}

static void heap_free(void *ctx, void *ptr, size_t bytes)
{
    (void)ctx;
    (void)bytes;
    free(ptr);
}

static void set(vram *v, const char *key, const char *value)
{
    if (vram_set(v, key, value))
        fail_msg("%s = %s: %s", key, value, vram_error(v)->text);
}

static void set_number(vram *v, const char *key, json_t *row, const char *from)
{
    assert_int_equal(vram_set_u64(v, key, (uint64_t)json_integer_value(json_object_get(row, from))),
                     VRAM_OK);
}

// How the reference was run: one micro-step, the loss on upcast logits that the caller lets go.
static vram *open_reference(void)
{
    static const struct vram_mem heap = {heap_alloc, heap_free, NULL};
    vram *v = vram_new(&heap);
    assert_non_null(v);
    set(v, "family", "llama");
    set(v, "mode", "reference");
    set(v, "gradient_accumulation_steps", "1");
    set(v, "keep_logits", "no");
    set(v, "cross_entropy", "upcast");
    return v;
}

static vram *open_row(json_t *row)
{
    vram *v = open_reference();
    set(v, "dtype", "bfloat16_pure");
    set_number(v, "batch_size", row, "B");
    set_number(v, "seq_len", row, "T");
    set_number(v, "block_size", row, "T");
    set_number(v, "n_embd", row, "C");
    set_number(v, "n_layer", row, "L");
    set_number(v, "n_head", row, "H");
    set_number(v, "n_kv_head", row, "K");
    set_number(v, "n_inner", row, "F");
    set_number(v, "vocab_size", row, "V");
    set(v, "tie_embeddings", json_is_true(json_object_get(row, "tied")) ? "true" : "false");
    set(v, "checkpointing", json_is_true(json_object_get(row, "ckpt")) ? "block" : "none");
    return v;
}

static uint64_t number(json_t *row, const char *key)
{
    json_t *n = json_object_get(row, key);
    assert_true(json_is_integer(n));
    return (uint64_t)json_integer_value(n);
}

static uint64_t only_in_113(json_t *row)
{
    json_t *entry =
        json_object_get(json_object_get(row, "saved_by_op"), "MeanBackward1.self:float32");
    return (uint64_t)json_integer_value(json_array_get(entry, 1));
}

// What of it is alive at the peak: all of it, or that of the one block that a checkpointed run
// holds.
static uint64_t only_in_113_at_peak(json_t *row)
{
    uint64_t one = 4 * number(row, "B") * number(row, "T") * number(row, "C");
    return json_is_true(json_object_get(row, "ckpt")) ? 2 * one : only_in_113(row);
}

static void check_row(json_t *row)
{
    vram *v = open_row(row);
    if (vram_run(v))
        fail_msg("%s", vram_error(v)->text);
    const struct vram_result *r = vram_result(v);
    uint64_t want = number(row, "peak_live_bytes") - only_in_113_at_peak(row),
             got = r->peak_live.bytes;
    uint64_t off = got > want ? got - want : want - got;
    print_message("%-24s live %lu wanted %lu\n", json_string_value(json_object_get(row, "name")),
                  got, want);
    assert_int_equal(r->params, number(row, "params"));
    assert_int_equal(r->saved_bytes, number(row, "saved_bytes") - only_in_113(row));
    assert_true(off * 1000 <= want * 5);
    assert_string_equal(r->peak_phase,
                        json_string_value(json_array_get(json_object_get(row, "peak_at"), 0)));
    vram_free(v);
}

static json_t *load(void)
{
    json_error_t error;
    json_t *rows = json_load_file("tests/calc/truth/llama.json", 0, &error);
    assert_non_null(rows);
    return rows;
}

static void test_whole_models(void **state)
{
    (void)state;
    json_t *rows = load(), *row;
    size_t i, checked = 0;
    json_array_foreach(rows, i, row)
    {
        if (!json_object_get(row, "peak_live_bytes"))
            continue;
        check_row(row);
        checked++;
    }
    assert_int_equal(checked, 3);
    json_decref(rows);
}

// ---- one layer ---------------------------------------------------------------------------------

// Bytes saved by the nodes of one kind. Which of two operands is called self is left open.
static uint64_t saved_of(const struct vram_result *r, const char *node)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < r->saved_count; i++)
        if (strncmp(r->saved[i].op, node, strlen(node)) == 0)
            bytes += r->saved[i].bytes;
    return bytes;
}

static vram *run_layers(const char *dtype, const char *kv, uint64_t layers)
{
    vram *v = open_reference();
    set(v, "dtype", dtype);
    set(v, "n_embd", "1024");
    set(v, "n_inner", "2816");
    set(v, "n_head", "8");
    set(v, "n_kv_head", kv);
    set(v, "block_size", "1024");
    set(v, "batch_size", "1");
    set(v, "vocab_size", "256");
    assert_int_equal(vram_set_u64(v, "n_layer", layers), VRAM_OK);
    assert_int_equal(vram_run(v), VRAM_OK);
    return v;
}

static double wanted_of(json_t *row, const char *node)
{
    const char *key;
    json_t *value;
    double sum = 0;
    json_object_foreach(row, key, value)
    {
        if (strncmp(key, node, strlen(node)) == 0)
            sum += json_number_value(value);
    }
    return sum;
}

// The reference gives bytes by token and channel; 1024 of each here.
static void check_layer(const char *name, const char *dtype, const char *kv)
{
    static const char *const nodes[] = {"MmBackward0", "MulBackward0", "SiluBackward0",
                                        "SDPABackward"};
    json_t *rows = load(), *row = NULL;
    for (size_t i = 0; i < json_array_size(rows); i++)
        if (strcmp(json_string_value(json_object_get(json_array_get(rows, i), "name")), name) == 0)
            row = json_array_get(rows, i);
    assert_non_null(row);
    vram *one = run_layers(dtype, kv, 1), *two = run_layers(dtype, kv, 2);
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        uint64_t got = saved_of(vram_result(two), nodes[i]) - saved_of(vram_result(one), nodes[i]);
        assert_int_equal(got, (uint64_t)(wanted_of(row, nodes[i]) * 1024 * 1024));
    }
    vram_free(one);
    vram_free(two);
    json_decref(rows);
}

static void test_one_layer(void **state)
{
    (void)state;
    check_layer("perlayer_mha_bf16w", "bfloat16_pure", "8");
    check_layer("perlayer_gqa2_fp32w_autocast", "bfloat16", "2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_models),
        cmocka_unit_test(test_one_layer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
