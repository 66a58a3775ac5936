// What a link in the text leads to: other pages by their files, by their keys or by their
// addresses, and copied files.
#include "gen/base/path.h"
#include "gen/text/address.h"
#include "gen/site/documents/links.h"

#include <string.h>

#include "gen/site/documents/assets.h"
#include "gen/site/documents/nav.h"
#include "gen/site/documents/tree_links.h"
#include "gen/site/documents/wiki_links.h"
#include "gen/site/source/tree_paths.h"
#include "gen/site/source/publish.h"
#include "gen/text/slugs.h"

static const struct page *by_source(const struct site *site, str path, const char *tail, buf *b)
{
    buf_clear(b);
    buf_str(b, path);
    if (path.len && tail[0] == '/' && path.ptr[path.len - 1] == '/')
        tail++;
    if (!path.len && tail[0] == '/')
        tail++;
    buf_str(b, str_c(tail));
    return map_get(&site->page_by_source, buf_view(b));
}

static str without_ending(str path)
{
    static const char *const endings[] = {"/index.html", ".html", ".markdown", ".md"};
    if (str_eq(path, STR("index.html")))
        return STR_NONE;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (str_ends(path, str_c(endings[i])))
            return str_slice(path, 0, path.len - strlen(endings[i]));
    while (path.len && path.ptr[path.len - 1] == '/')
        path.len--;
    return path;
}

// A page by its file, with or without ending, or by the file of its folder.
static const struct page *find_file(const struct site *site, str path, buf *b)
{
    static const char *const tails[] = {"",          ".md",        ".markdown",  ".mdx",
                                        "/index.md", "/_index.md", "/README.md", "/index.mdx"};
    for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++) {
        const struct page *p = by_source(site, path, tails[i], b);
        if (p)
            return p;
    }
    bool of_folder = str_eq(path, STR("index.md")) || str_ends(path, STR("/index.md"));
    if (of_folder && site->tree->kind->flags & KIND_README_INDEX)
        return by_source(site, str_slice(path, 0, path.len - 8), "README.md", b);
    return NULL;
}

// A document by its key or by the address of one of its pages; *p is that page.
static const struct document *find_key(const struct site *site, str path, const struct page **p)
{
    str key = without_ending(path);
    *p = map_get(&site->page_by_url, path);
    if (*p)
        return (*p)->document;
    const struct document *doc = map_get(&site->document_by_key, key);
    if (doc)
        return doc;
    size_t slash = str_find(key, '/');  // "es/key": the language's part is not the key's
    for (size_t l = 0; l < site->language_count && slash < key.len; l++)
        if (str_eq(site->languages[l]->tag, str_slice(key, 0, slash)))
            return map_get(&site->document_by_key, str_slice(key, slash + 1, key.len));
    return NULL;
}

static struct link to_document(const struct site *site, const struct page *from,
                               const struct language *l, const struct document *doc,
                               const struct page *named, arena *a)
{
    struct link out = {.kind = LINK_PAGE, .document = doc};
    // A link between translations of one document means the very file that it names.
    if (named && doc == from->document && named != from && named->language != from->language) {
        out.target = named->url;
        return out;
    }
    out.target = nav_url(site, doc, l, a);
    out.untranslated = !doc->pages[l->index];
    if (!out.target.len)
        out.target = doc->source->url;
    return out;
}

static void cut_tail(str destination, str *path, struct link *out, arena *a)
{
    size_t hash = str_find(destination, '#'),
           query = str_find(str_slice(destination, 0, hash), '?');
    *path = address_decode(str_slice(destination, 0, query), a);
    out->tail = str_slice(destination, query, destination.len);
    if (hash < destination.len)
        out->anchor = address_decode(str_slice(destination, hash + 1, destination.len), a);
}

// By the tree's own addresses, where nothing lies at the path itself.
static struct link find_in_tree(const struct site *site, const struct page *p,
                                const struct language *l, str path, arena *a, struct diag *d)
{
    struct tree_target t = tree_find(site, p, path, a, d);
    struct link out = {.kind = LINK_MISSING};
    if (t.page) {
        const struct document *doc = t.page->document;
        const struct page *named = t.language                      ? doc->pages[t.language->index]
                                   : tree_is_own(site, p, path, a) ? NULL
                                                                   : t.page;
        out = to_document(site, p, l, doc, named, a);
    } else if (t.asset) {
        out = (struct link){.kind = LINK_ASSET, .target = t.asset->url, .asset = t.asset};
    }
    out.other_case = t.other_case;
    return out;
}

