// The probe's records: JSON in and out, statistics, the check of a record, merging, SHA-256.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernels/probe/probe.h"
#include "kernels/record/sha256.h"

static char error[200];

static struct rjson *parse(const char *text)
{
    return rjson_parse(text, strlen(text), error, sizeof error);
}

static void good_texts_come_back_the_same(void **state)
{
    (void)state;
    const char *texts[] = {"null",
                           "true",
                           "[1, 2.5, -3]",
                           "{\"a\": \"x\\\"y\"}",
                           "9223372036854775807",
                           "{\n \"a\": [1, 2],\n \"b\": {\"c\": false}\n}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct rjson *j = parse(texts[i]);
        assert_non_null(j);
        char *out;
        size_t size;
        FILE *f = open_memstream(&out, &size);
        rjson_write(j, f, 0);
        fclose(f);
        assert_string_equal(out, texts[i]);
        free(out);
        rjson_free(j);
    }
}

static void escapes_are_read(void **state)
{
    (void)state;
    struct rjson *j = parse("\"\\u00e9\\ud83d\\ude00\\n\"");
    assert_string_equal(rjson_text(j), "\xc3\xa9\xf0\x9f\x98\x80\n");
    rjson_free(j);
}

static void bad_texts_are_refused(void **state)
{
    (void)state;
    const char *texts[] = {"",
                           "{",
                           "[1,",
                           "[1 2]",
                           "{\"a\" 1}",
                           "{a: 1}",
                           "01",
                           "1.",
                           "1e999",
                           "99999999999999999999",
                           "+1",
                           ".5",
                           "-",
                           "nul",
                           "\"a",
                           "\"\\x\"",
                           "\"\\ud800\"",
                           "\"\\u0000\"",
                           "\"a\nb\"",
                           "1 2",
                           "[1,]",
                           "{\"a\":}",
                           "{\"a\":1,\"a\":2}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        *error = 0;
        assert_null(parse(texts[i]));
        assert_true(*error != 0);
    }
    char deep[400];
    memset(deep, '[', sizeof deep);
    assert_null(rjson_parse(deep, sizeof deep, error, sizeof error));
}

// Every prefix of a text is either refused or a value of its own; none reads past its end.
static void truncated_texts_are_safe(void **state)
{
    (void)state;
    const char *text = "{\"a\": [1, -2.5e3, \"x\\u00e9\", true, null], \"b\": {}}";
    for (size_t n = 0; n < strlen(text); n++) {
        char *copy = malloc(n ? n : 1);
        memcpy(copy, text, n);
        assert_null(rjson_parse(copy, n, error, sizeof error));
        free(copy);
    }
}

static void samples_have_their_statistics(void **state)
{
    (void)state;
    const double odd[] = {5, 1, 3}, even[] = {4, 1, 2, 3};
    struct rjson *j = record_samples("s", odd, 3);
    assert_true(rjson_number(rjson_get(j, "value")) == 3);
    assert_true(rjson_number(rjson_get(j, "min")) == 1);
    assert_true(rjson_number(rjson_get(j, "max")) == 5);
    assert_true(rjson_number(rjson_get(j, "mad")) == 2);
    assert_true(rjson_number(rjson_get(j, "samples")->first) == 5);
    rjson_free(j);
    j = record_samples("s", even, 4);
    assert_true(rjson_number(rjson_get(j, "value")) == 2.5);
    rjson_free(j);
    j = record_reading("B", 6204205568.0);
    assert_int_equal(rjson_get(j, "value")->kind, RJSON_INT);
    assert_int_equal(rjson_get(j, "value")->integer, INT64_C(6204205568));
    rjson_free(j);
}

