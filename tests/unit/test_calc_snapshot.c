// Memory snapshots: opcodes by hand, histories that were cut, frames and what they tell, hostile
// files, no memory.

#include "tests/unit/calc_answers.h"
#include "tests/unit/calc_fixture.h"
#include "tests/unit/calc_schema.h"

enum { MIB = 1 << 20 };

static char *read_whole(const char *path, size_t *len)
{
    FILE *f = fopen(path, "rb");
    char *text = malloc(1 << 16);
    assert_non_null(f);
    *len = fread(text, 1, 1 << 16, f);
    fclose(f);
    return text;
}

static int ask(vram *v, const char *text, const struct vram_snapshot **s)
{
    return vram_read_snapshot(v, text, strlen(text), "snapshot.json", false, s);
}

static uint64_t row(const struct vram_snapshot *s, const char *category, bool peak)
{
    for (size_t i = 0; i < s->row_count; i++)
        if (strcmp(s->rows[i].category, category) == 0)
            return peak ? s->rows[i].peak_bytes : s->rows[i].now_bytes;
    fail_msg("no row %s", category);
    return 0;
}

// What the opcodes mean, byte by byte. SRC: CPython, Lib/pickletools.py.
static void test_opcodes(void **state)
{
    (void)state;
    static const char snapshot[] =
        "\x80\x02}q\x00(X\x08\x00\x00\x00segments]q\x01(}q\x02(X\x06\x00\x00\x00"
        "device"
        "K\x01X\x0a\x00\x00\x00total_sizeJ\x00\x00\x20\x00X\x07\x00\x00\x00"
        "address\x8a\x06\x00\x00\x00\x00\x00\x7fX\x06\x00\x00\x00"
        "blocks](}(X\x04\x00\x00\x00sizeM\x00\x02X\x05\x00\x00\x00stateX\x10\x00\x00\x00"
        "active_allocatedX\x0e\x00\x00\x00requested_sizeM\xe8\x01ue"
        "X\x0f\x00\x00\x00segment_pool_"
        "idK\x00K\x00\x86X\x01\x00\x00\x00xG\x00\x00\x00\x00\x00\x00\x00\x00"
        "X\x01\x00\x00\x00yNX\x01\x00\x00\x00z\x88uh\x02"  // the same segment twice
        "eu.";
    struct heap h = {0};
    vram *v = open_vram(&h);
    const struct vram_snapshot *s;
    assert_int_equal(vram_read_snapshot(v, snapshot, sizeof snapshot - 1, NULL, false, &s),
                     VRAM_OK);
    assert_int_equal(s->device, 1);
    assert_int_equal(s->segment_count, 2);
    assert_int_equal(s->segments[0].address, 0x7f0000000000);
    assert_int_equal(s->reserved_bytes, 4 * MIB);
    assert_int_equal(s->allocated_bytes, 1024);
    assert_int_equal(s->requested_bytes, 2 * 488);
    assert_false(s->has_trace);
    close_vram(v, &h);
}

