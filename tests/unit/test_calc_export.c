// Traces for viewers and the timeline: what the programs that read them need to find in them.

#include "tests/unit/calc_fixture.h"
#include "tests/unit/calc_answers.h"

static json_t *exported(vram *v, enum vram_format format)
{
    json_error_t error;
    if (vram_write(v, VRAM_ANSWER_TRACE, format, 0) != VRAM_OK)
        fail_msg("%s", vram_error(v)->text);
    json_t *j = json_loads(vram_text(v, NULL), 0, &error);
    if (!j)
        fail_msg("%d: %s", error.line, error.text);
    return j;
}

static uint64_t segments_of(const json_t *snapshot, uint64_t *blocks)
{
    uint64_t sum = 0;
    size_t i, k;
    json_t *segment, *block;
    *blocks = 0;
    json_array_foreach(json_object_get(snapshot, "segments"), i, segment)
    {
        uint64_t inside = 0;
        json_array_foreach(json_object_get(segment, "blocks"), k, block)
        {
            assert_int_equal(json_u64(block, "address"), json_u64(segment, "address") + inside);
            inside += json_u64(block, "size");
            *blocks += strcmp(json_text(block, "state"), "active_allocated") == 0;
        }
        assert_int_equal(inside, json_u64(segment, "total_size"));
        sum += inside;
    }
    return sum;
}

// The snapshot's segments are the reserved memory of the report; every free has an allocation
// before it; what is not freed is in the segments.
static void test_snapshot(void **state)
{
    (void)state;
    static const char *const cases[] = {"preset=nanogpt-30m", "preset=gpt2 batch_size=2",
                                        "preset=gpt2 batch_size=2 mode=reference"};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct heap h = {0};
        vram *v = open_vram(&h);
        set_all(v, cases[c]);
        run_vram(v);
        uint64_t reserved = vram_result(v)->peak_reserved.bytes, blocks, live = 0;
        json_t *j = exported(v, VRAM_FORMAT_JSON), *e;
        size_t i, allocs = 0, frees = 0;
        json_t *now = json_object();
        char key[32];
        json_array_foreach(json_array_get(json_object_get(j, "device_traces"), 0), i, e)
        {
            const char *action = json_text(e, "action");
            snprintf(key, sizeof key, "%llu", (unsigned long long)json_u64(e, "addr"));
            if (strcmp(action, "alloc") == 0) {
                assert_null(json_object_get(now, key));  // no two live blocks at one address
                json_object_set_new(now, key, json_integer(1));
                live += json_u64(e, "size");
                allocs++;
            } else if (strcmp(action, "free_completed") == 0) {
                assert_non_null(json_object_get(now, key));
                json_object_del(now, key);
                live -= json_u64(e, "size");
                frees++;
            }
        }
        assert_int_equal(segments_of(j, &blocks), reserved);
        assert_int_equal(allocs - frees, json_object_size(now));
        assert_int_equal(blocks, json_object_size(now));
        json_decref(now);
        json_decref(j);
        close_vram(v, &h);
    }
}

// A pickle of protocol 2 with only the opcodes that torch/utils/viz/MemoryViz.js knows, and one
// value at its end.
static void test_pickle(void **state)
{
    (void)state;
    struct heap h = {0};
    vram *v = open_vram(&h);
    set_all(v, "preset=nanogpt-30m n_layer=2");
    assert_int_equal(vram_write(v, VRAM_ANSWER_TRACE, VRAM_FORMAT_VIZ, 0), VRAM_OK);
    size_t len, at = 2;
    const unsigned char *p = (const unsigned char *)vram_text(v, &len);
    assert_int_equal(p[0], 0x80);
    assert_int_equal(p[1], 2);
    int depth = 0, values = 0, marks[64], mark_count = 0;
    for (bool done = false; !done;) {
        assert_true(at < len);
        unsigned char op = p[at++];
        switch (op) {
        case '}':
        case ']':
            depth++;
            values++;
            break;
        case '(':
            assert_true(mark_count < 64);
            marks[mark_count++] = depth;
            break;
        case 'u':
        case 'e':
            assert_true(mark_count > 0);
            depth = marks[--mark_count];
            break;
        case 'X': {
            uint32_t n = p[at] | (uint32_t)p[at + 1] << 8 | (uint32_t)p[at + 2] << 16 |
                         (uint32_t)p[at + 3] << 24;
            assert_true(n < 200);
            at += 4 + n;
            depth++;
            break;
        }
        case 'J':
            at += 4;
            depth++;
            break;
        case 0x8a:
            assert_int_equal(p[at], 8);
            at += 9;
            depth++;
            break;
        case '.': done = true; break;
        default: fail_msg("opcode %u at %zu", op, at - 1);
        }
    }
    assert_int_equal(at, len);
    assert_int_equal(depth, 1);
    assert_int_equal(mark_count, 0);
    assert_true(values > 100);
    close_vram(v, &h);
}