static struct link find_target(const struct site *site, const struct page *p,
                               const struct language *l, str path, arena *a, buf *b, struct diag *d)
{
    const struct page *named = find_file(site, path, b);
    const struct document *doc = named ? named->document : find_key(site, path, &named);
    if (doc)
        return to_document(site, p, l, doc, named, a);
    struct asset *asset = assets_find(site, path, d);
    if (asset)
        return (struct link){.kind = LINK_ASSET, .target = asset->url, .asset = asset};
    return (struct link){.kind = LINK_MISSING};
}

// Whether a path names a file of Markdown, not an address.
static bool names_file(str path)
{
    return str_ends(path, STR(".md")) || str_ends(path, STR(".mdx")) ||
           str_ends(path, STR(".markdown"));
}

static struct link missing(const struct site *site, str path, arena *a)
{
    enum publish why = publish_missing(site, path, a);
    if (why == LEFT_HIDDEN && names_file(path))
        return (struct link){.kind = LINK_HIDDEN};
    if (why != PUBLISH)
        return (struct link){.kind = LINK_PRIVATE, .why = publish_why(why)};
    return (struct link){.kind = LINK_MISSING};
}

// The page that an absolute path means whose root is not the content folder: a file below the
// page's own root.
static struct link find_below_root(const struct site *site, const struct page *p,
                                   const struct language *l, str path, arena *a, buf *b,
                                   struct diag *d)
{
    if (!p->root || !p->root->folder.len || path.ptr[0] != '/')
        return (struct link){.kind = LINK_MISSING};
    return find_target(site, p, l, arena_join(a, p->root->folder, path, STR_NONE), a, b, d);
}

static struct link made(const struct site *site, const struct language *l, str path, arena *a)
{
    str target = tree_made(site, l, path, a);
    return target.len ? (struct link){.kind = LINK_MADE, .target = target}
                      : (struct link){.kind = LINK_MISSING};
}

// What has no page of the tree: a file of ours, or what a server leads on to another site or to a
// page of this one.
static struct link made_or_moved(const struct site *site, const struct page *p,
                                 const struct language *l, str path, arena *a, struct diag *d)
{
    str base = site->tree->base_path, to = tree_moved(site->tree, path, a);
    if (!to.len && base.len)
        to = tree_moved(site->tree, arena_join(a, base, path, STR_NONE), a);
    to = tree_without_base(site->tree, to);
    struct link out = made(site, l, path, a);
    if (out.kind != LINK_MISSING || !site->tree_index)
        return out;
    if (address_is_outside(to))
        out = (struct link){.kind = LINK_OUTSIDE, .target = to};
    else if (to.len)
        out = find_in_tree(site, p, l, str_slice(to, 0, str_find(to, '#')), a, d);
    return out;
}

// [[Note]]: words without an address where the note is not written yet; a picture must be there.
static struct link find_wiki(const struct site *site, const struct page *p,
                             const struct language *l, str destination, arena *a, struct diag *d)
{
    buf b = BUF_INIT;
    struct wiki_target t = wiki_find(site, p, destination, a);
    struct link out = {.kind = LINK_UNWRITTEN};
    if (t.here)
        out.kind = LINK_HERE;
    else if (t.page)
        out = to_document(site, p, l, t.page->document, t.page, a);
    else if (t.file.len)
        out = find_target(site, p, l, t.file, a, &b, d);
    buf_free(&b);
    out.anchor = t.anchor;
    if (out.anchor.len)
        out.tail = arena_join(a, STR("#"), out.anchor, STR_NONE);
    return out;
}

// Links of Markdown name a note by its name alone, too.
static struct link find_by_name(const struct site *site, const struct page *p,
                                const struct language *l, str path, arena *a, struct diag *d)
{
    struct link out = {.kind = LINK_MISSING};
    str name = arena_join(a, STR("[["), path, STR("]]"));
    if (site->tree->wiki && str_find(path, '#') == path.len)
        out = find_wiki(site, p, l, name, a, d);
    return out.kind == LINK_UNWRITTEN ? (struct link){.kind = LINK_MISSING} : out;
}

