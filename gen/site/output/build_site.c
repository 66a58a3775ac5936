// A build from beginning to end: what changed is found, rendered, checked, and only then put in
// place.
#include "gen/site/output/build.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gen/base/clock.h"
#include "gen/base/path.h"
#include "gen/site/documents/assets.h"
#include "gen/site/documents/languages.h"
#include "gen/site/output/build_state.h"
#include "gen/site/documents/load.h"
#include "gen/site/source/scan.h"
#include "gen/site/documents/nav.h"
#include "gen/site/incremental/program_id.h"
#include "gen/site/source/publish.h"
#include "gen/site/output/rendered.h"
#include "gen/site/output/search.h"
#include "gen/site/output/unpublished.h"
#include "gen/text/policy.h"
#include "gen/site/source/git_dates.h"

str build_program_dir(arena *a)
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n <= 0)
        return STR(".");
    str full = {path, (size_t)n};
    return arena_str(a, path_folder(full));
}

// Whether the output's folders are as the last build left them: no file came or went.
static bool output_is_whole(const struct cache *c, str output)
{
    struct fs_stat st;
    buf path = BUF_INIT;
    bool whole = fs_stat(output.ptr, &st) == 0 && st.inode == c->output_inode;
    for (size_t i = 0; i < c->folder_count && whole; i++) {
        buf_clear(&path);
        buf_printf(&path, "%.*s/%.*s", STR_ARG(output), STR_ARG(c->folders[i].path));
        whole = fs_stat(path.ptr, &st) == 0 && st.mtime_ns == c->folders[i].mtime_ns;
    }
    buf_free(&path);
    return whole;
}

static bool nothing_changed(struct build *b)
{
    const struct cache *c = b->old;
    const struct fs_list *files = &b->site.files;
    int64_t now = publish_now();
    if (!c || c->outside != b->outside || c->file_count != files->count)
        return false;
    bool same = now >= c->since && now < c->until;
    for (size_t i = 0; i < files->count; i++) {
        if (!str_eq(c->files[i].path, files->items[i].path))
            return false;
        same = same && fs_same(&c->files[i].stat, &files->items[i].stat);
    }
    b->same_paths = true;
    return same;
}

static str csp(arena *a)
{
    buf b = BUF_INIT;
    policy_write(STR_NONE, false, &b);
    str out = arena_str(a, buf_view(&b));
    buf_free(&b);
    return out;
}

static const struct view_asset *list_assets(struct site *site)
{
    const struct assets *all = site->asset_index;
    struct view_asset *list = arena_new(&site->arena, struct view_asset, all->template_count);
    for (size_t i = 0; i < all->template_count; i++)
        list[i] = (struct view_asset){all->items[i].name, all->items[i].url};
    return list;
}

// An empty source is a mistake, such as a wrong folder, and never the wish to take the site away.
static bool has_page(struct build *b)
{
    for (size_t i = 0; i < b->site.page_count; i++)
        if (!b->site.pages[i]->made)
            return true;
    if (diag_count(b->diag, DIAG_ERROR))
        return false;
    struct diag_pos at = DIAG_FILE(b->site.settings.content_dir);
    if (b->site.read_count)
        diag_add(b->diag, D_NO_PAGE, at, "%zu left out", b->site.read_count);
    else
        diag_add(b->diag, D_NO_PAGE, at, DIAG_PLAIN);
    return false;
}

static void find_feeds(struct build *b)
{
    struct site *site = &b->site;
    b->feeds = arena_new(&site->arena, bool, site->language_count);
    for (size_t i = 0; i < site->page_count; i++) {
        const struct page *p = site->pages[i];
        if (!p->made && (p->updated != INT64_MIN || p->published != INT64_MIN))
            b->feeds[p->language->index] = true;
    }
}

static bool open_view(struct build *b)
{
    struct site *site = &b->site;
    str *homes = arena_new(&site->arena, str, site->language_count);
    str *search = arena_new(&site->arena, str, site->language_count);
    const struct document *home = map_get(&site->document_by_key, STR_NONE);
    for (size_t i = 0; i < site->language_count; i++) {
        homes[i] = nav_url(site, home, site->languages[i], &site->arena);
        search[i] = search_url(site, site->languages[i], &site->arena);
    }
    b->view_site = (struct view_site){.generator = STR("vramdoc"),
                                      .csp = csp(&site->arena),
                                      .homes = homes,
                                      .search_index = search,
                                      .assets = list_assets(site),
                                      .asset_count = site->asset_index->template_count};
    menu_open(b);
    b->view = view_open(site, &b->view_site, b->diag);
    return b->view != NULL;
}

