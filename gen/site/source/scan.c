// Walks the content folder: which of its files are pages, which keep their names, and which are
// copied when something asks.
#include "gen/site/source/scan.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "gen/base/path.h"
#include "gen/site/source/names.h"
#include "gen/site/source/publish.h"
#include "gen/site/source/statics.h"
#include "gen/site/source/tree_settings.h"

str site_path(const struct site *site, str source, arena *a)
{
    if (str_eq(site->settings.content_dir, STR(".")))
        return arena_str(a, source);
    return arena_printf(a, "%.*s/%.*s", STR_ARG(site->settings.content_dir), STR_ARG(source));
}

struct md_options site_markdown(const struct site *site, const struct page *p)
{
    const struct tree *t = site->tree;
    const struct settings *s = &site->settings;
    unsigned found =
        (t->emoji ? MD_FOREIGN_EMOJI : 0u) | (t->rules ? (unsigned)MD_FOREIGN_RULES : 0u) |
        (t->wiki ? (unsigned)MD_FOREIGN_WIKI : 0u) | (t->breaks ? (unsigned)MD_FOREIGN_BREAKS : 0u);
    bool mdx = str_ends(p->source, STR(".mdx"));  // that is what it is in a plain tree, too
    return (struct md_options){
        .extensions = MD_GFM | s->math | s->admonitions | (mdx ? (unsigned)MD_CONTAINERS : 0u),
        .top_heading = 2,
        .foreign = t->kind->syntax | found | (mdx ? (unsigned)MD_FOREIGN_JSX : 0u),
        .slugs = t->slugs,
        .tab_slugs = t->tab_slugs,
        .tabs = t->tabs,
        .own_images = t->own_images,
        .open_html = site_is_others(site),
        .title = site->tree_index ? p->title : STR_NONE,
    };
}

void site_diag(struct site *site, enum diag_id id, const struct page *p, size_t offset,
               const char *what)
{
    str file = site_path(site, p->source, &site->arena);
    buf text = BUF_INIT;
    fs_read(file.ptr, 0, &text);
    if (offset > text.len)
        offset = text.len;
    diag_add(site->diag, id, DIAG_AT(file, buf_view(&text), offset), "%s", what);
    buf_free(&text);
}

// Output, cache, templates and catalogs may lie below the content folder: they are not content, nor
// is the static folder.
static void exclude(struct site *site)
{
    const struct settings *s = &site->settings;
    const str folders[] = {s->output_dir, s->cache_dir, s->templates_dir, s->i18n_dir,
                           s->static_dir};
    char content[4096], real[4096];
    if (!realpath(s->content_dir.ptr, content))
        return;
    size_t n = strlen(content);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (folders[i].len && realpath(folders[i].ptr, real) && !strncmp(real, content, n) &&
            real[n] == '/')
            site->excluded[i] = arena_str(&site->arena, str_c(real + n + 1));
}

static bool skip(void *ctx, str path, bool is_dir)
{
    const struct site *site = ctx;
    const struct settings *s = &site->settings;
    for (size_t i = 0; i < s->ignore_count; i++)  // the walk's paths end with a NUL
        if (fnmatch(s->ignore[i].ptr, path.ptr, FNM_PATHNAME | FNM_LEADING_DIR) == 0)
            return true;
    for (size_t i = 0; i < sizeof site->excluded / sizeof *site->excluded && is_dir; i++)
        if (str_eq(path, site->excluded[i]))
            return true;
    return is_dir && str_eq(path, STR("node_modules"));
}

