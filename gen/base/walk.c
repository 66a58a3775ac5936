// A walk below a folder, sorted in byte order, that follows symbolic links and notices when one leads back up.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gen/base/fs.h"

// The folders above the one that is read, to notice a loop.
struct above {
    const struct above *parent;
    dev_t device;
    ino_t inode;
};

struct walk {
    int root;
    bool (*skip)(void *ctx, str path, bool is_dir);
    void *ctx;
    arena *arena;
    struct fs_list *out;
    size_t cap;
    str *bad;
};

// A name in a folder; a folder's own name ends with '/', which makes the order of names the order of whole paths.
struct name {
    str text;
    struct stat st;
};

static int by_name(const void *a, const void *b)
{
    return str_cmp(((const struct name *)a)->text, ((const struct name *)b)->text);
}

static int fail(struct walk *w, str path)
{
    int error = errno;
    if (w->bad) *w->bad = arena_str(w->arena, path);
    errno = error;
    return -1;
}

struct names {
    struct name *items;
    size_t count, cap;
};

// Reads one entry of the folder. 1 when it is kept, 0 when it is left out, -1 with errno.
static int read_name(struct walk *w, int folder, str path, const char *own, struct name *out)
{
    if (own[0] == '.') return 0;
    buf full = BUF_INIT;
    buf_str(&full, path);
    buf_str(&full, str_c(own));
    int rc = 0;
    if (fstatat(folder, own, &out->st, 0) < 0) {
        // A file that went away between the two calls is no error; a link that leads nowhere is.
        struct stat link;
        rc = fstatat(folder, own, &link, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT ? 0 : -1;
        if (rc < 0) errno = errno ? errno : ENOENT, fail(w, buf_view(&full));
    } else {
        bool is_dir = S_ISDIR(out->st.st_mode);
        bool wanted = is_dir || S_ISREG(out->st.st_mode);
        if (wanted && !(w->skip && w->skip(w->ctx, buf_view(&full), is_dir))) {
            if (is_dir) buf_char(&full, '/');
            out->text = arena_str(w->arena, buf_view(&full));
            rc = 1;
        }
    }
    int error = errno;
    buf_free(&full);
    errno = error;
    return rc;
}

static int read_folder(struct walk *w, int fd, str path, struct names *names)
{
    DIR *dir = fdopendir(fd);
    if (!dir) return close(fd), fail(w, path);
    int rc = 0;
    for (;;) {
        errno = 0;
        struct dirent *e = readdir(dir);
        if (!e) {
            if (errno) rc = fail(w, path);
            break;
        }
        struct name n;
        int kept = read_name(w, dirfd(dir), path, e->d_name, &n);
        if (kept < 0) {
            rc = -1;
            break;
        }
        if (!kept) continue;
        if (names->count == names->cap) {
            names->cap = names->cap ? names->cap * 2 : 16;
            struct name *more = realloc(names->items, names->cap * sizeof *more);
            if (!more) buf_no_memory();
            names->items = more;
        }
        names->items[names->count++] = n;
    }
    int error = errno;
    closedir(dir);
    errno = error;
    return rc;
}

static void keep_file(struct walk *w, const struct name *n)
{
    struct fs_list *l = w->out;
    l->items = arena_grow(w->arena, l->items, l->count, &w->cap, l->count + 1, sizeof *l->items);
    l->items[l->count++] = (struct fs_entry){
        n->text,
        {(uint64_t)n->st.st_size, (uint64_t)n->st.st_ino,
         (int64_t)n->st.st_mtim.tv_sec * 1000000000 + n->st.st_mtim.tv_nsec, false}};
}

static int walk_folder(struct walk *w, int fd, str path, const struct above *above)
{
    struct names names = {0};
    int rc = read_folder(w, fd, path, &names);
    if (rc == 0 && names.count) qsort(names.items, names.count, sizeof *names.items, by_name);
    for (size_t i = 0; rc == 0 && i < names.count; i++) {
        const struct name *n = &names.items[i];
        if (!S_ISDIR(n->st.st_mode)) {
            keep_file(w, n);
            continue;
        }
        str shown = str_slice(n->text, 0, n->text.len - 1);
        struct above here = {above, n->st.st_dev, n->st.st_ino};
        for (const struct above *u = above; u && rc == 0; u = u->parent)
            if (u->device == here.device && u->inode == here.inode) errno = ELOOP, rc = fail(w, shown);
        if (rc < 0) break;
        int below = openat(w->root, n->text.ptr, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        rc = below < 0 ? fail(w, shown) : walk_folder(w, below, n->text, &here);
    }
    int error = errno;
    free(names.items);
    errno = error;
    return rc;
}

int fs_walk(const char *root, bool (*skip)(void *ctx, str path, bool is_dir), void *ctx, arena *a,
            struct fs_list *out, str *bad)
{
    struct walk w = {.skip = skip, .ctx = ctx, .arena = a, .out = out, .bad = bad};
    *out = (struct fs_list){0};
    struct stat st;
    w.root = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (w.root < 0 || fstat(w.root, &st) < 0) {
        fail(&w, str_c(root));
        if (w.root >= 0) close(w.root);
        return -1;
    }
    struct above top = {NULL, st.st_dev, st.st_ino};
    int fd = openat(w.root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = fd < 0 ? fail(&w, str_c(root)) : walk_folder(&w, fd, STR(""), &top), error = errno;
    close(w.root);
    errno = error;
    return rc;
}

// Takes away what an interrupted fs_write left in one folder and those below.
static void remove_temps(int fd)
{
    DIR *dir = fdopendir(fd);
    if (!dir) {
        close(fd);
        return;
    }
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        if (str_starts(str_c(e->d_name), STR(FS_TEMP_PREFIX))) {
            unlinkat(fd, e->d_name, 0);
            continue;
        }
        if (e->d_name[0] == '.' || (e->d_type != DT_DIR && e->d_type != DT_UNKNOWN)) continue;
        int below = openat(fd, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (below >= 0) remove_temps(below);
    }
    closedir(dir);
}

void fs_remove_temps(const char *root)
{
    int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) remove_temps(fd);
}
