// Documents from pages: grouped by key, put in reading order, with sections above them and an
// address for each page.
#include "gen/site/documents/nav.h"

#include <stdlib.h>
#include <string.h>

#include "gen/base/path.h"
#include "gen/text/address.h"
#include "gen/site/source/scan.h"
#include "gen/site/source/each.h"
#include "gen/site/source/publish.h"
#include "gen/site/source/settings.h"

static bool names_folder(str part)
{
    return str_eq(part, STR("index")) || str_eq(part, STR("_index"));
}

static struct document *document_new(struct site *site, str key)
{
    bool is_new;
    void **slot = map_put(&site->document_by_key, &site->arena, key, &is_new);
    if (!is_new)
        return *slot;
    struct document *doc = arena_new(&site->arena, struct document, 1);
    doc->key = key;
    doc->section = path_folder(key);
    doc->order = INT64_MAX;
    doc->pages = arena_new(&site->arena, struct page *, site->language_count);
    *slot = doc;
    return doc;
}

// What a page shares with no other: its key and its language.
static str place_key(const struct page *p, buf *b)
{
    buf_clear(b);
    buf_printf(b, "%.*s ", STR_ARG(p->language->tag));
    buf_str(b, p->url);
    return buf_view(b);
}

static bool is_readme(const struct page *p)
{
    return !p->made && str_eq_nocase(path_name(p->url), STR("readme"));
}

// README is the page of its folder only where no index is in the same language: zh/README.md is a
// translation of index.md.
static void settle_keys(struct site *site)
{
    struct map indexed = {0}, apart = {0};  // languages and folders; folders that have both
    arena scratch = ARENA_INIT;
    buf b = BUF_INIT;
    for (size_t i = 0; i < site->page_count; i++) {
        struct page *p = site->pages[i];
        if (!names_folder(path_name(p->url)))
            continue;
        p->url = path_folder(p->url);
        p->made = true;  // of a folder, until documents exist
        map_put(&indexed, &scratch, place_key(p, &b), NULL);
    }
    for (size_t i = 0; i < site->page_count && indexed.count; i++) {
        struct page folder = *site->pages[i];
        if (!is_readme(&folder))
            continue;
        folder.url = path_folder(folder.url);
        if (map_has(&indexed, place_key(&folder, &b)))
            map_put(&apart, &scratch, folder.url, NULL);
    }
    for (size_t i = 0; i < site->page_count; i++) {
        struct page *p = site->pages[i];
        if (!is_readme(p) || map_has(&apart, path_folder(p->url)))
            continue;
        p->url = path_folder(p->url);
        p->made = true;
    }
    buf_free(&b);
    arena_free(&scratch);
}

// Posts with one name on different dates are different documents, and their dates become part of
// their names.
static void separate_dates(struct site *site)
{
    struct map first = {0}, several = {0};
    arena scratch = ARENA_INIT;
    buf b = BUF_INIT;
    for (size_t i = 0; i < site->page_count; i++) {
        struct page *p = site->pages[i];
        if (!p->date.len)
            continue;
        void **slot = map_put(&first, &scratch, place_key(p, &b), NULL);
        const struct page *other = *slot;
        if (!other)
            *slot = p;
        else if (!str_eq(other->date, p->date))
            map_put(&several, &scratch, p->url, NULL);
    }
    for (size_t i = 0; i < site->page_count && several.count; i++) {
        struct page *p = site->pages[i];
        if (!p->date.len || !map_has(&several, p->url))
            continue;
        size_t name = p->url.len - path_name(p->url).len;
        p->url = arena_printf(&site->arena, "%.*s%.*s-%.*s", (int)name, p->url.ptr,
                              STR_ARG(p->date), STR_ARG(path_name(p->url)));
    }
    buf_free(&b);
    arena_free(&scratch);
}

// a.md beside a/index.md is a page of that folder, and keeps its address.
static void separate_folders(struct site *site)
{
    struct map folders = {0};
    arena scratch = ARENA_INIT;
    buf b = BUF_INIT;
    for (size_t i = 0; i < site->page_count; i++)
        if (site->pages[i]->made)
            map_put(&folders, &scratch, place_key(site->pages[i], &b), NULL);
    for (size_t i = 0; i < site->page_count && folders.count; i++) {
        struct page *p = site->pages[i];
        if (p->made || !p->url.len || !map_has(&folders, place_key(p, &b)))
            continue;
        if (!p->slug.len)
            p->slug = arena_join(&site->arena, STR("/"), p->url, STR_NONE);
        p->url = arena_join(&site->arena, p->url, STR("/"), path_name(p->url));
    }
    buf_free(&b);
    arena_free(&scratch);
}

