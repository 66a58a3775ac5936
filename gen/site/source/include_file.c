// The files that a page names to be included: where each generator looks for them, below the
// content folder and through no symbolic link, each read once a page.
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gen/base/beneath.h"
#include "gen/base/fs.h"
#include "gen/base/path.h"
#include "gen/site/source/including.h"
#include "gen/site/source/scan.h"

enum { MOST_FILES = 10000 };

static const char missing[] = "which is not there";

// A path below the content folder; "" when it is none.
str include_join(struct including *g, str folder, str path)
{
    buf joined = BUF_INIT, out = BUF_INIT;
    buf_printf(&joined, "%.*s/%.*s", STR_ARG(folder), STR_ARG(path));
    bool within = fs_normalize(buf_view(&joined), &out);
    str normal = within ? arena_str(g->a, buf_view(&out)) : STR_NONE;
    buf_free(&joined), buf_free(&out);
    return normal;
}

// But for the one folder that the tree's settings name.
static bool is_hidden(const struct tree *t, str path)
{
    str open = t->open_folder;
    if (open.len && str_starts(path, open) && path.len > open.len && path.ptr[open.len] == '/')
        path = str_slice(path, open.len + 1, path.len);
    return path.len && (path.ptr[0] == '.' || str_has(path, STR("/.")));
}

static const char *read_now(struct including *g, str path, struct include_source *out)
{
    struct beneath b;
    struct stat st;
    buf bytes = BUF_INIT;
    if (!beneath_place(g->root, path, false, &b))
        return errno == ELOOP || errno == ENOTDIR ? "which is behind a symbolic link" : missing;
    int fd = openat(b.folder, b.name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    beneath_leave(&b, 0);
    const char *why = fd < 0 && errno == ELOOP ? "which is a symbolic link" : missing;
    if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)))
        why = "which is no file";
    else if (fd >= 0 && fs_read_fd(fd, g->site->settings.max_page_bytes, &bytes) < 0)
        why = "which is too large or cannot be read";
    else if (fd >= 0)
        why = utf8_invalid(buf_view(&bytes)) < bytes.len ? "which is not text in UTF-8" : NULL;
    if (fd >= 0)
        close(fd);
    if (!why)
        *out = (struct include_source){path, site_path(g->site, path, g->a),
                                       arena_str(g->a, buf_view(&bytes))};
    buf_free(&bytes);
    return why;
}

// What a page asked for once, and why it is none.
struct asked {
    struct include_source in;
    const char *why;
};

// Reads a file below the content folder. NULL, or why it is none.
const char *include_read_file(struct including *g, str path, struct include_source *out)
{
    bool is_new;
    if (!path.len)
        return "which is outside of the tree";
    if (is_hidden(g->tree, path))
        return "which is hidden";
    void **kept = map_put(&g->files, g->a, path, &is_new);
    struct asked *x = *kept;
    if (is_new) {
        *kept = x = arena_new(g->a, struct asked, 1);
        x->why = g->files.count > MOST_FILES ? "since the page has too many"
                                             : read_now(g, arena_str(g->a, path), &x->in);
    }
    if (!x->why)
        *out = x->in;
    return x->why;
}

// The file of a path in the tree's own folders for it, or beside the file that names it.
const char *include_find_file(struct including *g, const struct include_source *s, str path,
                              struct include_source *out)
{
    const struct tree *t = g->tree;
    const char *why = missing;
    if (str_has(path, STR("://")))
        return "which is an address: nothing is fetched";
    if (t->includes == INCLUDE_HUGO)
        return include_read_file(g, path, out);
    for (size_t i = 0; i < t->include_count; i++) {
        str folder = t->include_folders[i];
        const char *own = include_read_file(g, include_join(g, folder, path), out);
        if (own &&
            (str_eq(folder, path) || str_ends(folder, arena_join(g->a, STR("/"), path, STR_NONE))))
            own = include_read_file(g, folder, out);  // base_path may name a file
        if (!own)
            return NULL;
        why = why == missing ? own : why;
    }
    if (t->include_count)
        return why;
    if (t->includes == INCLUDE_MDX && str_starts(path, STR("@site/")))
        return include_read_file(g, include_join(g, t->folder, str_slice(path, 6, path.len)), out);
    const struct tree_root *book = t->includes == INCLUDE_GITBOOK && str_starts(path, STR("/"))
                                       ? tree_root_of(t, s->path)
                                       : NULL;
    if (book && book->folder.len)  // of a language
        return include_read_file(g, include_join(g, book->folder, path), out);
    if (t->includes == INCLUDE_MDX && str_starts(path, STR("/")))
        return include_read_file(g, include_join(g, t->folder, path), out);
    for (size_t i = 0; i < t->alias_count; i++)
        if (str_starts(path, t->aliases[i].from))
            return include_read_file(
                g,
                include_join(g, t->aliases[i].to,
                             str_slice(path, t->aliases[i].from.len, path.len)),
                out);
    if (str_starts(path, STR("@/")) || str_starts(path, STR("~/")))
        return include_read_file(g, include_join(g, t->include_root, str_slice(path, 2, path.len)),
                                 out);
    if (str_starts(path, STR("@")))  // a folder of VuePress's configuration, by its own name
        return include_read_file(g, include_join(g, t->include_root, str_slice(path, 1, path.len)),
                                 out);
    return include_read_file(g, include_join(g, path_folder(s->path), path), out);
}
