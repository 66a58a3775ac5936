// Named figures of a document: its page.lua run once for all languages, records found, values formatted for a page.
#ifndef GEN_SITE_FIGURES_H
#define GEN_SITE_FIGURES_H

#include "gen/site/site.h"

enum figure_kind { FIGURE_COMPUTED, FIGURE_MEASURED, FIGURE_REPORTED, FIGURE_CLAIMED, FIGURE_GIVEN };

struct figure {
    str name;          // "peak"; "" for one made inline by given(...) or an expression
    double value;
    str unit;          // "B" for bytes, "MiB", "%", "" for a plain number, ...
    enum figure_kind kind;
    str source;        // config, record id, address, or whose claim
    bool missing;      // measured, and there is no record
    uint32_t citations;
};

struct figures;        // of one document, with its Lua state; lives in the process that made it

// NULL for a document without page.lua and without cells. Errors are recorded.
struct figures *figures_load(const struct site *site, const struct document *doc, struct diag *d);
void figures_free(struct figures *f);
// Evaluates an inline cell for a page: appends <data value=...> with the formatted value, and notes the citation.
bool figures_cell(struct figures *f, const struct page *page, str code, struct diag_pos at, buf *out);
// Runs a worked example; compares with what the file wants; appends code and output as HTML.
bool figures_example(struct figures *f, const struct page *page, str code, str wanted, struct diag_pos at, buf *out);
// The figures cited so far on the page that is rendered, in order of first citation; reset by figures_begin_page.
void figures_begin_page(struct figures *f);
size_t figures_cited(const struct figures *f, const struct figure *const **list);
uint64_t figures_hash(const struct figures *f);

#endif
