// vram_sweep: every combination of the values of some fields, one row each.

#include "calc/answer/emit.h"
#include "calc/answer/fit.h"
#include "calc/base/text.h"
#include "calc/parse/parse.h"

enum { SWEEP_KEYS = 6, SWEEP_VALUES = 4096, SWEEP_ROWS = 20000, SWEEP_TEXT = 24 };

// One field's values: a list of texts in the ranges' own text, or numbers from `first` by `step`.
struct range {
    struct span key, list;
    bool counted;
    uint64_t first, step;
    size_t count;
};

struct sweep {
    struct vram *v, *probe;
    const char *text; // the ranges, for positions
    struct range range[SWEEP_KEYS];
    size_t keys, rows;
};

static struct err_pos place(const struct sweep *s, const char *at)
{
    return (struct err_pos){NULL, 1, (uint32_t)(at - s->text) + 1};
}

static int bad(struct sweep *s, struct span at, const char *text)
{
    return err_set(&s->v->err, VRAM_EPARSE, place(s, at.at), "in '%.*s': %s",
                   at.len > 60 ? 60 : (int)at.len, at.at, text);
}

static struct span item(struct span list, size_t index)
{
    for (;; index--) {
        size_t n = span_find(list, ",");
        if (index == 0)
            return (struct span){list.at, n};
        list = span_skip(list, n + 1);
    }
}

// "1:64", "64:1024:64"
static int read_counted(struct sweep *s, struct range *r)
{
    uint64_t part[3] = {0, 0, 1};
    bool overflow;
    struct span rest = r->list;
    size_t parts = 0;
    while (parts < 3 && rest.len > 0) {
        size_t n = span_find(rest, ":");
        if (!text_to_u64(rest.at, n, &part[parts++], &overflow))
            return bad(s, r->list, "expected first:last or first:last:step, in whole numbers");
        rest = span_skip(rest, n + 1);
    }
    if (parts < 2 || rest.len || part[2] == 0 || part[1] < part[0])
        return bad(s, r->list, "expected first:last or first:last:step, with first <= last");
    if ((part[1] - part[0]) / part[2] >= SWEEP_VALUES)
        return bad(s, r->list, "more than 4096 values");
    *r = (struct range){r->key,  r->list, true,
                        part[0], part[2], (size_t)((part[1] - part[0]) / part[2] + 1)};
    return VRAM_OK;
}

static int read_range(struct sweep *s, struct span word)
{
    size_t eq = span_find(word, "=");
    if (s->keys == SWEEP_KEYS)
        return bad(s, word, "at most 6 fields can be swept at once");
    struct range *r = &s->range[s->keys++];
    *r = (struct range){.key = {word.at, eq}, .list = span_skip(word, eq + 1)};
    if (eq == word.len || r->key.len == 0 || r->list.len == 0)
        return bad(s, word, "expected field=1:64 or field=256,512,1024");
    if (span_find(r->list, ":") < r->list.len)
        return read_counted(s, r);
    for (size_t i = 0; i < r->list.len; i++)
        r->count += r->list.at[i] == ',';
    r->count++;
    return r->count > SWEEP_VALUES ? bad(s, r->list, "more than 4096 values") : VRAM_OK;
}

static int read_ranges(struct sweep *s, const char *ranges)
{
    struct span rest = span_trim(span_of(ranges));
    int rc = VRAM_OK;
    while (rc == VRAM_OK && rest.len > 0) {
        size_t n = 0;
        while (n < rest.len && rest.at[n] != ' ' && rest.at[n] != '\n')
            n++;
        rc = read_range(s, (struct span){rest.at, n});
        rest = span_skip(rest, n + 1);
        while (rest.len > 0 && (rest.at[0] == ' ' || rest.at[0] == '\n'))
            rest = span_skip(rest, 1);
    }
    if (rc != VRAM_OK)
        return rc;
    s->rows = 1;
    for (size_t i = 0; i < s->keys; i++) {
        s->rows *= s->range[i].count;
        if (s->rows > SWEEP_ROWS)
            return bad(s, span_of(ranges), "more than 20000 combinations");
    }
    if (s->keys)
        return VRAM_OK;
    return err_set(&s->v->err, VRAM_EPARSE, (struct err_pos){0},
                   "nothing to sweep: give field=1:64 or field=256,512,1024");
}

// The text of a range's value; buf holds the digits of a counted one.
static struct span value_at(const struct range *r, size_t index, char buf[SWEEP_TEXT])
{
    if (!r->counted)
        return item(r->list, index);
    uint64_t n = r->first + r->step * index;
    char *at = buf + SWEEP_TEXT;
    do {
        *--at = (char)('0' + n % 10);
        n /= 10;
    } while (n);
    return (struct span){at, (size_t)(buf + SWEEP_TEXT - at)};
}