// What a page's own title is called by its generator is its main part here. In a vault a heading is
// named by its words, "#The%20first%20step".
static void name_heading(const struct site *site, struct link *out, arena *a)
{
    str top = site->tree->top_anchor;
    if (top.len && str_eq(out->anchor, top))
        out->anchor = STR("main"), out->tail = STR("#main");
    if (!(site->tree->kind->flags & KIND_VAULT) || !out->anchor.len)
        return;
    buf b = BUF_INIT;
    slug_text(site->tree->slugs, out->anchor, &b);
    out->anchor = arena_str(a, buf_view(&b));
    out->tail = arena_join(a, STR("#"), out->anchor, STR_NONE);
    buf_free(&b);
}

// "../start/" in _articles/fr/start.md leads to the page itself by its address, and to English by
// its file's place; a list of a folder that we made gives way to a page at its address.
static void prefer_address(const struct site *site, const struct page *p, const struct language *l,
                           str path, struct link *out, arena *a, struct diag *d)
{
    bool doubtful = out->kind == LINK_PAGE && site->tree_index &&
                    (out->document == p->document || out->document->source->made);
    if (!doubtful || names_file(path))
        return;
    struct link by_address = find_in_tree(site, p, l, path, a, d);
    if (by_address.kind == LINK_PAGE)
        *out = by_address;
}

// What a path leads to in every place where the tree's generator looks. written: the destination.
static struct link find_path(const struct site *site, const struct page *p,
                             const struct language *l, str path, str written, arena *a,
                             struct diag *d)
{
    struct link out;
    buf joined = BUF_INIT, found = BUF_INIT, b = BUF_INIT;
    if (path.ptr[0] != '/')
        buf_str(&joined, path_folder_slash(p->source));
    buf_str(&joined, path.ptr[0] == '/' ? str_slice(path, 1, path.len) : path);
    bool inside = fs_normalize(buf_view(&joined), &found);
    out = find_below_root(site, p, l, path, a, &b, d);
    if (out.kind == LINK_MISSING && inside)
        out = find_target(site, p, l, buf_view(&found), a, &b, d);
    prefer_address(site, p, l, path, &out, a, d);
    if (out.kind == LINK_MISSING)
        out = find_in_tree(site, p, l, path, a, d);
    if (out.kind == LINK_MISSING)
        out = find_by_name(site, p, l, path, a, d);
    if (out.kind == LINK_MISSING)
        out = made_or_moved(site, p, l, path, a, d);
    if (out.kind == LINK_MISSING && tree_climbs_out(site, p, written, a))
        out.kind = LINK_UNREAD;
    if (out.kind == LINK_MISSING && tree_is_html(site, p, path, a))
        out = (struct link){
            .kind = LINK_PRIVATE,
            .why =
                "a page that its own generator makes of HTML or of a program, which is not read"};
    if (out.kind == LINK_MISSING && tree_is_absent(site, p, path, a))
        out = (struct link){.kind = LINK_PRIVATE,
                            .why = "the settings mount it from a folder that is not in the tree"};
    if (out.kind == LINK_MISSING && inside)
        out = missing(site, buf_view(&found), a);
    if (out.kind == LINK_MISSING && !inside)
        out.kind = LINK_OUT_OF_SITE;
    buf_free(&joined), buf_free(&found), buf_free(&b);
    return out;
}

struct link link_resolve(const struct site *site, const struct page *p, const struct language *l,
                         str destination, arena *a, struct diag *d)
{
    struct link cut = {0}, out;
    str path, written = destination;
    bool unread = false;
    if (!destination.len)
        return (struct link){.kind = LINK_HERE};
    if (site->tree->wiki && str_starts(destination, STR("[[")) && str_ends(destination, STR("]]")))
        return find_wiki(site, p, l, destination, a, d);
    if (site->tree_index)
        destination = tree_destination(site, destination, &unread, a);
    if (unread)
        return (struct link){.kind = LINK_UNREAD};
    if (!destination.len)
        destination = STR("/");
    if (address_is_outside(destination))
        return (struct link){.kind = LINK_OUTSIDE, .target = destination};
    cut_tail(destination, &path, &cut, a);
    out = path.len ? find_path(site, p, l, path, written, a, d) : (struct link){.kind = LINK_HERE};
    out.anchor = cut.anchor;
    out.tail = cut.tail;
    name_heading(site, &out, a);
    return out;
}
