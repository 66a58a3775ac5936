// CSV and Markdown: cells, and the report in both.

#include "calc/answer/emit.h"

struct table table_of(struct writer *w, bool md)
{
    return (struct table){w, md, 0};
}

static void next(struct table *t)
{
    if (t->md)
        writer_str(t->w, t->cell ? " | " : "| ");
    else if (t->cell)
        writer_char(t->w, ',');
    t->cell++;
}

void table_str(struct table *t, const char *text)
{
    next(t);
    if (!t->md) {
        writer_csv(t->w, text);
        return;
    }
    for (; *text; text++)
        if (*text == '|')
            writer_str(t->w, "\\|");
        else
            writer_char(t->w, *text);
}

void table_u64(struct table *t, uint64_t n)
{
    next(t);
    if (t->md)
        emit_count(t->w, n);
    else
        writer_u64(t->w, n);
}

void table_mib(struct table *t, uint64_t bytes)
{
    next(t);
    if (t->md)
        emit_mib(t->w, bytes);
    else
        writer_u64(t->w, bytes);
}

void table_end(struct table *t)
{
    writer_str(t->w, t->md ? " |\n" : "\n");
    t->cell = 0;
}

void table_head(struct table *t, const char *const *names, size_t count, unsigned text_columns)
{
    for (size_t i = 0; i < count; i++)
        table_str(t, names[i]);
    table_end(t);
    if (!t->md)
        return;
    for (size_t i = 0; i < count; i++)
        table_str(t, i < text_columns ? "---" : "---:");
    table_end(t);
}

static void figure(struct table *t, const char *name, const struct vram_figure *f)
{
    table_str(t, name);
    table_mib(t, f->bytes);
    table_mib(t, f->low);
    table_mib(t, f->high);
    table_str(t, vram_basis_name(f->basis));
    table_end(t);
}

static void figures(struct writer *w, const struct vram_result *r, bool md)
{
    static const char *const csv[] = {"figure", "bytes", "low", "high", "basis"};
    static const char *const mib[] = {"figure", "MiB", "low", "high", "basis"};
    struct table t = table_of(w, md);
    table_head(&t, md ? mib : csv, 5, 1);
    figure(&t, "peak_live_bytes", &r->peak_live);
    figure(&t, "peak_allocated_bytes", &r->peak_allocated);
    figure(&t, "peak_reserved_bytes", &r->peak_reserved);
    figure(&t, "context_bytes", &r->context);
    figure(&t, "process_bytes", &r->process);
}

static void tensors(struct writer *w, const struct vram_result *r)
{
    static const char *const mib[] = {"tensor", "category", "op", "count", "MiB"};
    struct table t = table_of(w, true);
    table_head(&t, mib, 5, 3);
    for (size_t i = 0; i < r->at_peak_count; i++) {
        table_str(&t, r->at_peak[i].name);
        table_str(&t, vram_category_name(r->at_peak[i].category));
        table_str(&t, r->at_peak[i].op);
        table_u64(&t, r->at_peak[i].count);
        table_mib(&t, r->at_peak[i].bytes);
        table_end(&t);
    }
}

// One table in a CSV file: figures first, then a line for each category.
void emit_report_csv(struct writer *w, const struct vram *v)
{
    const struct vram_result *r = &v->result;
    figures(w, r, false);
    writer_f(w, "params,%u,%u,%u,exact rule\n", r->params, r->params, r->params);
    writer_f(w, "decayed_params,%u,%u,%u,exact rule\n", r->decayed_params, r->decayed_params,
             r->decayed_params);
    writer_f(w, "saved_bytes,%u,%u,%u,exact rule\n", r->saved_bytes, r->saved_bytes,
             r->saved_bytes);
    for (uint32_t c = 0; c < VRAM_CAT_COUNT; c++)
        writer_f(w, "at_peak.%s,%u,%u,%u,%s\n", vram_category_name(c), r->by_category[c],
                 r->by_category[c], r->by_category[c], vram_basis_name(r->peak_live.basis));
}

void emit_report_md(struct writer *w, const struct vram *v)
{
    const struct vram_result *r = &v->result;
    figures(w, r, true);
    writer_str(w, "\nAlive at the peak (");
    writer_f(w, "%s, %s):\n\n", r->peak_phase, r->peak_op);
    tensors(w, r);
}
