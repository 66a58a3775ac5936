// The chapter tests/spec/toml.md: what a TOML text says, one line a value, or what is wrong with
// it, one line an error. UPDATE=1 rewrites what is wanted; read the diff. With TOML_TEST=folder, a
// clone of github.com/toml-lang/toml-test, its cases for TOML 1.0 are tried as well.
#include <jansson.h>
#include <math.h>

#include "calc/toml/toml.h"
#include "gen/base/diag.h"
#include "gen/base/fs.h"
#include "tests/spec/examples.h"

static void *alloc_hook(void *ctx, size_t bytes)
{
    return arena_alloc(ctx, 1, bytes);
}

struct reading {
    arena *a;
    str text;
    buf errors;
};

static void error_hook(void *ctx, const struct toml_error *e)
{
    struct reading *r = ctx;
    uint32_t line, column;
    diag_line_col(r->text, e->offset, &line, &column);
    buf_printf(&r->errors, "%u:%u: %s", line, column, toml_sentence(e->id));
    if (e->other != SIZE_MAX) {
        diag_line_col(r->text, e->other, &line, &column);
        buf_printf(&r->errors, " (%u:%u)", line, column);
    }
    buf_char(&r->errors, '\n');
}

static void *alloc_reading(void *ctx, size_t bytes)
{
    return alloc_hook(((struct reading *)ctx)->a, bytes);
}

static struct toml_value *read_text(struct reading *r)
{
    struct toml_value *root;
    struct toml_host host = {alloc_reading, error_hook, r};
    r->errors = BUF_INIT;
    enum toml_status status = toml_read(r->text.ptr, r->text.len, &host, &root);
    if ((status == TOML_OK) != (r->errors.len == 0) || (status == TOML_OK) != (root != NULL))
        printf("not ok the status %d does not fit the errors\n", status);
    return root;
}

static const char *const kinds[] = {
    [TOML_TABLE] = "table",
    [TOML_ARRAY] = "array",
    [TOML_STRING] = "string",
    [TOML_INTEGER] = "integer",
    [TOML_FLOAT] = "float",
    [TOML_BOOL] = "bool",
    [TOML_OFFSET_DATE_TIME] = "datetime",
    [TOML_LOCAL_DATE_TIME] = "datetime-local",
    [TOML_LOCAL_DATE] = "date-local",
    [TOML_LOCAL_TIME] = "time-local",
};

static void put_fraction(buf *out, uint32_t nanosecond)
{
    char digits[10];
    if (!nanosecond)
        return;
    for (int i = 8; i >= 0; i--, nanosecond /= 10)
        digits[i] = (char)('0' + nanosecond % 10);
    str s = {digits, 9};
    while (s.ptr[s.len - 1] == '0')
        s.len--;
    buf_char(out, '.');
    buf_str(out, s);
}

static void put_date(buf *out, const struct toml_value *v)
{
    const struct toml_date *d = &v->date;
    int east = d->offset < 0 ? -d->offset : d->offset;
    if (v->kind != TOML_LOCAL_TIME)
        buf_printf(out, "%04d-%02d-%02d", d->year, d->month, d->day);
    if (v->kind == TOML_LOCAL_DATE)
        return;
    if (v->kind != TOML_LOCAL_TIME)
        buf_char(out, 'T');
    buf_printf(out, "%02d:%02d:%02d", d->hour, d->minute, d->second);
    put_fraction(out, d->nanosecond);
    if (v->kind == TOML_OFFSET_DATE_TIME && d->offset)
        buf_printf(out, "%c%02d:%02d", d->offset < 0 ? '-' : '+', east / 60, east % 60);
    else if (v->kind == TOML_OFFSET_DATE_TIME)
        buf_char(out, 'Z');
}

// What a scalar means, as toml-test writes it.
static void put_scalar(buf *out, const struct toml_value *v)
{
    switch (v->kind) {
    case TOML_STRING:
    case TOML_FLOAT: buf_str(out, (str){v->text.at, v->text.len}); break;
    case TOML_INTEGER: buf_printf(out, "%lld", (long long)v->integer); break;
    case TOML_BOOL: buf_printf(out, "%s", v->integer ? "true" : "false"); break;
    default: put_date(out, v);
    }
}

