// Files as the generator needs them: whole reads, writes only where bytes differ, sorted walks, atomic replacement.
#ifndef GEN_BASE_FS_H
#define GEN_BASE_FS_H

#include "gen/base/arena.h"
#include "gen/base/buf.h"

struct fs_stat {
    uint64_t size, inode;
    int64_t mtime_ns;
    bool is_dir;
};

struct fs_entry {
    str path;            // relative to the root that was walked, '/' between parts
    struct fs_stat stat;
};

struct fs_list {
    struct fs_entry *items;  // files only, sorted by path in byte order
    size_t count;
};

// 0, or -1 with errno set. Existing content of out is kept, the file is appended. EFBIG above limit bytes (0 = no limit).
int fs_read(const char *path, size_t limit, buf *out);
int fs_stat(const char *path, struct fs_stat *out);
// Every regular file below root; follows symbolic links, ELOOP on a loop with its path in *bad. Names starting with '.'
// are left out, and so is what skip (may be NULL) answers true for. skip is asked for folders too.
int fs_walk(const char *root, bool (*skip)(void *ctx, str path, bool is_dir), void *ctx, arena *a,
            struct fs_list *out, str *bad);
// Writes by temporary file and rename unless the file holds these bytes already. 1 written, 0 unchanged, -1 errno.
int fs_write(const char *path, str bytes);
// Writes into a folder known to be fresh: no comparison, no rename.
int fs_write_new(const char *path, str bytes);
int fs_mkdirs(const char *path);
int fs_remove_tree(const char *path);
// path joined and normalised ("a/../b" -> "b"); false when it climbs above its root.
bool fs_normalize(str path, buf *out);

#endif
