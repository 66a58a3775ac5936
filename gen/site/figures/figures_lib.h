// What the files of the figures share: the state of a document's figures, and Lua values that carry
// one.
#ifndef GEN_SITE_FIGURES_LIB_H
#define GEN_SITE_FIGURES_LIB_H

#include <lauxlib.h>
#include <lua.h>

#include "gen/site/figures/figures.h"
#include "gen/site/sandbox/sandbox.h"
#include "gen/site/template/view.h"

#define FIGURE_META "figure"
#define SHOWN_META "formatted figure"

struct figures {
    const struct site *site;
    const struct document *doc;
    struct diag *d;
    struct sandbox *sandbox;  // NULL until it is needed
    lua_State *L;
    arena arena;
    str text;  // of page.lua
    struct figure **defined;
    size_t defined_count, defined_cap;
    int values;   // registry reference: what page.lua returned
    int cells;    // registry reference: code -> compiled function
    str unknown;  // name that the running cell asked for in vain
    bool in_page_lua, page_lua_failed;
    str module_folder;  // of the module that is loaded, as a path below the content folder ends in
                        // '/'; else empty

    // the page that is rendered
    const struct page *page;
    const struct figure **cited;
    size_t cited_count, cited_cap;
    str *cited_text;
    size_t cited_text_cap;  // as first shown
    struct view_figure *rows;
    size_t row_cap;
    struct map anchors;     // what tells citations apart -> number of the row
    struct map unmeasured;  // sources of figures that are missing
    uint32_t unmeasured_count;
    str preview;  // of the first chart of parts
    arena page_arena;
};

// A figure as the text wants it: with a unit and decimals, as a percentage, with a sign.
enum shown_style {
    SHOWN_DEFAULT,
    SHOWN_BYTES,
    SHOWN_PERCENT,
    SHOWN_SIGNED_PERCENT,
    SHOWN_NUMBER,
    SHOWN_RATIO
};

struct shown {
    struct figure *figure;
    enum shown_style style;
    enum byte_unit unit;  // of SHOWN_BYTES
    int decimals;
    str html;  // of a chart, which has no figure
};

struct figures *figures_of(lua_State *L);
// Metatables and functions of figures, into the table on top of the stack.
void figures_open_values(lua_State *L);
void figures_open_makers(lua_State *L);
void figures_open_vram(lua_State *L);
void figures_open_charts(lua_State *L);
void figures_open_list(lua_State *L);
void figures_open_beside(lua_State *L);
void figures_open_table(lua_State *L);
// Leaves HTML blocks as the value of a cell; html lives in the figures' arena.
int chart_push(lua_State *L, str html);
bool chart_at(lua_State *L, int index, str *html);
// Leaves f as a Lua value.
void figure_push(lua_State *L, struct figure *f);
struct figure *figure_new(lua_State *L, double value, str unit, enum figure_kind kind, str source);
// The figure at index, or NULL.
struct figure *figure_at(lua_State *L, int index);
// The cell's result at index: a figure with its format. False when it is something else.
bool shown_at(lua_State *L, int index, struct shown *out);
const char *figure_kind_name(enum figure_kind kind);
// Whether unit is one of bytes; *scale is its size.
bool figure_is_bytes(str unit, double *scale);
// Appends the value in words of the language: "5.901 MiB", "not measured yet".
void shown_text(const struct shown *s, const struct language *l, buf *out);
// Appends a figure with its kind and a link to its source, and notes the citation.
void figure_html(struct figures *f, const struct shown *s, buf *out);
// Appends a source in words of the language: sentences that its catalog has as "source.SENTENCE",
// addresses as links, commands and formulas as code.
void source_html(const struct figure *f, const struct language *l, buf *out);
// Records the newest valid result for a query table at index; see figures_record.c.
void record_find(lua_State *L, int query, const char *experiment, struct figure *out);

#endif