// Every way to import, call or build something, each at the byte where it stands; and what ends or
// refers wrongly.
static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t len;
        const char *says;
    } rows[] = {
        {"\x80\x02"
         "cos\nsystem\n.",
         14, "byte 2: this pickle wants to call"},
        {"\x80\x04\x8c\x02os\x8c\x06system\x93.", 16, "byte 14: this pickle wants to call"},
        {"\x80\x04)R.", 5, "byte 3: this pickle wants to call"},
        {"\x80\x04}b.", 5, "byte 3: this pickle wants to call"},
        {"\x80\x04(ios\nx\n.", 10, "byte 3: this pickle wants to call"},
        {"\x80\x04(o.", 5, "byte 3: this pickle wants to call"},
        {"\x80\x04)\x81.", 5, "byte 3: this pickle wants to call"},
        {"\x80\x04\x82\x01.", 5, "byte 2: this pickle wants to call"},
        {"\x80\x04Pid\n.", 7, "byte 2: this pickle wants to call"},
        {"\x80\x04"
         "2.",
         4, "byte 2: there is no opcode 50"},
        {"\x80\x06}.", 4, "byte 0: pickles of protocol 2 to 5"},
        {"\x80\x01}.", 4, "byte 0: pickles of protocol 2 to 5"},
        {"\x80\x04}", 3, "byte 3: the pickle ends"},
        {"\x80\x04X\xff\xff\xff\xff.", 8, "byte 2: the pickle ends"},
        {"\x80\x04h\x07.", 5, "byte 2: opcode 104 finds nothing"},
        {"\x80\x04r\xff\xff\xff\xff}.", 9, "byte 2: opcode 114 finds nothing"},
        {"\x80\x04u.", 4, "byte 2: opcode 117 finds nothing"},
        {"\x80\x04}(K\x01u.", 8, "byte 6: opcode 117 finds nothing"},
        {"\x80\x04](K\x01u.", 8, "byte 6: opcode 117 finds nothing"},
        {"\x80\x04.", 3, "byte 2: opcode 46 finds nothing"},
        {"\x80\x04((.", 5, "byte 4: opcode 46 finds nothing"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct heap h = {0};
        vram *v = open_vram(&h);
        const struct vram_snapshot *s;
        assert_int_equal(vram_read_snapshot(v, rows[i].text, rows[i].len, "a.pickle", false, &s),
                         VRAM_EPARSE);
        if (!strstr(vram_error(v)->text, rows[i].says))
            fail_msg("row %zu: %s", i, vram_error(v)->text);
        assert_string_equal(vram_error(v)->file, "a.pickle");
        assert_int_equal(vram_write(v, VRAM_ANSWER_SNAPSHOT, VRAM_FORMAT_JSON, 0), VRAM_ENOTRUN);
        close_vram(v, &h);
    }
}

#define EVENT(action, address, size) \
    "{\"action\":\"" action "\",\"addr\":" #address ",\"size\":" #size ",\"frames\":[]},"

// A history whose beginning was overwritten: what it frees was there before, and the peak is still
// the true one.
static void test_history(void **state)
{
    (void)state;
    static const char text[] = "{\"device_traces\":[[" EVENT("free_requested", 1024, 3000)
        EVENT("free_completed", 1024, 3000) EVENT("segment_free", 9999, 4000)
            EVENT("alloc", 1024, 500) EVENT("segment_alloc", 5000, 1000) EVENT("alloc", 5120, 2000)
                EVENT("free_requested", 5120,
                      2000) "{\"action\":\"snapshot\"}]],\"segments\":[{\"device\":0,\"address\":0,"
                            "\"total_size\":10000,\"blocks\":["
                            "{\"size\":1024,\"requested_size\":700,\"state\":\"active_allocated\"},"
                            "{\"size\":1024,\"requested_size\":500,\"state\":\"active_allocated\"},"
                            "{\"size\":512,\"requested_size\":9,\"state\":\"active_pending_free\"},"
                            "{\"size\":7440,\"state\":\"inactive\"}]}]}";
    struct heap h = {0};
    vram *v = open_vram(&h);
    const struct vram_snapshot *s;
    assert_int_equal(ask(v, text, &s), VRAM_OK);
    assert_int_equal(s->requested_bytes, 1200);
    assert_int_equal(s->pending_bytes, 512);
    assert_int_equal(s->free_bytes, 7440);
    assert_int_equal(s->largest_free_bytes, 7440);
    assert_int_equal(s->peak_requested_bytes, 3700);  // before the first event; 3,200 later
    assert_int_equal(s->peak_reserved_bytes, 13000);
    assert_int_equal(row(s, "unknown", true), 3700);
    assert_false(s->has_frames);
    close_vram(v, &h);
}

// A stack in JSON, the innermost first.
#define FRAME(file, name) "{\"filename\":\"" file "\",\"line\":7,\"name\":\"" name "\"}"
#define MODULE FRAME("/x/torch/nn/modules/module.py", "_call_impl")

