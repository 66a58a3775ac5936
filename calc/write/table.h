// CSV and Markdown tables: cells with what must be between them.

#ifndef CALC_TABLE_H
#define CALC_TABLE_H

#include "calc/base/writer.h"

struct table {
    struct writer *w;
    bool md;
    unsigned cell;  // in this row
};

struct table table_of(struct writer *w, bool md);
void table_head(struct table *t, const char *const *names, size_t count,
                unsigned text_columns);  // others: to the right
void table_str(struct table *t, const char *text);
void table_u64(struct table *t, uint64_t n);      // with commas in Markdown
void table_mib(struct table *t, uint64_t bytes);  // MiB in Markdown, bytes in CSV
void table_i64(struct table *t, int64_t n);
void table_tenths(struct table *t, int64_t n);  // n / 10 with its place
void table_end(struct table *t);                // of a row

#endif