static void group(struct site *site)
{
    settle_keys(site);
    separate_dates(site);
    separate_folders(site);
    for (size_t i = 0; i < site->page_count; i++) {
        struct page *p = site->pages[i];
        struct document *doc = document_new(site, p->url);
        struct page **place = &doc->pages[p->language->index];
        doc->is_section = doc->is_section || p->made || p->url.len == 0;
        p->made = false;
        p->document = doc;
        if (*place && fs_same(&p->stat, &(*place)->stat)) {
            p->left_out = LEFT_TWICE;  // by another name, through a symbolic link
        } else if (*place) {
            buf what = BUF_INIT;
            buf_printf(&what, "the same document in the same language as %.*s, so it is left out",
                       STR_ARG((*place)->source));
            site_diag(site, D_URL_DUPLICATE, p, 0, what.ptr);
            buf_free(&what);
            p->left_out = LEFT_TWICE;
        } else {
            *place = p;
            doc->page_count++;
        }
    }
    size_t n = 0;
    for (size_t i = 0; i < site->page_count; i++) {
        struct page *p = site->pages[i];
        if (p->left_out == PUBLISH)
            p->index = (uint32_t)n, site->pages[n++] = p;
    }
    site->page_count = n;
}

struct made {
    struct page **items;
    size_t count, cap;
};

// A folder's path with its name in it, as "." and "docs/.." have not.
static str folder_path(str folder, arena *a)
{
    char *real = realpath(folder.ptr, NULL);
    str out = real ? arena_str(a, str_c(real)) : folder;
    free(real);
    return out;
}

static void make_page(struct site *site, struct document *doc, struct language *l,
                      struct made *made)
{
    struct page *p = arena_new(&site->arena, struct page, 1);
    str title = doc->key.len ? path_name(doc->key) : settings_title(&site->settings, l->tag);
    bool stated = !doc->key.len && title.len;
    if (!title.len)
        title = path_name(folder_path(site->settings.content_dir, &site->arena));
    char *text = arena_c(&site->arena, title);
    for (char *c = text; doc->key.len && *c; c++)
        if (*c == '-' || *c == '_')
            *c = ' ';
    if (!stated && *text >= 'a' && *text <= 'z')
        *text -= 32;
    *p = (struct page){.document = doc,
                       .language = l,
                       .title = str_c(text),
                       .updated = INT64_MIN,
                       .published = INT64_MIN,
                       .order = INT64_MIN,
                       .made = true};
    if (!doc->key.len)
        p->description = settings_description(&site->settings, l->tag);
    made->items = arena_grow(&site->arena, made->items, made->count, &made->cap, made->count + 1,
                             sizeof *made->items);
    made->items[made->count++] = p;
    doc->pages[l->index] = p;
    doc->page_count++;
}

// A folder without a page of its own gets one in every language that has a page below it; the start
// page, in every language.
static void make_sections(struct site *site, struct made *made)
{
    size_t written = site->document_by_key.count;
    struct document *home = document_new(site, STR_NONE);
    for (size_t i = 0; i < site->document_by_key.count;
         i++) {  // grows as folders of folders appear
        struct document *doc = site->document_by_key.entries[i].value;
        if (doc->key.len)
            document_new(site, doc->section)->is_section = true;
    }
    home->is_section = true;
    for (size_t i = 0; i < written; i++) {
        struct document *doc = site->document_by_key.entries[i].value;
        for (struct document *up = doc; up->key.len;) {
            up = map_get(&site->document_by_key, up->section);
            for (size_t l = 0; !up->source && l < site->language_count; l++)
                if (doc->pages[l] && !up->pages[l])
                    make_page(site, up, site->languages[l], made);
        }
    }
    bool shown = home->source && site->settings.fallback;
    for (size_t l = 0; l < site->language_count && !shown; l++)
        if (!home->pages[l])
            make_page(site, home, site->languages[l], made);
}

static void choose_sources(struct site *site)
{
    for (size_t i = 0; i < site->document_by_key.count; i++) {
        struct document *doc = site->document_by_key.entries[i].value;
        struct page *first = doc->pages[site->source_language->index];
        for (size_t l = 0; l < site->language_count && !first; l++)
            first = doc->pages[l];
        doc->source = first;
    }
}

