// The allocator's segments at a moment: sums against the report, blocks against the tensors that
// the trace has alive then.

#include "calc/replay/run.h"
#include "tests/unit/calc_answers.h"
#include "tests/unit/calc_fixture.h"
#include "tests/unit/calc_schema.h"

#define MIB UINT64_C(1048576)

// Training, adapters, generation, several GPUs with collectives on streams, the settings of the
// allocator.
static const char *const RUNS[] = {
    "preset=oom-gpt2 batch_size=8 compile=none",
    "preset=oom-gpt2 batch_size=8 compile=none expandable_segments=true",
    "preset=oom-gpt2 batch_size=8 max_split_size_mb=64",
    "preset=shakespeare-char checkpointing=block roundup_power2_divisions=8",
    "preset=smollm2-135m lora_rank=4 quantization=nf4",
    "preset=pythia-160m n_gpu=2 parallel=fsdp2",
    "preset=smollm2-135m framework=nanotron tensor_parallel=3 sequence_parallel=true",
    "preset=smollm2-360m task=inference seq_len=4096 max_new_tokens=8",
};
enum { RUN_COUNT = sizeof RUNS / sizeof *RUNS };

// What lives after an event, by id of the trace.
struct alive {
    uint64_t stop, at, count, bytes, cap;
    uint64_t *live;  // bytes by id, 0 for what is gone
};

static int alive_event(void *ctx, const struct vram_event *e)
{
    struct alive *a = ctx;
    if (a->at++ > a->stop)
        return 0;
    if (e->id >= a->cap) {
        uint64_t cap = 2 * (e->id + 64);
        a->live = realloc(a->live, cap * sizeof *a->live);
        memset(a->live + a->cap, 0, (cap - a->cap) * sizeof *a->live);
        a->cap = cap;
    }
    a->live[e->id] = e->is_free ? 0 : e->bytes;
    return 0;
}

static struct alive alive_after(vram *v, uint64_t event)
{
    struct alive a = {.stop = event};
    assert_int_equal(vram_trace(v, alive_event, &a), 0);
    for (uint64_t i = 0; i < a.cap; i++) {
        a.count += a.live[i] != 0;
        a.bytes += a.live[i];
    }
    free(a.live);
    return a;
}

struct sums {
    uint64_t bytes, used, requested, pending, blocks, free, largest;
};

// Each segment is as long as its blocks, and two free ones never lie side by side.
static struct sums sums_of(const struct vram_segments *s)
{
    struct sums all = {0};
    for (size_t i = 0; i < s->segment_count; i++) {
        const struct vram_segment *g = &s->segments[i];
        uint64_t length = 0;
        assert_true(g->block_count > 0);
        for (size_t k = 0; k < g->block_count; k++) {
            const struct vram_block *b = &g->blocks[k];
            assert_true(b->bytes % 512 == 0 && b->bytes > 0);
            assert_true(b->requested <= b->bytes);
            assert_int_equal(b->name != NULL, b->state == VRAM_BLOCK_USED);
            assert_false(k && b->state == VRAM_BLOCK_FREE && b[-1].state == VRAM_BLOCK_FREE);
            length += b->bytes;
            all.blocks += b->state == VRAM_BLOCK_USED;
            all.used += b->state == VRAM_BLOCK_USED ? b->bytes : 0;
            all.requested += b->requested;
            all.pending += b->state == VRAM_BLOCK_PENDING ? b->bytes : 0;
            all.free += b->state == VRAM_BLOCK_FREE;
            if (b->state == VRAM_BLOCK_FREE && b->bytes > all.largest)
                all.largest = b->bytes;
        }
        assert_int_equal(length, g->bytes);
        all.bytes += length;
    }
    return all;
}

static void hold(vram *v, const struct vram_segments *s)
{
    struct sums sums = sums_of(s);
    assert_int_equal(sums.bytes, s->reserved_bytes);
    assert_int_equal(sums.used, s->allocated_bytes);
    assert_int_equal(sums.requested, s->requested_bytes);
    assert_int_equal(sums.pending, s->pending_bytes);
    assert_int_equal(sums.free, s->free_blocks);
    assert_int_equal(sums.largest, s->largest_free_bytes);
    struct alive a = alive_after(v, s->event);
    assert_int_equal(s->events, a.at);
    assert_int_equal(sums.blocks, a.count);
    assert_int_equal(sums.requested, a.bytes);
}