static void test_perfetto(void **state)
{
    (void)state;
    struct heap h = {0};
    vram *v = open_vram(&h);
    set_all(v, "preset=nanogpt-30m compile=none mode=reference");
    run_vram(v);
    uint64_t peak = vram_result(v)->peak_live.bytes, most = 0, last = 0;
    json_t *j = exported(v, VRAM_FORMAT_PERFETTO), *e, *x;
    size_t i, open = 0, slices = 0;
    json_array_foreach(json_object_get(j, "traceEvents"), i, e)
    {
        const char *ph = json_text(e, "ph"), *key;
        uint64_t sum = 0;
        assert_true(json_is_integer(json_object_get(e, "ts")) &&
                    json_is_integer(json_object_get(e, "pid")));
        if (ph[0] == 'C') {
            json_object_foreach(json_object_get(e, "args"), key, x) sum +=
                (uint64_t)json_integer_value(x);
            most = sum > most ? sum : most;
            assert_true(json_u64(e, "ts") >= last);
            last = json_u64(e, "ts");
        }
        if (ph[0] == 'X') {
            assert_true(json_u64(e, "dur") > 0);
            slices++;
        }
        open += ph[0] == 'b';
        if (ph[0] == 'e')
            open--;
    }
    assert_int_equal(most, peak);
    assert_true(slices > 6);
    json_decref(j);
    close_vram(v, &h);
}

static void test_csv(void **state)
{
    (void)state;
    struct heap h = {0};
    vram *v = open_vram(&h);
    set_all(v, "preset=nanogpt-30m compile=none mode=reference");
    assert_int_equal(vram_write(v, VRAM_ANSWER_TRACE, VRAM_FORMAT_CSV, 0), VRAM_OK);
    const char *line = strchr(vram_text(v, NULL), '\n') + 1;
    uint64_t rows = 0, most = 0;
    while (*line) {
        unsigned long long index, id, bytes, live;
        char kind[8];
        assert_int_equal(
            sscanf(line, "%llu,%7[a-z],%llu,%llu,%llu,", &index, kind, &id, &bytes, &live), 5);
        assert_int_equal(index, rows++);
        most = live > most ? live : most;
        line = strchr(line, '\n') + 1;
    }
    assert_int_equal(most, 6187763980);  // the reference value
    assert_int_equal(vram_write(v, VRAM_ANSWER_TRACE, VRAM_FORMAT_MD, 0), VRAM_EARG);
    close_vram(v, &h);
}

static void test_timeline(void **state)
{
    (void)state;
    static const char *const parts[] = {
        "<svg xmlns=\"http://www.w3.org/2000/svg\"",
        "role=\"img\"",
        "aria-labelledby=\"vt-title vt-desc\"",
        "<title id=\"vt-title\">",
        "<desc id=\"vt-desc\">The peak of 5,901 MiB is in backward of micro-step 2",
        "prefers-color-scheme:dark",
        "peak 5,901 MiB</text>",
        "class=\"vt-area vt-logits\"",
        "</svg>\n"};
    struct heap h = {0};
    vram *v = open_vram(&h);
    set_all(v, "preset=nanogpt-30m compile=none mode=reference gradient_accumulation_steps=2");
    assert_int_equal(vram_write(v, VRAM_ANSWER_TIMELINE, VRAM_FORMAT_SVG, 0), VRAM_OK);
    const char *svg = vram_text(v, NULL);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strstr(svg, parts[i]))
            fail_msg("no %s", parts[i]);
    assert_null(strstr(svg, "style="));  // a strict policy blocks the attribute
    assert_null(strstr(svg, "<script"));
    printf("timeline: %zu bytes\n", strlen(svg));
    assert_true(strlen(svg) < 60000);
    assert_int_equal(vram_write(v, VRAM_ANSWER_TIMELINE, VRAM_FORMAT_CSV, 0), VRAM_EARG);
    close_vram(v, &h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_snapshot), cmocka_unit_test(test_pickle),
        cmocka_unit_test(test_perfetto), cmocka_unit_test(test_csv),
        cmocka_unit_test(test_timeline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