// Records what could not be walked; whether the folder itself could.
static bool walk_reported(struct site *site)
{
    bool ok = true;
    for (size_t i = 0; i < site->files.bad_count; i++) {
        const struct fs_bad *b = &site->files.bad[i];
        str file =
            b->path.len ? site_path(site, b->path, &site->arena) : site->settings.content_dir;
        bool others = site_is_others(site);
        bool nowhere = b->error == ENOENT && b->path.len && others;
        enum diag_id id = b->error == ELOOP   ? D_IO_SYMLINK_LOOP
                          : b->error == EXDEV ? D_FILE_OUTSIDE
                          : b->error == EPERM ? D_FILE_LINKED
                          : nowhere           ? D_FILE_NOWHERE
                                              : D_IO_READ;
        bool says = id == D_IO_SYMLINK_LOOP || id == D_IO_READ;
        diag_add(site->diag, id, DIAG_FILE(file), "%s", says ? strerror(b->error) : "");
        ok = ok && b->path.len;
    }
    return ok;
}

// index.md, index.fr.md: what makes a folder a leaf bundle of Hugo.
static bool is_index(str path)
{
    return str_starts(path_name(path), STR("index."));
}

// The folders of leaf bundles, but for the tops of the content.
static void list_bundles(const struct site *site, struct map *bundles, arena *a)
{
    for (size_t i = 0; i < site->files.count; i++) {
        str path = site->files.items[i].path;
        if (!is_index(path) || !tree_is_page(site->tree, path))
            continue;
        const struct tree_root *r = tree_root_of(site->tree, path);
        if (!str_eq(r->folder, path_folder(path)))
            map_put(bundles, a, path_folder(path), NULL);
    }
}

// Whether a file of Markdown belongs to a leaf bundle, whose page shows it as it likes. Source:
// gohugo.io/content-management/page-bundles.
static bool is_resource(const struct map *bundles, str path)
{
    if (!bundles->count || is_index(path))
        return false;
    for (str folder = path_folder(path); folder.len; folder = path_folder(folder))
        if (map_has(bundles, folder))
            return true;
    return false;
}

// Pages, files that keep their names, and those that are copied when something refers to them.
static void sort_files(struct site *site)
{
    size_t n = site->files.count;
    struct map bundles = {0};
    arena scratch = ARENA_INIT;
    if (site->tree->kind->flags & KIND_BUNDLES)
        list_bundles(site, &bundles, &scratch);
    struct page *pages = arena_new(&site->arena, struct page, n);
    site->pages = arena_new(&site->arena, struct page *, n);
    size_t room = 0;
    for (size_t i = 0; i < n; i++) {
        const struct fs_entry *f = &site->files.items[i];
        str url;
        if (publish_at_root(f->path, &url)) {
            // public/CNAME is what another generator publishes, and not the CNAME beside it
            if (!site_is_others(site) || !statics_has(site, url))
                statics_add(site, f->path, site_path(site, f->path, &site->arena), url, &f->stat);
        } else if (tree_is_page(site->tree, f->path) && !is_resource(&bundles, f->path)) {
            struct page *p = &pages[site->page_count];
            *p = (struct page){.source = f->path,
                               .stat = f->stat,
                               .index = (uint32_t)site->page_count,
                               .root = tree_root_of(site->tree, f->path),
                               .updated = INT64_MIN,
                               .published = INT64_MIN,
                               .order = INT64_MIN};
            site->pages[site->page_count++] = p;
        } else if (publish_in_tree(site, f->path) == PUBLISH && !names_is_page(f->path)) {
            site->assets.items =
                arena_grow(&site->arena, site->assets.items, site->assets.count, &room,
                           site->assets.count + 1, sizeof *site->assets.items);
            site->assets.items[site->assets.count++] = *f;
        }
    }
    arena_free(&scratch);
    site->read_pages = site->pages;
    site->read_count = site->page_count;
}

bool site_scan(struct site *site)
{
    struct fs_rules rules = {.skip = skip,
                             .hidden = publish_hidden,
                             .target = publish_target,
                             .ctx = site,
                             .inside = true};
    tree_settings(site);
    statics_scan(site);
    exclude(site);
    if (fs_walk(site->settings.content_dir.ptr, &rules, &site->arena, &site->files, NULL) < 0 &&
        !walk_reported(site))
        return false;
    sort_files(site);
    return true;
}