static void test_moments(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUN_COUNT; i++) {
        struct heap h = {0};
        const struct vram_segments *s;
        vram *v = open_vram(&h);
        set_all(v, RUNS[i]);
        assert_int_equal(vram_run(v), VRAM_OK);
        uint64_t reserved = vram_result(v)->peak_reserved.bytes,
                 allocated = vram_result(v)->peak_allocated.bytes;
        assert_int_equal(vram_segments(v, VRAM_MOMENT_PEAK, 0, &s), VRAM_OK);
        assert_int_equal(s->allocated_bytes, allocated);
        hold(v, s);
        uint64_t peak = s->event;
        assert_int_equal(vram_segments(v, VRAM_MOMENT_GROWTH, 0, &s), VRAM_OK);
        assert_int_equal(s->reserved_bytes, reserved);
        assert_false(s->event_is_free);
        hold(v, s);
        assert_int_equal(vram_segments(v, VRAM_MOMENT_END, 0, &s), VRAM_OK);
        assert_int_equal(s->event, s->events - 1);
        hold(v, s);
        assert_int_equal(vram_segments(v, VRAM_MOMENT_EVENT, peak, &s), VRAM_OK);
        assert_int_equal(s->allocated_bytes, allocated);
        // the report is what it was
        assert_int_equal(vram_result(v)->peak_reserved.bytes, reserved);
        close_vram(v, &h);
    }
}

// When the last segment is asked for, no free block of its pool could have served: that is what a
// gap is.
static void test_growth_is_needed(void **state)
{
    (void)state;
    struct heap h = {0};
    const struct vram_segments *s;
    vram *v = open_vram(&h);
    set_all(v, RUNS[0]);
    assert_int_equal(vram_segments(v, VRAM_MOMENT_GROWTH, 0, &s), VRAM_OK);
    uint64_t wanted = s->event_bytes;
    assert_true(wanted > 10 * MIB);
    assert_int_equal(vram_segments(v, VRAM_MOMENT_EVENT, s->event - 1, &s), VRAM_OK);
    assert_true(s->largest_free_bytes < wanted);
    assert_true(s->reserved_bytes - s->allocated_bytes >
                wanted);  // in sum there is more than enough
    close_vram(v, &h);
}

static void test_refusals(void **state)
{
    (void)state;
    struct heap h = {0};
    const struct vram_segments *s;
    vram *v = open_vram(&h);
    set_all(v, RUNS[3]);
    assert_int_equal(vram_write(v, VRAM_ANSWER_SEGMENTS, VRAM_FORMAT_JSON, 0), VRAM_ENOTRUN);
    assert_int_equal(vram_segments(v, VRAM_MOMENT_EVENT, UINT64_C(1) << 40, &s), VRAM_EARG);
    assert_int_equal(vram_segments(v, VRAM_MOMENT_COUNT, 0, &s), VRAM_EARG);
    assert_int_equal(vram_segments(v, VRAM_MOMENT_END, 0, &s), VRAM_OK);
    assert_int_equal(vram_write(v, VRAM_ANSWER_SEGMENTS, VRAM_FORMAT_JSON, 0), VRAM_OK);
    set_all(v, "batch_size=3");
    assert_int_equal(vram_write(v, VRAM_ANSWER_SEGMENTS, VRAM_FORMAT_JSON, 0), VRAM_ENOTRUN);
    close_vram(v, &h);
}

// The n-th allocation fails, for every n until all is well.
static void test_out_of_memory(void **state)
{
    (void)state;
    int rc = VRAM_ENOMEM;
    for (size_t n = 1; rc != VRAM_OK; n += n / 16 + 1) {
        struct heap h = {.fail_at = n};
        const struct vram_segments *s;
        vram *v = open_vram(&h);
        rc = VRAM_ENOMEM;
        if (v) {
            if (vram_set(v, "preset", "shakespeare-char") == VRAM_OK)
                rc = vram_segments(v, VRAM_MOMENT_PEAK, 0, &s);
            assert_true(rc == VRAM_OK || rc == VRAM_ENOMEM);
        }
        close_vram(v, &h);
    }
}

static void test_schema(void **state)
{
    (void)state;
    json_t *schema = schema_file();
    root_schema = schema;
    struct heap h = {0};
    const struct vram_segments *s;
    vram *v = open_vram(&h);
    set_all(v, RUNS[0]);
    assert_int_equal(written(v, vram_segments(v, VRAM_MOMENT_GROWTH, 0, &s), VRAM_ANSWER_SEGMENTS,
                             VRAM_FORMAT_JSON),
                     VRAM_OK);
    json_t *j = json_loads(vram_text(v, NULL), 0, NULL);
    assert_true(valid(j, schema_of("segments"), "segments"));
    assert_int_equal(json_array_size(json_object_get(j, "segments")), s->segment_count);
    json_decref(j);
    json_decref(schema);
    close_vram(v, &h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moments),  cmocka_unit_test(test_growth_is_needed),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_schema),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
