// What destinations of links of other generators mean before they are looked for: Liquid,
// shortcodes of references, aliases of projects, base paths, files that ours stand in for.
#include <string.h>

#include "gen/site/documents/tree_index.h"
#include "gen/site/documents/tree_links.h"
#include "gen/site/source/tree_paths.h"

// "{% link a.md %}", '{{ "/a" | relative_url }}', '{{< relref path="a" >}}': the first word behind
// name, or in quotes.
static str argument(str inside, str name)
{
    size_t at = str_search(inside, name);
    str rest = str_trim(str_slice(inside, at + name.len, inside.len));
    if (str_starts(rest, STR("path=")) || str_starts(rest, STR("ref=")))
        rest = str_slice(rest, str_find(rest, '=') + 1, rest.len);
    char quote = rest.len ? rest.ptr[0] : 0;
    if (quote == '"' || quote == '\'')
        return str_slice(rest, 1, 1 + str_find(str_slice(rest, 1, rest.len), quote));
    return str_slice(rest, 0, str_find(rest, ' '));
}

// Whether a reference such as "docs/guide" names a page from the top of the content: a path of
// several parts counts from there where nothing lies beside the page.
static bool is_at_top(const struct site *site, str path)
{
    arena scratch = ARENA_INIT;
    bool several =
        path.len && path.ptr[0] != '/' && path.ptr[0] != '.' && str_find(path, '/') < path.len;
    str address = several ? tree_address(path, &scratch) : STR_NONE;
    bool found = several && tree_page_at(site, address);
    arena_free(&scratch);
    return found;
}

// What a reference of Hugo names: a page by its name alone, in whatever folder it is, or a path
// from the page or from the top of the content.
static void put_reference(const struct site *site, str path, buf *out)
{
    str name = str_slice(path, 0, str_find(path, '#')),
        anchor = str_slice(path, name.len, path.len);
    if (str_ends(name, STR("/_index.md")))
        name.len -= 10;
    bool bare = name.len && str_find(name, '/') == name.len;
    str stem = str_ends(name, STR(".md")) ? str_slice(name, 0, name.len - 3) : name;
    const struct page *p = bare ? tree_page_named(site, stem) : NULL;
    if (p)
        buf_printf(out, "/%.*s", STR_ARG(p->source));
    else if (is_at_top(site, name))
        buf_char(out, '/');
    buf_str(out, p ? STR_NONE : name);
    buf_str(out, anchor);
}

// The path that braces mean. False when it is unknown.
static bool put_braces(const struct site *site, str inside, buf *out)
{
    static const str empty[] = {STR("site.baseurl"), STR("site.url"), STR("site.github.url"),
                                STR("base_url"), STR("site.base_url")};
    inside = str_trim(inside);
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++)
        if (str_eq(inside, empty[i]))
            return true;
    if (str_starts(inside, STR("ref ")) || str_starts(inside, STR("relref "))) {
        put_reference(site, argument(inside, str_slice(inside, 0, str_find(inside, ' '))), out);
        return true;
    }
    if (str_starts(inside, STR("link "))) {
        str path = argument(inside, STR("link"));
        bool relative = !str_starts(path, STR("/"));
        if (relative && site->tree->folder.len)
            buf_printf(out, "/%.*s", STR_ARG(site->tree->folder));
        if (relative)
            buf_char(out, '/');
        buf_str(out, path);
        return true;
    }
    if (str_starts(inside, STR("post_url "))) {
        str post = argument(inside, STR("post_url"));
        const struct page *p = str_find(post, '/') == post.len ? tree_post_named(site, post) : NULL;
        if (p)
            buf_printf(out, "/%.*s", STR_ARG(p->source));
        else
            buf_printf(out, "/_posts/%.*s", STR_ARG(post));
        return true;
    }
    bool quoted = inside.len && (inside.ptr[0] == '"' || inside.ptr[0] == '\'');
    if (!quoted)
        return false;
    str path = argument(inside, STR_NONE);
    // Source: Jekyll::Filters::URLFilters#compute_relative_url, which absolute_url calls.
    bool from_top = str_has(inside, STR("relative_url")) || str_has(inside, STR("absolute_url"));
    if (from_top && path.len && path.ptr[0] != '/')
        buf_char(out, '/');
    buf_str(out, path);
    return true;
}

