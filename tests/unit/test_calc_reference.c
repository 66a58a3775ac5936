// Every row of nanogpt.json, to the byte: parameters, what is saved and by which node, the peak of
// every phase, where the highest is, what is alive at it, the first step, the end.

#include "tests/unit/calc_fixture.h"

static uint64_t saved_by(const struct vram_result *r, const char *key)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < r->saved_count; i++) {
        char name[128];
        snprintf(name, sizeof name, "%s:%s", r->saved[i].op, r->saved[i].dtype);
        bytes += strcmp(name, key) ? 0 : r->saved[i].bytes;
    }
    return bytes;
}

static void check_saved(const struct vram_result *r, json_t *row)
{
    const char *key;
    json_t *entry;
    uint64_t sum = 0;
    json_object_foreach(json_object_get(row, "saved_by_op"), key, entry)
    {
        if (saved_by(r, key) != json_u64(entry, "bytes"))
            fail_msg("saved %s: %llu, want %llu", key, (unsigned long long)saved_by(r, key),
                     (unsigned long long)json_u64(entry, "bytes"));
    }
    for (size_t i = 0; i < r->saved_count; i++)
        sum += r->saved[i].bytes;
    assert_int_equal(sum, r->saved_bytes);
    assert_int_equal(r->saved_bytes, json_u64(row, "saved_bytes"));
}

static void check_phases(const struct vram_result *r, json_t *row)
{
    const char *key;
    json_t *bytes;
    json_object_foreach(json_object_get(row, "phase_peaks"), key, bytes)
    {
        bool found = false;
        for (size_t i = 0; i < r->phase_count; i++) {
            if (strcmp(r->phases[i].name, key) == 0) {
                found = true;
                assert_int_equal(r->phases[i].peak_live_bytes, json_integer_value(bytes));
            }
        }
        if (!found)
            fail_msg("no phase %s", key);
    }
}

// "aten.nll_loss_backward.default" is our "nll_loss_backward".
static void check_place(const struct vram_result *r, const json_t *row)
{
    const json_t *at = json_object_get(row, "peak_at");
    const char *op = json_text(at, "op");
    assert_string_equal(r->peak_phase, json_text(at, "phase"));
    assert_memory_equal(op, "aten.", 5);
    assert_memory_equal(op + 5, r->peak_op, strlen(r->peak_op));
}

// The sum of the reference's groups whose names begin so. It marks with "BTV" what has the
// vocabulary's size.
static uint64_t group_bytes(json_t *row, const char *wanted)
{
    const char *key;
    json_t *bytes;
    uint64_t sum = 0;
    json_object_foreach(json_object_get(row, "peak_breakdown"), key, bytes)
    {
        const char *name = strncmp(key, "BTV ", 4) ? key : key + 4;
        sum += strncmp(name, wanted, strlen(wanted)) ? 0 : (uint64_t)json_integer_value(bytes);
    }
    return sum;
}

static void check_alive(const struct vram_result *r, json_t *row)
{
    uint64_t lines = 0, categories = 0;
    for (size_t i = 0; i < r->at_peak_count; i++)
        lines += r->at_peak[i].bytes;
    for (size_t i = 0; i < VRAM_CAT_COUNT; i++)
        categories += r->by_category[i];
    assert_int_equal(lines, r->peak_live.bytes);
    assert_int_equal(categories, r->peak_live.bytes);
    assert_int_equal(r->by_category[VRAM_CAT_PARAM],
                     group_bytes(row, "param") + group_bytes(row, "buffer"));
    assert_int_equal(r->by_category[VRAM_CAT_OPTIM],
                     group_bytes(row, "exp_avg") + group_bytes(row, "fwd step"));
    assert_int_equal(r->by_category[VRAM_CAT_INPUT], group_bytes(row, "fwd X") +
                                                         group_bytes(row, "fwd Y") +
                                                         group_bytes(row, "fwd arange"));
}

static void test_row(void **state)
{
    json_t *row = *state;
    struct heap h = {0};
    vram *v = open_vram(&h);
    uint64_t live;
    set_reference(v, row);
    run_vram(v);
    const struct vram_result *r = vram_result(v);
    assert_int_equal(r->params, json_u64(row, "params"));
    assert_int_equal(r->decayed_params, json_u64(row, "decayed_params"));
    assert_int_equal(r->peak_live.bytes, json_u64(row, "peak_live_bytes"));
    assert_int_equal(r->peak_live.low, r->peak_live.high);
    assert_int_equal(r->first_step_peak_bytes, json_u64(row, "first_step_peak_bytes"));
    assert_int_equal(r->steady_end_bytes, json_u64(row, "steady_end_bytes"));
    check_saved(r, row);
    check_phases(r, row);
    check_place(r, row);
    check_alive(r, row);
    assert_int_equal(vram_live_peak(v, &live), VRAM_OK);
    assert_int_equal(live, json_u64(row, "peak_live_bytes"));
    close_vram(v, &h);
}

int main(void)
{
    json_t *rows = load_truth("nanogpt.json");
    struct CMUnitTest tests[64] = {{0}};
    size_t count = json_array_size(rows);
    if (count == 0 || count > 64)
        return 1;
    for (size_t i = 0; i < count; i++) {
        json_t *row = json_array_get(rows, i);
        tests[i] = (struct CMUnitTest){json_text(row, "name"), test_row, NULL, NULL, row};
    }
    int failed = _cmocka_run_group_tests("calc_reference", tests, count, NULL, NULL);
    json_decref(rows);
    return failed;
}
