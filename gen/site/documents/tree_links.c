// Finds what links of trees of others mean: an index of all addresses, and the places where their
// generators look.
#include "gen/site/documents/tree_links.h"

#include <string.h>

#include "gen/base/path.h"
#include "gen/site/source/settings.h"
#include "gen/site/source/tree_paths.h"

struct tree_index {
    struct map pages, lower;  // address -> struct page; lower: the same in lower case
    struct map assets;        // lower-case names -> struct asset; filled when asked for
    struct map posts;         // names of files with a date -> struct page
    struct map names;         // last parts of keys -> struct document; site for several
    struct map languages;     // spellings of languages in addresses -> struct language
    arena arena;
    bool assets_listed;
};

static str lowered(str s, arena *a)
{
    char *out = arena_c(a, s);
    for (size_t i = 0; i < s.len; i++)
        out[i] = ascii_lower(out[i]);
    return (str){out, s.len};
}

static void put_first(struct map *m, arena *a, str key, const void *value)
{
    bool is_new;
    void **slot = map_put(m, a, key, &is_new);
    if (is_new)
        *slot = (void *)(uintptr_t)value;
}

static void index_page(const struct site *site, struct tree_index *x, const struct page *p,
                       arena *scratch)
{
    str found[TREE_ADDRESSES];
    for (size_t i = 0, n = tree_addresses(site, p, scratch, found); i < n; i++) {
        put_first(&x->pages, &x->arena, found[i], p);
        put_first(&x->lower, &x->arena, lowered(found[i], scratch), p);
    }
    put_first(&x->pages, &x->arena, p->document->key, p);
    put_first(&x->lower, &x->arena, lowered(p->document->key, scratch), p);
}

// "{% post_url 2018-12-22-distill %}" names a post in whatever folder it is.
static void index_post(struct tree_index *x, const struct page *p)
{
    size_t name = path_name_at(p->source);
    if (p->date.len)
        put_first(&x->posts, &x->arena, str_slice(p->source, name, str_rfind(p->source, '.')), p);
}

// Hugo's references name a page by its file or its folder alone where no other has that name.
// Source: gohugo.io/methods/page/getpage (a page of that name is looked for in all sections).
static void index_name(const struct site *site, struct tree_index *x, const struct page *p,
                       arena *scratch)
{
    str key = lowered(p->document->key, scratch);
    size_t slash = str_rfind(key, '/');
    void **slot = map_put(&x->names, &x->arena,
                          slash == key.len ? key : str_slice(key, slash + 1, key.len), NULL);
    *slot = (void *)(*slot && *slot != p->document ? (uintptr_t)site : (uintptr_t)p->document);
}

static void index_languages(struct site *site, struct tree_index *x, arena *scratch)
{
    for (size_t i = 0; i < site->language_count; i++) {
        struct language *l = site->languages[i];
        put_first(&x->languages, &x->arena, lowered(l->tag, scratch), l);
    }
    for (size_t i = 0; i < site->page_count; i++) {
        const struct page *p = site->pages[i];
        if (p->tag.len)
            put_first(&x->languages, &x->arena, lowered(p->tag, scratch), p->language);
        if (p->root && p->root->address.len)
            put_first(&x->languages, &x->arena, lowered(p->root->address, scratch), p->language);
    }
}

// Older addresses of a page: a link to one is led on.
static void index_aliases(struct tree_index *x, const struct page *p, arena *scratch)
{
    for (uint32_t i = 0; i < p->alias_count; i++)
        if (p->aliases[i].len && p->aliases[i].ptr[0] == '/')
            put_first(&x->pages, &x->arena, tree_address(p->aliases[i], scratch), p);
}

static void add_alias(struct site *site, struct page *p, str written, str address)
{
    size_t count = p->alias_count, cap = count;
    str ending = str_ends(written, STR(".html")) ? STR(".html") : STR("/");
    p->aliases = arena_grow(&site->arena, p->aliases, count, &cap, count + 1, sizeof *p->aliases);
    p->aliases[count] = arena_join(&site->arena, STR("/"), address, ending);
    p->alias_count++;
}

// Addresses that the tree itself leads on; where its host does not, a page at the old one does.
static void index_redirects(struct site *site, struct tree_index *x, arena *scratch)
{
    const struct tree *t = site->tree;
    for (size_t i = 0; i < t->redirect_count; i++, arena_reset(scratch)) {
        const struct tree_redirect *d = &t->redirects[i];
        str from = tree_address(tree_without_base(t, d->from), scratch),
            to = tree_address(tree_without_base(t, d->to), scratch);
        struct page *p = map_get(&x->pages, to);
        if (!p || map_has(&x->pages, from))
            continue;
        put_first(&x->pages, &x->arena, from, p);
        if (!d->by_host && !p->made)
            add_alias(site, p, d->from, from);
    }
}

