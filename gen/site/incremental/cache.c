// The cache file as it is read: a header, then everything.
#include "gen/site/incremental/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gen/base/packed_values.h"

char *cache_path(str dir, const char *name, buf *b)
{
    buf_clear(b);
    buf_str(b, dir);
    buf_char(b, '/');
    buf_str(b, str_c(name));
    return b->ptr;
}

static void read_stat(struct unpack *u, struct fs_stat *s)
{
    s->size = unpack_uint(u);
    s->inode = unpack_uint(u);
    s->mtime_ns = (int64_t)unpack_u64(u);
    s->ctime_ns = (int64_t)unpack_u64(u);
}

static void read_file(struct unpack *u, struct cache_file *f)
{
    read_stat(u, &f->stat);
    f->meta = unpack_str(u);
    if (!f->meta.len)
        return;
    f->tag = unpack_str(u);
    f->key = unpack_str(u);
    f->date = unpack_str(u);
}

static void read_document(struct unpack *u, struct cache_document *d)
{
    d->digest = unpack_u64(u);
    d->rendered = unpack_str(u);
}

static void read_output(struct unpack *u, struct cache_output *o)
{
    o->hash = unpack_u64(u);
    o->digest = unpack_u64(u);
    o->size = unpack_uint(u);
    o->assets = unpack_str(u);
}

static void read_numbers(struct cache *c, struct unpack *u)
{
    c->outside = unpack_u64(u);
    c->addresses = unpack_u64(u);
    c->shown = unpack_u64(u);
    c->output_inode = unpack_u64(u);
    c->foreign = unpack_uint(u);
    c->left_out = unpack_uint(u);
    c->since = unpack_int(u);
    c->until = unpack_int(u);
    c->said = unpack_str(u);
    c->catalogs = unpack_str(u);
    c->assets = unpack_str(u);
    c->texts.name = unpack_u64(u);
    read_stat(u, &c->texts.stat);
}

// All lists, each entry behind the name that it keeps.
static void read_lists(struct cache *c, struct unpack *u)
{
    c->file_count = unpack_count(u);
    c->files = arena_new(&c->arena, struct cache_file, c->file_count);
    for (size_t i = 0; i < c->file_count && !u->bad; i++) {
        c->files[i].path = unpack_str(u);
        read_file(u, &c->files[i]);
    }
    c->document_count = unpack_count(u);
    c->documents = arena_new(&c->arena, struct cache_document, c->document_count);
    for (size_t i = 0; i < c->document_count && !u->bad; i++) {
        c->documents[i].key = unpack_str(u);
        read_document(u, &c->documents[i]);
    }
    c->output_count = unpack_count(u);
    c->outputs = arena_new(&c->arena, struct cache_output, c->output_count);
    for (size_t i = 0; i < c->output_count && !u->bad; i++) {
        c->outputs[i].url = unpack_str(u);
        read_output(u, &c->outputs[i]);
    }
    c->folder_count = unpack_count(u);
    c->folders = arena_new(&c->arena, struct cache_folder, c->folder_count);
    for (size_t i = 0; i < c->folder_count && !u->bad; i++) {
        c->folders[i].path = unpack_str(u);
        c->folders[i].mtime_ns = (int64_t)unpack_u64(u);
    }
}

uint64_t cache_sum(uint64_t before, str piece)
{
    uint64_t both[] = {before, str_hash(piece)};
    return piece.len ? str_hash((str){(const char *)both, sizeof both}) : before;
}

static uint64_t sum_of(str bytes)
{
    uint64_t sum = 0;
    for (size_t at = 0; at < bytes.len; at += CACHE_PIECE)
        sum = cache_sum(sum, str_slice(bytes, at, at + CACHE_PIECE));
    return sum;
}

static bool read_all(struct cache *c, uint64_t program)
{
    struct unpack u = unpack_from((str){c->bytes, c->len});
    if (c->len < CACHE_HEADER || memcmp(u.at, CACHE_MAGIC, 8) != 0)
        return false;
    u.at += 8;
    if (unpack_u64(&u) != program)
        return false;
    uint64_t sum = unpack_u64(&u);
    if (sum != sum_of((str){u.at, (size_t)(u.end - u.at)}))
        return false;
    read_numbers(c, &u);
    read_lists(c, &u);
    return !u.bad && u.at == u.end;
}

struct cache *cache_open(str dir, uint64_t program)
{
    buf path = BUF_INIT;
    struct stat st;
    int fd = open(cache_path(dir, "cache", &path), O_RDONLY | O_CLOEXEC);
    buf_free(&path);
    if (fd < 0)
        return NULL;
    struct cache *c = calloc(1, sizeof *c);
    if (!c)
        buf_no_memory();
    c->bytes = MAP_FAILED;
    if (fstat(fd, &st) == 0 && st.st_size > 0)
        c->bytes =
            mmap(NULL, c->len = (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    close(fd);
    if (c->bytes != MAP_FAILED && read_all(c, program))
        return c;
    cache_close(c);
    return NULL;
}

void cache_close(struct cache *c)
{
    if (!c)
        return;
    if (c->bytes != MAP_FAILED)
        munmap(c->bytes, c->len);
    arena_free(&c->arena);
    free(c);
}

const struct cache_document *cache_document_find(const struct cache *c, str key)
{
    size_t low = 0, high = c->document_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = str_cmp(key, c->documents[middle].key);
        if (order == 0)
            return &c->documents[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

const struct cache_output *cache_output_find(struct cache *c, str url)
{
    if (!c->output_by_url.count) {
        map_reserve(&c->output_by_url, &c->arena, c->output_count);
        for (size_t i = 0; i < c->output_count; i++)
            *map_put_kept(&c->output_by_url, &c->arena, c->outputs[i].url, NULL) = &c->outputs[i];
    }
    return map_get(&c->output_by_url, url);
}

int cache_invalidate(str dir)
{
    buf path = BUF_INIT;
    int rc = fs_remove_tree(cache_path(dir, "cache", &path));  // whatever it is
    buf_free(&path);
    return rc;
}

// Whether a folder is empty but for hidden files, or has the lock of an earlier build, which is an
// empty file.
static bool may_be_cache(const char *dir, const char *lock)
{
    struct stat st;
    bool empty = true;
    DIR *d = opendir(dir);
    for (const struct dirent *e; d && (e = readdir(d));)
        empty = empty && e->d_name[0] == '.';
    if (d)
        closedir(d);
    return empty || (lstat(lock, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0);
}

int cache_lock(str dir)
{
    buf path = BUF_INIT;
    int fd = -1, rc = fs_mkdirs(dir.ptr);
    if (rc == 0 && !may_be_cache(dir.ptr, cache_path(dir, "lock", &path))) {
        errno = ENOTEMPTY;
        rc = -1;
    }
    if (rc == 0)
        fd = open(cache_path(dir, "lock", &path), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    buf_free(&path);
    while (fd >= 0 && flock(fd, LOCK_EX) < 0)
        if (errno != EINTR) {
            close(fd);
            return -1;
        }
    return fd;
}
