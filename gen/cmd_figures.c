// vramdoc figures: every figure of the documents, its value, kind, source, and the pages that cite
// it.
#include <math.h>
#include <string.h>

#include "gen/cmd.h"
#include "gen/cmd_site.h"
#include "gen/site/figures/figures.h"
#include "gen/site/figures/figures_lib.h"
#include "gen/site/documents/load.h"
#include "gen/base/escape.h"

struct options {
    struct site_options site;
};

static const struct arg_option rows[] = {
    SITE_OPTION_ROWS(struct options),
    {0},
};

// Who cites what: cited[figure * languages + language].
struct citing {
    const struct figure *const *figures;
    size_t count, language, languages;
    bool *cited;
};

static void note(void *ctx, str name, size_t offset)
{
    struct citing *c = ctx;
    (void)offset;
    for (size_t i = 0; i < c->count; i++)
        if (str_eq(c->figures[i]->name, name))
            c->cited[i * c->languages + c->language] = true;
}

static void find_citations(struct site *site, const struct document *doc, struct citing *c)
{
    for (size_t i = 0; i < site->language_count; i++) {
        const struct page *p = doc->pages[i];
        struct scanned page;
        if (!p || p->made || !site_scan_page(site, p, &page))
            continue;
        c->language = i;
        figures_names(page.text, p->body, note, c);
    }
}

static void put_number(double v, buf *out)
{
    if (v == floor(v) && fabs(v) < 9e15)
        buf_printf(out, "%.0f", v);
    else
        buf_printf(out, "%.15g", v);
}

static void put_key(const char *key, str value, buf *out)
{
    buf_printf(out, "\"%s\":\"", key);
    escape_json(out, value);
    buf_lit(out, "\",");
}

static void put_json(const struct document *doc, const struct citing *c, size_t i, buf *out)
{
    const struct figure *g = c->figures[i];
    bool first = true;
    buf_str(out, out->len > 1 ? STR(",\n{") : STR("{"));
    put_key("document", site_document_name(doc), out);
    put_key("name", g->name, out);
    put_key("kind", str_c(figure_kind_name(g->kind)), out);
    buf_lit(out, "\"value\":");
    if (g->missing)
        buf_lit(out, "null");
    else
        put_number(g->value, out);
    buf_char(out, ',');
    put_key("unit", g->unit, out);
    put_key("source", g->source, out);
    buf_printf(out, "\"stale\":%s,\"cited_by\":[", g->stale ? "true" : "false");
    for (size_t k = 0; k < c->languages; k++) {
        if (!c->cited[i * c->languages + k])
            continue;
        buf_printf(out, "%s\"", first ? "" : ",");
        escape_json(out, doc->pages[k]->source);
        buf_char(out, '"');
        first = false;
    }
    buf_lit(out, "]}");
}

static void put_text(const struct site *site, const struct citing *c, size_t i, buf *out)
{
    const struct figure *g = c->figures[i];
    buf value = BUF_INIT;
    size_t pages = 0;
    if (g->missing)
        buf_lit(&value, "not measured yet");
    else
        put_number(g->value, &value);
    if (g->unit.len && !g->missing)
        buf_printf(&value, " %.*s", STR_ARG(g->unit));
    buf_printf(out, "  %-22.*s %-9s %20.*s  ", STR_ARG(g->name), figure_kind_name(g->kind),
               STR_ARG(buf_view(&value)));
    for (size_t k = 0; k < c->languages; k++) {
        if (c->cited[i * c->languages + k])
            buf_printf(out, "%s%.*s", pages++ ? "," : "", STR_ARG(site->languages[k]->tag));
    }
    buf_printf(out, "%s  %.*s%s\n", pages ? "" : "cited by none", STR_ARG(g->source),
               g->stale ? " (older protocol)" : "");
    buf_free(&value);
}

static void list_document(struct site *site, const struct document *doc, bool json, buf *out)
{
    struct figures *f = figures_load(site, doc, site->diag);
    struct citing c = {.languages = site->language_count};
    c.count = figures_defined(f, &c.figures);
    c.cited = arena_new(&site->arena, bool, c.count *c.languages + 1);
    find_citations(site, doc, &c);
    if (!json)
        buf_printf(out, "%.*s\n", STR_ARG(site_document_name(doc)));
    for (size_t i = 0; i < c.count; i++) {
        if (json)
            put_json(doc, &c, i, out);
        else
            put_text(site, &c, i, out);
    }
    figures_check(f, site->diag);
    figures_free(f);
}

static int run(void *given, int operand_count, char **operands)
{
    const struct options *o = given;
    struct diag *d = site_options_diag(&o->site);
    struct site site;
    buf out = BUF_INIT;
    bool ok = site_options_open(&o->site, false, &site, d);
    struct document *only = ok && operand_count ? site_document(&site, str_c(operands[0])) : NULL;
    bool unknown = operand_count > 1 || (ok && operand_count && !only);
    if (o->site.json)
        buf_char(&out, '[');
    for (size_t i = 0; ok && !unknown && i < site.document_count; i++)
        if (site.documents[i]->page_lua.len && (!operand_count || site.documents[i] == only))
            list_document(&site, site.documents[i], o->site.json, &out);
    if (o->site.json)
        buf_lit(&out, "]\n");
    if (unknown)
        buf_clear(&out);
    site_close(&site);
    int rc = cmd_end(d, &out, ok);
    if (unknown)
        diag_say(STR("vramdoc figures: no document has this name\n"));
    return unknown ? EXIT_USAGE : rc;
}

const struct arg_command command_figures = {
    .name = "figures",
    .operands = "[DOCUMENT]",
    .summary = "list figures with value, kind, source and the pages that cite them",
    .options = rows,
    .run = run,
    .options_size = sizeof(struct options),
};
