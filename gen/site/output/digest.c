// Digests: numbers that change when anything changes that a page shows, so that only such pages are
// rendered again.
#include <stdlib.h>
#include <string.h>

#include "gen/base/fs.h"
#include "gen/base/path.h"
#include "gen/site/documents/assets.h"
#include "gen/site/documents/contents.h"
#include "gen/site/output/build_state.h"
#include "gen/site/documents/nav.h"

// Numbers and strings fed one after the other; strings with their length, so that borders matter.
struct digest {
    buf bytes;
    uint64_t h;
};

enum { CHUNK = 4096, PAGE_LUA_MAX = 4 << 20 };

static void fold(struct digest *d)
{
    buf_put(&d->bytes, &d->h, sizeof d->h);
    d->h = str_hash(buf_view(&d->bytes));
    buf_clear(&d->bytes);
}

static void add_u64(struct digest *d, uint64_t v)
{
    buf_put(&d->bytes, &v, sizeof v);
    if (d->bytes.len > CHUNK)
        fold(d);
}

static void add_str(struct digest *d, str s)
{
    uint32_t len = (uint32_t)s.len;
    buf_put(&d->bytes, &len, sizeof len);
    buf_put(&d->bytes, s.ptr, s.len);
    if (d->bytes.len > CHUNK)
        fold(d);
}

static uint64_t finish(struct digest *d)
{
    fold(d);
    buf_free(&d->bytes);
    return d->h;
}

static void add_stat(struct digest *d, const struct fs_stat *st)
{
    add_u64(d, st->size);
    add_u64(d, st->inode);
    add_u64(d, (uint64_t)st->mtime_ns);
    add_u64(d, (uint64_t)st->ctime_ns);
}

static void add_file(struct digest *d, str path)
{
    struct fs_stat st = {0};
    add_str(d, path);
    if (path.len && fs_stat(path.ptr, &st) == 0)
        add_stat(d, &st);
}

static void add_folder(struct digest *d, str path, arena *a)
{
    struct fs_list files = {0};
    add_str(d, path);
    if (fs_walk(path.ptr, NULL, a, &files, NULL) < 0)
        return;
    for (size_t i = 0; i < files.count; i++) {
        add_str(d, files.items[i].path);
        add_stat(d, &files.items[i].stat);
    }
}

uint64_t digest_outside(const struct build *b)
{
    struct digest d = {.bytes = BUF_INIT};
    arena a = ARENA_INIT;
    const struct settings *s = &b->site.settings;
    const struct build_options *o = b->options;
    add_u64(&d, s->hash);
    add_u64(&d, (uint64_t)o->drafts << 2 | (uint64_t)o->strict << 1 | o->strict_measured);
    for (size_t i = 0; i < b->site.static_count; i++) {
        add_str(&d, b->site.statics[i].path);
        add_stat(&d, &b->site.statics[i].stat);
    }
    add_folder(&d, s->templates_dir, &a);
    add_folder(&d, s->i18n_dir, &a);
    add_str(&d, s->content_dir);
    add_file(&d, arena_printf(&a, "%.*s/../.git/logs/HEAD", STR_ARG(s->content_dir)));
    add_file(&d, arena_printf(&a, "%.*s/.git/logs/HEAD", STR_ARG(s->content_dir)));
    arena_free(&a);
    return finish(&d);
}

static void digest_addresses(struct build *b)
{
    struct digest d = {.bytes = BUF_INIT};
    const struct site *site = &b->site;
    add_u64(&d,
            site->settings.hash);  // whether untranslated pages have addresses, and of which shape
    add_u64(&d, site->page_by_url.count);
    for (size_t i = 0; i < site->page_count; i++) {
        const struct page *p = site->pages[i];
        add_str(&d, p->source);
        add_str(&d, p->url);
        add_str(&d, p->document->key);
        for (uint32_t k = 0; k < p->alias_count; k++)
            add_str(&d, p->aliases[k]);
    }
    add_u64(&d, site->asset_index->hash);
    b->addresses = finish(&d);
}

static void digest_shown(struct build *b)
{
    struct digest d = {.bytes = BUF_INIT};
    const struct site *site = &b->site;
    add_u64(&d, b->program);
    add_u64(&d, b->options->strict);
    add_u64(&d, site->settings.hash);
    add_str(&d, site->settings.title);
    add_u64(&d, view_hash(b->view));
    add_u64(&d, site->asset_index->hash);
    add_str(&d, site->source_language->tag);
    add_u64(&d, contents_hash(site));
    for (size_t i = 0; i < site->language_count; i++) {
        add_str(&d, site->languages[i]->tag);
        add_u64(&d, catalog_hash(site->languages[i]->catalog));
        add_u64(&d, b->feeds[i]);
        add_str(&d, b->view_site.homes[i]);
        add_str(&d, b->view_site.calculators[i]);
        for (size_t k = 0; k < b->view_site.menus[i].count; k++)
            add_str(&d, b->view_site.menus[i].links[k].url);
        add_str(&d, b->view_site.search_index ? b->view_site.search_index[i] : STR_NONE);
    }
    // Records that page.lua may cite.
    for (size_t i = 0; i < site->files.count; i++)
        if (str_starts(site->files.items[i].path, STR("measurements/")))
            add_stat(&d, &site->files.items[i].stat);
    b->shown = finish(&d);
}

