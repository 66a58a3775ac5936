// Which languages' search indexes have changed; those are made in workers, one a language, that
// write their files themselves.
#include "gen/site/output/search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gen/base/workers.h"
#include "gen/site/documents/assets.h"
#include "gen/site/documents/nav.h"
#include "gen/site/output/rendered.h"
#include "gen/site/search/index.h"
#include "gen/site/source/each.h"
#include "gen/site/source/settings.h"

// Files are search.js and search/d0.js, search/t0.js and so on, in the language's folder.
#define FIRST "search.js"
#define FOLDER "search/"

str search_url(const struct site *site, const struct language *l, arena *a)
{
    if (site->settings.search == SEARCH_NONE)
        return STR_NONE;
    return site->by_folder ? arena_printf(a, "%.*s/" FIRST, STR_ARG(l->tag)) : STR(FIRST);
}

static str folder_of(str first, arena *a)
{
    return arena_join(a, str_slice(first, 0, first.len - strlen(FIRST)), STR(FOLDER), STR_NONE);
}

void search_page(struct unit_maker *units, const struct site *site, const struct page *p,
                 const struct page_output *o, buf *out)
{
    if (site->settings.search == SEARCH_NONE)
        return;
    // A record's table is numbers and keys by the hundred, which every query would load.
    bool headings = each_recorded(p) || site->settings.search == SEARCH_TITLES;
    enum units_extent extent = each_listed(p) ? UNITS_TITLE
                               : headings     ? UNITS_HEADINGS
                                              : UNITS_WORDS;
    // Many alike have the same words in their titles and texts, which would stand before all
    // others.
    str title = extent == UNITS_TITLE ? p->subject : p->title;
    units_pack(units, title, o->description, buf_view(&o->body), extent, out);
}

uint64_t search_hash(const struct rendered_page *p)
{
    uint64_t parts[2] = {str_hash(p->url), str_hash(p->search)};
    return str_hash((str){(const char *)parts, sizeof parts});
}

// Of all that the index shows: each page's address, title and words.
static uint64_t index_digest(const struct build *b, const struct language *l)
{
    uint64_t h = str_hash(settings_synonyms(&b->site.settings, l->tag));
    for (size_t i = 0; i < b->site.document_count; i++) {
        const struct page *p = nav_page(&b->site, b->site.documents[i], l);
        const struct rendered_page *r = rendered_of(b, i, l->index);
        if (!p || !r)
            continue;
        uint64_t parts[3] = {h, str_hash(p->title), r->search_hash};
        h = str_hash((str){(const char *)parts, sizeof parts});
    }
    return h;
}

struct changed {
    const struct language *language;
    size_t bytes;  // of its texts
};

struct indexing {
    struct build *build;
    struct changed *changed;  // languages whose index has changed
    size_t count;
    uint64_t *digests;  // [site.language_count]
    str *files;  // [site.language_count], as workers packed them; "" for one that is as it was
    buf *out;    // in a worker: of the language that it is at
    str first, folder;
    struct index *index;  // of a worker, as is
};

// In a worker. Leaves for each file: url, hash, size, whether it was written, whether it is new.
static void put_file(void *ctx, str name, str bytes)
{
    struct indexing *x = ctx;
    struct build *b = x->build;
    arena *a = &b->site.arena;
    str url = name.len ? arena_join(a, x->folder, name, STR(".js")) : x->first;
    const struct cache_output *old =
        b->old && !b->emit.fresh ? cache_output_find(b->old, url) : NULL;
    uint64_t hash = str_hash(bytes);
    bool write = !old || old->hash != hash;
    if (assets_static(&b->site, url))
        return;  // the source's own takes its place
    if (write)
        emit_write(&b->emit, url, bytes);
    pack_str(x->out, url);
    pack_u64(x->out, hash);
    pack_uint(x->out, bytes.len);
    pack_uint(x->out, (uint64_t)write | (uint64_t)!old << 1);
}

static void begin_worker(void *ctx)
{
    struct indexing *x = ctx;
    x->index = index_new();
}

static void job(void *ctx, size_t index, buf *out)
{
    struct indexing *x = ctx;
    struct build *b = x->build;
    const struct site *site = &b->site;
    const struct language *l = x->changed[index].language;
    struct diag *d = diag_new((struct diag_options){0});
    buf said = BUF_INIT, files = BUF_INIT;
    b->emit.diag = d;
    x->out = &files;
    x->first = b->view_site.search_index[l->index];
    x->folder = folder_of(x->first, &b->site.arena);
    index_begin(x->index, l->tag);
    for (size_t i = 0; i < site->document_count; i++) {
        const struct page *p = nav_page(site, site->documents[i], l);
        const struct rendered_page *r = rendered_of(b, i, l->index);
        if (!p || !r)
            continue;
        index_page(x->index, r->url, p->title, r->search);
    }
    index_files(x->index, settings_synonyms(&site->settings, l->tag), put_file, x);
    if (diag_count(d, DIAG_NOTE))
        diag_pack(d, &said);
    pack_str(out, buf_view(&said));
    buf_str(out, buf_view(&files));
    buf_free(&said), buf_free(&files);
    diag_free(d);
}