static bool read_braces(const struct site *site, str s, buf *out)
{
    while (s.len) {
        size_t open = str_find(s, '{');
        buf_str(out, str_slice(s, 0, open));
        s = str_slice(s, open, s.len);
        if (!s.len)
            return true;
        bool tag = s.len > 4 && strchr("{%", s.ptr[1]);
        size_t close = str_search(s, s.len > 1 && s.ptr[1] == '%' ? STR("%}") : STR("}}"));
        if (!tag || close == s.len)
            return false;
        str inside = str_slice(s, 2, close);
        if (inside.len && strchr("<%-", inside.ptr[0]))
            inside = str_slice(inside, 1, inside.len);
        while (inside.len && strchr(">%-", inside.ptr[inside.len - 1]))
            inside.len--;
        if (!put_braces(site, inside, out))
            return false;
        s = str_slice(s, close + 2, s.len);
    }
    return true;
}

str tree_destination(const struct site *site, str destination, bool *unread, arena *a)
{
    *unread = false;
    // std::mem::swap of a specification: its preprocessor asks the library's documentation.
    if (site->tree->rules && str_has(destination, STR("::")))
        return arena_join(a, STR("https://doc.rust-lang.org/std/?search="), destination, STR_NONE);
    const str *page = map_get(&site->tree->rule_files, destination);
    if (page)
        return arena_printf(a, "/%.*s#r-%.*s", STR_ARG(*page), STR_ARG(destination));
    if (str_find(destination, '{') < destination.len) {
        buf b = BUF_INIT;
        *unread = !read_braces(site, destination, &b);
        if (!*unread)
            destination = arena_str(a, buf_view(&b));
        buf_free(&b);
    }
    if (str_starts(destination, STR("pathname://")))
        destination = str_slice(destination, 11, destination.len);
    for (size_t i = 0; i < site->tree->alias_count; i++) {
        const struct tree_alias *x = &site->tree->aliases[i];
        if (str_starts(destination, x->from))
            return arena_printf(a, "/%.*s%.*s", STR_ARG(x->to),
                                STR_ARG(str_slice(destination, x->from.len, destination.len)));
    }
    if (str_starts(destination, STR("@site/")))
        destination = arena_join(a, STR("/"),
                                 site->tree->folder.len
                                     ? arena_join(a, site->tree->folder, STR("/"), STR_NONE)
                                     : STR_NONE,
                                 str_slice(destination, 6, destination.len));
    return tree_without_base(site->tree, destination);
}

static bool is_dated(const struct page *p)
{
    return !p->made && (p->updated != INT64_MIN || p->published != INT64_MIN);
}

str tree_made(const struct site *site, const struct language *l, str path, arena *a)
{
    static const str feeds[] = {STR("feed.xml"), STR("atom.xml"), STR("rss.xml"), STR("index.xml"),
                                STR("feed")};
    if (!site->tree_index)
        return STR_NONE;
    while (path.len && path.ptr[path.len - 1] == '/')
        path.len--;
    size_t slash = str_rfind(path, '/');
    str name = slash == path.len ? path : str_slice(path, slash + 1, path.len), file = STR_NONE;
    for (size_t i = 0; i < sizeof feeds / sizeof *feeds; i++)
        if (str_eq(name, feeds[i]))
            file = STR("feed.xml");
    bool any = false;
    for (size_t i = 0; file.len && i < site->page_count && !any; i++)
        any = site->pages[i]->language == l && is_dated(site->pages[i]);
    if (!any)
        file = STR_NONE;  // a feed is written where a page has a date
    if (str_eq(name, STR("404")) || str_eq(name, STR("404.html")))
        file = STR("404.html");
    if (str_eq(name, STR("llms.txt")))
        file = name;
    if (str_eq(file, STR("llms.txt")) && l == site->source_language)
        return file;  // in no folder
    return file.len && site->by_folder
               ? arena_printf(a, "%.*s/%.*s", STR_ARG(l->tag), STR_ARG(file))
               : file;
}
