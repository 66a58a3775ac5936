// Finds what links of trees of others mean, in the places where their generators look.
#include "gen/site/documents/tree_links.h"

#include <string.h>

#include "gen/base/path.h"
#include "gen/site/documents/tree_index.h"
#include "gen/site/documents/tree_places.h"
#include "gen/site/source/settings.h"
#include "gen/site/source/tree_paths.h"

// An address as it is, or without a part that names a language.
static struct tree_target by_address(const struct site *site, str address, bool lower, arena *a)
{
    const struct tree_index *x = site->tree_index;
    struct tree_target t = {.page = tree_look_up(x, address, lower, a)};
    for (size_t from = 0; !t.page && from < address.len;) {
        size_t to = from + str_find(str_slice(address, from, address.len), '/');
        const struct language *l =
            map_get(&x->languages, tree_lowered(str_slice(address, from, to), a));
        if (l) {
            str before = str_slice(address, 0, from),
                behind = str_slice(address, to < address.len ? to + 1 : to, address.len);
            str rest = arena_join(a, before, behind, STR_NONE);
            while (rest.len && rest.ptr[rest.len - 1] == '/')
                rest.len--;
            t.page = tree_look_up(x, rest, lower, a);
            t.language = l;
        }
        from = to + 1;
    }
    if (!t.page)
        t.language = NULL;
    return t;
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
        if (tree_join(path_folder(own[i]), path, a, &joined))
            return false;
    return true;
}

// Assets by names in lower case: made when a link is found nowhere else.
static struct asset *asset_any_case(const struct site *site, str path, arena *a)
{
    struct tree_index *x = site->tree_index;
    for (size_t i = 0; !x->assets_listed && i < site->assets.count; i++) {
        str name = site->assets.items[i].path;
        struct asset *found = assets_lookup(site, name);
        if (found)
            tree_put_first(&x->assets, &x->arena, tree_lowered(name, a), found);
    }
    x->assets_listed = true;
    return map_get(&x->assets, tree_lowered(path, a));
}

// A file by its place: one of the folder whose files keep their names has its address from there,
// ../static/img/x.png of Docusaurus.
static struct asset *asset_at(const struct site *site, str place)
{
    struct asset *x = assets_lookup(site, place);
    str folder = site->tree->static_count ? site->tree->statics[0] : STR_NONE;
    bool below = folder.len && place.len > folder.len && str_starts(place, folder) &&
                 place.ptr[folder.len] == '/';
    return x || !below ? x : assets_static(site, str_slice(place, folder.len + 1, place.len));
}

static struct asset *find_asset(const struct site *site, const struct places *files, bool any_case,
                                arena *a, struct diag *d)
{
    for (size_t i = 0; i < files->count; i++) {
        struct asset *x =
            any_case ? asset_any_case(site, files->items[i], a) : asset_at(site, files->items[i]);
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
    tree_place_addresses(site, p, path, a, &addresses);
    for (size_t i = 0; i < addresses.count && !t.page; i++)
        t = by_address(site, tree_address(addresses.items[i], a), false, a);
    if (t.page)
        return t;
    tree_place_files(site, p, path, a, &files);
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

// Whether a program of src/pages makes the page, of each language: Astro's and React's own.
static bool is_program(const struct site *site, str path, arena *a)
{
    static const str tails[] = {STR(".astro"),     STR(".tsx"),         STR(".jsx"),
                                STR(".js"),        STR("/index.astro"), STR("/index.tsx"),
                                STR("/index.jsx"), STR("/index.js")};
    str folder, address;
    bool found = false;
    if (!(site->tree->kind->flags & KIND_MDX) || path.ptr[0] != '/' ||
        !tree_join(site->tree->folder, STR("src/pages"), a, &folder))
        return false;
    address = tree_address(tree_without_language(site, path, a), a);
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
    tree_place_files(site, p, path, a, &files);
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

bool tree_is_absent(const struct site *site, const struct page *p, str path, arena *a)
{
    struct places addresses = {.count = 0};
    if (!site->tree_index || !site->tree->absent_count)
        return false;
    if (path.ptr[0] == '/')
        path = tree_without_language(site, path, a);
    if (path.len)
        tree_place_addresses(site, p, path, a, &addresses);
    for (size_t i = 0; i < addresses.count; i++)
        for (size_t k = 0; k < site->tree->absent_count; k++) {
            str address = tree_address(addresses.items[i], a), top = site->tree->absent[k];
            if (str_starts(address, top) && (address.len == top.len || address.ptr[top.len] == '/'))
                return true;
        }
    return false;
}

bool tree_is_own(const struct site *site, const struct page *p, str path, arena *a)
{
    str own[TREE_ADDRESSES], address = tree_address(path, a);
    bool found = path.ptr[0] != '/' || str_eq(p->document->key, address);
    for (size_t i = 0, n = tree_addresses(site, p, a, own); i < n && !found; i++)
        found = str_eq(own[i], address);
    return found;
}