static void test_frames(void **state)
{
    (void)state;
    static const struct {
        const char *frames, *category, *file;
    } rows[] = {
        {MODULE "," FRAME("m.py", "forward") "," FRAME("t.py", "main"), "activations", "m.py"},
        {MODULE
         "," FRAME("m.py", "forward") "," FRAME("/x/torch/utils/checkpoint.py", "unpack_hook"),
         "activations", "m.py"},
        {FRAME("k.py", "backward") "," FRAME("/x/torch/autograd/function.py", "apply"), "backward",
         "k.py"},
        {FRAME("k.py", "run") "," FRAME("/x/torch/autograd/function.py",
                                        "apply") "," FRAME("m.py", "forward"),
         "activations", "k.py"},
        {FRAME("/x/torch/optim/adamw.py", "_init_group") "," FRAME("t.py", "main"), "optimizer",
         "t.py"},
        {FRAME("/x/bitsandbytes/optim/optimizer.py", "init_state"), "optimizer",
         "/x/bitsandbytes/optim/optimizer.py"},
        {FRAME("/x/torch/nn/modules/module.py", "convert") "," FRAME("t.py", "main"), "parameters",
         "t.py"},
        {FRAME("/x/transformers/cache_utils.py", "update") "," FRAME("m.py", "forward"), "kv_cache",
         "/x/transformers/cache_utils.py"},
        {FRAME("/x/torch/nn/functional.py", "cross_entropy") "," FRAME("m.py", "forward"), "logits",
         "m.py"},
        {FRAME("??", "torch::autograd::Engine::evaluate_function"), "backward", ""},
        {FRAME("t.py", "main"), "unknown", "t.py"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct heap h = {0};
        vram *v = open_vram(&h);
        char text[1024];
        const struct vram_snapshot *s;
        snprintf(text, sizeof text,
                 "[{\"device\":0,\"total_size\":512,\"blocks\":[{\"size\":512,\"state\":\"active_"
                 "allocated\",\"frames\":[%s]}]}]",
                 rows[i].frames);
        assert_int_equal(ask(v, text, &s), VRAM_OK);
        if (row(s, rows[i].category, false) != 512 || strcmp(s->blocks[0].file, rows[i].file) != 0)
            fail_msg("row %zu: %s, %s", i,
                     s->blocks[0].category ? s->blocks[0].category : "unknown", s->blocks[0].file);
        close_vram(v, &h);
    }
}

// A recording that began behind the model: its weights have neither frames nor an event, and are
// not of the backward pass; what autograd's thread made in their size is their gradient. Frames of
// the interpreter stand between those of Python where all languages are recorded.
static void test_early(void **state)
{
    (void)state;
    static const char text[] =
        "{\"device_traces\":[[{\"action\":\"alloc\",\"addr\":2048,\"size\":1000,\"frames\":[]},"
        "{\"action\":\"alloc\",\"addr\":3072,\"size\":600,\"frames\":[" FRAME(
            "/py/Objects/methodobject.c",
            "cfunction_call") "," FRAME("/home/u/model.py",
                                        "forward") "]}]],"
                                                   "\"segments\":[{\"device\":0,\"address\":1024,"
                                                   "\"total_size\":4096,\"blocks\":["
                                                   "{\"address\":1024,\"size\":1024,\"requested_"
                                                   "size\":1000,\"state\":\"active_allocated\","
                                                   "\"frames\":[]},{\"address\":2048,\"size\":1024,"
                                                   "\"requested_size\":1000,"
                                                   "\"state\":\"active_allocated\",\"frames\":[]},{"
                                                   "\"address\":4096,\"size\":1024,"
                                                   "\"requested_size\":600,\"state\":\"active_"
                                                   "allocated\",\"frames\":[]}]}]}";
    struct heap h = {0};
    vram *v = open_vram(&h);
    const struct vram_snapshot *s;
    assert_int_equal(ask(v, text, &s), VRAM_OK);
    assert_int_equal(row(s, "unknown", false), 1000);
    assert_int_equal(row(s, "gradients", false), 1000);
    assert_int_equal(row(s, "activations", false), 600);
    assert_int_equal(row(s, "backward", false), 0);
    assert_string_equal(s->blocks[2].file, "/home/u/model.py");
    close_vram(v, &h);
}

// "history" in place of frames: PyTorch until 2.0.
static void test_old_blocks(void **state)
{
    (void)state;
    struct heap h = {0};
    vram *v = open_vram(&h);
    const struct vram_snapshot *s;
    assert_int_equal(ask(v,
                         "[{\"total_size\":512,\"blocks\":[{\"size\":512,\"state\":\"active_"
                         "allocated\",\"history\":[{\"addr\":0,"
                         "\"real_size\":400,\"frames\":[" FRAME("t.py", "forward") "]}]}]}]",
                         &s),
                     VRAM_OK);
    assert_int_equal(s->requested_bytes, 400);
    assert_int_equal(row(s, "activations", false), 400);
    close_vram(v, &h);
}

// A list of which each item is the same list of the same blocks, a thousand times each: refused,
// not walked for hours.
static void test_endless(void **state)
{
    (void)state;
    static char text[1 << 16];
    size_t n = 0;
    n += (size_t)sprintf(text, "%s", "\x80\x04]q");
    text[n++] = 0;
    text[n++] = '(';
    memcpy(text + n,
           "}q\x01(X\x06\x00\x00\x00"
           "blocks](}q\x02",
           21);
    n += 20;
    for (int i = 0; i < 20000; i++, n += 2)
        memcpy(text + n, "h\x02", 2);
    memcpy(text + n, "eu", 2);
    n += 2;
    for (int i = 0; i < 12000; i++, n += 2)
        memcpy(text + n, "h\x01", 2);
    memcpy(text + n, "e.", 2);
    n += 2;
    struct heap h = {0};
    vram *v = open_vram(&h);
    const struct vram_snapshot *s;
    assert_int_equal(vram_read_snapshot(v, text, n, "a.pickle", false, &s), VRAM_EPARSE);
    if (!strstr(vram_error(v)->text, "refer to each other"))
        fail_msg("%s", vram_error(v)->text);
    close_vram(v, &h);
}

// Beside an estimate, at every point where there is no memory: an error each time, and nothing
// lost.
static void test_no_memory(void **state)
{
    (void)state;
    size_t len, failures = 0;
    char *text = read_whole("tests/cli/calc_snapshot/step4.pickle", &len);
    const struct vram_snapshot *s;
    for (uint64_t n = 1;; n += 1 + n / 40) {
        struct heap h = {0};
        vram *v = open_vram(&h);
        set_all(v, "n_layer=2 n_embd=64 n_head=2 block_size=32 vocab_size=64");
        h.fail_at = h.calls + n;
        int code = vram_read_snapshot(v, text, len, "s", true, &s);
        h.fail_at = 0;
        bool done = code == VRAM_OK;
        assert_true(done || code == VRAM_ENOMEM);
        failures += !done;
        close_vram(v, &h);
        if (done)
            break;
    }
    assert_true(failures > 20);
    free(text);
}

static void test_schema(void **state)
{
    (void)state;
    static const char *const files[] = {"step2.pickle", "step4.pickle", "step.json",
                                        "segments.pickle"};
    json_t *schema = schema_file();
    root_schema = schema;
    for (size_t i = 0; i < 8; i++) {
        struct heap h = {0};
        vram *v = open_vram(&h);
        char path[80];
        size_t len;
        const struct vram_snapshot *s;
        snprintf(path, sizeof path, "tests/cli/calc_snapshot/%s", files[i / 2]);
        char *text = read_whole(path, &len);
        assert_int_equal(vram_read_snapshot(v, text, len, path, i % 2, &s), VRAM_OK);
        assert_int_equal(vram_write(v, VRAM_ANSWER_SNAPSHOT, VRAM_FORMAT_JSON, 0), VRAM_OK);
        json_t *j = json_loads(vram_text(v, &len), 0, NULL);
        assert_non_null(j);
        assert_true(valid(j, schema_of("snapshot"), "snapshot"));
        json_decref(j);
        free(text);
        close_vram(v, &h);
    }
    json_decref(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opcodes),    cmocka_unit_test(test_refused),
        cmocka_unit_test(test_history),    cmocka_unit_test(test_frames),
        cmocka_unit_test(test_old_blocks), cmocka_unit_test(test_endless),
        cmocka_unit_test(test_no_memory),  cmocka_unit_test(test_schema),
        cmocka_unit_test(test_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
