// The addresses that a destination in a tree of others may mean, and the places where its file may
// lie.
#include "gen/site/documents/tree_places.h"

#include <string.h>

#include "gen/base/path.h"
#include "gen/site/documents/tree_index.h"
#include "gen/site/source/scan.h"
#include "gen/site/source/tree_paths.h"

bool tree_join(str folder, str path, arena *a, str *out)
{
    buf joined = BUF_INIT, found = BUF_INIT;
    buf_printf(&joined, "%.*s/", STR_ARG(folder));
    buf_str(&joined, path);
    bool ok = fs_normalize(buf_view(&joined), &found);
    *out = ok ? arena_str(a, buf_view(&found)) : STR_NONE;
    buf_free(&joined), buf_free(&found);
    return ok;
}

static void add_place(struct places *all, str folder, str path, arena *a)
{
    str joined;
    if (all->count < MAX_PLACES && tree_join(folder, path, a, &joined))
        all->items[all->count++] = joined;
}

// Whether a part of an address names a version of what is documented: 5x, v2, 1.4, 3.x.
static bool is_version(str part)
{
    bool marked = part.len && part.ptr[0] == 'v', digit = false;
    for (size_t i = marked; i < part.len; i++) {
        char c = part.ptr[i];
        if (!ascii_is_digit(c) && c != '.' && c != 'x')
            return false;
        digit = digit || ascii_is_digit(c);
        marked = marked || c == '.' || c == 'x';
    }
    return marked && digit;
}

// "/guide/routing" in 5x/guide/errors is of that version, where no other page has the address: a
// component of the tree's own makes such links whole.
static void add_version(struct places *all, str own, str path, arena *a)
{
    for (size_t from = 0, to; from < own.len; from = to + 1) {
        to = from + str_find(str_slice(own, from, own.len), '/');
        str before = str_slice(own, 0, from), version = str_slice(own, 0, to);
        if (is_version(str_slice(own, from, to)) &&
            str_starts(str_slice(path, 1, path.len), before))
            add_place(all, version, str_slice(path, from, path.len), a);
    }
}

// "/REPOSITORY/guide" is /guide where the tree does not say which folder of its host it lies in,
// and has none of that name itself; "" otherwise.
static str below_host(const struct site *site, str path, arena *a)
{
    size_t end = 1 + str_find(str_slice(path, 1, path.len), '/');
    str first = str_slice(path, 1, end);
    struct fs_stat st;
    if (!site->tree->unplaced || end >= path.len || first.len == 0 ||
        fs_stat(site_path(site, first, a).ptr, &st) == 0)
        return STR_NONE;
    return str_slice(path, end, path.len);
}

// The addresses that a destination may mean, most likely first. A relative one counts from the
// page's own address, taken for a folder and for a file.
void tree_place_addresses(const struct site *site, const struct page *p, str path, arena *a,
                          struct places *all)
{
    str own[TREE_ADDRESSES];
    if (path.ptr[0] == '/') {
        size_t next =
            site->tree->kind->flags & KIND_MDX ? str_search(path, STR("/next/")) : path.len;
        add_place(all, STR_NONE, path, a);
        // Of docs with versions these are the newest: the others are left out.
        if (next < path.len)
            add_place(all, str_slice(path, 0, next), str_slice(path, next + 6, path.len), a);
        if (p->root && p->root->prefix.len)
            add_place(all, p->root->prefix, path, a);
        for (size_t i = 0, n = tree_addresses(site, p, a, own); i < n; i++)
            add_version(all, own[i], path, a);
        if (below_host(site, path, a).len)
            add_place(all, STR_NONE, below_host(site, path, a), a);
        return;
    }
    for (size_t i = 0, n = tree_addresses(site, p, a, own); i < n; i++) {
        add_place(all, own[i], path, a);
        add_place(all, path_folder(own[i]), path, a);
        // The language's own part is not in these addresses: one step up may lead out of it.
        if (str_starts(path, STR("../")))
            add_place(all, own[i], str_slice(path, 3, path.len), a);
    }
    if (site->tree->link_words)
        add_place(all, STR_NONE, path, a);
    // Docusaurus takes the name of a file from its docs folder as well as from the page's own.
    bool file = str_ends(path, STR(".md")) || str_ends(path, STR(".mdx"));
    if (!file || !(site->tree->kind->flags & KIND_MDX) || !p->root)
        return;
    str folder = path_folder(path);
    bool folders = tree_is_folders(path_name(folder), path_name(path));
    add_place(all, p->root->prefix, folders ? folder : path, a);
}

static const struct tree_root *source_root(const struct site *site, const struct page *p)
{
    const struct tree *t = site->tree;
    for (size_t i = 0; p->root && i < t->root_count; i++)
        if (str_eq(t->roots[i].prefix, p->root->prefix) && !t->roots[i].address.len)
            return &t->roots[i];
    // Where each language's address has its tag: what a translation lacks is the source's.
    for (size_t i = 0; p->root && t->kind->flags & KIND_BUNDLES && i < t->root_count; i++)
        if (str_eq(t->roots[i].prefix, p->root->prefix) &&
            str_eq(t->roots[i].language, t->source_language))
            return &t->roots[i];
    return p->root;
}