void digest_site(struct build *b)
{
    digest_addresses(b);
    digest_shown(b);
}

#define ADD_STR(name) add_str(d, x->name);
#define ADD_TIME(name) add_u64(d, (uint64_t)x->name);

static void add_link(struct digest *d, const struct build *b, const struct document *doc,
                     const struct language *l, arena *a)
{
    struct view_link link = {0}, *x = &link;
    if (doc)
        link = page_link(&b->site, doc, l, a);
    VIEW_LINK(ADD_STR, ADD_TIME)
}

static void add_child(struct digest *d, const struct build *b, const struct document *doc,
                      const struct language *l, arena *a)
{
    struct view_child child, *x = &child;
    add_u64(d, page_child(&b->site, doc, l, a, &child));
    VIEW_CHILD(ADD_STR, ADD_TIME)
}

static void add_page(struct digest *d, const struct build *b, const struct document *doc,
                     const struct language *l, arena *a)
{
    const struct site *site = &b->site;
    const struct page *p = nav_page(site, doc, l);
    if (!p) {
        add_u64(d, 0);
        return;
    }
    const struct page *x = p;
    PAGE_SHOWN(ADD_STR, ADD_TIME, ADD_TIME)
    add_str(d, p->language->tag);
    add_str(d, nav_url(site, doc, l, a));
    add_link(d, b, nav_near(site, doc, l, -1), l, a);
    add_link(d, b, nav_near(site, doc, l, 1), l, a);
    for (const struct document *up = doc->parent; up; up = up->parent)
        add_link(d, b, up, l, a);
    for (uint32_t i = 0; i < doc->child_count; i++)
        add_child(d, b, site->documents[doc->first_child + i], l, a);
}

static size_t first_not_before(const struct fs_list *files, str path)
{
    size_t low = 0, high = files->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (str_cmp(files->items[middle].path, path) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Modules that documents share: Lua files of the content folder itself.
static void add_shared(struct digest *d, const struct site *site)
{
    for (size_t i = 0; i < site->files.count; i++) {
        const struct fs_entry *file = &site->files.items[i];
        if (str_find(file->path, '/') < file->path.len || !str_ends(file->path, STR(".lua")))
            continue;
        add_str(d, file->path);
        add_stat(d, &file->stat);
    }
}

// The files of a folder, whose name ends in '/' or is empty, that are no pages: what page.lua may
// read.
static void add_files_of(struct digest *d, const struct site *site, str folder)
{
    for (size_t i = first_not_before(&site->files, folder); i < site->files.count; i++) {
        const struct fs_entry *file = &site->files.items[i];
        if (!str_starts(file->path, folder))
            break;
        str name = str_slice(file->path, folder.len, file->path.len);
        if (str_find(name, '/') < name.len || str_ends(name, STR(".md")) ||
            str_ends(name, STR(".source.json")))
            continue;
        add_str(d, name);
        add_stat(d, &file->stat);
    }
}

// The files in folders of other documents that page.lua names: "FOLDER/" stands in its text.
static void add_named(struct digest *d, const struct site *site, str page_lua)
{
    buf text = BUF_INIT;
    str last = STR("");
    if (fs_read(page_lua.ptr, PAGE_LUA_MAX, &text) != 0)
        return;
    for (size_t i = 0; i < site->files.count; i++) {
        str folder = path_folder_slash(site->files.items[i].path);
        if (!folder.len || str_eq(folder, last))
            continue;
        last = folder;
        if (str_search(buf_view(&text), folder) < text.len)
            add_files_of(d, site, folder);
    }
    buf_free(&text);
}

uint64_t digest_document(const struct build *b, const struct document *doc)
{
    struct digest d = {.bytes = BUF_INIT};
    arena a = ARENA_INIT;
    add_u64(&d, b->shown);
    add_u64(&d, b->addresses);
    add_str(&d, doc->key);
    add_str(&d, doc->page_lua);
    if (doc->page_lua.len) {
        add_file(&d, doc->page_lua);
        add_files_of(&d, &b->site, path_folder_slash(doc->source->source));
        add_named(&d, &b->site, doc->page_lua);
        add_shared(&d, &b->site);
    }
    for (size_t i = 0; i < b->site.language_count; i++) {
        add_page(&d, b, doc, b->site.languages[i], &a);
        add_u64(&d, doc->pages[i] != NULL);
    }
    arena_free(&a);
    return finish(&d);
}

uint64_t digest_page(const struct build *b, const struct document *doc, const struct language *l)
{
    struct digest d = {.bytes = BUF_INIT};
    arena a = ARENA_INIT;
    add_u64(&d, b->shown);
    add_page(&d, b, doc, l, &a);
    arena_free(&a);
    return finish(&d);
}
