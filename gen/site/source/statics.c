// The static folder: found, walked, and its files listed with the addresses that they keep.
#include "gen/site/source/statics.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>
#include <sys/stat.h>

#include "gen/base/path.h"
#include "gen/site/source/names.h"
#include "gen/site/source/publish.h"

void statics_add(struct site *site, str name, str path, str url, const struct fs_stat *stat)
{
    site->statics = arena_grow(&site->arena, site->statics, site->static_count, &site->static_cap,
                               site->static_count + 1, sizeof *site->statics);
    site->statics[site->static_count++] = (struct static_file){name, path, url, *stat};
}

bool statics_has(const struct site *site, str url)
{
    for (size_t i = 0; i < site->static_count; i++)
        if (str_eq(site->statics[i].url, url))
            return true;
    return false;
}

static bool is_ignored(const struct settings *s, const char *name)
{
    for (size_t i = 0; i < s->ignore_count; i++)
        if (fnmatch(s->ignore[i].ptr, name, FNM_PATHNAME | FNM_LEADING_DIR) == 0)
            return true;
    return false;
}

// A link is none: it may lead anywhere.
static bool is_folder(str path)
{
    struct stat st;
    return lstat(path.ptr, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool walk(struct site *site, str folder, struct fs_list *files)
{
    struct fs_rules rules = {.hidden = publish_hidden, .inside = true};
    if (fs_walk(folder.ptr, &rules, &site->arena, files, NULL) == 0)
        return true;
    for (size_t i = 0; i < files->bad_count; i++) {
        const struct fs_bad *b = &files->bad[i];
        str file = b->path.len
                       ? arena_printf(&site->arena, "%.*s/%.*s", STR_ARG(folder), STR_ARG(b->path))
                       : folder;
        if (b->error == EXDEV)
            diag_add(site->diag, D_FILE_OUTSIDE, DIAG_FILE(file), DIAG_PLAIN);
        else
            diag_add(site->diag, D_IO_READ, DIAG_FILE(file), "%s", strerror(b->error));
    }
    return files->count > 0;
}

// static/ beside the pages, or public/ where no page is in it: a section of documents may have that
// name.
static bool find(struct site *site, struct fs_list *files)
{
    static const char *const names[] = {"static", "public"};
    struct settings *s = &site->settings;
    if (s->static_dir.len)
        return walk(site, s->static_dir, files);
    if (site->tree->kind->flags & KIND_FOREIGN)
        return false;  // its reader has looked
    for (size_t i = 0; i < 2; i++) {
        str folder = arena_printf(&site->arena, "%.*s/%s", STR_ARG(s->content_dir), names[i]);
        bool has_page = false;
        if (!is_folder(folder) || is_ignored(s, names[i]) || !walk(site, folder, files))
            continue;
        for (size_t k = 0; k < files->count && i == 1; k++)
            has_page = has_page || names_is_page(files->items[k].path);
        if (has_page)
            continue;
        s->static_dir = folder;
        return true;
    }
    return false;
}

void statics_scan(struct site *site)
{
    struct fs_list files = {0};
    if (!find(site, &files))
        return;
    str folder = site->settings.static_dir;
    str own = path_name(folder);
    for (size_t i = 0; i < files.count; i++) {
        const struct fs_entry *f = &files.items[i];
        str path = arena_join(&site->arena, folder, STR("/"), f->path),
            name = arena_join(&site->arena, own, STR("/"), f->path);
        bool key = publish_file(f->path) == LEFT_KEY && !publish_is_public(path.ptr);
        if (key)
            diag_add(site->diag, D_FILE_PRIVATE, DIAG_FILE(path), "%s", publish_why(LEFT_KEY));
        else
            statics_add(site, name, path, f->path, &f->stat);
    }
}