static void list_pages(struct site *site, const struct made *made)
{
    size_t n = site->page_count, total = n + made->count;
    struct page **all = arena_new(&site->arena, struct page *, total);
    if (n)
        memcpy(all, site->pages, n * sizeof *all);
    for (size_t i = 0; i < made->count; i++) {
        all[n + i] = made->items[i];
        all[n + i]->index = (uint32_t)(n + i);
    }
    site->pages = all;
    site->page_count = total;
    map_reserve(&site->page_by_source, &site->arena, n);
    for (size_t i = 0; i < n; i++)
        *map_put_kept(&site->page_by_source, &site->arena, all[i]->source, NULL) = all[i];
}

// Reading order: by section; in it what the settings list, then by order, then newest first, then
// by key, chapter 2 before chapter 10.
static int by_reading(const void *x, const void *y)
{
    const struct document *a = *(struct document *const *)x, *b = *(struct document *const *)y;
    int c = str_cmp_natural(a->section, b->section);
    if (c)
        return c;
    if ((a->key.len == 0) != (b->key.len == 0))
        return a->key.len == 0 ? -1 : 1;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    int64_t at = a->source ? a->source->published : INT64_MIN,
            bt = b->source ? b->source->published : INT64_MIN;
    if (at != bt)
        return at > bt ? -1 : 1;
    return str_cmp_natural(a->key, b->key);
}

static void put_in_order(struct site *site)
{
    const struct settings *s = &site->settings;
    size_t n = site->document_by_key.count;
    site->documents = arena_new(&site->arena, struct document *, n);
    site->document_count = n;
    for (size_t i = 0; i < n; i++) {
        struct document *doc = site->documents[i] = site->document_by_key.entries[i].value;
        if (doc->source && doc->source->order != INT64_MIN)
            doc->order = doc->source->order;
    }
    for (size_t i = 0; i < s->order_count; i++) {
        struct document *doc = map_get(&site->document_by_key, s->order[i]);
        if (doc)
            doc->order = (int64_t)i - (int64_t)s->order_count - ((int64_t)1 << 40);
    }
    qsort(site->documents, n, sizeof *site->documents, by_reading);
    for (size_t i = 0; i < n; i++)
        site->documents[i]->index = (uint32_t)i;
    for (size_t i = 0; i < n; i++) {
        struct document *doc = site->documents[i], *up = NULL;
        if (doc->key.len)
            up = doc->parent = map_get(&site->document_by_key, doc->section);
        if (!up)
            continue;
        if (!up->child_count)
            up->first_child = (uint32_t)i;
        up->child_count++;
    }
}

// "guide/intro" -> "guide/intro.html"; a folder's page is its index. A slug replaces the key's last
// part, or, with a '/' at its head, for all of it.
static str address_path(const struct site *site, const struct document *doc, str slug, arena *a)
{
    str key = doc->key;
    if (slug.len && key.len) {
        bool of_root = slug.ptr[0] == '/';
        str folder = of_root ? STR_NONE : str_slice(key, 0, key.len - path_name(key).len);
        key = arena_join(a, folder, str_slice(slug, of_root, slug.len), STR_NONE);
    }
    if (!key.len)
        return STR("index.html");
    bool folder = doc->is_section || site->settings.pretty;
    return arena_join(a, address_harmless(key, a), folder ? STR("/index.html") : STR(".html"),
                      STR_NONE);
}

static str with_language(const struct site *site, str path, const struct language *l, arena *a)
{
    if (!site->by_folder)
        return path;
    char *to = arena_new(a, char, l->tag.len + path.len + 2);
    memcpy(to, l->tag.ptr, l->tag.len);
    to[l->tag.len] = '/';
    memcpy(to + l->tag.len + 1, path.ptr, path.len);
    return (str){to, l->tag.len + 1 + path.len};
}

// The address, or the first of url-2, url-3, ... that no other page has.
static str claim(struct site *site, str url, struct page *p)
{
    bool is_new;
    str wanted = url;
    void **slot = map_put_kept(&site->page_by_url, &site->arena, url, &is_new);
    const struct page *other = *slot;
    for (unsigned i = 2; !is_new; i++) {
        size_t end = str_ends(wanted, STR("/index.html")) ? wanted.len - 11 : wanted.len - 5;
        url = arena_printf(&site->arena, "%.*s-%u%.*s", (int)end, wanted.ptr, i,
                           STR_ARG(str_slice(wanted, end, wanted.len)));
        slot = map_put_kept(&site->page_by_url, &site->arena, url, &is_new);
    }
    *slot = p;
    if (url.ptr == wanted.ptr)
        return url;
    buf what = BUF_INIT;
    buf_printf(&what, "%.*s, as %.*s; it is written to %.*s", STR_ARG(wanted),
               STR_ARG(other->source), STR_ARG(url));
    site_diag(site, D_URL_DUPLICATE, p, 0, what.ptr);
    buf_free(&what);
    return url;
}

