// The caching allocator over the reference traces: reserved to the byte, and every allocation
// failure.

#include <jansson.h>

#include "tests/unit/calc_allocator_fixture.h"

struct step {
    uint64_t bytes;
    uint32_t id;
    bool is_free;
};

struct trace {
    struct step *steps;
    size_t count, ids;
};

static void trace_add(struct trace *t, struct step s)
{
    if (t->count % 1024 == 0)
        t->steps = realloc(t->steps, (t->count + 1024) * sizeof *t->steps);
    assert_non_null(t->steps);
    t->steps[t->count++] = s;
    if (s.id >= t->ids)
        t->ids = s.id + 1;
}

// The cuBLAS workspace is id 0, put in where allocator.json says: before the first "mm".
static struct trace trace_read(const char *file, uint64_t workspace)
{
    char text[256], op[128];
    struct trace t = {0};
    uint64_t bytes;
    uint32_t id;
    snprintf(text, sizeof text, "gzip -dc tests/calc/truth/%s", file);
    FILE *f = popen(text, "r");
    assert_non_null(f);
    while (fgets(text, sizeof text, f)) {
        if (sscanf(text, "a %u %lu %127s", &id, &bytes, op) == 3) {
            if (workspace && strstr(op, "mm")) {
                trace_add(&t, (struct step){.bytes = workspace});
                workspace = 0;
            }
            trace_add(&t, (struct step){.id = id, .bytes = bytes});
        } else if (sscanf(text, "f %u", &id) == 1) {
            trace_add(&t, (struct step){.id = id, .is_free = true});
        }
    }
    assert_int_equal(pclose(f), 0);
    assert_true(t.count > 1000);
    return t;
}

static int trace_play(struct allocator *a, const struct trace *t, uint32_t *blocks)
{
    for (size_t i = 0; i < t->count; i++) {
        const struct step *s = &t->steps[i];
        int rc = s->is_free ? allocator_free(a, blocks[s->id])
                            : allocator_malloc(a, s->bytes, &blocks[s->id]);
        if (rc)
            return rc;
    }
    return VRAM_OK;
}

static uint64_t field(json_t *row, const char *key)
{
    json_t *v = json_object_get(row, key);
    assert_true(json_is_integer(v));
    return (uint64_t)json_integer_value(v);
}

static void test_reference_traces_to_the_byte(void **state)
{
    (void)state;
    json_error_t error;
    json_t *rows = json_load_file("tests/calc/truth/allocator.json", 0, &error), *row;
    assert_non_null(rows);
    assert_int_equal(json_array_size(rows), 5);
    size_t i;
    json_array_foreach(rows, i, row)
    {
        struct fixture f;
        start(&f, DEFAULTS);
        struct trace t = trace_read(json_string_value(json_object_get(row, "trace")),
                                    field(row, "workspace_bytes"));
        uint32_t *blocks = calloc(t.ids, sizeof *blocks);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(allocator_reset(&f.a, &DEFAULTS), VRAM_OK);
            assert_int_equal(trace_play(&f.a, &t, blocks), VRAM_OK);
            assert_int_equal(f.a.stats.requested.peak, field(row, "requested_peak_bytes"));
            assert_int_equal(f.a.stats.allocated.peak, field(row, "allocated_peak_bytes"));
            assert_int_equal(f.a.stats.reserved.peak, field(row, "reserved_peak_bytes"));
            assert_int_equal(f.a.stats.segments.peak, field(row, "segments"));
        }
        free(blocks);
        free(t.steps);
        stop(&f);
    }
    json_decref(rows);
}

// The n-th allocation fails, for every n: VRAM_ENOMEM, nothing lost, and the same allocator then
// plays the whole trace when memory is back.
static void test_every_allocation_failure(void **state)
{
    (void)state;
    struct trace t = trace_read("trace_gpt2_B1.txt.gz", 0);
    uint32_t *blocks = calloc(t.ids, sizeof *blocks);
    size_t failures = 0;
    for (int expandable = 0; expandable < 2; expandable++) {
        struct allocator_config config = {.expandable = expandable};
        for (size_t n = 1;; n++) {
            struct fixture f;
            start(&f, config);
            f.heap.fail_at = n;
            int rc = trace_play(&f.a, &t, blocks);
            if (rc == VRAM_OK) {
                stop(&f);
                break;
            }
            assert_int_equal(rc, VRAM_ENOMEM);
            failures++;
            assert_int_equal(allocator_reset(&f.a, &config), VRAM_OK);
            assert_int_equal(trace_play(&f.a, &t, blocks), VRAM_OK);
            stop(&f);
        }
    }
    assert_true(failures >= 2);
    free(blocks);
    free(t.steps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_traces_to_the_byte),
        cmocka_unit_test(test_every_allocation_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