static bool is_broken(const struct site *site, const struct document *doc)
{
    for (size_t i = 0; i < site->language_count; i++)
        if (doc->pages[i] && doc->pages[i]->broken)
            return true;
    return false;
}

// Of a document whose pages are as they were, where nothing else has changed, the digest is known.
static bool digest_known(const struct build *b, const struct document *doc,
                         const struct cache_document *old)
{
    if (!b->site.only_bodies || b->emit.fresh || !old || b->old->shown != b->shown ||
        b->old->addresses != b->addresses)
        return false;
    for (size_t i = 0; i < b->site.language_count; i++) {
        const struct page *p = doc->pages[i];
        if (p && !p->made && !p->unchanged)
            return false;
    }
    return true;
}

// Whether the files that a document's pages referred to when they were rendered are as they were
// then.
static bool uses_same(struct build *b, const struct cache_document *old)
{
    struct rendered_reader r = rendered_open(old->rendered);
    struct rendered_page p;
    while (rendered_next(&r, &p))
        for (size_t n = unpack_count(&p.uses); n && !p.uses.bad; n--) {
            struct asset *x = assets_lookup(&b->site, unpack_str(&p.uses));
            uint64_t stamp = unpack_u64(&p.uses);
            unpack_u64(&p.uses), unpack_uint(&p.uses);
            if (!x || assets_stamp(&b->site, x) != stamp)
                return false;
        }
    return true;
}

static void find_dirty(struct build *b)
{
    struct site *site = &b->site;
    b->documents = arena_new(&site->arena, struct built_document, site->document_count);
    b->dirty = arena_new(&site->arena, uint32_t, site->document_count);
    for (size_t i = 0; i < site->document_count; i++) {
        struct built_document *d = &b->documents[i];
        d->document = site->documents[i];
        if (is_broken(site, d->document))
            continue;
        const struct cache_document *old =
            b->old && !b->emit.fresh ? cache_document_find(b->old, d->document->key) : NULL;
        d->digest =
            digest_known(b, d->document, old) ? old->digest : digest_document(b, d->document);
        d->dirty = !old || old->digest != d->digest || !uses_same(b, old);
        if (d->dirty) {
            b->dirty[b->dirty_count++] = (uint32_t)i;
            continue;
        }
        d->rendered = old->rendered;
        struct rendered_reader r = rendered_open(d->rendered);
        if (r.said.len)
            diag_unpack(b->diag, r.said);
    }
}

static void shuffle(struct build *b)
{
    uint64_t x = 88172645463325252u;
    for (size_t i = b->dirty_count; b->options->shuffle && i > 1; i--) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        uint32_t *other = &b->dirty[x % i], own = b->dirty[i - 1];
        b->dirty[i - 1] = *other;
        *other = own;
    }
}

static void make_folders(struct build *b)
{
    const struct site *site = &b->site;
    for (size_t i = 0; b->emit.fresh && i < site->page_by_url.count; i++)
        emit_folder_of(&b->emit, site->page_by_url.entries[i].key);
}

// The hosts of other sites that pages show pictures of, each once, as they come.
static void gather_hosts(struct build *b)
{
    buf hosts = BUF_INIT;
    for (size_t i = 0; i < b->site.document_count * b->site.language_count; i++) {
        const struct rendered_page *p = &b->rendered[i];
        str rest = p->hosts, host;
        b->has_media = b->has_media || p->has_media;
        while (p->url.len && str_cut(&rest, ' ', &host)) {
            if (!host.len || policy_has(buf_view(&hosts), host))
                continue;
            if (hosts.len)
                buf_char(&hosts, ' ');
            buf_str(&hosts, host);
        }
    }
    b->hosts = arena_str(&b->summary->arena, buf_view(&hosts));
    b->summary->hosts = b->hosts;
    buf_free(&hosts);
}

// Everything between the last build's state and a site that is ready to be put in place.
static bool make_site(struct build *b)
{
    struct site *site = &b->site;
    struct load_options load = {.jobs = b->options->jobs,
                                .drafts = b->options->drafts,
                                .known = b->old ? b->old->files : NULL,
                                .known_count = b->old ? b->old->file_count : 0,
                                .same_paths = b->same_paths};
    bool same_outside = b->old && b->old->outside == b->outside;
    site_load(site, &load);
    if (!languages_open(site, same_outside ? b->old->catalogs : STR_NONE) || !has_page(b))
        return false;
    git_dates_read(site);
    find_feeds(b);
    if (!assets_load(site, same_outside ? b->old->assets : STR_NONE) || !open_view(b))
        return false;
    b->math = math_open(site->settings.cache_dir);
    digest_site(b);
    find_dirty(b);
    shuffle(b);
    if (!emit_begin(&b->emit, site->settings.output_dir, b->emit.fresh, b->diag))
        return false;
    make_folders(b);
    render_documents(b);
    if (b->texts.name && !texts_map(&b->texts) && !diag_count(b->diag, DIAG_ERROR))
        diag_add(b->diag, D_IO_READ, DIAG_FILE(site->settings.cache_dir), "%s", strerror(errno));
    rendered_index(b);
    gather_hosts(b);
    site_files_pages(b);
    changed_files_copy(b);
    site_files_write(b);
    anchors_check(b);
    changed_files_find_removed(b);
    unpublished_find(b);
    return diag_count(b->diag, DIAG_ERROR) == 0;
}

