// The cache file as it is read: a header, then parts with checksums; the first holds everything, the others what changed.
#include "gen/site/incremental/cache.h"

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

uint64_t cache_sum(uint64_t before, str part)
{
    uint64_t pair[2] = {before, str_hash(part)};
    return str_hash((str){(const char *)pair, sizeof pair});
}

static void read_file(struct unpack *u, struct cache_file *f)
{
    f->stat.size = unpack_uint(u);
    f->stat.inode = unpack_uint(u);
    f->stat.mtime_ns = (int64_t)unpack_u64(u);
    f->stat.ctime_ns = (int64_t)unpack_u64(u);
    f->meta = unpack_str(u);
    if (!f->meta.len) return;
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

static void read_change(struct cache *c, enum cache_list list, struct unpack *u)
{
    const size_t counts[CACHE_LISTS] = {c->file_count, c->document_count, c->output_count, c->folder_count};
    size_t place = unpack_uint(u);
    u->bad = u->bad || place >= counts[list];
    if (u->bad) return;
    switch (list) {
    case CACHE_FILES: read_file(u, &c->files[place]); break;
    case CACHE_DOCUMENTS: read_document(u, &c->documents[place]); break;
    case CACHE_OUTPUTS: read_output(u, &c->outputs[place]); break;
    case CACHE_FOLDERS: c->folders[place].mtime_ns = (int64_t)unpack_u64(u); break;
    case CACHE_LISTS: break;
    }
}

static bool read_part(struct cache *c, str part, bool first)
{
    struct unpack u = unpack_from(part);
    read_numbers(c, &u);
    if (first) read_lists(c, &u);
    for (enum cache_list l = 0; !first && l < CACHE_LISTS; l++)
        for (size_t n = unpack_count(&u); n && !u.bad; n--) read_change(c, l, &u);
    return !u.bad && u.at == u.end;
}

static bool read_all(struct cache *c, uint64_t program)
{
    struct unpack u = unpack_from((str){c->bytes, c->len});
    if (c->len < CACHE_HEADER || memcmp(u.at, CACHE_MAGIC, 8) != 0) return false;
    u.at += 8;
    if (unpack_u64(&u) != program) return false;
    c->sum = program;
    for (bool first = true; first || u.at < u.end; first = false) {
        uint64_t len = unpack_u64(&u), sum = unpack_u64(&u);
        if (u.bad || len > (uint64_t)(u.end - u.at)) return false;
        str part = {u.at, (size_t)len};
        u.at += len;
        c->sum = cache_sum(c->sum, part);
        if (c->sum != sum || !read_part(c, part, first)) return false;
        if (first) c->whole = (size_t)(u.at - (const char *)c->bytes);
    }
    return true;
}

struct cache *cache_open(str dir, uint64_t program)
{
    buf path = BUF_INIT;
    struct stat st;
    int fd = open(cache_path(dir, "cache", &path), O_RDONLY | O_CLOEXEC);
    buf_free(&path);
    if (fd < 0) return NULL;
    struct cache *c = calloc(1, sizeof *c);
    if (!c) buf_no_memory();
    c->bytes = MAP_FAILED;
    if (fstat(fd, &st) == 0 && st.st_size > 0)
        c->bytes = mmap(NULL, c->len = (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    close(fd);
    if (c->bytes != MAP_FAILED && read_all(c, program)) return c;
    cache_close(c);
    return NULL;
}

void cache_close(struct cache *c)
{
    if (!c) return;
    if (c->bytes != MAP_FAILED) munmap(c->bytes, c->len);
    arena_free(&c->arena);
    free(c);
}

const struct cache_document *cache_document_find(const struct cache *c, str key)
{
    size_t low = 0, high = c->document_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = str_cmp(key, c->documents[middle].key);
        if (order == 0) return &c->documents[middle];
        if (order < 0) high = middle;
        else low = middle + 1;
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

// Under another name nobody believes it, and cache_append can still make use of it.
int cache_invalidate(str dir)
{
    buf path = BUF_INIT, stale = BUF_INIT;
    int rc = rename(cache_path(dir, "cache", &path), cache_path(dir, "cache.stale", &stale));
    buf_free(&path), buf_free(&stale);
    return rc < 0 && errno == ENOENT ? 0 : rc;
}

int cache_lock(str dir)
{
    buf path = BUF_INIT;
    int fd = -1;
    if (fs_mkdirs(dir.ptr) == 0) fd = open(cache_path(dir, "lock", &path), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    buf_free(&path);
    while (fd >= 0 && flock(fd, LOCK_EX) < 0)
        if (errno != EINTR) { close(fd); return -1; }
    return fd;
}