static void put_quoted(buf *out, struct toml_text t, char quote)
{
    buf_char(out, quote);
    for (size_t i = 0; i < t.len; i++)
        if ((unsigned char)t.at[i] < 0x20 || t.at[i] == 0x7F)
            buf_printf(out, "<%02X>", (unsigned char)t.at[i]);
        else
            buf_char(out, t.at[i]);
    buf_char(out, quote);
}

static bool is_simple(struct toml_text key)
{
    for (size_t i = 0; i < key.len; i++)
        if ((unsigned char)key.at[i] <= ' ' || key.at[i] == '.')
            return false;
    return key.len > 0;
}

static void put_key(buf *out, struct toml_text key)
{
    if (is_simple(key))
        buf_str(out, (str){key.at, key.len});
    else
        put_quoted(out, key, '\'');
}

static void put_value(buf *out, const struct toml_value *v, str path)
{
    bool nests = v->kind <= TOML_ARRAY;
    size_t n = 0;
    if (!nests || !v->count) {
        buf_str(out, path);
        buf_printf(out, ": %s ", kinds[v->kind]);
        if (v->kind == TOML_STRING)
            put_quoted(out, v->text, '"');
        else if (!nests)
            put_scalar(out, v);
        while (out->len && out->ptr[out->len - 1] == ' ')
            out->ptr[--out->len] = 0;
        buf_char(out, '\n');
    }
    for (const struct toml_value *i = nests ? v->first : NULL; i; i = i->next, n++) {
        buf below = BUF_INIT;
        buf_str(&below, path);
        if (v->kind == TOML_ARRAY)
            buf_printf(&below, "[%zu]", n);
        else if (path.len)
            buf_char(&below, '.');
        if (v->kind == TOML_TABLE)
            put_key(&below, i->key);
        put_value(out, i, buf_view(&below));
        buf_free(&below);
    }
}

// In the chapter ␍ is a carriage return, ␀ a NUL, ␛ an escape, � a byte FF.
static str with_controls(str s, arena *a)
{
    static const struct {
        str mark;
        char byte;
    } controls[] = {{STR("␍"), '\r'}, {STR("␀"), 0}, {STR("␛"), 0x1B}, {STR("�"), (char)0xFF}};
    buf b = BUF_INIT;
    for (size_t i = 0, j; i < s.len; i++) {
        for (j = 0; j < 4 && !str_starts(str_slice(s, i, s.len), controls[j].mark); j++)
            continue;
        buf_char(&b, j < 4 ? controls[j].byte : s.ptr[i]);
        i += j < 4 ? controls[j].mark.len - 1 : 0;
    }
    str out = arena_str(a, buf_view(&b));
    buf_free(&b);
    return out;
}

static bool run_chapter(const char *path)
{
    buf text = BUF_INIT, now = BUF_INIT;
    arena a = ARENA_INIT;
    bool ok = true, update = getenv("UPDATE") && *getenv("UPDATE");
    if (fs_read(path, 0, &text))
        return false;
    const char *done = text.ptr;
    struct examples e = {.rest = buf_view(&text), .a = &a};
    for (struct example x; example_next(&e, &x);) {
        buf out = BUF_INIT;
        struct reading r = {.a = &a, .text = with_controls(x.input, &a)};
        const struct toml_value *root = read_text(&r);
        if (root)
            put_value(&out, root, STR_NONE);
        buf_str(&out, buf_view(&r.errors));
        ok &= example_report("toml.md", &x, x.wanted, buf_view(&out));
        buf_put(&now, done, (size_t)(x.raw.ptr - done));
        buf_str(&now, buf_view(&out));
        done = x.raw.ptr + x.raw.len;
        buf_free(&r.errors);
        buf_free(&out);
    }
    buf_put(&now, done, (size_t)(text.ptr + text.len - done));
    if (update)
        ok = fs_write(path, buf_view(&now)) >= 0;
    buf_free(&text);
    buf_free(&now);
    arena_free(&a);
    return ok;
}

static bool same_number(const char *a, const char *b)
{
    double x = strtod(a, NULL), y = strtod(b, NULL);
    return x == y || (isnan(x) && isnan(y));
}

