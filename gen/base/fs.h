// Files as the generator needs them: whole reads, writes only where bytes differ, sorted walks,
// atomic replacement.
#ifndef GEN_BASE_FS_H
#define GEN_BASE_FS_H

#include "gen/base/arena.h"
#include "gen/base/buf.h"

// How the temporary files of fs_write begin.
#define FS_TEMP_PREFIX ".vramdoc-tmp-"

struct fs_stat {
    uint64_t size, inode;
    // An edit in place can leave its size and restore the first, never the second.
    int64_t mtime_ns, ctime_ns;
    bool is_dir;
};

struct fs_entry {
    str path;  // relative to the root that was walked, '/' between parts
    struct fs_stat stat;
};

struct fs_bad {
    str path;
    int error;
};

struct fs_list {
    struct fs_entry *items;  // files only, sorted by path in byte order
    size_t count;
    struct fs_bad *bad;  // what the walk could not go into, sorted by path
    size_t bad_count;
};

// 0, or -1 with errno set. Existing content of out is kept, the file is appended. EFBIG above limit
// bytes (0 = no limit).
int fs_read(const char *path, size_t limit, buf *out);
// The same; a FIFO or a socket without a writer gives ENODATA instead of waiting without an end.
int fs_read_now(const char *path, size_t limit, buf *out);
// The same for what is open already, such as standard input.
int fs_read_fd(int fd, size_t limit, buf *out);
int fs_stat(const char *path, struct fs_stat *out);
struct stat;
struct fs_stat fs_stat_of(const struct stat *st);
// Whether nothing happened to a file between the two.
bool fs_same(const struct fs_stat *a, const struct fs_stat *b);
// What a walk passes over. path is below root and ends with a NUL; two threads may ask at once.
struct fs_rules {
    // True leaves a file out, or a folder with all below; NULL: nothing.
    bool (*skip)(void *ctx, str path, bool is_dir);
    // Which names that begin with '.' are walked all the same; NULL: none.
    bool (*hidden)(void *ctx, str path);
    // Whether a link may lead to what is at path below root: EPERM where not; NULL: to all. With
    // inside alone.
    bool (*target)(void *ctx, str path, bool is_dir);
    void *ctx;
    bool inside;  // a link that leads out of root is not followed: EXDEV
};

// Every regular file below root; follows symbolic links; rules may be NULL. 0, or -1 with errno
// (ELOOP: a link leads back up; ENOENT: it leads nowhere) and the path in *bad (may be NULL; "" for
// root itself) of the first thing that could not be walked; out holds everything else all the same,
// and in out->bad all such things. Paths are NUL-terminated and live in a.
int fs_walk(const char *root, const struct fs_rules *rules, arena *a, struct fs_list *out,
            str *bad);
int fs_write_all(int fd, str bytes);  // 0, or -1 with errno
bool fs_print(str bytes);             // to standard output, all of it; false with errno
// Writes by temporary file and rename unless the file holds these bytes already. 1 written, 0
// unchanged, -1 errno. The folder must exist.
int fs_write(const char *path, str bytes);
int fs_mkdirs(const char *path);  // 0, or -1 with errno; a folder that is there already is fine
// A file, a link or a folder with all below; 0 when nothing was there.
int fs_remove_tree(const char *path);
// Appends path without ".", "..", empty parts and slashes at its ends ("/a/../b/" -> "b"); false
// when it climbs above its root.
bool fs_normalize(str path, buf *out);

#endif