static struct span row_value(const struct sweep *s, size_t row, size_t key, char buf[SWEEP_TEXT])
{
    for (size_t k = s->keys - 1; k > key; k--)
        row /= s->range[k].count;
    return value_at(&s->range[key], row % s->range[key].count, buf);
}

static int set_key(struct sweep *s, size_t row, size_t key)
{
    char buf[SWEEP_TEXT];
    const struct range *r = &s->range[key];
    struct span value = row_value(s, row, key, buf);
    struct err_pos pos = place(s, r->counted ? r->list.at : value.at);
    err_clear(&s->probe->err);
    int rc = vram_set_at(s->probe, pos, r->key.at, r->key.len, value.at, value.len);
    if (rc == VRAM_EKEY)
        s->probe->err.message.col = place(s, r->key.at).col;
    return rc;
}

static bool is_preset(const struct range *r)
{
    return text_equal_nocase(r->key.at, r->key.len, "preset");
}

// Sets the fields of one row; the last key changes fastest. A preset is a whole configuration: the others are set on it.
static int set_row(struct sweep *s, size_t row)
{
    int rc = VRAM_OK;
    vram_copy(s->probe, s->v);
    for (size_t k = 0; k < s->keys && rc == VRAM_OK; k++)
        if (is_preset(&s->range[k]))
            rc = set_key(s, row, k);
    for (size_t k = 0; k < s->keys && rc == VRAM_OK; k++)
        if (!is_preset(&s->range[k]))
            rc = set_key(s, row, k);
    return rc;
}

static const char *fits_word(const struct vram_result *r)
{
    static const char *const words[] = {"", "yes", "tight", "no"};
    return words[emit_fit_of(r)];
}

static void json_preset(struct json *j, struct span value)
{
    char name[48];
    size_t n = value.len < sizeof name - 1 ? value.len : sizeof name - 1;
    mem_copy(name, value.at, n);
    name[n] = 0;
    json_str(j, "preset", name);
}

static void json_row(struct json *j, const struct sweep *s, size_t row, int rc)
{
    const struct vram_result *r = &s->probe->result;
    json_open(j, NULL, '{');
    char buf[SWEEP_TEXT];
    for (size_t k = 0; k < s->keys; k++) {
        char key[48];
        struct span name = s->range[k].key;
        size_t n = name.len < sizeof key - 1 ? name.len : sizeof key - 1;
        mem_copy(key, name.at, n);
        key[n] = 0;
        int field = config_field(name.at, name.len);
        const struct vram_field *f = field < 0 ? NULL : vram_field_at((size_t)field);
        uint64_t value = f ? config_get(&s->probe->config, (size_t)field) : 0;
        const struct vram_gpu *gpu =
            s->probe->config.gpu < 0 ? NULL : vram_gpu_at((size_t)s->probe->config.gpu);
        if (is_preset(&s->range[k]))
            json_preset(j, row_value(s, row, k, buf));
        else if (!f)
            json_str(j, key, gpu ? gpu->name : NULL);
        else if (f->values)
            json_str(j, f->key, f->values[value]);
        else
            json_fixed(j, f->key, value, f->type[0] == 'f' ? 6 : 0);
    }
    if (rc != VRAM_OK) {
        json_str(j, "error", vram_error(s->probe)->text);
    } else {
        json_u64(j, "params", r->params);
        json_u64(j, "peak_live_bytes", r->peak_live.bytes);
        json_u64(j, "peak_allocated_bytes", r->peak_allocated.bytes);
        json_u64(j, "peak_reserved_bytes", r->peak_reserved.bytes);
        json_u64(j, "process_bytes", r->process.bytes);
        if (r->gpu_name)
            json_bool(j, "fits", emit_fit_of(r) != EMIT_TOO_BIG);
        else
            json_null(j, "fits");
    }
    json_close(j, '}');
}

static void table_row(struct table *t, const struct sweep *s, size_t row, int rc)
{
    const struct vram_result *r = &s->probe->result;
    char buf[SWEEP_TEXT], cell[64];
    for (size_t k = 0; k < s->keys; k++) {
        struct span value = row_value(s, row, k, buf);
        size_t n = value.len < sizeof cell - 1 ? value.len : sizeof cell - 1;
        mem_copy(cell, value.at, n);
        cell[n] = 0;
        table_str(t, cell);
    }
    if (rc != VRAM_OK) {
        for (int i = 0; i < 4; i++)
            table_str(t, "");
        table_str(t, vram_error(s->probe)->text);
    } else {
        table_mib(t, r->peak_live.bytes);
        table_mib(t, r->peak_allocated.bytes);
        table_mib(t, r->peak_reserved.bytes);
        table_mib(t, r->process.bytes);
        table_str(t, fits_word(r));
    }
    table_end(t);
}