static void give_addresses(struct site *site)
{
    map_reserve(&site->page_by_url, &site->arena,
                site->settings.fallback ? site->document_count * site->language_count
                                        : site->page_count);
    for (size_t i = 0; i < site->document_count; i++) {
        struct document *doc = site->documents[i];
        doc->path = address_path(site, doc, doc->source->slug, &site->arena);
        for (size_t l = 0; l < site->language_count; l++) {
            struct page *p = doc->pages[l];
            if (!p && !site->settings.fallback)
                continue;
            str path = !p || str_eq(p->slug, doc->source->slug)
                           ? doc->path
                           : address_path(site, doc, p->slug, &site->arena);
            str url = claim(site, with_language(site, path, site->languages[l], &site->arena),
                            p ? p : doc->source);
            if (p)
                p->url = url;
        }
    }
}

// page.lua is beside the source page of the document that it serves.
static void find_scripts(struct site *site)
{
    struct map folders = {0};
    arena scratch = ARENA_INIT;
    for (size_t i = 0; i < site->files.count; i++) {
        str path = site->files.items[i].path;
        if (str_eq(path_name(path), STR("page.lua")))
            map_put(&folders, &scratch, path_folder(path), NULL);
    }
    for (size_t i = 0; i < site->document_count && folders.count; i++) {
        struct document *doc = site->documents[i];
        str folder = path_folder(doc->source->source);
        if (doc->source->made || !map_has(&folders, folder))
            continue;
        str path = folder.len ? arena_printf(&site->arena, "%.*s/page.lua", STR_ARG(folder))
                              : STR("page.lua");
        doc->page_lua = site_path(site, path, &site->arena);
    }
    arena_free(&scratch);
}

// "es.source.json" beside "es.md".
static void find_sidecars(struct site *site)
{
    arena scratch = ARENA_INIT;
    for (size_t i = 0; i < site->files.count; i++) {
        const struct fs_entry *f = &site->files.items[i];
        if (!str_ends(f->path, STR(".source.json")))
            continue;
        str stem = str_slice(f->path, 0, f->path.len - 12);
        struct page *p =
            map_get(&site->page_by_source, arena_printf(&scratch, "%.*s.md", STR_ARG(stem)));
        uint64_t stamp[] = {f->stat.size, f->stat.inode, (uint64_t)f->stat.mtime_ns,
                            (uint64_t)f->stat.ctime_ns};
        if (p)
            p->sidecar = str_hash((str){(const char *)stamp, sizeof stamp}) | 1;
    }
    each_share(site);
    arena_free(&scratch);
}

void nav_plan(struct site *site)
{
    struct made made = {0};
    group(site);
    choose_sources(site);
    make_sections(site, &made);
    choose_sources(site);
    list_pages(site, &made);
    put_in_order(site);
    find_scripts(site);
    find_sidecars(site);
    give_addresses(site);
}

struct page *nav_page(const struct site *site, const struct document *doc, const struct language *l)
{
    struct page *p = doc->pages[l->index];
    return p || !site->settings.fallback ? p : doc->source;
}

str nav_url(const struct site *site, const struct document *doc, const struct language *l, arena *a)
{
    struct page *p = doc->pages[l->index];
    if (p)
        return p->url;
    return site->settings.fallback ? with_language(site, doc->path, l, a) : STR_NONE;
}

str nav_title(const struct site *site, const struct document *doc, const struct language *l)
{
    struct page *p = nav_page(site, doc, l);
    bool first = p && p->root && p->root->title.len && str_eq(doc->key, p->root->prefix);
    return first ? p->root->title : p ? p->title : STR_NONE;
}

struct document *nav_near(const struct site *site, const struct document *doc,
                          const struct language *l, int step)
{
    const struct document *up = doc->parent;
    if (!up)
        return NULL;
    int64_t first = up->first_child, last = first + up->child_count;
    for (int64_t i = (int64_t)doc->index + step; i >= first && i < last; i += step)
        if (nav_page(site, site->documents[i], l))
            return site->documents[i];
    return NULL;
}