str tree_without_language(const struct site *site, str path, arena *a)
{
    size_t end = 1 + str_find(str_slice(path, 1, path.len), '/');
    bool named = tree_names_language(site, str_slice(path, 1, end), a);
    return named ? str_slice(path, end, path.len) : path;
}

// Where files lie that all languages share, and those that are published as if they lay at the
// root: docs/assets beside docs/fr, theme/assets.
static void list_shared(const struct site *site, const struct page *p, str path, arena *a,
                        struct places *all)
{
    if (!p->root)
        return;
    str below = path_folder(tree_below(p->root, p->source));
    if (p->root->language.len)
        add_place(all, arena_join(a, path_folder(p->root->folder), STR("/"), below), path, a);
    if (site->tree->overlay.len)
        add_place(all, arena_join(a, site->tree->overlay, STR("/"), below), path, a);
}

// A file of a leaf bundle is at the address of its page, which the page's slug may say: /blog/SLUG/
// x.png lies beside the page. Source: gohugo.io/content-management/page-bundles.
static void add_bundle(const struct site *site, str path, arena *a, struct places *all)
{
    for (size_t end = str_rfind(path, '/'); end && end < path.len;
         end = str_rfind(str_slice(path, 0, end), '/')) {
        const struct page *p = tree_page_at(site, tree_address(str_slice(path, 0, end), a));
        if (p && str_starts(path_name(p->source), STR("index.")))
            add_place(all, path_folder(p->source), str_slice(path, end + 1, path.len), a);
        if (p)
            return;
    }
}

// es/guide/one beside en/guide/one: from the address that the source has.
static void add_in_source(struct places *all, const struct page *p, const struct page *first,
                          str folder, str below, str path, arena *a)
{
    size_t n = p->tag.len;
    bool beside =
        n && first->tag.len && below.len > n && str_starts(below, p->tag) && below.ptr[n] == '/';
    if (beside)
        add_place(all,
                  arena_join(a, arena_join(a, folder, STR("/"), first->tag), STR_NONE,
                             str_slice(below, n, below.len)),
                  path, a);
}

// Where a file may lie that is no page: beside the page, beside the source's, and for an absolute
// destination in the folders that its generator publishes.
void tree_place_files(const struct site *site, const struct page *p, str path, arena *a,
                      struct places *all)
{
    const struct tree_root *source = source_root(site, p);
    const struct page *first = p->document ? p->document->source : p;
    str content = site->tree->folder, own[TREE_ADDRESSES];
    if (path.ptr[0] == '/') {
        str rest = tree_without_language(site, path, a);
        add_place(all, STR_NONE, path, a);
        if (p->root)
            add_place(all, p->root->folder, path, a);
        if (source && rest.len < path.len)
            add_place(all, source->folder, rest, a);  // /en/guide/x.png lies in content/guide
        if (source)
            add_place(all, source->folder, path, a);
        add_place(all, content, path, a);
        if (p->root && p->tag.len)
            add_place(all, arena_join(a, p->root->folder, STR("/"), p->tag), path, a);
        if (source && first->tag.len)
            add_place(all, arena_join(a, source->folder, STR("/"), first->tag), path, a);
        for (size_t i = 0; i < site->tree->static_count; i++)
            add_place(all, site->tree->statics[i], path, a);
        for (size_t i = 0; rest.len < path.len && i < site->tree->static_count; i++)
            add_place(all, site->tree->statics[i], rest, a);  // which each language has, too
        add_place(all, arena_join(a, content, STR("/"), STR("assets")), path, a);
        if (below_host(site, path, a).len)
            add_place(all, content, below_host(site, path, a), a);
        if (site->tree->kind->flags & KIND_BUNDLES)
            add_bundle(site, path, a, all);
        return;
    }
    add_place(all, path_folder(p->source), path, a);
    if (!first->made)
        add_place(all, path_folder(first->source), path, a);
    size_t n = tree_addresses(site, p, a, own);
    for (size_t i = 0; source && i < n && i < 2; i++) {
        str below = str_starts(own[i], source->prefix)
                        ? str_slice(own[i], source->prefix.len, own[i].len)
                        : own[i];
        add_place(all, arena_join(a, source->folder, STR("/"), below), path, a);
        add_place(all, arena_join(a, source->folder, STR("/"), path_folder(below)), path, a);
        add_in_source(all, p, first, source->folder, below, path, a);
    }
    if (source)
        add_place(all, source->folder, path, a);  // Hugo's resources and old READMEs
    // Its global resources. Source: gohugo.io/render-hooks/images, "Embedded".
    if (site->tree->kind->flags & KIND_BUNDLES)
        add_place(all, arena_join(a, content, STR("/"), STR("assets")), path, a);
    list_shared(site, p, path, a, all);
}
