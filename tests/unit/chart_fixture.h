// A German page for tests of charts: a cell's HTML is in out.
#ifndef TESTS_UNIT_CHART_FIXTURE_H
#define TESTS_UNIT_CHART_FIXTURE_H

#include "tests/unit/base_fixture.h"

#include <unistd.h>

#include "gen/site/figures/figures_lib.h"
#include "gen/site/template/view.h"

struct fixture {
    struct site site;
    struct language language, *list[1];
    struct page page, *pages[1];
    struct document document;
    struct diag *d;
    struct figures *figures;
    buf out, messages;
};

static const char words[] =
    "{\"chart.numbers\":\"Die Zahlen\",\"part.logits\":\"Logits & Loss\",\"records.none\":\"noch "
    "keine <1>\",\"t\":\"Spitze <eager>\",\"figure.missing\":\"noch nicht gemessen\"}";

static void setup(struct fixture *f)
{
    memset(f, 0, sizeof *f);
    f->d = diag_new((struct diag_options){.quiet = true});
    f->out = f->messages = BUF_INIT;
    struct locale *l = locale_open(STR("de"));
    f->language =
        (struct language){STR("de"), l, catalog_parse(str_c(words), STR("c"), l, NULL, f->d), 0};
    f->list[0] = &f->language;
    f->page =
        (struct page){.document = &f->document, .language = &f->language, .source = STR("a/de.md")};
    f->pages[0] = &f->page;
    f->document = (struct document){
        .key = STR("a"), .pages = f->pages, .source = &f->page, .page_lua = STR("")};
    f->site.languages = f->list;
    f->site.language_count = 1;
    f->site.settings.content_dir = STR("/nonexistent");
    f->figures = figures_load(&f->site, &f->document, f->d);
    figures_begin_page(f->figures);
}

static void teardown(struct fixture *f)
{
    figures_free(f->figures);
    catalog_free(f->language.catalog);
    locale_free(f->language.locale);
    diag_free(f->d);
    buf_free(&f->out);
    buf_free(&f->messages);
}

// No-break spaces of the locale become plain ones, to be read here.
static bool cell(struct fixture *f, const char *code)
{
    buf html = BUF_INIT;
    bool ok = figures_cell(f->figures, &f->page, str_c(code),
                           DIAG_AT(STR("a/de.md"), STR("`x`"), 0), &html);
    buf_clear(&f->out);
    for (size_t i = 0; i < html.len; i++) {
        bool space = html.ptr[i] == '\xc2' && html.ptr[i + 1] == '\xa0';
        buf_char(&f->out, space ? ' ' : html.ptr[i]);
        i += space;
    }
    buf_free(&html);
    return ok;
}

static size_t count(const struct fixture *f, const char *what)
{
    str rest = buf_view((buf *)&f->out), s = str_c(what);
    size_t n = 0;
    for (size_t at; (at = str_search(rest, s)) < rest.len; n++)
        rest = str_slice(rest, at + s.len, rest.len);
    return n;
}

static void has(const struct fixture *f, const char *what)
{
    if (!count(f, what))
        fail_msg("\"%s\" is not in %s", what, f->out.ptr);
}

#define GIB(n) "computed(" #n " * 2^30, \"B\", \"by hand\")"

#endif
