// Tells apart what a build wrote and what others put into its output: reads the manifest that lies
// there, and walks the folder.
#include "gen/site/output/foreign.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gen/base/beneath.h"
#include "gen/base/fs.h"
#include "gen/site/output/manifest_format.h"

// Opens a manifest by its name, if this program wrote it; *any tells of one at all. -1 without it.
static int open_named(int output, const char *name, bool *any)
{
    char head[sizeof MANIFEST_HEAD - 1];
    int fd = openat(output, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    *any = fd >= 0;
    if (fd < 0 || (pread(fd, head, sizeof head, 0) == sizeof head &&
                   !memcmp(head, MANIFEST_HEAD, sizeof head)))
        return fd;
    close(fd);
    return -1;
}

// The manifest of a folder, under its earlier name where there is no other; *name says which.
static int open_manifest(int output, const char **name, bool *any)
{
    bool earlier = false;
    int fd = open_named(output, *name = MANIFEST_NAME, any);
    if (fd < 0 && !*any)
        fd = open_named(output, *name = MANIFEST_EARLIER, &earlier);
    return fd;
}

bool foreign_may_build(int output, const char **why)
{
    const char *name;
    bool any, empty = true;
    int manifest = open_manifest(output, &name, &any),
        fd = openat(output, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    for (struct dirent *e; dir && (e = readdir(dir)) != NULL;)
        empty = empty && e->d_name[0] == '.';
    if (dir)
        closedir(dir);
    if (manifest >= 0)
        close(manifest);
    *why = any ? "holds files and a " MANIFEST_NAME " of another program"
               : "holds files and no " MANIFEST_NAME " of an earlier build";
    return empty || manifest >= 0;
}

// A path as the manifest has it, which is JSON's own writing of it.
static str unescaped(str path, arena *a)
{
    if (str_find(path, '\\') == path.len)
        return arena_str(a, path);
    str quoted = arena_printf(a, "\"%.*s\"", STR_ARG(path));
    json_t *text = json_loadb(quoted.ptr, quoted.len, JSON_DECODE_ANY, NULL);
    str out = arena_str(
        a, (str){text ? json_string_value(text) : "", text ? json_string_length(text) : 0});
    json_decref(text);
    return out;
}

// Lines of the manifest, as manifest.c writes them: one output a line.
static void take_lines(str rest, arena *a, struct map *urls)
{
    str line;
    while (str_line(&rest, &line) && !str_eq(line, STR(MANIFEST_OUTPUTS))) {
    }
    while (str_line(&rest, &line) && str_starts(line, STR(MANIFEST_INDENT))) {
        size_t end = str_search(line, STR("\": {\"bytes\""));
        str path = unescaped(str_slice(line, sizeof MANIFEST_INDENT - 1, end), a);
        if (end < line.len && path.len)
            map_put_kept(urls, a, path, NULL);
    }
}

void foreign_ours(int output, arena *a, struct map *urls)
{
    const char *name;
    bool any;
    buf text = BUF_INIT;
    int fd = open_manifest(output, &name, &any);
    if (fd >= 0 && fs_read_fd(fd, 0, &text) == 0) {
        take_lines(buf_view(&text), a, urls);
        map_put_kept(urls, a, str_c(name), NULL);
    }
    if (fd >= 0)
        close(fd);
    buf_free(&text);
}

struct sweep {
    const struct map *ours;
    struct map folders;  // that ours has files in
    arena scratch;
    buf path;               // of the entry that is looked at
    struct foreign *found;  // NULL: ours is removed, and the rest moved
    arena *arena;           // of found
    int root, to;
    int error;
};

static void begin(struct sweep *s)
{
    s->path = BUF_INIT;
    for (size_t i = 0; i < s->ours->count; i++) {
        str url = s->ours->entries[i].key;
        bool is_new = true;
        for (size_t slash; is_new && (slash = str_rfind(url, '/')) < url.len;) {
            url = str_slice(url, 0, slash);
            map_put(&s->folders, &s->scratch, url, &is_new);
        }
    }
}

static void end(struct sweep *s)
{
    buf_free(&s->path);
    arena_free(&s->scratch);
}

static void move_away(struct sweep *s, str path)
{
    struct beneath from, to;
    if (s->to < 0 || !beneath_place(s->root, path, false, &from))
        return;
    if (beneath_place(s->to, path, true, &to))
        beneath_leave(&to, renameat2(from.folder, from.name, to.folder, to.name, RENAME_NOREPLACE));
    beneath_leave(&from, 0);
}

static void not_ours(struct sweep *s, bool is_folder)
{
    struct foreign *f = s->found;
    if (!f) {
        move_away(s, buf_view(&s->path));
        return;
    }
    if (is_folder)
        buf_char(&s->path, '/');
    f->paths = arena_grow(s->arena, f->paths, f->count, &f->cap, f->count + 1, sizeof *f->paths);
    f->paths[f->count++] = arena_str(s->arena, buf_view(&s->path));
    f->shown += s->path.ptr[0] != '.' && str_search(buf_view(&s->path), STR("/.")) == s->path.len;
}

static void walk(struct sweep *s, int folder);

// A folder that holds something of ours is looked into, and removed when nothing is left in it.
static void enter(struct sweep *s, int folder, const char *name)
{
    int below = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (below < 0)
        s->error = errno;
    else
        walk(s, below);
    if (!s->found)
        unlinkat(folder, name, AT_REMOVEDIR);
}

// What is removed last: it lists the rest.
static bool is_manifest(str path)
{
    return str_eq(path, STR(MANIFEST_NAME)) || str_eq(path, STR(MANIFEST_EARLIER));
}

static void look_at(struct sweep *s, int folder, const struct dirent *e)
{
    size_t before = s->path.len;
    struct stat st;
    bool is_folder = e->d_type == DT_DIR;
    if (e->d_type == DT_UNKNOWN && fstatat(folder, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        is_folder = S_ISDIR(st.st_mode);
    if (before)
        buf_char(&s->path, '/');
    buf_str(&s->path, str_c(e->d_name));
    if (is_folder && map_has(&s->folders, buf_view(&s->path)))
        enter(s, folder, e->d_name);
    else if (is_folder || !map_has(s->ours, buf_view(&s->path)))
        not_ours(s, is_folder);
    else if (!s->found && !is_manifest(buf_view(&s->path)))
        unlinkat(folder, e->d_name, 0);
    s->path.len = before;
    s->path.ptr[before] = 0;
}

// Takes over the descriptor.
static void walk(struct sweep *s, int folder)
{
    DIR *dir = fdopendir(folder);
    if (!dir) {
        s->error = errno;
        close(folder);
        return;
    }
    for (struct dirent *e; (e = readdir(dir)) != NULL;)
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
            look_at(s, folder, e);
    closedir(dir);
}

static int by_path(const void *x, const void *y)
{
    return str_cmp(*(const str *)x, *(const str *)y);
}

bool foreign_find(int output, const struct map *ours, arena *a, struct foreign *out)
{
    struct sweep s = {
        .ours = ours, .found = out, .arena = a, .root = output, .to = -1, .scratch = ARENA_INIT};
    int fd = openat(output, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *out = (struct foreign){0};
    if (fd < 0)
        return false;
    begin(&s);
    walk(&s, fd);
    end(&s);
    if (out->count)
        qsort(out->paths, out->count, sizeof *out->paths, by_path);
    errno = s.error;
    return !s.error;
}

void foreign_retire(int old, const struct map *ours, int to)
{
    struct sweep s = {.ours = ours, .root = old, .to = to, .scratch = ARENA_INIT};
    int fd = openat(old, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    begin(&s);
    walk(&s, fd);
    end(&s);
    static const char *const names[] = {MANIFEST_EARLIER, MANIFEST_NAME};
    for (size_t i = 0; i < 2; i++)
        if (map_has(ours, str_c(names[i])))
            unlinkat(old, names[i], 0);
}