void tree_links_index(struct site *site)
{
    arena scratch = ARENA_INIT;
    bool foreign = (site->tree->kind->flags & KIND_FOREIGN) != 0;
    if (!foreign && site->settings.file.len)
        return;
    struct tree_index *x = site->tree_index = arena_new(&site->arena, struct tree_index, 1);
    index_languages(site, x, &scratch);
    for (size_t pass = 0; pass < 2; pass++)  // what has a file comes first
        for (size_t i = 0; i < site->page_count; i++) {
            if (site->pages[i]->made != (pass == 1))
                continue;
            index_page(site, x, site->pages[i], &scratch);
            index_post(x, site->pages[i]);
            index_name(site, x, site->pages[i], &scratch);
            arena_reset(&scratch);
        }
    for (size_t i = 0; i < site->page_count; i++, arena_reset(&scratch))
        index_aliases(x, site->pages[i], &scratch);
    index_redirects(site, x, &scratch);
    arena_free(&scratch);
}

void tree_links_free(struct site *site)
{
    if (site->tree_index)
        arena_free(&site->tree_index->arena);
}

static const struct page *look_up(const struct tree_index *x, str address, bool lower, arena *a)
{
    return map_get(lower ? &x->lower : &x->pages, lower ? lowered(address, a) : address);
}

// An address as it is, or without a part that names a language.
static struct tree_target by_address(const struct site *site, str address, bool lower, arena *a)
{
    const struct tree_index *x = site->tree_index;
    struct tree_target t = {.page = look_up(x, address, lower, a)};
    for (size_t from = 0; !t.page && from < address.len;) {
        size_t to = from + str_find(str_slice(address, from, address.len), '/');
        const struct language *l = map_get(&x->languages, lowered(str_slice(address, from, to), a));
        if (l) {
            str before = str_slice(address, 0, from),
                behind = str_slice(address, to < address.len ? to + 1 : to, address.len);
            str rest = arena_join(a, before, behind, STR_NONE);
            while (rest.len && rest.ptr[rest.len - 1] == '/')
                rest.len--;
            t.page = look_up(x, rest, lower, a);
            t.language = l;
        }
        from = to + 1;
    }
    if (!t.page)
        t.language = NULL;
    return t;
}

// The path from a folder, normalised; false when it climbs above the root.
static bool join(str folder, str path, arena *a, str *out)
{
    buf joined = BUF_INIT, found = BUF_INIT;
    buf_printf(&joined, "%.*s/", STR_ARG(folder));
    buf_str(&joined, path);
    bool ok = fs_normalize(buf_view(&joined), &found);
    *out = ok ? arena_str(a, buf_view(&found)) : STR_NONE;
    buf_free(&joined), buf_free(&found);
    return ok;
}

bool tree_climbs_out(const struct site *site, const struct page *p, str written, arena *a)
{
    str own[TREE_ADDRESSES], joined, path = str_slice(written, 0, str_find(written, '#'));
    if (!(site->tree->kind->flags & KIND_FOREIGN) || !path.len)
        return false;
    if (path.ptr[0] == '/')
        return site->tree->kind->flags & KIND_BASE_WRITTEN && site->tree->base_path.len &&
               tree_without_base(site->tree, path).ptr == path.ptr;
    for (size_t i = 0, n = tree_addresses(site, p, a, own); i < n; i++)
        if (join(path_folder(own[i]), path, a, &joined))
            return false;
    return true;
}

enum { MAX_PLACES = 20 };

struct places {
    str items[MAX_PLACES];
    size_t count;
};

