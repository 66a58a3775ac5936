// Files that are copied as they are: listed, read when something refers to them, and given an
// address with their hash in it.
#include "gen/site/documents/assets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gen/base/packed_values.h"
#include "gen/base/path.h"
#include "gen/text/images.h"
#include "gen/text/address.h"
#include "gen/text/script.h"
#include "gen/text/stylesheet.h"
#include "gen/text/svg_clean.h"

static str address(str name, uint64_t hash, arena *a)
{
    str file = path_name(name);
    size_t dot = str_rfind(file, '.');
    return arena_printf(a, "assets/%.*s.%08x%.*s", (int)dot, file.ptr,
                        (unsigned)(hash ^ hash >> 32), STR_ARG(str_slice(file, dot, file.len)));
}

static bool read_asset(const struct assets *all, struct asset *x, struct diag *d);

static bool is_stylesheet(const struct asset *x)
{
    return x->kind != ASSET_STATIC && str_ends(x->name, STR(".css"));
}

// What an address in a stylesheet means: a file beside it, or one that keeps its name.
static struct asset *refer(const struct assets *all, const struct asset *css, str path)
{
    buf joined = BUF_INIT, found = BUF_INIT;
    bool absolute = str_starts(path, STR("/"));
    if (!absolute)
        buf_str(&joined, path_folder_slash(css->name));
    buf_str(&joined, path);
    struct asset *x = NULL;
    if (fs_normalize(buf_view(&joined), &found)) {
        x = map_get(css->kind == ASSET_TEMPLATE ? &all->by_template : &all->by_content,
                    buf_view(&found));
        if (!x)
            x = map_get(&all->by_url, buf_view(&found));
    }
    buf_free(&joined), buf_free(&found);
    return x;
}

static void put_address(struct assets *all, struct asset *css, str text, size_t from, str written,
                        struct diag *d, buf *out)
{
    size_t end = str_find(written, '#'), query = str_find(str_slice(written, 0, end), '?');
    str path = str_slice(written, 0, query);
    struct asset *x = path.len && !address_is_outside(written)
                          ? refer(all, css, address_decode(path, &all->arena))
                          : NULL;
    if (!path.len || address_is_outside(written) ||
        (x && x->state == ASSET_READING)) {  // of a circle: it keeps what it has
        buf_str(out, written);
    } else if (!x || !read_asset(all, x, d)) {
        if (d)
            diag_add(d, D_LINK_BROKEN, DIAG_AT(css->path, text, from), "%.*s", STR_ARG(written));
        buf_str(out, written);
    } else {
        css->refs = arena_grow(&all->arena, css->refs, css->ref_count, &css->ref_cap,
                               css->ref_count + 1, sizeof *css->refs);
        css->refs[css->ref_count++] = x;
        address_relative(STR("assets/x"), x->url, out);
        buf_str(out, str_slice(written, query, written.len));
    }
}

static void read_stylesheet(struct assets *all, struct asset *x, str text, struct diag *d)
{
    size_t at = 0, done = 0, from, to;
    buf out = BUF_INIT;
    while (stylesheet_next(text, &at, &from, &to)) {
        buf_str(&out, str_slice(text, done, from));
        put_address(all, x, text, from, str_slice(text, from, to), d, &out);
        done = to;
    }
    buf_str(&out, str_slice(text, done, text.len));
    if (x->kind == ASSET_TEMPLATE) {
        buf sent = BUF_INIT;
        stylesheet_shorten(buf_view(&out), &sent);
        x->bytes = arena_str(&all->arena, buf_view(&sent));
        buf_free(&sent);
    } else {
        x->bytes = arena_str(&all->arena, buf_view(&out));
    }
    buf_free(&out);
}

static bool is_script(const struct asset *x)
{
    return x->kind == ASSET_TEMPLATE && str_ends(x->name, STR(".js"));
}

static void read_script(struct assets *all, struct asset *x, str text)
{
    buf out = BUF_INIT;
    script_shorten(text, &out);
    x->bytes = arena_str(&all->arena, buf_view(&out));
    buf_free(&out);
}

bool assets_clean(const struct asset *x, buf *bytes, struct diag *d)
{
    size_t place;
    buf out = BUF_INIT;
    str ending = x->name.len < 4 ? STR_NONE : str_slice(x->name, x->name.len - 4, x->name.len);
    if (x->kind == ASSET_TEMPLATE || !str_eq_nocase(ending, STR(".svg")))
        return false;
    enum svg_clean how = svg_clean(buf_view(bytes), &out, &place);
    if (how != SVG_SAME && d)
        diag_add(d, D_SVG_SCRIPT, DIAG_AT(x->path, buf_view(bytes), place), "%s",
                 how == SVG_CLEANED
                     ? "what runs in a browser is left out, here first"
                     : "it cannot be read as plain XML in UTF-8; an empty picture takes its place");
    if (how != SVG_SAME) {
        buf_clear(bytes);
        buf_str(bytes, buf_view(&out));
    }
    buf_free(&out);
    return how != SVG_SAME;
}

