// What a build tells the next one: which files it read, what each document left, what is in the
// output.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gen/base/path.h"
#include "gen/site/documents/assets.h"
#include "gen/site/documents/languages.h"
#include "gen/site/incremental/texts.h"
#include "gen/site/output/build_state.h"

// Whether the files beside pages and Markdown copies are those of the last build, whatever is in
// them.
static bool outputs_same(const struct build *b)
{
    if (b->old->output_count != b->output_count)
        return false;
    for (size_t i = 0; i < b->output_count; i++)
        if (!str_eq(b->old->outputs[i].url, b->outputs[i].url))
            return false;
    return true;
}

// The folders of the output; of a site with the addresses of the last build they are those of that.
static void list_folders(struct build *b, struct cache *c)
{
    struct map seen = {0};
    arena *a = &b->site.arena;
    size_t cap = 0, n = b->site.page_by_url.count + b->output_count;
    struct fs_stat st;
    bool same = b->old && b->old->addresses == b->addresses && outputs_same(b);
    if (same)
        n = b->old->folder_count;
    if (fs_stat(b->site.settings.output_dir.ptr, &st) == 0)
        c->output_inode = st.inode;
    for (size_t i = 0; i < n; i++) {
        size_t pages = same ? 0 : b->site.page_by_url.count;
        str url = same        ? STR_NONE
                  : i < pages ? b->site.page_by_url.entries[i].key
                              : b->outputs[i - pages].url;
        bool is_new = true;
        str folder = same                ? b->old->folders[i].path
                     : path_name_at(url) ? path_folder(url)
                                         : STR(".");
        if (!same)
            map_put(&seen, a, folder, &is_new);
        if (!is_new)
            continue;
        str path =
            arena_printf(a, "%.*s/%.*s", STR_ARG(b->site.settings.output_dir), STR_ARG(folder));
        if (fs_stat(path.ptr, &st) < 0)
            st.mtime_ns = 0;
        c->folders = arena_grow(a, c->folders, c->folder_count, &cap, c->folder_count + 1,
                                sizeof *c->folders);
        c->folders[c->folder_count++] = (struct cache_folder){folder, st.mtime_ns};
    }
}

// The file at a place of the walk; k counts the pages among those before it.
static struct cache_file file_at(const struct site *site, size_t i, size_t *k)
{
    const struct fs_entry *f = &site->files.items[i];
    struct cache_file to = {.path = f->path, .stat = f->stat};
    if (*k == site->read_count || !str_eq(site->read_pages[*k]->source, f->path))
        return to;
    const struct page *p = site->read_pages[(*k)++];
    to.meta = p->meta, to.tag = p->tag, to.key = p->key, to.date = p->date;
    return to;
}

static int by_key(const void *x, const void *y)
{
    return str_cmp(((const struct cache_document *)x)->key,
                   ((const struct cache_document *)y)->key);
}

static int save(struct build *b, struct cache *c)
{
    struct site *site = &b->site;
    c->files = arena_new(&site->arena, struct cache_file, site->files.count);
    for (size_t k = 0; c->file_count < site->files.count; c->file_count++)
        c->files[c->file_count] = file_at(site, c->file_count, &k);
    c->documents = arena_new(&site->arena, struct cache_document, site->document_count);
    for (size_t i = 0; i < site->document_count; i++)
        c->documents[c->document_count++] = (struct cache_document){
            b->documents[i].document->key, b->documents[i].digest, b->documents[i].rendered};
    qsort(c->documents, c->document_count, sizeof *c->documents, by_key);
    c->outputs = b->outputs;
    c->output_count = b->output_count;
    if (cache_save(site->settings.cache_dir, b->program, c) < 0)
        return -1;
    texts_sweep(site->settings.cache_dir, c);
    return 0;
}

void save_cache(struct build *b)
{
    struct cache c = {.outside = b->outside,
                      .addresses = b->addresses,
                      .shown = b->shown,
                      .foreign = b->summary->foreign,
                      .left_out = b->summary->left_out.count,
                      .since = b->site.since,
                      .until = b->site.until};
    buf said = BUF_INIT, catalogs = BUF_INIT, assets = BUF_INIT;
    page_texts_tidy(b);
    c.texts = texts_known(&b->texts);
    list_folders(b, &c);
    diag_pack(b->diag, &said);
    languages_pack(&b->site, &catalogs);
    assets_pack(&b->site, &assets);
    c.said = buf_view(&said), c.catalogs = buf_view(&catalogs), c.assets = buf_view(&assets);
    if (save(b, &c) < 0)
        diag_add(b->diag, D_IO_WRITE, DIAG_FILE(b->site.settings.cache_dir), "%s", strerror(errno));
    buf_free(&said), buf_free(&catalogs), buf_free(&assets);
}
