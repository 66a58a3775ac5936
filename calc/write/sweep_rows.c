// Owns vram_write_sweep: a row for every combination, as text, JSON, CSV or Markdown.

#include "calc/base/text.h"
#include "calc/write/json_parts.h"
#include "calc/write/number.h"
#include "calc/write/table.h"
#include "calc/write/text_parts.h"
#include "calc/write/write_json.h"

enum { KEYS_MAX = 16, KEY_WIDTH = 8, FIGURES = 4 };

struct rows {
    struct writer *w;
    enum vram_format format;
    struct json j;
    struct table t;
    struct message_list notes;  // of the rows' text, each once
};

static const char *fits_word(const struct vram_result *r)
{
    static const char *const words[VRAM_VERDICT_COUNT] = {[VRAM_VERDICT_NO_GPU] = "",
                                                          [VRAM_VERDICT_FITS] = "yes",
                                                          [VRAM_VERDICT_TIGHT] = "tight",
                                                          [VRAM_VERDICT_NEARLY] = "no",
                                                          [VRAM_VERDICT_TOO_BIG] = "no"};
    return words[r->verdict];
}

static void figures_of(const struct vram_result *r, uint64_t out[FIGURES])
{
    out[0] = r->peak_live.bytes;
    out[1] = r->peak_allocated.bytes;
    out[2] = r->peak_reserved.bytes;
    out[3] = r->process.bytes;
}

// ---- JSON ------------------------------------------------------------------------------------

static void json_value(struct json *j, const char *key, const char *value,
                       const struct vram_config *c)
{
    int field = config_field(key, text_len(key));
    const struct vram_gpu *gpu = c->gpu < 0 ? NULL : vram_gpu_at((size_t)c->gpu);
    if (text_equal_nocase(key, text_len(key), "preset"))
        json_str(j, "preset", value);
    else if (field < 0)
        json_str(j, key, gpu ? gpu->name : NULL);
    else
        json_field_value(j, c, (size_t)field);
}

static void json_figures(struct json *j, const struct vram_result *r)
{
    json_u64(j, "params", r->params);
    json_u64(j, "peak_live_bytes", r->peak_live.bytes);
    json_u64(j, "peak_allocated_bytes", r->peak_allocated.bytes);
    json_u64(j, "peak_reserved_bytes", r->peak_reserved.bytes);
    json_u64(j, "process_bytes", r->process.bytes);
    if (r->gpu_name)
        json_bool(j, "fits", vram_verdict_fits(r->verdict));
    else
        json_null(j, "fits");
}

static void json_notes(struct json *j, const struct vram_result *r)
{
    json_open(j, "notes", '[');
    for (size_t i = 0; r && i < r->note_count; i++)
        json_message(j, NULL, &r->notes[i]);
    json_close(j, ']');
}

static void json_row(struct json *j, const struct vram_sweep *s, const struct vram_sweep_row *row)
{
    json_open(j, NULL, '{');
    for (size_t k = 0; k < s->key_count; k++)
        json_value(j, s->keys[k], row->values[k], &row->config->config);
    if (row->error)
        json_message(j, "error", row->error);
    else
        json_figures(j, row->result);
    json_notes(j, row->result);
    json_close(j, '}');
}

// ---- CSV and Markdown ------------------------------------------------------------------------

static void table_heading(struct table *t, const struct vram_sweep *s)
{
    static const char *const csv[] = {"peak_live_bytes", "peak_allocated_bytes",
                                      "peak_reserved_bytes", "process_bytes", "fits"};
    static const char *const md[] = {"live MiB", "allocated MiB", "reserved MiB", "process MiB",
                                     "fits"};
    const char *names[KEYS_MAX + FIGURES + 1];
    size_t n = 0;
    for (; n < s->key_count && n < KEYS_MAX; n++)
        names[n] = s->keys[n];
    for (size_t i = 0; i <= FIGURES; i++)
        names[n + i] = t->md ? md[i] : csv[i];
    table_head(t, names, n + FIGURES + 1, 0);
}