static bool put_in_place(struct build *b)
{
    if (cache_invalidate(b->site.settings.cache_dir) < 0) {
        diag_add(b->diag, D_IO_WRITE, DIAG_FILE(b->site.settings.cache_dir), "%s", strerror(errno));
        return false;
    }
    if (!emit_commit(&b->emit, b->written, b->written_count, b->removed, b->removed_count))
        return false;
    b->summary->removed = b->emit.removed_count;
    b->summary->foreign = b->emit.fresh ? b->emit.foreign.shown : b->old->foreign;
    emit_end(
        &b->emit);  // before the cache is good: a build with nothing to do takes away no leftovers
    save_cache(b);
    if (b->options->verbose)
        unpublished_list_foreign(b);
    return true;
}

static void summarize(struct build *b, uint64_t started)
{
    struct build_summary *s = b->summary;
    s->documents = b->site.document_count;
    s->languages = b->site.language_count;
    if (b->site.language_count)
        s->until = b->site.until;
    for (size_t i = 0; i < b->site.page_count; i++) {
        const struct page *p = b->site.pages[i];
        s->pages += !p->made;
        const struct page *source = p->document ? p->document->source : p;
        s->translations +=
            !p->made && source != p && !source->made && source->language == b->site.source_language;
    }
    s->written = b->written_count;
    s->ms = clock_ms(CLOCK_MONOTONIC) - started;
    buf path = BUF_INIT;
    buf_str(&path, b->site.settings.output_dir);
    if (path.len < sizeof s->output)
        memcpy(s->output, path.ptr, path.len + 1);
    buf_free(&path);
}

static void forget_old(struct build *b)
{
    cache_close(b->old);
    b->old = NULL;
    b->same_paths = false;
    b->emit.fresh = true;
}

static bool run(struct build *b)
{
    struct settings *s = &b->site.settings;
    if (!settings_load(s, &b->options->paths, b->options->program_dir, &b->site.arena, b->diag))
        return false;
    if (!emit_may_write(s->output_dir, b->options->into, b->diag))
        return false;
    int lock = cache_lock(s->cache_dir);
    if (lock < 0) {
        diag_add(b->diag, D_IO_WRITE, DIAG_FILE(s->cache_dir), "%s",
                 errno == ENOTEMPTY
                     ? "holds files and is no cache of an earlier build; choose an empty folder"
                     : strerror(errno));
        return false;
    }
    b->program = program_id();
    bool ok = site_scan(&b->site);
    b->outside = digest_outside(b);
    if (ok && !b->options->fresh)
        b->old = cache_open(s->cache_dir, b->program);
    bool whole = b->old && output_is_whole(b->old, s->output_dir);
    b->emit.fresh = !whole;
    if (ok && whole && diag_count(b->diag, DIAG_ERROR) == 0 && !b->options->verbose &&
        nothing_changed(b)) {
        b->summary->unchanged = true;
        b->summary->pages = b->old->file_count;
        b->summary->foreign = b->old->foreign;
        b->summary->left_out.count = b->old->left_out;
        b->summary->until = b->old->until;
        diag_unpack(b->diag, b->old->said);
    } else if (ok) {
        if (whole && !page_texts_reopen(b))
            forget_old(b);
        ok = page_texts_begin(b) && make_site(b);
        if (ok)
            ok = put_in_place(b);
        texts_end(&b->texts);
        emit_end(&b->emit);
    }
    close(lock);
    return ok;
}

bool build_site(const struct build_options *o, struct diag *d, struct build_summary *out)
{
    struct build b = {.options = o, .summary = out, .diag = d, .emit.root = -1, .emit.parent = -1};
    uint64_t started = clock_ms(CLOCK_MONOTONIC);
    *out = (struct build_summary){.until = INT64_MAX};
    b.site.diag = d;
    md_init();
    bool ok = run(&b);
    summarize(&b, started);
    if (b.math)
        math_free(b.math);
    if (b.view)
        view_free(b.view);
    cache_close(b.old);
    site_close(&b.site);
    return ok;
}
