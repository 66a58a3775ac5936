// Inline cells: an expression evaluated for a page, shown in its locale with its kind, and a row in
// the page's sources.
#include <math.h>
#include <string.h>

#include "gen/site/figures/figures_lib.h"
#include "gen/site/figures/figures_run.h"
#include "gen/base/escape.h"
#include "gen/text/markdown.h"

#define NBSP "\xc2\xa0"
#define NOTHING "\xe2\x80\x93"  // an en dash where there is no value

static void put_word(const struct language *l, str key, buf *out)
{
    if (!catalog_format(l->catalog, key, NULL, 0, out, NULL))
        buf_str(out, key);
}

// A plain number: whole ones in full, others with at most two decimals.
static void put_plain(const struct locale *l, double v, buf *out)
{
    if (v == floor(v) && fabs(v) < 9e15)
        locale_integer(l, (int64_t)v, out);
    else
        locale_number(l, v, fabs(v) < 1 ? -1 : 2, out);
}

static void put_default(const struct figure *g, const struct locale *l, buf *out)
{
    enum byte_unit u;
    double scale;
    if (figure_is_bytes(g->unit, &scale)) {
        byte_unit_parse(g->unit, &u);
        bool plain = u == UNIT_B;  // bytes themselves are read in MiB
        locale_bytes(l, g->value * scale, plain ? UNIT_MiB : u, plain ? 0 : -1, out);
    } else if (str_eq(g->unit, STR("%"))) {
        locale_percent(l, g->value / 100, -1, false, out);
    } else {
        put_plain(l, g->value, out);
        if (g->unit.len)
            buf_printf(out, NBSP "%.*s", STR_ARG(g->unit));
    }
}

void shown_text(const struct shown *s, const struct language *language, buf *out)
{
    const struct locale *l = language->locale;
    const struct figure *g = s->figure;
    double scale = 1;
    if (g->missing) {
        buf_lit(out, NOTHING);
        return;
    }
    switch (s->style) {
    case SHOWN_DEFAULT: put_default(g, l, out); break;
    case SHOWN_BYTES:
        figure_is_bytes(g->unit, &scale);
        locale_bytes(l, g->value * scale, s->unit, s->decimals, out);
        break;
    case SHOWN_PERCENT: locale_percent(l, g->value, s->decimals, false, out); break;
    case SHOWN_SIGNED_PERCENT: locale_percent(l, g->value, s->decimals, true, out); break;
    case SHOWN_NUMBER: locale_number(l, g->value, s->decimals, out); break;
    case SHOWN_RATIO:
        locale_number(l, g->value, s->decimals, out);
        buf_lit(out, "\xc3\x97");  // the sign of multiplication
        break;
    }
}

static uint32_t cite(struct figures *f, const struct shown *s, str text)
{
    struct figure *g = s->figure;
    buf key = BUF_INIT;
    bool is_new;
    buf_printf(&key, "%s\n%.*s\n%.*s\n%.*s", figure_kind_name(g->kind), STR_ARG(text),
               STR_ARG(g->name), STR_ARG(g->source));
    void **place = map_put(&f->anchors, &f->page_arena, buf_view(&key), &is_new);
    buf_free(&key);
    g->citations++;
    if (!is_new)
        return (uint32_t)(uintptr_t)*place;
    size_t n = f->cited_count;
    f->cited = arena_grow(&f->page_arena, f->cited, n, &f->cited_cap, n + 1, sizeof *f->cited);
    f->cited_text = arena_grow(&f->page_arena, f->cited_text, n, &f->cited_text_cap, n + 1,
                               sizeof *f->cited_text);
    f->cited[n] = g;
    f->cited_text[n] = arena_str(&f->page_arena, text);
    f->cited_count = n + 1;
    *place = (void *)(uintptr_t)f->cited_count;
    return (uint32_t)f->cited_count;
}

static void put_value(const struct figure *g, buf *out)
{
    double scale = 1;
    figure_is_bytes(g->unit, &scale);
    double v = g->value * scale;
    if (v == floor(v) && fabs(v) < 9e15)
        buf_printf(out, "%.0f", v);
    else
        buf_printf(out, "%.15g", v);
}