static void table_row(struct table *t, const struct vram_sweep *s, const struct vram_sweep_row *row)
{
    uint64_t figures[FIGURES];
    for (size_t k = 0; k < s->key_count; k++)
        table_str(t, row->values[k]);
    if (!row->error)
        figures_of(row->result, figures);
    for (size_t i = 0; i < FIGURES; i++)
        if (row->error)
            table_str(t, "");
        else
            table_mib(t, figures[i]);
    table_str(t, row->error ? row->error->text : fits_word(row->result));
    table_end(t);
}

// ---- text ------------------------------------------------------------------------------------

static void text_head(struct writer *w, const struct vram_sweep *s)
{
    for (size_t k = 0; k < s->key_count; k++) {
        for (size_t i = text_len(s->keys[k]); i < KEY_WIDTH; i++)
            writer_char(w, ' ');
        writer_f(w, "%s  ", s->keys[k]);
    }
    writer_str(w, "    live MiB   allocated    reserved     process  fits\n");
}

static void text_row(struct writer *w, const struct vram_sweep *s, const struct vram_sweep_row *row)
{
    uint64_t figures[FIGURES];
    for (size_t k = 0; k < s->key_count; k++) {
        size_t width = text_len(s->keys[k]) > KEY_WIDTH ? text_len(s->keys[k]) : KEY_WIDTH;
        for (size_t i = text_len(row->values[k]); i < width; i++)
            writer_char(w, ' ');
        writer_f(w, "%s  ", row->values[k]);
    }
    if (row->error) {
        writer_f(w, "%s\n", row->error->text);
        return;
    }
    figures_of(row->result, figures);
    for (size_t i = 0; i < FIGURES; i++)
        put_mib_right(w, figures[i], 12);
    writer_f(w, "  %s\n", fits_word(row->result));
}

// ---- all -------------------------------------------------------------------------------------

static bool is_said(const struct message_list *l, const struct vram_message *m)
{
    bool said = m->line > 0;
    for (size_t i = 0; i < l->count && !said; i++)
        said = text_equal(m->text, text_len(m->text), l->at[i].text);
    return said;
}

static void take_notes(struct message_list *l, const struct vram_result *r)
{
    for (size_t i = 0; r && i < r->note_count; i++)
        if (!is_said(l, &r->notes[i]))
            message_list_copy(l, &r->notes[i]);
}

static int on_row(void *ctx, const struct vram_sweep *s, const struct vram_sweep_row *row)
{
    struct rows *r = ctx;
    if (r->format == VRAM_FORMAT_JSON) {
        json_row(&r->j, s, row);
    } else if (r->format == VRAM_FORMAT_TEXT) {
        if (row->index == 0)
            text_head(r->w, s);
        text_row(r->w, s, row);
        take_notes(&r->notes, row->result);
    } else {
        if (row->index == 0)
            table_heading(&r->t, s);
        table_row(&r->t, s, row);
    }
    return writer_status(r->w);
}

int vram_write_sweep(vram *v, const char *ranges, enum vram_format format)
{
    bool md = format == VRAM_FORMAT_MD, json = format == VRAM_FORMAT_JSON;
    if (!md && !json && format != VRAM_FORMAT_TEXT && format != VRAM_FORMAT_CSV)
        return write_refuse(v, VRAM_ANSWER_REPORT, format);
    message_clear(&v->err);
    writer_reset(&v->text);
    v->text.color = false;
    struct rows r = {&v->text, format, json_of(&v->text), table_of(&v->text, md), {.count = 0}};
    message_list_init(&r.notes, &v->mem);
    if (json)
        json_open(&r.j, NULL, '[');
    int rc = vram_sweep(v, ranges, on_row, &r);
    if (json) {
        json_close(&r.j, ']');
        json_end(&r.j);
    }
    put_notes(r.w, "", r.notes.at, r.notes.count);
    if (rc == VRAM_OK && r.notes.failed)
        rc = handle_no_memory(v);
    message_list_free(&r.notes);
    int end = write_end(v);
    return rc == VRAM_OK ? end : rc;
}
