// mdBook: book.toml, and SUMMARY.md as the list and the order of its chapters.
#include "gen/site/kinds/kind_lib.h"

static void read_summary(struct tree *t, str folder)
{
    kind_summary(t, folder, STR("SUMMARY.md"), false);
    t->only_nav = t->nav_count > 0;
    for (size_t i = 0; i < t->nav_count && !t->home.len; i++)
        t->home = t->nav[i].file;
}

void mdbook_read(struct tree *t)
{
    const struct yaml_node *c = t->config.len ? kind_values(t, t->config_name) : NULL;
    str src = kind_text(c, "book.src"), folder = kind_path(t, src.len ? src : STR("src"));
    t->includes = INCLUDE_MDBOOK;
    t->source_language = kind_text(c, "book.language");
    if (!kind_siblings(t, folder))
        kind_root(t, folder, STR_NONE, STR_NONE, STR_NONE);
    for (size_t i = 0; i < t->root_count; i++)
        kind_ignore(t, kind_join(t, t->roots[i].folder, STR("SUMMARY.md")));
    read_summary(t, folder);
    t->title = kind_text(c, "book.title");
    t->description = kind_text(c, "book.description");
    t->repository = kind_text(c, "output.html.git-repository-url");
    t->math = kind_true(c, "output.html.mathjax-support", false);
    kind_site(t, STR_NONE, kind_text(c, "output.html.site-url"));
    if (kind_has_folder(t, kind_path(t, STR("po"))))
        kind_explain(t, "not read: translations in po/, which a preprocessor puts in");
}