static void result(void *ctx, size_t index, enum workers_fate fate, int signal, str bytes)
{
    struct indexing *x = ctx;
    struct build *b = x->build;
    struct unpack u = unpack_from(arena_str(&b->site.arena, bytes));
    uint32_t language = x->changed[index].language->index;
    if (fate != WORKERS_DONE) {
        diag_add(b->diag, D_PAGE_CRASH, DIAG_FILE(b->view_site.search_index[language]),
                 "signal %d, while it was made", signal);
        return;
    }
    str said = unpack_str(&u);
    if (said.len)
        diag_unpack(b->diag, said);
    x->files[language] = (str){u.at, (size_t)(u.end - u.at)};
}

static void take_files(struct build *b, str files, uint64_t digest)
{
    struct unpack u = unpack_from(files);
    while (u.at < u.end && !u.bad) {
        struct cache_output o = {.url = unpack_str(&u), .digest = digest};
        o.hash = unpack_u64(&u);
        o.size = unpack_uint(&u);
        uint64_t flags = unpack_uint(&u);
        if (flags & 1)
            build_written(b, o.url, flags & 2);
        build_keep(b, o);
    }
}

// All files of an index that is as it was: the last build's.
static void keep_files(struct build *b, str first, uint64_t digest)
{
    str folder = folder_of(first, &b->site.arena);
    for (size_t i = 0; i < b->old->output_count; i++) {
        const struct cache_output *o = &b->old->outputs[i];
        if (o->digest != digest || assets_static(&b->site, o->url))
            continue;
        if (str_eq(o->url, first) || str_starts(o->url, folder))
            build_keep(b, *o);
    }
}

static size_t text_bytes(const struct build *b, const struct language *l)
{
    size_t bytes = 0;
    for (size_t i = 0; i < b->site.document_count; i++) {
        const struct rendered_page *r = rendered_of(b, i, l->index);
        bytes += r ? r->search.len : 0;
    }
    return bytes;
}

static int by_bytes(const void *x, const void *y)
{
    const struct changed *a = x, *b = y;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    return a->language->index < b->language->index ? -1 : 1;
}

// The largest first, so that no worker is left with one when the others have ended.
static bool find_changed(struct indexing *x)
{
    struct build *b = x->build;
    arena *a = &b->site.arena;
    size_t count = b->site.language_count;
    x->changed = arena_new(a, struct changed, count);
    x->digests = arena_new(a, uint64_t, count);
    x->files = arena_new(a, str, count);
    for (size_t i = 0; i < count; i++) {
        str first = b->view_site.search_index[i];
        const struct cache_output *old =
            b->old && !b->emit.fresh ? cache_output_find(b->old, first) : NULL;
        if (!first.len)
            continue;
        x->digests[i] = index_digest(b, b->site.languages[i]);
        if (old && old->digest == x->digests[i])
            continue;
        emit_folder_of(&b->emit, folder_of(first, a));
        const struct language *l = b->site.languages[i];
        x->changed[x->count++] = (struct changed){l, text_bytes(b, l)};
    }
    qsort(x->changed, x->count, sizeof *x->changed, by_bytes);
    return x->count > 0;
}

void search_write(struct build *b)
{
    struct indexing x = {.build = b};
    struct diag *outer = b->emit.diag;
    if (b->site.settings.search == SEARCH_NONE)
        return;
    if (find_changed(&x)) {
        struct workers_plan plan = {.job_count = x.count,
                                    .workers = b->options->jobs,
                                    .begin = begin_worker,
                                    .job = job,
                                    .result = result,
                                    .ctx = &x};
        if (workers_run(&plan) < 0)
            diag_add(b->diag, D_IO_READ, DIAG_FILE(b->site.settings.output_dir), "no worker: %s",
                     strerror(errno));
    }
    b->emit.diag = outer;
    for (size_t i = 0; i < b->site.language_count; i++) {
        if (x.files[i].len)
            take_files(b, x.files[i], x.digests[i]);
        else if (b->old)
            keep_files(b, b->view_site.search_index[i], x.digests[i]);
    }
}