// d may be NULL: nothing is said then.
static bool read_asset(const struct assets *const_all, struct asset *x, struct diag *d)
{
    struct assets *all = (struct assets *)(uintptr_t)
        const_all;  // the list is fixed; what is known of its files grows
    buf bytes = BUF_INIT;
    if (x->state != ASSET_UNREAD)
        return x->state == ASSET_READ || x->state == ASSET_KNOWN;
    x->state = ASSET_READING;
    if (fs_read(x->path.ptr, 0, &bytes) < 0) {
        if (d)
            diag_add(d, D_IO_READ, DIAG_FILE(x->path), "%s", strerror(errno));
        x->state = d ? ASSET_BROKEN : ASSET_UNREAD;
    } else {
        if (assets_clean(x, &bytes, d))
            x->bytes = arena_str(&all->arena, buf_view(&bytes));
        if (is_stylesheet(x))
            read_stylesheet(all, x, buf_view(&bytes), d);
        else if (is_script(x))
            read_script(all, x, buf_view(&bytes));
        else
            image_size(buf_view(&bytes), &x->width, &x->height);
        str kept = x->bytes.len ? x->bytes : buf_view(&bytes);
        x->hash = str_hash(kept);
        x->size = kept.len;
        if (x->kind != ASSET_STATIC)
            x->url = address(x->name, x->hash, &all->arena);
        x->state = ASSET_READ;
    }
    buf_free(&bytes);
    return x->state == ASSET_READ;
}

uint64_t assets_stamp(const struct site *site, struct asset *x)
{
    uint64_t h[5] = {x->stat.size, x->stat.inode, (uint64_t)x->stat.mtime_ns,
                     (uint64_t)x->stat.ctime_ns, 0};
    if (is_stylesheet(x))
        assets_read(site, x, site->diag);
    for (size_t i = 0; i < x->ref_count; i++)
        h[4] = h[4] * 31 + x->refs[i]->hash;
    return str_hash((str){(const char *)h, sizeof h});
}

static void use(struct asset *x)
{
    bool known = x->used;
    x->used = true;
    for (size_t i = 0; i < x->ref_count && !known; i++)
        use(x->refs[i]);
}

void assets_use(const struct site *site, struct asset *x, uint64_t hash, size_t size)
{
    struct assets *all = site->asset_index;
    if (is_stylesheet(x)) {
        assets_read(site, x, site->diag);
    } else if (x->state == ASSET_UNREAD) {
        x->hash = hash, x->size = size;
        if (x->kind != ASSET_STATIC)
            x->url = address(x->name, hash, &all->arena);
    }
    use(x);
}

bool assets_read(const struct site *site, struct asset *x, struct diag *d)
{
    return read_asset(site->asset_index, x, d);
}

str assets_bytes(const struct site *site, struct asset *x)
{
    if (x->state == ASSET_KNOWN) {
        str url = x->url;
        x->state = ASSET_UNREAD, x->ref_count = 0;
        assets_read(site, x, site->diag);
        x->url = url;  // pages have it, even if the file has changed since they were rendered
    }
    return x->bytes;
}