// toml-test keeps the zeros at the end of a fraction.
static str without_zeros(str date, arena *a)
{
    size_t point = str_rfind(date, '.'), end = point + 1;
    if (point == date.len)
        return date;
    while (end < date.len && date.ptr[end] >= '0' && date.ptr[end] <= '9')
        end++;
    str zone = str_slice(date, end, date.len);
    while (date.ptr[end - 1] == '0')
        end--;
    return arena_join(a, str_slice(date, 0, end - (end == point + 1)), zone, STR_NONE);
}

static bool same_scalar(const struct toml_value *v, str type, str value)
{
    buf got = BUF_INIT;
    arena a = ARENA_INIT;
    put_scalar(&got, v);
    bool same = str_eq(type, str_c(kinds[v->kind]));
    if (v->kind == TOML_FLOAT)
        same &= same_number(got.ptr, value.ptr);
    else
        same &= str_eq(v->kind >= TOML_OFFSET_DATE_TIME ? without_zeros(value, &a) : value,
                       buf_view(&got));
    buf_free(&got);
    arena_free(&a);
    return same;
}

static str json_text(const json_t *j, const char *key)
{
    const json_t *s = json_object_get(j, key);
    return json_is_string(s) ? (str){json_string_value(s), json_string_length(s)} : STR_NONE;
}

static bool same_value(const struct toml_value *v, const json_t *j)
{
    if (v->kind > TOML_ARRAY)
        return same_scalar(v, json_text(j, "type"), json_text(j, "value"));
    size_t n = json_is_array(j) ? json_array_size(j) : json_object_size(j), i = 0;
    bool same = n == v->count && (v->kind == TOML_ARRAY) == json_is_array(j);
    for (const struct toml_value *at = v->first; same && at; at = at->next, i++) {
        const json_t *other =
            json_is_array(j) ? json_array_get(j, i) : json_object_getn(j, at->key.at, at->key.len);
        same = other && same_value(at, other) && (json_is_array(j) || toml_get(v, at->key) == at);
    }
    return same;
}

static bool run_case(const char *folder, str name)
{
    arena a = ARENA_INIT;
    buf text = BUF_INIT;
    json_t *wanted = NULL;
    bool valid = str_starts(name, STR("valid/"));
    str stem = str_slice(name, 0, name.len - 5);
    if (fs_read(arena_printf(&a, "%s/tests/%.*s", folder, STR_ARG(name)).ptr, 0, &text))
        return printf("not ok toml-test %.*s: cannot be read\n", STR_ARG(name)), false;
    if (valid)
        wanted = json_load_file(arena_printf(&a, "%s/tests/%.*s.json", folder, STR_ARG(stem)).ptr,
                                JSON_ALLOW_NUL, NULL);
    struct reading r = {.a = &a, .text = buf_view(&text)};
    struct toml_value *root = read_text(&r);
    bool ok = valid ? root && wanted && same_value(root, wanted) : !root;
    printf("%s toml-test %.*s\n", ok ? "ok" : "not ok", STR_ARG(name));
    if (!ok || getenv("V"))
        example_show("errors", buf_view(&r.errors));
    json_decref(wanted);
    buf_free(&r.errors);
    buf_free(&text);
    arena_free(&a);
    return ok;
}

static bool run_cases(const char *folder)
{
    arena a = ARENA_INIT;
    buf list = BUF_INIT;
    bool ok = !fs_read(arena_printf(&a, "%s/tests/files-toml-1.0.0", folder).ptr, 0, &list);
    str rest = buf_view(&list), line;
    if (!ok)
        printf("not ok toml-test: %s is no clone of it\n", folder);
    while (str_line(&rest, &line))
        // jansson has no keys with a NUL; the chapter has one.
        if (str_eq(line, STR("valid/key/quoted-unicode.toml")))
            printf("skip toml-test %.*s: a NUL in a key of its JSON\n", STR_ARG(line));
        else if (str_ends(line, STR(".toml")))
            ok &= run_case(folder, line);
    buf_free(&list);
    arena_free(&a);
    return ok;
}

int main(void)
{
    const char *folder = getenv("TOML_TEST");
    bool ok = run_chapter("tests/spec/toml.md");
    if (folder && *folder)
        ok &= run_cases(folder);
    else
        printf("skip toml-test: TOML_TEST names no clone of github.com/toml-lang/toml-test\n");
    return !ok;
}
