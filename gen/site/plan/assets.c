// Files that are copied as they are: found, hashed, and given an address with the hash in it.
#include "gen/site/plan/assets.h"

#include <errno.h>
#include <string.h>

#include "gen/site/plan/images.h"
#include "gen/site/plan/load.h"

static bool is_template_asset(str path)
{
    static const char *const endings[] = {".css", ".js", ".svg", ".png", ".webp", ".woff2", ".wasm", ".ico"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (str_ends(path, str_c(endings[i]))) return true;
    return false;
}

static bool no_folders(void *ctx, str path, bool is_dir)
{
    (void)ctx;
    return is_dir || !is_template_asset(path);
}

static str address(str name, uint64_t hash, arena *a)
{
    size_t slash = str_rfind(name, '/');
    str file = slash == name.len ? name : str_slice(name, slash + 1, name.len);
    size_t dot = str_rfind(file, '.');
    return arena_printf(a, "assets/%.*s.%08x%.*s", (int)dot, file.ptr, (unsigned)(hash ^ hash >> 32),
                        STR_ARG(str_slice(file, dot, file.len)));
}

struct loading {
    struct site *site;
    struct assets *out;
    bool (*known)(void *ctx, str path, const struct fs_stat *st, uint64_t *hash);
    void *ctx;
    buf bytes;
};

static bool hash_file(struct loading *l, struct asset *x)
{
    if (l->known && l->known(l->ctx, x->path, &x->stat, &x->hash)) return true;
    buf_clear(&l->bytes);
    if (fs_read(x->path.ptr, 0, &l->bytes) < 0) {
        diag_add(l->site->diag, D_IO_READ, DIAG_FILE(x->path), "%s", strerror(errno));
        return false;
    }
    x->hash = str_hash(buf_view(&l->bytes));
    if (x->of_content) image_size(buf_view(&l->bytes), &x->width, &x->height);
    return true;
}

// Two files of one name and the same bytes in different folders share an address: the copy is the same.
static bool add(struct loading *l, const struct fs_entry *f, str folder, bool of_content)
{
    arena *a = &l->site->arena;
    struct asset *x = &l->out->items[l->out->count];
    str path = str_eq(folder, STR(".")) ? arena_str(a, f->path) : arena_printf(a, "%.*s/%.*s", STR_ARG(folder), STR_ARG(f->path));
    *x = (struct asset){.name = f->path, .path = path, .stat = f->stat, .of_content = of_content};
    if (!hash_file(l, x)) return false;
    x->url = address(x->name, x->hash, a);
    *map_put(of_content ? &l->out->by_content : &l->out->by_template, a, x->name, NULL) = x;
    uint64_t pair[2] = {l->out->hash, str_hash(x->url) ^ str_hash(x->name)};
    l->out->hash = str_hash((str){(const char *)pair, sizeof pair});
    l->out->count++;
    return true;
}

bool assets_load(struct site *site, bool (*known)(void *ctx, str path, const struct fs_stat *st, uint64_t *hash), void *ctx)
{
    struct fs_list files = {0};
    str bad = STR_NONE;
    bool ok = true;
    struct loading l = {.site = site, .known = known, .ctx = ctx, .bytes = BUF_INIT};
    if (fs_walk(site->settings.templates_dir.ptr, &(struct fs_rules){.skip = no_folders}, &site->arena, &files, &bad) < 0) {
        diag_add(site->diag, D_TEMPLATE_MISSING, DIAG_FILE(site->settings.templates_dir), "%s", strerror(errno));
        return false;
    }
    l.out = site->asset_index = arena_new(&site->arena, struct assets, 1);
    l.out->items = arena_new(&site->arena, struct asset, files.count + site->assets.count);
    for (size_t i = 0; i < files.count; i++) ok = add(&l, &files.items[i], site->settings.templates_dir, false) && ok;
    l.out->template_count = l.out->count;
    for (size_t i = 0; i < site->assets.count; i++)
        ok = add(&l, &site->assets.items[i], site->settings.content_dir, true) && ok;
    buf_free(&l.bytes);
    return ok;
}

const struct asset *assets_at(const struct site *site, str url)
{
    const struct assets *all = site->asset_index;
    for (size_t i = 0; all && i < all->count; i++)
        if (all->items[i].of_content && str_eq(all->items[i].url, url)) return &all->items[i];
    return NULL;
}

str assets_template(const struct site *site, str name, size_t *place)
{
    const struct assets *all = site->asset_index;
    const struct asset *x = all ? map_get(&all->by_template, name) : NULL;
    if (x && place) *place = (size_t)(x - all->items);
    return x ? x->url : STR_NONE;
}

str assets_content(const struct site *site, str path)
{
    const struct asset *x = site->asset_index ? map_get(&site->asset_index->by_content, path) : NULL;
    return x ? x->url : STR_NONE;
}
