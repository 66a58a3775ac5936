// Defaults of front matter by folder and collection. Sources:
// jekyllrb.com/docs/configuration/front-matter-defaults and gohugo.io/configuration/permalinks.
#include <fnmatch.h>
#include <string.h>

#include "gen/base/path.h"
#include "gen/site/kinds/kind_lib.h"

static str first_text(const struct yaml_node *map, const char *const *keys, size_t count)
{
    str found = STR_NONE;
    for (size_t i = 0; i < count && !found.len; i++)
        found = kind_text(map, keys[i]);
    return found;
}

static void add(struct tree *t, struct tree_default d)
{
    t->defaults = arena_grow(t->a, t->defaults, t->default_count, &t->default_cap,
                             t->default_count + 1, sizeof d);
    t->defaults[t->default_count++] = d;
}

void kind_permalink(struct tree *t, str folder, str pattern)
{
    if (folder.len && pattern.len)
        add(t, (struct tree_default){.path = folder, .permalink = pattern});
}

void kind_defaults(struct tree *t, const struct yaml_node *defaults)
{
    static const char *const languages[] = {"lang", "locale", "language"}, *const permalinks[] = {
                                                                               "permalink"};
    for (size_t i = 0; defaults && defaults->kind == YAML_LIST && i < defaults->count; i++) {
        const struct yaml_node *values = kind_get(defaults->items[i], "values");
        struct tree_default d = {.type = kind_text(defaults->items[i], "scope.type"),
                                 .language = first_text(values, languages, 3),
                                 .permalink = first_text(values, permalinks, 1)};
        str path = kind_text(defaults->items[i], "scope.path");
        while (path.len && path.ptr[path.len - 1] == '/')
            path.len--;
        d.path = path.len ? kind_path(t, path) : STR_NONE;
        if ((!path.len || d.path.len) && (d.language.len || d.permalink.len))
            add(t, d);
    }
}

// What a path is to Jekyll: a post, a document of a collection, or a page.
static str type_of(const struct tree *t, str path)
{
    const struct tree_root *r = tree_root_of(t, path);
    if (str_starts(path, STR("_posts/")) || str_has(path, STR("/_posts/")))
        return STR("posts");
    if (!r || !r->collection)
        return STR("pages");
    str last = path_name(r->folder);
    return str_slice(last, 1, last.len);
}

static bool covers(const struct tree_default *d, str path, str type)
{
    if (d->type.len && !str_eq(d->type, type))
        return false;
    if (!d->path.len)
        return true;
    if (strpbrk(d->path.ptr, "*?["))
        return fnmatch(d->path.ptr, path.ptr, FNM_LEADING_DIR) == 0;
    return str_starts(path, d->path) && (path.len == d->path.len || path.ptr[d->path.len] == '/');
}

static bool is_closer(const struct tree_default *d, const struct tree_default *best)
{
    if (!best || d->path.len != best->path.len)
        return !best || d->path.len > best->path.len;
    return d->type.len || !best->type.len;  // of two alike, the later
}

str tree_default_language(const struct tree *t, str path, bool named)
{
    const struct tree_default *best = NULL;
    str type = t->default_count ? type_of(t, path) : STR_NONE;
    for (size_t i = 0; i < t->default_count; i++) {
        const struct tree_default *d = &t->defaults[i];
        bool says = d->language.len && (d->path.len || !named);
        if (says && covers(d, path, type) && is_closer(d, best))
            best = d;
    }
    return best ? best->language : STR_NONE;
}

str tree_default_permalink(const struct tree *t, str path)
{
    const struct tree_default *best = NULL;
    str type = t->default_count ? type_of(t, path) : STR_NONE;
    for (size_t i = 0; i < t->default_count; i++) {
        const struct tree_default *d = &t->defaults[i];
        if (d->permalink.len && covers(d, path, type) && is_closer(d, best))
            best = d;
    }
    return best ? best->permalink : STR_NONE;
}