static void text_row(struct writer *w, const struct sweep *s, size_t row, int rc)
{
    const struct vram_result *r = &s->probe->result;
    char buf[SWEEP_TEXT];
    for (size_t k = 0; k < s->keys; k++) {
        struct span value = row_value(s, row, k, buf);
        size_t width = s->range[k].key.len > 8 ? s->range[k].key.len : 8;
        for (size_t i = value.len; i < width; i++)
            writer_char(w, ' ');
        writer_bytes(w, value.at, value.len);
        writer_str(w, "  ");
    }
    if (rc != VRAM_OK) {
        writer_f(w, "%s\n", vram_error(s->probe)->text);
        return;
    }
    emit_mib_right(w, r->peak_live.bytes, 12);
    emit_mib_right(w, r->peak_allocated.bytes, 12);
    emit_mib_right(w, r->peak_reserved.bytes, 12);
    emit_mib_right(w, r->process.bytes, 12);
    writer_f(w, "  %s\n", fits_word(r));
}

static void text_head(struct writer *w, const struct sweep *s)
{
    for (size_t k = 0; k < s->keys; k++) {
        for (size_t i = s->range[k].key.len; i < 8; i++)
            writer_char(w, ' ');
        writer_f(w, "%.*s  ", (int)s->range[k].key.len, s->range[k].key.at);
    }
    writer_str(w, "    live MiB   allocated    reserved     process  fits\n");
}

static void table_heading(struct table *t, const struct sweep *s)
{
    static const char *const csv[] = {"peak_live_bytes", "peak_allocated_bytes",
                                      "peak_reserved_bytes", "process_bytes", "fits"};
    static const char *const md[] = {"live MiB", "allocated MiB", "reserved MiB", "process MiB",
                                     "fits"};
    char keys[SWEEP_KEYS][48];
    const char *names[SWEEP_KEYS + 5];
    for (size_t k = 0; k < s->keys; k++) {
        size_t n = s->range[k].key.len < 47 ? s->range[k].key.len : 47;
        mem_copy(keys[k], s->range[k].key.at, n);
        keys[k][n] = 0;
        names[k] = keys[k];
    }
    for (size_t i = 0; i < 5; i++)
        names[s->keys + i] = t->md ? md[i] : csv[i];
    table_head(t, names, s->keys + 5, 0);
}

// A row that is not a possible model says so and the sweep goes on; no memory ends it.
static int all_rows(struct sweep *s, enum vram_format format)
{
    struct writer *w = &s->v->text;
    struct json j = json_of(w);
    struct table t = table_of(w, format == VRAM_FORMAT_MD);
    if (format == VRAM_FORMAT_JSON)
        json_open(&j, NULL, '[');
    else if (format == VRAM_FORMAT_TEXT)
        text_head(w, s);
    else
        table_heading(&t, s);
    for (size_t row = 0; row < s->rows; row++) {
        int rc = set_row(s, row);
        if (rc == VRAM_EKEY || rc == VRAM_EVALUE || rc == VRAM_EGPU || rc == VRAM_EPRESET)
            return fit_error(s->v, s->probe);
        if (rc == VRAM_OK)
            rc = vram_run(s->probe);
        if (rc == VRAM_ENOMEM)
            return fit_error(s->v, s->probe);
        if (format == VRAM_FORMAT_JSON)
            json_row(&j, s, row, rc);
        else if (format == VRAM_FORMAT_TEXT)
            text_row(w, s, row, rc);
        else
            table_row(&t, s, row, rc);
    }
    if (format == VRAM_FORMAT_JSON) {
        json_close(&j, ']');
        json_end(&j);
    }
    return emit_done(s->v);
}

int vram_sweep(vram *v, const char *ranges, enum vram_format format)
{
    struct sweep s = {.v = v, .text = ranges};
    if (!emit_begin(v, format))
        return VRAM_EUNSUPPORTED;
    format = emit_format(format);
    int rc = read_ranges(&s, ranges);
    if (rc != VRAM_OK)
        return rc;
    s.probe = fit_probe(v);
    if (!s.probe)
        return VRAM_ENOMEM;
    rc = all_rows(&s, format);
    vram_free(s.probe);
    return rc;
}