static void add_place(struct places *all, str folder, str path, arena *a)
{
    str joined;
    if (all->count < MAX_PLACES && join(folder, path, a, &joined))
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

// The addresses that a destination may mean, most likely first. A relative one counts from the
// page's own address, taken for a folder and for a file.
static void list_addresses(const struct site *site, const struct page *p, str path, arena *a,
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
    if (file && site->tree->kind->flags & KIND_MDX && p->root)
        add_place(all, p->root->prefix, path, a);
}

static const struct tree_root *source_root(const struct site *site, const struct page *p)
{
    const struct tree *t = site->tree;
    for (size_t i = 0; p->root && i < t->root_count; i++)
        if (str_eq(t->roots[i].prefix, p->root->prefix) && !t->roots[i].address.len)
            return &t->roots[i];
    return p->root;
}

// "/en/guide" is /guide where en is a language of the site.
static str without_language(const struct site *site, str path, arena *a)
{
    size_t end = 1 + str_find(str_slice(path, 1, path.len), '/');
    bool named = map_has(&site->tree_index->languages, lowered(str_slice(path, 1, end), a));
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

// Where a file may lie that is no page: beside the page, beside the source's, and for an absolute
// destination in the folders that its generator publishes.
static void list_files(const struct site *site, const struct page *p, str path, arena *a,
                       struct places *all)
{
    const struct tree_root *source = source_root(site, p);
    const struct page *first = p->document ? p->document->source : p;
    str content = site->tree->folder, own[TREE_ADDRESSES];
    if (path.ptr[0] == '/') {
        str rest = without_language(site, path, a);
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
        add_place(all, arena_join(a, content, STR("/"), STR("assets")), path, a);
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
    }
    if (source)
        add_place(all, source->folder, path, a);  // Hugo's resources and old READMEs
    list_shared(site, p, path, a, all);
}

// Assets by names in lower case: made when a link is found nowhere else.
static struct asset *asset_any_case(const struct site *site, str path, arena *a)
{
    struct tree_index *x = site->tree_index;
    for (size_t i = 0; !x->assets_listed && i < site->assets.count; i++) {
        str name = site->assets.items[i].path;
        struct asset *found = assets_lookup(site, name);
        if (found)
            put_first(&x->assets, &x->arena, lowered(name, a), found);
    }
    x->assets_listed = true;
    return map_get(&x->assets, lowered(path, a));
}

static struct asset *find_asset(const struct site *site, const struct places *files, bool any_case,
                                arena *a, struct diag *d)
{
    for (size_t i = 0; i < files->count; i++) {
        struct asset *x = any_case ? asset_any_case(site, files->items[i], a)
                                   : assets_lookup(site, files->items[i]);
        if (x && assets_read(site, x, d))
            return x;
    }
    return NULL;
}

struct tree_target tree_find(const struct site *site, const struct page *p, str path, arena *a,
                             struct diag *d)
{
    struct tree_target t = {0};
    struct places addresses = {.count = 0}, files = {.count = 0};
    if (!site->tree_index || !path.len)
        return t;
    list_addresses(site, p, path, a, &addresses);
    for (size_t i = 0; i < addresses.count && !t.page; i++)
        t = by_address(site, tree_address(addresses.items[i], a), false, a);
    if (t.page)
        return t;
    list_files(site, p, path, a, &files);
    t.asset = find_asset(site, &files, false, a, d);
    if (t.asset)
        return t;
    for (size_t i = 0; i < addresses.count && !t.page; i++)
        t = by_address(site, tree_address(addresses.items[i], a), true, a);
    if (!t.page)
        t.asset = find_asset(site, &files, true, a, d);
    t.other_case = (t.page && !(site->tree->kind->flags & KIND_LOWER)) || t.asset;
    return t;
}

// Whether a program of src/pages makes the page: Astro's and React's own.
static bool is_program(const struct site *site, str path, arena *a)
{
    static const str tails[] = {STR(".astro"),     STR(".tsx"),         STR(".jsx"),
                                STR(".js"),        STR("/index.astro"), STR("/index.tsx"),
                                STR("/index.jsx"), STR("/index.js")};
    str folder, address = tree_address(path, a);
    bool found = false;
    if (!(site->tree->kind->flags & KIND_MDX) || path.ptr[0] != '/' ||
        !join(site->tree->folder, STR("src/pages"), a, &folder))
        return false;
    for (size_t i = 0; i < sizeof tails / sizeof *tails && !found; i++)
        found = assets_lookup(site, arena_join(a, arena_join(a, folder, STR("/"), address),
                                               tails[i], STR_NONE)) != NULL;
    return found;
}

bool tree_is_html(const struct site *site, const struct page *p, str path, arena *a)
{
    static const str tails[] = {STR(".html"), STR("/index.html")};
    struct places files = {.count = 0};
    if (!site->tree_index || !(site->tree->kind->flags & KIND_FOREIGN))
        return false;
    list_files(site, p, path, a, &files);
    for (size_t i = 0; i < files.count; i++) {
        str place = files.items[i];
        if (str_ends(place, STR("/")))
            place.len--;
        if (str_ends(place, STR(".html")))
            place.len -= 5;
        for (size_t k = 0; k < 2; k++)
            if (assets_lookup(site, arena_join(a, place, tails[k], STR_NONE)))
                return true;
    }
    return is_program(site, path, a);
}

const struct page *tree_page_at(const struct site *site, str address)
{
    const struct page *p = site->tree_index ? map_get(&site->tree_index->pages, address) : NULL;
    arena scratch = ARENA_INIT;
    if (!p && site->tree_index && site->tree->kind->flags & KIND_LOWER)
        p = look_up(site->tree_index, address, true, &scratch);
    arena_free(&scratch);
    return p;
}

const struct page *tree_post_named(const struct site *site, str name)
{
    return site->tree_index ? map_get(&site->tree_index->posts, name) : NULL;
}

const struct page *tree_page_named(const struct site *site, str name)
{
    arena scratch = ARENA_INIT;
    const void *found = site->tree_index && site->tree->kind->flags & KIND_REFERENCES
                            ? map_get(&site->tree_index->names, lowered(name, &scratch))
                            : NULL;
    arena_free(&scratch);
    return found && found != site ? ((const struct document *)found)->source : NULL;
}

bool tree_is_own(const struct site *site, const struct page *p, str path, arena *a)
{
    str own[TREE_ADDRESSES], address = tree_address(path, a);
    bool found = path.ptr[0] != '/' || str_eq(p->document->key, address);
    for (size_t i = 0, n = tree_addresses(site, p, a, own); i < n && !found; i++)
        found = str_eq(own[i], address);
    return found;
}
