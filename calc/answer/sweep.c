// vram_sweep: every combination of the values of some fields, one row each.

#include "calc/answer/probe.h"
#include "calc/base/span.h"
#include "calc/base/text.h"

enum { SWEEP_KEYS = 6, SWEEP_VALUES = 4096, SWEEP_ROWS = 20000, SWEEP_TEXT = 24, SWEEP_CELL = 64 };

// One field's values: a list of texts in the ranges' own text, or numbers from `first` by `step`.
struct range {
    struct span key, list;
    bool counted;
    uint64_t first, step;
    size_t count;
};

struct sweep {
    struct vram *v, *probe;
    const char *text;  // the ranges, for positions
    struct range range[SWEEP_KEYS];
    size_t keys, rows;
    char key[SWEEP_KEYS][SWEEP_CELL], value[SWEEP_KEYS][SWEEP_CELL];  // as the rows have them
    const char *key_at[SWEEP_KEYS], *value_at[SWEEP_KEYS];
};

static struct err_pos place(const struct sweep *s, const char *at)
{
    return (struct err_pos){NULL, 1, (uint32_t)(at - s->text) + 1};
}

static int bad(struct sweep *s, struct span at, message_id id, uint64_t most)
{
    return err_set(&s->v->err, id, place(s, at.at), NO_FIELD,
                   ARGS(arg_part("range", at.at, at.len), arg_u64("most", most)));
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
            return bad(s, r->list, MESSAGE_range_numbers, 0);
        rest = span_skip(rest, n + 1);
    }
    if (parts < 2 || rest.len || part[2] == 0 || part[1] < part[0])
        return bad(s, r->list, MESSAGE_range_order, 0);
    if ((part[1] - part[0]) / part[2] >= SWEEP_VALUES)
        return bad(s, r->list, MESSAGE_range_values, SWEEP_VALUES);
    *r = (struct range){r->key,  r->list, true,
                        part[0], part[2], (size_t)((part[1] - part[0]) / part[2] + 1)};
    return VRAM_OK;
}

static int read_range(struct sweep *s, struct span word)
{
    size_t eq = span_find(word, "=");
    if (s->keys == SWEEP_KEYS)
        return bad(s, word, MESSAGE_range_fields, SWEEP_KEYS);
    struct range *r = &s->range[s->keys++];
    *r = (struct range){.key = {word.at, eq}, .list = span_skip(word, eq + 1)};
    if (eq == word.len || r->key.len == 0 || r->list.len == 0)
        return bad(s, word, MESSAGE_range_pair, 0);
    if (span_find(r->list, ":") < r->list.len)
        return read_counted(s, r);
    for (size_t i = 0; i < r->list.len; i++)
        r->count += r->list.at[i] == ',';
    r->count++;
    return r->count > SWEEP_VALUES ? bad(s, r->list, MESSAGE_range_values, SWEEP_VALUES) : VRAM_OK;
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
            return bad(s, span_of(ranges), MESSAGE_range_rows, SWEEP_ROWS);
    }
    if (s->keys)
        return VRAM_OK;
    return err_set(&s->v->err, MESSAGE_range_none, NO_POS, NO_FIELD, NO_ARGS);
}

// The text of a range's value; buf holds the digits of a counted one.
static struct span value_at(const struct range *r, size_t index, char buf[SWEEP_TEXT])
{
    if (!r->counted)
        return item(r->list, index);
    uint64_t n = r->first + r->step * index;
    char *at = text_digits(buf + SWEEP_TEXT, n);
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
    message_clear(&s->probe->err);
    int rc = handle_set(s->probe, pos, r->key.at, r->key.len, value.at, value.len);
    if (rc == VRAM_EKEY)
        s->probe->err.out.col = place(s, r->key.at).col;
    return rc;
}

static bool is_preset(const struct range *r)
{
    return text_equal_nocase(r->key.at, r->key.len, "preset");
}

// Sets the fields of one row; the last key changes fastest. A preset is a whole configuration: the
// others are set on it.
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

// A key or a value as a text of its own; what does not fit is cut.
static const char *cell(char out[SWEEP_CELL], struct span s)
{
    size_t n = s.len < SWEEP_CELL - 1 ? s.len : SWEEP_CELL - 1;
    mem_copy(out, s.at, n);
    out[n] = 0;
    return out;
}

static struct vram_sweep head(struct sweep *s)
{
    for (size_t k = 0; k < s->keys; k++)
        s->key_at[k] = cell(s->key[k], s->range[k].key);
    return (struct vram_sweep){s->key_at, s->keys, s->rows};
}

static struct vram_sweep_row row_of(struct sweep *s, size_t row, int rc)
{
    char buf[SWEEP_TEXT];
    for (size_t k = 0; k < s->keys; k++)
        s->value_at[k] = cell(s->value[k], row_value(s, row, k, buf));
    return (struct vram_sweep_row){row, s->value_at, s->probe, rc ? vram_error(s->probe) : NULL,
                                   rc ? NULL : &s->probe->result};
}

// A row that is not a possible model says so and the sweep goes on; no memory ends it.
static int run_row(struct sweep *s, size_t row, const struct vram_sweep *sweep, vram_sweep_fn *fn,
                   void *ctx)
{
    int rc = set_row(s, row);
    if (rc == VRAM_EKEY || rc == VRAM_EVALUE || rc == VRAM_EGPU || rc == VRAM_EPRESET)
        return probe_error(s->v, s->probe);
    if (rc == VRAM_OK)
        rc = vram_run(s->probe);
    if (rc == VRAM_ENOMEM)
        return probe_error(s->v, s->probe);
    struct vram_sweep_row out = row_of(s, row, rc);
    return fn(ctx, sweep, &out);
}

int vram_sweep(vram *v, const char *ranges, vram_sweep_fn *fn, void *ctx)
{
    struct sweep s = {.v = v, .text = ranges};
    message_clear(&v->err);
    int rc = read_ranges(&s, ranges);
    if (rc != VRAM_OK)
        return rc;
    s.probe = probe_new(v);
    if (!s.probe)
        return VRAM_ENOMEM;
    struct vram_sweep sweep = head(&s);
    for (size_t row = 0; row < s.rows && rc == VRAM_OK; row++)
        rc = run_row(&s, row, &sweep, fn, ctx);
    vram_free(s.probe);
    return rc;
}
