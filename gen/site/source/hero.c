// Puts the words of a start page's front matter into Markdown: hero and features of VitePress and
// Starlight, heroText, actionText and their kin of VuePress. Sources:
// vitepress.dev/reference/default-theme-home-page, v1.vuepress.vuejs.org/theme and
// starlight.astro.build/reference/frontmatter.
#include "gen/site/source/hero.h"

#include <string.h>

#include "gen/site/kinds/kind_lib.h"
#include "gen/text/front.h"

struct hero {
    arena *a;
    struct hero_part *parts;
    size_t count, cap;
};

static void put(struct hero *h, str text, size_t offset)
{
    h->parts = arena_grow(h->a, h->parts, h->count, &h->cap, h->count + 1, sizeof *h->parts);
    h->parts[h->count++] = (struct hero_part){arena_str(h->a, text), offset};
}

// Words of one line. label: of a link, whose brackets are signs of the text.
static str one_line(struct hero *h, str words, bool label)
{
    buf b = BUF_INIT;
    for (size_t i = 0; i < words.len; i++) {
        char c = words.ptr[i];
        if (label && strchr("[]\\", c))
            buf_char(&b, '\\');
        buf_char(&b, c == '\n' || c == '\r' ? ' ' : c);
    }
    str out = arena_str(h->a, str_trim(buf_view(&b)));
    buf_free(&b);
    return out;
}

static const struct yaml_node *words_at(const struct yaml_node *map, const char *path)
{
    return kind_text(map, path).len ? kind_get(map, path) : NULL;
}

// A line of Markdown with the words of a value, between two others.
static void put_line(struct hero *h, const char *before, const struct yaml_node *n,
                     const char *behind)
{
    if (n)
        put(h, arena_join(h->a, str_c(before), one_line(h, n->text, false), str_c(behind)),
            n->offset);
}

static void put_link(struct hero *h, str words, const struct yaml_node *to)
{
    bool plain = to && !strpbrk(to->text.ptr, "<>\r\n");
    words = one_line(h, words, true);
    if (plain)
        put(h, arena_printf(h->a, "[%.*s](<", STR_ARG(words)), to->offset);
    put(h, plain ? arena_join(h->a, to->text, STR(">)"), STR_NONE) : words, to ? to->offset : 0);
}

static void put_actions(struct hero *h, const struct yaml_node *list)
{
    size_t before = h->count;
    for (size_t i = 0; list && list->kind == YAML_LIST && i < list->count; i++) {
        const struct yaml_node *text = words_at(list->items[i], "text"),
                               *link = words_at(list->items[i], "link");
        if (!text || !link)
            continue;
        if (h->count > before)
            put(h, STR(" · "), text->offset);
        put_link(h, text->text, link);
    }
    if (h->count > before)
        put(h, STR("\n\n"), list->offset);
}

static void put_features(struct hero *h, const struct yaml_node *list)
{
    for (size_t i = 0; list && list->kind == YAML_LIST && i < list->count; i++) {
        const struct yaml_node *title = words_at(list->items[i], "title"),
                               *details = words_at(list->items[i], "details");
        if (!title)
            continue;
        put(h, STR("- **"), title->offset);
        put_link(h, title->text, words_at(list->items[i], "link"));
        put(h, details ? STR("**\\\n") : STR("**\n"), title->offset);
        put_line(h, "  ", details, "\n");
    }
    if (list)
        put(h, STR("\n"), list->offset);
}

bool hero_may(const struct tree *t, str text)
{
    static const str marks[] = {STR("\nhero:"), STR("\nheroText:"), STR("\nhome:"),
                                STR("\nlayout: home")};
    return t->kind->flags & KIND_HERO && str_starts(text, STR("---")) &&
           str_has_one(text, marks, sizeof marks / sizeof *marks);
}

// The name of the page, where it has no title: the hero's, or the site's.
static void put_title(struct hero *h, const struct tree *t, const struct yaml_node *map)
{
    const struct yaml_node *name = words_at(map, "hero.name");
    if (!name)
        name = words_at(map, "heroText");
    if (kind_get(map, "title"))
        return;
    if (name)
        put_line(h, "# ", name, "\n\n");
    else if (t->title.len)
        put(h, arena_printf(h->a, "# %.*s\n\n", STR_ARG(one_line(h, t->title, false))),
            map->offset);
}

size_t hero_parts(const struct tree *t, str text, arena *a, struct hero_part **parts, size_t *body)
{
    struct hero h = {.a = a};
    struct diag *quiet = diag_new((struct diag_options){.quiet = true});
    struct yaml_node *map = NULL;
    bool read = front_map(text, STR_NONE, a, quiet, &map, body);
    bool home = kind_true(map, "home", false) || str_eq(kind_text(map, "layout"), STR("home")) ||
                kind_get(map, "hero");
    diag_free(quiet);
    if (!read || !home)
        return 0;
    if (*body == text.len && !str_ends(str_trim(text), STR("\n---")))
        put(&h, STR("\n---\n"), 0);  // which the front matter lacks
    put_title(&h, t, map);
    put_line(&h, "", words_at(map, "hero.text"), "\n\n");
    put_line(&h, "", words_at(map, "hero.tagline"), "\n\n");
    put_line(&h, "", words_at(map, "tagline"), "\n\n");
    put_actions(&h, kind_get(map, "hero.actions"));
    put_actions(&h, kind_get(map, "actions"));
    const struct yaml_node *button = words_at(map, "actionText");
    if (button) {
        put_link(&h, button->text, words_at(map, "actionLink"));
        put(&h, STR("\n\n"), button->offset);
    }
    put_features(&h, kind_get(map, "features"));
    *parts = h.parts;
    return h.count;
}