static bool is_template_asset(str path)
{
    static const char *const endings[] = {".css",  ".js",    ".svg",  ".png",
                                          ".webp", ".woff2", ".wasm", ".ico"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (str_ends(path, str_c(endings[i])))
            return true;
    return false;
}

static bool no_folders(void *ctx, str path, bool is_dir)
{
    (void)ctx;
    return is_dir || !is_template_asset(path);
}

static struct asset *add(struct assets *all, const struct fs_entry *f, str folder,
                         enum asset_kind kind)
{
    struct asset *x = &all->items[all->count++];
    str path = str_eq(folder, STR("."))
                   ? f->path
                   : arena_printf(&all->arena, "%.*s/%.*s", STR_ARG(folder), STR_ARG(f->path));
    *x = (struct asset){.name = f->path, .path = path, .stat = f->stat, .kind = kind};
    return x;
}

static void add_hash(struct assets *all, const struct asset *x)
{
    uint64_t pair[2] = {all->hash, str_hash(x->url) ^ str_hash(x->name)};
    all->hash = str_hash((str){(const char *)pair, sizeof pair});
}

// A file that keeps its name may not take a page's address, nor that of the list of what a build
// wrote.
static bool claim(struct site *site, struct asset *x)
{
    arena a = ARENA_INIT;
    bool is_markdown = str_ends(x->url, STR(".md")), is_new;
    str page = is_markdown
                   ? arena_printf(&a, "%.*s.html", STR_ARG(str_slice(x->url, 0, x->url.len - 3)))
                   : x->url;
    const struct page *p = map_get(&site->page_by_url, page);
    void **slot = map_put(&site->asset_index->by_url, &site->asset_index->arena, x->url, &is_new);
    const struct asset *other = is_new ? NULL : *slot;
    if (is_new)
        *slot = x;
    str what = p                                     ? p->source
               : other                               ? other->path
               : str_eq(x->url, STR("vramdoc.json")) ? STR("what was written")
                                                     : STR_NONE;
    if (what.len || p)
        diag_add(site->diag, D_URL_DUPLICATE, DIAG_FILE(x->path), "%.*s, as %.*s", STR_ARG(x->url),
                 STR_ARG(what));
    arena_free(&a);
    return !what.len && !p;
}

void assets_pack(const struct site *site, buf *out)
{
    const struct assets *all = site->asset_index;
    pack_str(out, all->said);
    for (size_t i = 0; i < all->template_count; i++) {
        const struct asset *x = &all->items[i];
        pack_str(out, x->url);
        pack_u64(out, x->hash);
        pack_uint(out, x->size);
        pack_uint(out, x->width);
        pack_uint(out, x->height);
        pack_uint(out, x->ref_count);
        for (size_t k = 0; k < x->ref_count; k++) {
            pack_uint(out, x->refs[k]->kind);
            pack_str(out, x->refs[k]->kind == ASSET_TEMPLATE ? x->refs[k]->name : x->refs[k]->url);
        }
    }
}

// As assets_pack() left it; the same files come in the same order.
static void take_known(struct assets *all, str known, struct diag *d)
{
    struct unpack u = unpack_from(known);
    all->said = unpack_str(&u);
    diag_unpack(d, all->said);
    for (size_t i = 0; i < all->template_count && !u.bad; i++) {
        struct asset *x = &all->items[i];
        x->state = ASSET_KNOWN;
        x->url = unpack_str(&u);
        x->hash = unpack_u64(&u);
        x->size = unpack_uint(&u);
        x->width = (uint32_t)unpack_uint(&u);
        x->height = (uint32_t)unpack_uint(&u);
        x->ref_count = x->ref_cap = unpack_count(&u);
        x->refs = arena_new(&all->arena, struct asset *, x->ref_count);
        for (size_t k = 0; k < x->ref_count; k++) {
            bool is_template = unpack_uint(&u) == ASSET_TEMPLATE;
            x->refs[k] = map_get(is_template ? &all->by_template : &all->by_url, unpack_str(&u));
        }
    }
}

static bool read_templates(struct site *site)
{
    struct assets *all = site->asset_index;
    struct diag *d = diag_new((struct diag_options){0});
    bool ok = true;
    for (size_t i = 0; i < all->template_count; i++)
        ok = read_asset(all, &all->items[i], d) && ok;
    all->said = diag_hand_over(d, site->diag, &all->arena);
    return ok;
}

bool assets_load(struct site *site, str known)
{
    struct fs_list files = {0};
    bool ok = true;
    if (fs_walk(site->settings.templates_dir.ptr, &(struct fs_rules){.skip = no_folders},
                &site->arena, &files, NULL) < 0) {
        str looked = site->settings.templates_looked;
        diag_add(site->diag, D_TEMPLATE_MISSING, DIAG_FILE(site->settings.templates_dir),
                 "%s%s%.*s%s", strerror(errno),
                 looked.len ? "; the program's own were looked for in " : "", STR_ARG(looked),
                 looked.len ? ": put them there, or say --templates DIR" : "");
        return false;
    }
    struct assets *all = site->asset_index = arena_new(&site->arena, struct assets, 1);
    all->items =
        arena_new(&all->arena, struct asset, files.count + site->assets.count + site->static_count);
    for (size_t i = 0; i < files.count; i++) {
        struct asset *x = add(all, &files.items[i], site->settings.templates_dir, ASSET_TEMPLATE);
        *map_put(&all->by_template, &all->arena, x->name, NULL) = x;
    }
    all->template_count = all->count;
    for (size_t i = 0; i < site->assets.count; i++) {
        struct asset *x =
            add(all, &site->assets.items[i], site->settings.content_dir, ASSET_CONTENT);
        *map_put(&all->by_content, &all->arena, x->name, NULL) = x;
    }
    for (size_t i = 0; i < site->static_count; i++) {
        const struct static_file *f = &site->statics[i];
        struct asset *x = add(all, &(struct fs_entry){f->name, f->stat}, STR("."), ASSET_STATIC);
        x->path = f->path, x->url = f->url, x->used = true;
        *map_put(&all->by_content, &all->arena, x->name, NULL) = x;
        if (!claim(site, x))
            x->used = false;  // what has the address keeps it
    }
    if (known.len)
        take_known(all, known, site->diag);
    else
        ok = read_templates(site);
    for (size_t i = 0; i < all->count; i++)
        add_hash(all, &all->items[i]);
    return ok;
}

struct asset *assets_static(const struct site *site, str url)
{
    return site->asset_index ? map_get(&site->asset_index->by_url, url) : NULL;
}

struct asset *assets_lookup(const struct site *site, str path)
{
    struct asset *x = site->asset_index ? map_get(&site->asset_index->by_content, path) : NULL;
    return x ? x : assets_static(site, path);
}

struct asset *assets_find(const struct site *site, str path, struct diag *d)
{
    struct asset *x = assets_lookup(site, path);
    return x && assets_read(site, x, d) ? x : NULL;
}
