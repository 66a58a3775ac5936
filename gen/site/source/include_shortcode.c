// Finds the files that shortcodes of Hugo put in: {{< reuse "parts/end.md" >}}, {{% include end.md
// %}},
// {{< readfile file="end.md" >}}.
#include "gen/site/source/include_shortcode.h"

#include <string.h>

#include "gen/base/path.h"
#include "gen/site/source/include_value.h"

enum { LONGEST_NAME = 100 };

static bool is_there(struct including *g, str folder, str path, str *found)
{
    struct include_source in;
    str whole = include_join(g, folder, path);
    if (!whole.len || include_read_file(g, whole, &in))
        return false;
    *found = whole;
    return true;
}

// In the folder "_includes" of a page's folder, or of one above it.
static bool find_above(struct including *g, str root, str folder, str path, str *found)
{
    str parts = arena_join(g->a, STR("_includes/"), path, STR_NONE);
    for (;; folder = path_folder(folder)) {
        if (is_there(g, folder, parts, found))
            return true;
        if (folder.len <= root.len)
            return false;
    }
}

// Beside the page, in the folders of the pages and of assets, or from the top, as os.ReadFile has
// it; what a translation lacks is that of the source.
static bool find_file(struct including *g, const struct include_source *s, str path, str *found)
{
    const struct tree *t = g->tree;
    const struct tree_root *r = tree_root_of(t, g->page.path);
    while (path.len && path.ptr[0] == '/')
        path = str_slice(path, 1, path.len);
    str assets =
        arena_join(g->a, t->folder, t->folder.len ? STR("/assets") : STR("assets"), STR_NONE);
    if (is_there(g, assets, path, found) || is_there(g, path_folder(s->path), path, found) ||
        is_there(g, t->folder, path, found))
        return true;
    if (!r)
        return false;
    str folder = path_folder(g->page.path), below = str_slice(folder, r->folder.len, folder.len);
    if (is_there(g, r->folder, path, found) || find_above(g, r->folder, folder, path, found))
        return true;
    for (size_t i = 0; i < t->root_count; i++) {
        const struct tree_root *source = &t->roots[i];
        if (source != r && str_eq(source->language, t->source_language))
            return find_above(g, source->folder, arena_join(g->a, source->folder, below, STR_NONE),
                              path, found);
    }
    return false;
}

// The path that an argument says: "x.md", file="x.md".
static str path_of(str argument)
{
    static const str names[] = {STR("file="), STR("path="), STR("src="), STR("contentPath=")};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_starts(argument, names[i])) {
            argument = str_slice(argument, names[i].len, argument.len);
            bool quoted = argument.len > 1 && strchr("\"'", argument.ptr[0]);
            return quoted ? str_slice(argument, 1, argument.len - 1) : argument;
        }
    return argument;
}

bool include_may_shortcode(const struct tree *t, str text)
{
    for (size_t at = 0; at < text.len; at += 3) {
        at += str_search(str_slice(text, at, text.len), STR("{{"));
        str head = str_slice(text, at + 3, at + 3 + LONGEST_NAME);
        while (head.len && strchr(" \t\n", head.ptr[0]))
            head = str_slice(head, 1, head.len);
        size_t n = 0;
        while (n < head.len && !strchr(" \t\n", head.ptr[n]))
            n++;
        str name = str_slice(head, 0, n);
        if (str_eq(name, STR("param")) || map_has(&t->readers, name))
            return true;
    }
    return false;
}

bool include_next_shortcode(struct including *g, const struct include_source *s, str line,
                            struct include_mark *m)
{
    str name, argument, rest, found;
    size_t end;
    for (size_t at = 0; at < line.len; at++) {
        at += str_search(str_slice(line, at, line.len), STR("{{"));
        if (!include_shortcode_argument(str_slice(line, at, line.len), &name, &argument, &rest,
                                        &end) ||
            !map_has(&g->tree->readers, name))
            continue;
        bool code = str_has(rest, STR("code=\"true\"")), heads = str_has(rest, STR("header="));
        str path = path_of(argument);
        bool page = str_ends(path, STR(".md")) || str_ends(path, STR(".markdown"));
        if (heads || (!page && !code) || !find_file(g, s, path, &found))
            continue;
        *m = (struct include_mark){.start = at,
                                   .end = at + end,
                                   .path = found,
                                   .first = 1,
                                   .last = SIZE_MAX,
                                   .fenced = code,
                                   .indents = !str_trim(str_slice(line, 0, at)).len,
                                   .arguments = rest};
        return true;
    }
    return false;
}
