// What wiki links mean: which of several notes of one name, and that it takes the same time however
// many there are.
#include <sys/time.h>

#include "gen/site/documents/wiki_links.h"
#include "gen/site/kinds/kind.h"
#include "tests/unit/base_fixture.h"

enum { LIMIT_S = 20, NAMESAKES = 20000 };

struct vault {
    struct site site;
    struct tree tree;
    struct language english, german;
    struct page *pages;
    arena a;
};

static struct page *add_page(struct vault *v, const char *source, struct language *l)
{
    struct page *p = &v->pages[v->site.page_count];
    *p = (struct page){.source = str_c(source), .language = l};
    v->site.pages[v->site.page_count++] = p;
    return p;
}

static struct vault *vault_new(size_t most)
{
    struct vault *v = calloc(1, sizeof *v);
    v->pages = calloc(most, sizeof *v->pages);
    v->site.pages = calloc(most, sizeof *v->site.pages);
    assert_true(v->pages && v->site.pages);
    v->tree = (struct tree){.wiki = true};
    v->site.tree = &v->tree;
    return v;
}

static void vault_free(struct vault *v)
{
    free(v->pages);
    free(v->site.pages);
    arena_free(&v->a);
    arena_free(&v->site.arena);
    free(v);
}

static void check_page(struct vault *v, const struct page *from, const char *link,
                       const struct page *wanted)
{
    struct wiki_target t = wiki_find(&v->site, from, str_c(link), &v->a);
    if (t.page != wanted)
        fail_msg("%s of %.*s is %.*s", link, STR_ARG(from->source),
                 STR_ARG(t.page ? t.page->source : STR("nothing")));
}

static void test_which_of_several(void **state)
{
    (void)state;
    struct vault *v = vault_new(8);
    struct page *home = add_page(v, "start/Home.md", &v->english),
                *deep = add_page(v, "a/b/c/Ben.md", &v->english),
                *ben = add_page(v, "a/b/Ben.md", &v->english),
                *german = add_page(v, "Ben.md", &v->german),
                *beside = add_page(v, "a/b/c/Other.md", &v->german),
                *file = add_page(v, "a.b/File.md", &v->english);
    struct fs_entry picture = {.path = STR("Files/Dot.PNG")};
    v->site.assets.items = &picture, v->site.assets.count = 1;
    wiki_index(&v->site);
    check_page(v, home, "[[ben]]", ben);
    check_page(v, home, "[[c/Ben#A part]]", deep);
    check_page(v, home, "[[/a/b/c/Ben.md]]", deep);
    check_page(v, beside, "[[Ben]]", deep);
    check_page(v, beside, "[[b/Ben]]", ben);
    check_page(v, beside, "[[b/c/ben]]", deep);
    check_page(v, german, "[[../Ben]]", german);
    check_page(v, home, "[[a.b/File]]", file);
    check_page(v, home, "[[en]]", NULL);
    check_page(v, home, "[[x/Ben]]", NULL);
    check_page(v, home, "[[a/b/]]", NULL);
    assert_true(str_eq(wiki_find(&v->site, home, STR("[[dot.png]]"), &v->a).file, picture.path));
    assert_true(wiki_find(&v->site, home, STR("[[#Part]]"), &v->a).here);
    assert_false(wiki_find(&v->site, home, STR("[[#]]"), &v->a).here);
    vault_free(v);
}

// The timer's signal ends the program.
static void test_many_of_one_name(void **state)
{
    (void)state;
    struct vault *v = vault_new(NAMESAKES);
    struct itimerval timer = {.it_value.tv_sec = LIMIT_S}, none = {.it_value.tv_sec = 0};
    for (size_t i = 0; i < NAMESAKES; i++)
        add_page(v, arena_printf(&v->a, "folder-%zu/Note.md", i).ptr, &v->english);
    setitimer(ITIMER_PROF, &timer, NULL);
    wiki_index(&v->site);
    for (size_t i = 0; i < NAMESAKES; i++) {
        check_page(v, v->site.pages[i], "[[Note]]", v->site.pages[i]);
        check_page(v, v->site.pages[i], "[[none/Note]]", NULL);
    }
    setitimer(ITIMER_PROF, &none, NULL);
    vault_free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_of_several),
        cmocka_unit_test(test_many_of_one_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
