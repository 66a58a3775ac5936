// The reference traces, event by event: allocations in order by bytes, phase and operation, and
// between two of them the same set of storages freed. What a pass leaves to the next goes there.

#include <zlib.h>

#include "tests/unit/calc_fixture.h"

struct event {
    bool is_free;
    uint64_t bytes;
    uint32_t id;  // number of the allocation in order
    char op[40], phase[24];
};

struct events {
    struct event *at;
    size_t count, cap;
};

static void events_add(struct events *e, const struct event *one)
{
    if (e->count == e->cap) {
        e->cap = e->cap ? e->cap * 2 : 4096;
        e->at = realloc(e->at, e->cap * sizeof *e->at);
        assert_non_null(e->at);
    }
    e->at[e->count++] = *one;
}

// Lines "a ID BYTES OP PHASE" and "f ID"; ids begin at 1 and count allocations.
static void events_read(struct events *e, const char *name)
{
    char path[256], line[256];
    snprintf(path, sizeof path, "tests/calc/truth/%s", name);
    gzFile in = gzopen(path, "rb");
    assert_non_null(in);
    while (gzgets(in, line, sizeof line)) {
        struct event one = {0};
        unsigned long long bytes = 0;
        one.is_free = line[0] == 'f';
        if (one.is_free)
            assert_int_equal(sscanf(line, "f %u", &one.id), 1);
        else
            assert_int_equal(
                sscanf(line, "a %u %llu %39s %23s", &one.id, &bytes, one.op, one.phase), 4);
        one.bytes = bytes;
        one.id--;
        events_add(e, &one);
    }
    gzclose(in);
}

static int events_note(void *ctx, const struct vram_event *event)
{
    struct event one = {
        .is_free = event->is_free, .bytes = event->bytes, .id = (uint32_t)event->id};
    snprintf(one.op, sizeof one.op, "%s", event->op);
    snprintf(one.phase, sizeof one.phase, "%s", event->phase);
    events_add(ctx, &one);
    return 0;
}

static int by_id(const void *a, const void *b)
{
    const struct event *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

// Frees between two allocations have no defined order: both sides are sorted.
static size_t sort_frees(struct events *e, size_t from)
{
    size_t end = from;
    while (end < e->count && e->at[end].is_free)
        end++;
    qsort(e->at + from, end - from, sizeof *e->at, by_id);
    return end;
}

static void compare(struct events *ours, struct events *wanted)
{
    size_t i = 0;
    while (i < ours->count && i < wanted->count) {
        struct event *a = &ours->at[i], *b = &wanted->at[i];
        if (a->is_free != b->is_free)
            fail_msg("event %zu: ours is %s of %u, wanted %s of %u", i,
                     a->is_free ? "a free" : "an allocation", a->id,
                     b->is_free ? "a free" : "an allocation", b->id);
        if (a->is_free) {
            size_t end = sort_frees(ours, i);
            assert_int_equal(end, sort_frees(wanted, i));
            for (; i < end; i++)
                assert_int_equal(ours->at[i].id, wanted->at[i].id);
            continue;
        }
        if (a->bytes != b->bytes || strcmp(a->phase, b->phase) || strcmp(a->op, b->op))
            fail_msg("event %zu: %llu %s %s, wanted %llu %s %s", i, (unsigned long long)a->bytes,
                     a->op, a->phase, (unsigned long long)b->bytes, b->op, b->phase);
        i++;
    }
    assert_int_equal(ours->count, wanted->count);
}

static void test_trace(void **state)
{
    const char *config = *state;
    char file[64];
    struct heap h = {0};
    struct events ours = {0}, wanted = {0};
    json_t *rows = load_truth("nanogpt.json"), *row;
    vram *v = open_vram(&h);
    size_t i, found = 0;
    json_array_foreach(rows, i, row)
    {
        if (strcmp(json_text(row, "name"), config) == 0) {
            set_reference(v, row);
            found++;
        }
    }
    assert_int_equal(found, 1);
    snprintf(file, sizeof file, "trace_%s.txt.gz", config);
    events_read(&wanted, file);
    assert_int_equal(vram_trace(v, events_note, &ours), VRAM_OK);
    assert_int_equal(vram_result(v)->events, ours.count);
    compare(&ours, &wanted);
    close_vram(v, &h);
    free(ours.at);
    free(wanted.at);
    json_decref(rows);
}

// What a pass leaves to the next one goes there, and no tensor of the same size in its place: of
// the first forward pass nothing is there at the end.
static void test_earlier_goes(void **state)
{
    (void)state;
    struct heap h = {0};
    struct events e = {0};
    vram *v = open_vram(&h);
    assert_int_equal(vram_set(v, "preset", "qwen3-0.6b"), VRAM_OK);
    assert_int_equal(vram_set(v, "use_cache", "1"), VRAM_OK);
    assert_int_equal(vram_set(v, "keep_logits", "yes"), VRAM_OK);
    assert_int_equal(vram_trace(v, events_note, &e), VRAM_OK);
    size_t gone = 0;
    for (size_t i = 0; i < e.count; i++) {
        const struct event *one = &e.at[i];
        if (one->is_free || strncmp(one->phase, "fwd:it0", 7) || !strcmp(one->op, "cublas"))
            continue;
        size_t end = i + 1;
        while (end < e.count && !(e.at[end].is_free && e.at[end].id == one->id))
            end++;
        if (end == e.count)
            fail_msg("%s of %llu bytes is never freed", one->op, (unsigned long long)one->bytes);
        gone++;
    }
    assert_true(gone > 0);
    close_vram(v, &h);
    free(e.at);
}

int main(void)
{
    static const char *const names[] = {"rtx4070_fp16", "rtx4070_V256", "gpt2_B1", "gpt2_B4",
                                        "oom_gpt2_B16"};
    struct CMUnitTest tests[6] = {[5] = cmocka_unit_test(test_earlier_goes)};
    for (size_t i = 0; i < 5; i++)
        tests[i] =
            (struct CMUnitTest){names[i], test_trace, NULL, NULL, (void *)(uintptr_t)names[i]};
    return cmocka_run_group_tests_name("calc_trace", tests, NULL, NULL);
}
