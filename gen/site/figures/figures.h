// Named figures of a document: its page.lua run once for all languages, records found, values
// formatted for a page.
#ifndef GEN_SITE_FIGURES_H
#define GEN_SITE_FIGURES_H

#include "gen/site/source/site.h"

// X(ID, name): what a figure rests on. A result of several kinds has the one that is last among
// them.
#define FIGURE_KINDS(X) \
    X(GIVEN, given) \
    X(COMPUTED, computed) X(MEASURED, measured) X(REPORTED, reported) X(CLAIMED, claimed)

enum figure_kind {
#define X(id, name) FIGURE_##id,
    FIGURE_KINDS(X)
#undef X
};

struct figure {
    str name;      // "peak"; the cell's code for one made inline
    double value;  // in unit
    str unit;      // "B", "MiB" and the like, "%", "tokens/s", "" for a plain number
    enum figure_kind kind;
    str source;    // config, record, address, or whose claim; "" for a given one
    bool missing;  // measured, and there is no record
    bool stale;    // measured, by an older protocol
    uint32_t citations;
    uint32_t line;  // of page.lua, where it was made; 0 in a cell
};

struct figures;  // of one document, with its Lua state; lives in the process that made it
struct view_figure;

// Runs the document's page.lua, if it has one. Errors are recorded; what could be defined can be
// cited. Never NULL.
struct figures *figures_load(const struct site *site, const struct document *doc, struct diag *d);
void figures_free(struct figures *f);
// Evaluates an inline cell for a page: appends the value in the page's locale with its kind and a
// link to its source, and notes the citation. False after an error was recorded; the code is then
// appended as <code>.
bool figures_cell(struct figures *f, const struct page *page, str code, struct diag_pos at,
                  buf *out);
// Runs a worked example; compares with what the file wants; appends code and output as HTML. With
// UPDATE=1 in the environment the file is rewritten instead.
bool figures_example(struct figures *f, const struct page *page, str code, str wanted,
                     struct diag_pos at, buf *out);
// Forgets what was cited on the page before.
void figures_begin_page(struct figures *f);
// How many figures of that page nothing has measured yet.
uint32_t figures_unmeasured(const struct figures *f);
// The figures cited so far on the page that is rendered, in order of first citation, as rows of its
// table of sources. Valid until the next page begins.
const struct view_figure *figures_view(struct figures *f, size_t *count);
// The parts of that page's first bar or card, for a picture: lines "category bytes", the limit as
// "limit bytes"; "" for none. Lives until the next page begins.
str figures_preview(const struct figures *f);
// Where the picture of such parts is, below the output folder.
str figures_preview_url(str preview, arena *a);
// Every figure that page.lua defines, by name.
size_t figures_defined(const struct figures *f, const struct figure *const **list);
// Reads all translations: figures that none cites, numbers with a byte unit that are no figures.
// Only for documents with page.lua; one call a document.
void figures_check(struct figures *f, struct diag *d);
// The names that the cells of a Markdown text may mean: words of their code. Calls note for each,
// repeated ones too.
void figures_names(str text, size_t from, void (*note)(void *ctx, str name, size_t offset),
                   void *ctx);

#endif