static void digests_match_the_standard(void **state)
{
    (void)state;
    char out[65], many[1000];
    sha256_hex("", 0, out);
    assert_string_equal(out, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    sha256_hex("abc", 3, out);
    assert_string_equal(out, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, out);
    assert_string_equal(out, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    memset(many, 'a', sizeof many);
    sha256_hex(many, sizeof many, out);
    assert_string_equal(out, "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3");
}

static struct rjson *sample_record(const char *gpu)
{
    char text[4096];
    snprintf(text, sizeof text,
             "{\"schema\":\"vramprobe/"
             "1\",\"id\":\"sample\",\"status\":\"ok\",\"created_utc\":\"2026-01-31T12:00:00Z\","
             "\"tool\":{\"name\":\"vramprobe\",\"version\":\"0\",\"sources_sha256\":\"%064d\","
             "\"protocols\":{\"step\":1},"
             "\"command\":[]},\"code\":{\"commit\":null,\"dirty\":null},\"host\":{\"os\":\"x\"},"
             "\"device\":{\"name\":\"%s\",\"compute_capability\":\"8.9\",\"sm_count\":46,\"memory_"
             "total_bytes\":12},"
             "\"software\":{},\"results\":[{\"experiment\":\"step\",\"engine\":\"vramprobe\","
             "\"protocol\":1,"
             "\"config\":{\"batch_size\":16},\"status\":\"ok\",\"values\":{\"peak_bytes\":{"
             "\"unit\":\"B\",\"value\":7}}}]}",
             0, gpu);
    struct rjson *j = parse(text);
    assert_non_null(j);
    return j;
}

static void pass_over(void *ctx, const struct rjson *at, const char *where, const char *what)
{
    (void)ctx;
    assert_true(at && *where && *what);
}

static int check_quietly(const struct rjson *record)
{
    return record_check(record, pass_over, NULL);
}

static struct rjson *first_result(struct rjson *record)
{
    return rjson_get(record, "results")->first;
}

static void records_are_checked(void **state)
{
    (void)state;
    struct rjson *good = sample_record("A");
    assert_int_equal(check_quietly(good), 0);
    rjson_set(good, "surprise", rjson_int(1));
    assert_int_equal(check_quietly(good), 1);
    rjson_free(good);
    struct rjson *bad = sample_record("A");
    struct rjson *value = rjson_get(rjson_get(first_result(bad), "values"), "peak_bytes");
    rjson_get(value, "value")->kind = RJSON_REAL;
    rjson_get(value, "value")->real = 7.5;
    assert_int_equal(check_quietly(bad), 1);
    strcpy(rjson_get(bad, "created_utc")->text, "2026-01-31 12:00:00");
    assert_int_equal(check_quietly(bad), 2);
    rjson_get(first_result(bad), "engine")->text[0] = 'x';
    assert_int_equal(check_quietly(bad), 3);
    rjson_free(bad);
    bad = parse("[]");
    assert_int_equal(check_quietly(bad), 1);
    rjson_free(bad);
}

// ---- the schema --------------------------------------------------------------------------------

static void replace(struct rjson *group, const char *key, struct rjson *value)
{
    struct rjson **place = &group->first;
    while (*place && strcmp((*place)->key, key) != 0)
        place = &(*place)->next;
    struct rjson *old = *place;
    if (old) {
        *place = old->next;
        old->next = NULL;
        rjson_free(old);
    }
    if (value)
        rjson_set(group, key, value);
}

// The part of a record that one object of the schema is about.
static struct rjson *part_of(struct rjson *record, const char *name)
{
    if (!*name)
        return record;
    if (strcmp(name, "result") == 0)
        return first_result(record);
    if (strcmp(name, "value") == 0)
        return rjson_get(rjson_get(first_result(record), "values"), "peak_bytes");
    return rjson_get(record, name);
}

// Whether the validator refuses a record in whose part key has this value (NULL: is missing).
static bool refuses(const char *part, const char *key, struct rjson *value)
{
    struct rjson *record = sample_record("A");
    replace(part_of(record, part), key, value);
    int wrong = check_quietly(record);
    rjson_free(record);
    return wrong > 0;
}

static const struct rjson *resolved(const struct rjson *schema, const struct rjson *property)
{
    const char *ref = rjson_text(rjson_get(property, "$ref"));
    return *ref ? rjson_get(rjson_get(schema, "$defs"), strrchr(ref, '/') + 1) : property;
}

static bool takes(const struct rjson *property, const char *type)
{
    const struct rjson *t = rjson_get(property, "type");
    for (const struct rjson *j = t && t->kind == RJSON_ARRAY ? t->first : NULL; j; j = j->next)
        if (strcmp(rjson_text(j), type) == 0)
            return true;
    return strcmp(rjson_text(t), type) == 0;
}

// What the schema does not take under a key, the validator does not either.
static void property_is_held(const char *part, const struct rjson *p)
{
    bool free_form = rjson_get(p, "enum") || rjson_get(p, "const") || rjson_get(p, "anyOf");
    if (!refuses(part, p->key, takes(p, "array") ? rjson_object() : rjson_array()))
        fail_msg("%s.%s: another type is taken", part, p->key);
    if ((rjson_get(p, "pattern") || free_form) &&
        !refuses(part, p->key, rjson_string("Nothing like it")))
        fail_msg("%s.%s: any text is taken", part, p->key);
    const struct rjson *least = rjson_get(p, "minimum");
    if (least && !refuses(part, p->key, rjson_int(least->integer - 1)))
        fail_msg("%s.%s: less than the least is taken", part, p->key);
    if (takes(p, "integer") && !refuses(part, p->key, rjson_real(2.5)))
        fail_msg("%s.%s: half a number is taken", part, p->key);
}

static void object_is_held(const struct rjson *schema, const char *part, const struct rjson *object)
{
    assert_non_null(object);
    if (!refuses(part, "surprise", rjson_int(1)))
        fail_msg("%s: an unknown key is taken", part);
    for (const struct rjson *r = rjson_get(object, "required")->first; r; r = r->next)
        if (!refuses(part, r->text, NULL))
            fail_msg("%s.%s may be missing", part, r->text);
    for (const struct rjson *p = rjson_get(object, "properties")->first; p; p = p->next) {
        struct rjson *copy = rjson_copy(resolved(schema, p));
        copy->key = strdup(p->key);
        property_is_held(part, copy);
        rjson_free(copy);
    }
}

// vramprobe.schema.json and the validator say the same, key by key.
static void the_schema_is_held(void **state)
{
    (void)state;
    struct rjson *schema = rjson_read_file("kernels/vramprobe.schema.json", error, sizeof error);
    assert_non_null(schema);
    const struct rjson *properties = rjson_get(schema, "properties"),
                       *defs = rjson_get(schema, "$defs");
    object_is_held(schema, "", schema);
    const char *parts[] = {"tool", "code", "host", "device"};
    for (int i = 0; i < 4; i++)
        object_is_held(schema, parts[i], rjson_get(properties, parts[i]));
    object_is_held(schema, "result", rjson_get(defs, "result"));
    object_is_held(schema, "value", rjson_get(defs, "value"));
    rjson_free(schema);
    const struct {
        const char *part, *key;
    } free_names[] = {{"tool", "protocols"}, {"", "software"}, {"result", "config"}};
    for (int i = 0; i < 3; i++) {
        struct rjson *group = rjson_object();
        rjson_set(group, "x", rjson_array());
        assert_true(refuses(free_names[i].part, free_names[i].key, group));
    }
}

static void merging_keeps_the_newest(void **state)
{
    (void)state;
    struct rjson *records[] = {sample_record("A"), sample_record("A"), sample_record("B")};
    char *names[] = {"one", "two", "three"};
    rjson_get(rjson_get(rjson_get(first_result(records[1]), "values"), "peak_bytes"), "value")
        ->integer = 9;
    struct rjson *other = rjson_copy(first_result(records[1]));
    rjson_get(rjson_get(other, "config"), "batch_size")->integer = 8;
    rjson_add(rjson_get(records[1], "results"), other);
    FILE *nowhere = fopen("/dev/null", "w");
    struct rjson *merged = record_merge(records, names, 2, "both", nowhere);
    assert_non_null(merged);
    assert_string_equal(rjson_text(rjson_get(merged, "id")), "both");
    struct rjson *first = first_result(merged);
    assert_int_equal(
        rjson_get(rjson_get(rjson_get(first, "values"), "peak_bytes"), "value")->integer, 9);
    assert_int_equal(rjson_get(rjson_get(first->next, "config"), "batch_size")->integer, 8);
    assert_null(first->next->next);
    assert_int_equal(check_quietly(merged), 0);
    assert_null(record_merge(records, names, 3, "all", nowhere));
    fclose(nowhere);
    rjson_free(merged);
    for (int i = 0; i < 3; i++)
        rjson_free(records[i]);
}

static void files_are_not_replaced(void **state)
{
    (void)state;
    char path[] = "/tmp/record-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    struct rjson *j = rjson_int(5);
    assert_int_equal(rjson_write_file(j, path, false), -1);
    assert_int_equal(rjson_write_file(j, path, true), 0);
    rjson_free(j);
    j = rjson_read_file(path, error, sizeof error);
    assert_int_equal(j->integer, 5);
    rjson_free(j);
    unlink(path);
    assert_null(rjson_read_file(path, error, sizeof error));
}

static void settings_describe_runs(void **state)
{
    (void)state;
    struct settings s;
    struct gpt_config c;
    assert_true(settings_parse(
        &s, "batch_size=16 block_size=512 n_layer=6 n_head=6 n_embd=384 dtype=float16 mode=lean",
        error, sizeof error));
    assert_null(settings_gpt(&s, &c));
    assert_int_equal(c.seq_len, 512);
    assert_int_equal(c.mode, GPT_LEAN);
    assert_int_equal(c.dtype, DTYPE_F16);
    settings_put(&s, "dtype", "float8");
    assert_non_null(settings_gpt(&s, &c));
    assert_false(settings_parse(&s, "batch_size", error, sizeof error));
    assert_false(settings_parse(&s, "=4", error, sizeof error));
}

// Every config of every experiment can be read, and every training run can be run.
static void experiments_are_well_formed(void **state)
{
    (void)state;
    for (const struct experiment *e = experiments; e->name; e++) {
        assert_ptr_equal(experiment_find(e->name), e);
        assert_true(e->protocol >= 1 && e->limit_s > 0 && *e->about);
        for (int i = 0; e->runs[i]; i++) {
            struct settings s;
            struct gpt_config c;
            assert_true(settings_parse(&s, e->runs[i], error, sizeof error));
            if (strstr(e->runs[i], "n_layer"))
                assert_null(settings_gpt(&s, &c));
        }
    }
    assert_null(experiment_find("nothing"));
}

// The table names the measurements; without a GPU nothing calls them.
#define MEASURE(name) \
    const char *name(const struct settings *s, struct nvml *nvml, struct rjson *values, \
                     char message[256]) \
    { \
        (void)s; \
        (void)nvml; \
        (void)values; \
        (void)message; \
        return "skipped"; \
    }
MEASURE(measure_context)
MEASURE(measure_reserve)
MEASURE(measure_malloc)
MEASURE(measure_bandwidth)
MEASURE(measure_matmul)
MEASURE(measure_attention)
MEASURE(measure_step)
MEASURE(measure_max_batch)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_texts_come_back_the_same),
        cmocka_unit_test(escapes_are_read),
        cmocka_unit_test(bad_texts_are_refused),
        cmocka_unit_test(truncated_texts_are_safe),
        cmocka_unit_test(samples_have_their_statistics),
        cmocka_unit_test(digests_match_the_standard),
        cmocka_unit_test(records_are_checked),
        cmocka_unit_test(the_schema_is_held),
        cmocka_unit_test(merging_keeps_the_newest),
        cmocka_unit_test(files_are_not_replaced),
        cmocka_unit_test(settings_describe_runs),
        cmocka_unit_test(experiments_are_well_formed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
