// A site of three languages with one document, and a page of it for templates to show.
#ifndef TESTS_UNIT_VIEW_FIXTURE_H
#define TESTS_UNIT_VIEW_FIXTURE_H

#include "tests/unit/base_fixture.h"

#include <unistd.h>

#include "gen/site/template/view.h"

#define LANGUAGES 3

static const char *const tags[LANGUAGES] = {"en", "de", "fr"};

struct fixture {
    char dir[64];
    struct site site;
    struct language languages[LANGUAGES];
    struct language *list[LANGUAGES];
    str homes[LANGUAGES];
    struct view_site vs;
    struct document document;
    struct page pages[LANGUAGES];
    struct view_translation translations[LANGUAGES];
    struct view_alternate alternates[2];
    struct diag *d;
    buf out, messages;
};

// By name.
static const struct view_asset assets[] = {
    {STR("a"), STR("assets/a.js")},
    {STR("hidden.js"), STR("")},
    {STR("i"), STR("i")},
    {STR("k"), STR("k")},
    {STR("l0"), STR("l0")},
    {STR("l1"), STR("l1")},
    {STR("l2"), STR("l2")},
    {STR("l3"), STR("l3")},
    {STR("l4"), STR("l4")},
    {STR("late.js"), STR("assets/late.2.js")},
    {STR("style.css"), STR("assets/style.1.css")},
};
enum { ASSETS = sizeof assets / sizeof *assets };

static void write_template(const struct fixture *f, const char *name, const char *text)
{
    buf path = BUF_INIT;
    buf_printf(&path, "%s/%s", f->dir, name);
    assert_true(fs_write(path.ptr, str_c(text)) >= 0);
    buf_free(&path);
}

static struct fixture *setup(void)
{
    static const char *const catalogs[LANGUAGES] = {
        "{\"hello\":\"Hello {name}\",\"only\":\"Only <English>\",\"n\":{\"one\":\"{n} "
        "page\",\"other\":\"{n} pages\"}}",
        "{\"hello\":\"Hallo {name}\",\"n\":{\"one\":\"{n} Seite\",\"other\":\"{n} Seiten\"}}",
        "{\"hello\":\"Bonjour {name}\",\"n\":{\"one\":\"{n} page\",\"many\":\"{n} de "
        "pages\",\"other\":\"{n} pages\"}}",
    };
    struct fixture *f = calloc(1, sizeof *f);
    memcpy(f->dir, "/tmp/vramdoc-view.XXXXXX", 25);
    assert_non_null(mkdtemp(f->dir));
    f->d = diag_new((struct diag_options){.quiet = true});
    f->out = f->messages = BUF_INIT;
    for (uint32_t i = 0; i < LANGUAGES; i++) {
        struct locale *l = locale_open(str_c(tags[i]));
        struct catalog *c = catalog_parse(str_c(catalogs[i]), STR("c.json"), l,
                                          i ? f->languages[0].catalog : NULL, f->d);
        assert_non_null(c);
        f->languages[i] = (struct language){str_c(tags[i]), l, c, i};
        f->list[i] = &f->languages[i];
        f->pages[i] = (struct page){.document = &f->document, .language = &f->languages[i]};
    }
    f->homes[0] = STR("index.html"), f->homes[1] = STR("de/index.html"),
    f->homes[2] = STR("fr/index.html");
    f->translations[0] = (struct view_translation){STR("en"), STR("English"), STR("a.html"), true};
    f->translations[1] =
        (struct view_translation){STR("de"), STR("Deutsch"), STR("de/a.html"), true};
    f->translations[2] =
        (struct view_translation){STR("fr"), STR("Français"), STR("fr/a.html"), false};
    f->alternates[0] = (struct view_alternate){STR("de"), STR("https://x.org/de/a.html")};
    f->document.key = STR("a");
    f->site.languages = f->list;
    f->site.language_count = LANGUAGES;
    f->site.settings.templates_dir = str_c(f->dir);
    f->site.settings.title = STR("A & B");
    f->vs = (struct view_site){
        .generator = STR("vramdoc"), .homes = f->homes, .assets = assets, .asset_count = ASSETS};
    return f;
}

static void teardown(struct fixture *f)
{
    for (int i = LANGUAGES - 1; i >= 0; i--) {
        catalog_free(f->languages[i].catalog);
        locale_free(f->languages[i].locale);
    }
    fs_remove_tree(f->dir);
    diag_free(f->d);
    buf_free(&f->out);
    buf_free(&f->messages);
    free(f);
}

static struct view_page page_of(struct fixture *f, unsigned language, const char *url)
{
    return (struct view_page){
        .language = &f->languages[language],
        .document = &f->document,
        .page = &f->pages[language],
        .url = str_c(url),
        .title = STR("T <1>"),
        .body = STR("<p>B</p>"),
        .layout = STR("page"),
        .kind = STR("article"),
        .updated = INT64_MIN,
        .published = 0,
        .current = language,
        .lists = VIEW_BIT(VIEW_TRANSLATIONS) | VIEW_BIT(VIEW_ALTERNATES),
        .translations = f->translations,
        .translation_count = LANGUAGES,
        .alternates = f->alternates,
        .alternate_count = 1,
    };
}

#endif
