// What the tests of figures share: a site of one page in one language with its page.lua, a cell,
// and what it says.
#ifndef TESTS_UNIT_FIGURES_FIXTURE_H
#define TESTS_UNIT_FIGURES_FIXTURE_H

#include "tests/unit/base_fixture.h"

#include <unistd.h>

#include "gen/site/figures/figures_lib.h"
#include "gen/site/source/measurements.h"
#include "gen/site/template/view.h"

struct fixture {
    char dir[64];
    struct site site;
    struct language language, *list[1];
    struct page page, *pages[1];
    struct document document;
    struct diag *d;
    struct figures *figures;
    buf out, messages;
};

static inline void put_file(const struct fixture *f, const char *name, const char *text)
{
    buf path = BUF_INIT;
    buf_printf(&path, "%s/%s", f->dir, name);
    size_t slash = str_rfind(buf_view(&path), '/');
    path.ptr[slash] = '\0';
    fs_mkdirs(path.ptr);
    path.ptr[slash] = '/';
    assert_true(fs_write(path.ptr, str_c(text)) >= 0);
    buf_free(&path);
}

static inline struct fixture *setup(const char *tag)
{
    struct fixture *f = calloc(1, sizeof *f);
    memcpy(f->dir, "/tmp/vramdoc-figs.XXXXXX", 25);
    assert_non_null(mkdtemp(f->dir));
    f->d = diag_new((struct diag_options){.quiet = true});
    f->out = f->messages = BUF_INIT;
    struct locale *l = locale_open(str_c(tag));
    struct catalog *c = catalog_parse(
        STR("{\"figure.missing\":\"noch nicht gemessen\",\"figure.stale\":\"alt\","
            "\"figure.kind.claimed\":\"behauptet\",\"source.two bytes\":\"zwei Byte\","
            "\"source.rule of thumb\":\"Faustregel\"}"),
        STR("c"), l, NULL, f->d);
    f->language = (struct language){str_c(tag), l, c, 0};
    f->list[0] = &f->language;
    f->page =
        (struct page){.document = &f->document, .language = &f->language, .source = STR("a/de.md")};
    f->pages[0] = &f->page;
    f->document = (struct document){
        .key = STR("a"), .pages = f->pages, .source = &f->page, .page_lua = STR("")};
    f->site.languages = f->list;
    f->site.language_count = 1;
    f->site.settings.content_dir = str_c(f->dir);
    f->site.diag = f->d;
    f->site.settings.max_page_bytes = 1 << 20;
    return f;
}

static inline void load(struct fixture *f, const char *page_lua)
{
    static const char name[] = "a/page.lua";
    char *path = malloc(strlen(f->dir) + sizeof name + 1);
    if (page_lua) {
        put_file(f, name, page_lua);
        memcpy(path, f->dir, strlen(f->dir));
        path[strlen(f->dir)] = '/';
        memcpy(path + strlen(f->dir) + 1, name, sizeof name);
        f->document.page_lua = str_c(path);
    } else {
        free(path);
    }
    fs_walk(f->dir, NULL, &f->site.arena, &f->site.files, NULL);
    measurements_read(&f->site);
    f->figures = figures_load(&f->site, &f->document, f->d);
    figures_begin_page(f->figures);
}

static inline void teardown(struct fixture *f)
{
    figures_free(f->figures);
    if (f->document.page_lua.len)
        free((char *)f->document.page_lua.ptr);
    measurements_free(&f->site);
    arena_free(&f->site.arena);
    catalog_free(f->language.catalog);
    locale_free(f->language.locale);
    fs_remove_tree(f->dir);
    diag_free(f->d);
    buf_free(&f->out);
    buf_free(&f->messages);
    free(f);
}

// What a cell or an example gives and says is looked at by itself: output and messages of earlier
// ones are forgotten.
static inline void forget(struct fixture *f)
{
    buf_clear(&f->out);
    diag_free(f->d);
    f->site.diag = f->figures->d = f->d = diag_new((struct diag_options){.quiet = true});
}

static const char *messages(struct fixture *f)
{
    buf_clear(&f->messages);
    diag_text(f->d, &f->messages);
    return f->messages.ptr;
}

static inline bool cell(struct fixture *f, const char *code)
{
    forget(f);
    str text = STR("line one\nline `{lua} x`\n");
    return figures_cell(f->figures, &f->page, str_c(code), DIAG_AT(STR("a/de.md"), text, 14),
                        &f->out);
}

static inline void shows(struct fixture *f, const char *code, const char *want)
{
    bool ok = cell(f, code);
    if (!ok || str_search(buf_view(&f->out), str_c(want)) == f->out.len)
        fail_msg("%s\n  gives %s\n  wanted %s\n  %s", code, f->out.ptr, want, messages(f));
}

static inline bool reports(struct fixture *f, const char *what)
{
    return strstr(messages(f), what);
}

static inline void refuses(struct fixture *f, const char *code, const char *message)
{
    bool ok = cell(f, code);
    if (ok || !reports(f, message))
        fail_msg("%s\n  gives %d %s\n  wanted %s", code, ok, f->messages.ptr, message);
}

static const char figures_lua[] =
    "local function twice(x) return 2 * x end\n"
    "return {\n"
    "  peak = computed(6187763980, 'B', 'batch_size=16'),\n"
    "  half = computed(twice(3093881990), 'B', {dtype = 'float16', batch_size = 16}),\n"
    "  seen = reported(4464 * 2^20, 'B', 'https://example.org/a?b=c'),\n"
    "  rule = claimed(300e6, 'B', \"somebody's rule\"),\n"
    "  params = computed(30135168, '', 'from the config'),\n"
    "  speed = computed(1234.567, 'tokens/s', 'x'),\n"
    "}\n";

#endif
