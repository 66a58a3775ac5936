// The files of a site beside its pages: kept, written or removed by comparison with what the last
// build left.
#include <errno.h>
#include <string.h>

#include "gen/site/documents/assets.h"
#include "gen/site/output/build_state.h"
#include "gen/site/output/rendered.h"
#include "gen/site/page/page_markdown.h"

void build_written(struct build *b, str url, bool is_new)
{
    b->written = arena_grow(&b->site.arena, b->written, b->written_count, &b->written_cap,
                            b->written_count + 1, sizeof *b->written);
    b->written[b->written_count++] = (struct emit_file){url, is_new};
}

void build_keep(struct build *b, struct cache_output o)
{
    b->outputs = arena_grow(&b->site.arena, b->outputs, b->output_count, &b->output_cap,
                            b->output_count + 1, sizeof *b->outputs);
    b->outputs[b->output_count++] = o;
}

static const struct cache_output *last_output(const struct build *b, str url)
{
    return b->old && !b->emit.fresh ? cache_output_find(b->old, url) : NULL;
}

static bool is_kept(struct build *b, str url, uint64_t digest)
{
    const struct cache_output *old = last_output(b, url);
    if (!old || old->digest != digest)
        return false;
    build_keep(b, *old);
    return true;
}

bool output_begin(struct build *b, str url, uint64_t digest)
{
    if (assets_static(&b->site, url) || is_kept(b, url, digest))
        return false;
    view_assets_clear(b->view);
    return true;
}

void output_end(struct build *b, str url, uint64_t digest, buf *bytes)
{
    const struct cache_output *old = last_output(b, url);
    struct cache_output o = {.url = url,
                             .digest = digest,
                             .assets = arena_str(&b->site.arena, view_assets(b->view)),
                             .hash = str_hash(buf_view(bytes)),
                             .size = bytes->len};
    if (!old || old->hash != o.hash) {
        emit_folder_of(&b->emit, url);
        emit_write(&b->emit, url, buf_view(bytes));
        build_written(b, url, !old);
    }
    build_keep(b, o);
    buf_free(bytes);
}

static void write_static(struct build *b, struct asset *x)
{
    uint64_t digest = assets_stamp(&b->site, x);
    if (!is_kept(b, x->url, digest)) {
        buf bytes = BUF_INIT;
        view_assets_clear(b->view);
        if (fs_read(x->path.ptr, 0, &bytes) < 0)
            diag_add(b->diag, D_IO_READ, DIAG_FILE(x->path), "%s", strerror(errno));
        else
            assets_clean(x, &bytes, b->diag);
        output_end(b, x->url, digest, &bytes);
    }
    x->hash = b->outputs[b->output_count - 1].hash;
    x->size = b->outputs[b->output_count - 1].size;
}

static void add_asked(uint8_t *asked, size_t size, str assets)
{
    for (size_t i = 0; i < size && i < assets.len; i++)
        asked[i] |= (uint8_t)assets.ptr[i];
}

// Of the templates' files, those that some page of the site asks for, rendered now or by an earlier
// build.
static const uint8_t *find_asked(const struct build *b, arena *a)
{
    size_t size = (b->site.asset_index->template_count + 7) / 8;
    uint8_t *asked = arena_new(a, uint8_t, size);
    for (size_t i = 0; i < b->site.document_count * b->site.language_count; i++)
        add_asked(asked, size, b->rendered[i].assets);
    for (size_t i = 0; i < b->output_count; i++)
        add_asked(asked, size, b->outputs[i].assets);
    return asked;
}

// Marks the files that pages refer to, and the templates' that they ask for.
static void mark_used(struct build *b)
{
    const struct assets *all = b->site.asset_index;
    arena scratch = ARENA_INIT;
    const uint8_t *asked = find_asked(b, &scratch);
    for (size_t i = 0; i < all->template_count; i++)
        if (asked[i / 8] >> i % 8 & 1)
            assets_use(&b->site, &all->items[i], 0, 0);
    for (size_t i = 0; i < b->site.document_count * b->site.language_count; i++) {
        struct unpack u = b->rendered[i].uses;
        for (size_t n = b->rendered[i].url.len ? unpack_count(&u) : 0; n && !u.bad; n--) {
            struct asset *x = assets_lookup(&b->site, unpack_str(&u));
            unpack_u64(&u);
            uint64_t hash = unpack_u64(&u), size = unpack_uint(&u);
            if (x)
                assets_use(&b->site, x, hash, size);
        }
    }
    arena_free(&scratch);
}

static void copy_asset(struct build *b, struct asset *x)
{
    if (!b->old || b->emit.fresh || !cache_output_find(b->old, x->url)) {
        str bytes = assets_bytes(&b->site, x);
        emit_folder_of(&b->emit, x->url);
        if (bytes.len)
            emit_write(&b->emit, x->url, bytes);
        else
            emit_copy(&b->emit, x->url, x->path);
        build_written(b, x->url, true);
    }
    build_keep(b, (struct cache_output){
                      .url = x->url, .hash = x->hash, .digest = x->hash, .size = x->size});
}

void changed_files_copy(struct build *b)
{
    struct assets *all = b->site.asset_index;
    struct map done = {0};
    arena scratch = ARENA_INIT;
    mark_used(b);
    for (size_t i = 0; i < all->count; i++) {
        struct asset *x = &all->items[i];
        bool is_new;
        if (!x->used)
            continue;
        map_put(&done, &scratch, x->url,
                &is_new);  // two files with the same name and bytes have one address
        if (is_new && x->kind == ASSET_STATIC) {
            write_static(b, x);
        } else if (is_new) {
            copy_asset(b, x);
        }
    }
    arena_free(&scratch);
}

struct removing {
    struct build *build;
    struct map now;
    arena scratch;
    size_t cap;
};

static void remove_unless_there(struct removing *r, str url)
{
    struct build *b = r->build;
    if (map_has(&r->now, url))
        return;
    b->removed = arena_grow(&b->site.arena, b->removed, b->removed_count, &r->cap,
                            b->removed_count + 1, sizeof(str));
    b->removed[b->removed_count++] = url;
}

void changed_files_find_removed(struct build *b)
{
    struct removing r = {.build = b, .scratch = ARENA_INIT};
    if (!b->old || b->emit.fresh)
        return;
    for (size_t i = 0; i < b->site.page_by_url.count && b->old->addresses != b->addresses; i++) {
        str url = b->site.page_by_url.entries[i].key;
        map_put(&r.now, &r.scratch, url, NULL);
        map_put(&r.now, &r.scratch, page_markdown_url(url, &r.scratch), NULL);
    }
    for (size_t i = 0; i < b->output_count; i++)
        map_put(&r.now, &r.scratch, b->outputs[i].url, NULL);
    for (size_t i = 0; i < b->old->document_count && b->old->addresses != b->addresses; i++) {
        struct rendered_reader reader = rendered_open(b->old->documents[i].rendered);
        struct rendered_page p;
        while (rendered_next(&reader, &p)) {
            remove_unless_there(&r, p.url);
            remove_unless_there(&r, page_markdown_url(p.url, &b->site.arena));
        }
    }
    for (size_t i = 0; i < b->old->output_count; i++) {
        str url = b->old->outputs[i].url;
        if (!map_has(&b->site.page_by_url, url))
            remove_unless_there(&r, url);
    }
    arena_free(&r.scratch);
}
