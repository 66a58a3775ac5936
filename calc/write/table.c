// Owns CSV and Markdown tables.

#include "calc/write/table.h"

#include "calc/write/number.h"

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
        put_count(t->w, n);
    else
        writer_u64(t->w, n);
}

void table_mib(struct table *t, uint64_t bytes)
{
    next(t);
    if (t->md)
        put_mib(t->w, bytes);
    else
        writer_u64(t->w, bytes);
}

void table_i64(struct table *t, int64_t n)
{
    next(t);
    writer_i64(t->w, n);
}

void table_tenths(struct table *t, int64_t n)
{
    uint64_t size = (uint64_t)(n < 0 ? -n : n);
    next(t);
    if (n < 0)
        writer_char(t->w, '-');
    writer_f(t->w, "%u.%u", size / 10, size % 10);
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