// A value that nothing has measured yet is no citation: the page says once how many there are.
static void put_missing(struct figures *f, const struct figure *g, buf *out)
{
    bool is_new;
    map_put(&f->unmeasured, &f->page_arena, g->source, &is_new);
    f->unmeasured_count += is_new;
    buf_lit(out, MD_ABSENT " title=\"");
    buf words = BUF_INIT;
    put_word(f->page->language, STR("figure.missing"), &words);
    escape_attribute(out, buf_view(&words));
    buf_free(&words);
    buf_lit(out, "\">" NOTHING "</span>");
}

// The kind in words, which a screen reader says after the number.
static void put_kind(struct figures *f, const char *kind, buf *out)
{
    buf key = BUF_INIT, words = BUF_INIT;
    buf_printf(&key, "figure.kind.%s", kind);
    if (catalog_format(f->page->language->catalog, buf_view(&key), NULL, 0, &words, NULL)) {
        buf_lit(out, " title=\"");
        escape_attribute(out, buf_view(&words));
        buf_char(out, '"');
    }
    buf_free(&key);
    buf_free(&words);
}

// Given values are what the text itself states: they have no source to go to.
void figure_html(struct figures *f, const struct shown *s, buf *out)
{
    const struct figure *g = s->figure;
    const char *kind = figure_kind_name(g->kind);
    buf text = BUF_INIT;
    bool linked = g->kind != FIGURE_GIVEN || g->source.len;
    if (g->missing) {
        put_missing(f, g, out);
        s->figure->citations++;
        return;
    }
    shown_text(s, f->page->language, &text);
    if (linked) {
        size_t known = f->cited_count;
        uint32_t row = cite(f, s, buf_view(&text));
        buf_printf(out, "<a class=\"fig %s\" href=\"#source-%u\"", kind, row);
        if (row > known)
            buf_printf(out, " id=\"cite-%u\"", row);  // where the table leads back to
        put_kind(f, kind, out);
        buf_char(out, '>');
    }
    buf_lit(out, "<data value=\"");
    put_value(g, out);
    buf_str(out, linked ? STR("\">") : STR("\" class=\"fig given\">"));
    escape_text(out, buf_view(&text));
    buf_lit(out, "</data>");
    buf_str(out, linked ? STR("</a>") : STR(""));
    buf_free(&text);
}

bool figures_cell(struct figures *f, const struct page *page, str code, struct diag_pos at,
                  buf *out)
{
    struct shown s;
    f->page = page;
    if (!figures_evaluate(f, code, at, &s)) {
        buf_lit(out, "<code>");
        escape_text(out, code);
        buf_lit(out, "</code>");
        return false;
    }
    if (!s.figure) {
        buf_str(out, s.html);
        return true;
    }
    if (!s.figure->name.len)
        s.figure->name = arena_str(&f->arena, code);
    figure_html(f, &s, out);
    return true;
}

void figures_begin_page(struct figures *f)
{
    arena_reset(&f->page_arena);
    f->anchors = (struct map){0};
    f->unmeasured = (struct map){0};
    f->unmeasured_count = 0;
    f->preview = STR_NONE;
    f->cited = NULL;
    f->cited_text = NULL;
    f->rows = NULL;
    f->cited_count = f->cited_cap = f->cited_text_cap = f->row_cap = 0;
}

str figures_preview(const struct figures *f)
{
    return f->preview;
}

str figures_preview_url(str preview, arena *a)
{
    return arena_printf(a, "assets/preview.%08x.png", (unsigned)str_hash(preview));
}

uint32_t figures_unmeasured(const struct figures *f)
{
    return f->unmeasured_count;
}

const struct view_figure *figures_view(struct figures *f, size_t *count)
{
    *count = f->cited_count;
    if (!f->cited_count)
        return NULL;
    f->rows = arena_new(&f->page_arena, struct view_figure, f->cited_count);
    for (size_t i = 0; i < f->cited_count; i++) {
        const struct figure *g = f->cited[i];
        buf html = BUF_INIT;
        source_html(g, f->page->language, &html);
        if (g->stale) {
            buf_lit(&html, " (");
            put_word(f->page->language, STR("figure.stale"), &html);
            buf_char(&html, ')');
        }
        f->rows[i] = (struct view_figure){
            .name = g->name,
            .text = f->cited_text[i],
            .kind = str_c(figure_kind_name(g->kind)),
            .source_html = arena_str(&f->page_arena, buf_view(&html)),
            .anchor = arena_printf(&f->page_arena, "source-%zu", i + 1),
            .cite = arena_printf(&f->page_arena, "cite-%zu", i + 1),
        };
        buf_free(&html);
    }
    return f->rows;
}
