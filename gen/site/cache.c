// The cache file: a header with a checksum, then sections of packed records in order.
#include "gen/site/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gen/site/pack.h"

static const char magic[8] = "vramdoc3";

enum { HEADER = 32 };   // magic, program, length and checksum of what follows

static char *path_in(str dir, const char *name, buf *b)
{
    buf_clear(b);
    buf_str(b, dir);
    buf_char(b, '/');
    buf_str(b, str_c(name));
    return b->ptr;
}

static void read_files(struct cache *c, struct unpack *u)
{
    c->file_count = unpack_count(u);
    c->files = arena_new(&c->arena, struct cache_file, c->file_count);
    for (size_t i = 0; i < c->file_count && !u->bad; i++) {
        struct cache_file *f = &c->files[i];
        f->path = unpack_str(u);
        f->stat.size = unpack_uint(u);
        f->stat.inode = unpack_uint(u);
        f->stat.mtime_ns = (int64_t)unpack_u64(u);
        f->meta = unpack_str(u);
        if (!f->meta.len) continue;
        f->tag = unpack_str(u);
        f->key = unpack_str(u);
        f->date = unpack_str(u);
    }
}

static void read_documents(struct cache *c, struct unpack *u)
{
    c->document_count = unpack_count(u);
    c->documents = arena_new(&c->arena, struct cache_document, c->document_count);
    for (size_t i = 0; i < c->document_count && !u->bad; i++) {
        struct cache_document *d = &c->documents[i];
        d->key = unpack_str(u);
        d->digest = unpack_u64(u);
        d->record = unpack_str(u);
    }
}

static void read_outputs(struct cache *c, struct unpack *u)
{
    c->output_count = unpack_count(u);
    c->outputs = arena_new(&c->arena, struct cache_output, c->output_count);
    for (size_t i = 0; i < c->output_count && !u->bad; i++) {
        struct cache_output *o = &c->outputs[i];
        o->url = unpack_str(u);
        o->hash = unpack_u64(u);
        o->digest = unpack_u64(u);
        o->size = unpack_uint(u);
    }
    c->folder_count = unpack_count(u);
    c->folders = arena_new(&c->arena, struct cache_folder, c->folder_count);
    for (size_t i = 0; i < c->folder_count && !u->bad; i++) {
        c->folders[i].path = unpack_str(u);
        c->folders[i].mtime_ns = (int64_t)unpack_u64(u);
    }
}

static bool read_all(struct cache *c, uint64_t program)
{
    struct unpack u = unpack_from((str){c->bytes, c->len});
    if (c->len < HEADER || memcmp(u.at, magic, sizeof magic) != 0) return false;
    u.at += sizeof magic;
    if (unpack_u64(&u) != program || unpack_u64(&u) != c->len - HEADER) return false;
    uint64_t sum = unpack_u64(&u);
    if (str_hash((str){u.at, (size_t)(u.end - u.at)}) != sum) return false;
    c->outside = unpack_u64(&u);
    c->addresses = unpack_u64(&u);
    c->shown = unpack_u64(&u);
    c->output_inode = unpack_u64(&u);
    c->said = unpack_str(&u);
    read_files(c, &u);
    if (!u.bad) read_documents(c, &u);
    if (!u.bad) read_outputs(c, &u);
    return !u.bad && u.at == u.end;
}

struct cache *cache_open(str dir, uint64_t program)
{
    buf path = BUF_INIT;
    struct stat st;
    int fd = open(path_in(dir, "cache", &path), O_RDONLY | O_CLOEXEC);
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

const struct cache_output *cache_output_find(const struct cache *c, str url)
{
    for (size_t i = 0; i < c->output_count; i++)
        if (str_eq(c->outputs[i].url, url)) return &c->outputs[i];
    return NULL;
}

static void pack_all(const struct cache *c, buf *out)
{
    pack_u64(out, c->outside);
    pack_u64(out, c->addresses);
    pack_u64(out, c->shown);
    pack_u64(out, c->output_inode);
    pack_str(out, c->said);
    pack_uint(out, c->file_count);
    for (size_t i = 0; i < c->file_count; i++) {
        const struct cache_file *f = &c->files[i];
        pack_str(out, f->path);
        pack_uint(out, f->stat.size);
        pack_uint(out, f->stat.inode);
        pack_u64(out, (uint64_t)f->stat.mtime_ns);
        pack_str(out, f->meta);
        if (!f->meta.len) continue;
        pack_str(out, f->tag);
        pack_str(out, f->key);
        pack_str(out, f->date);
    }
    pack_uint(out, c->document_count);
    for (size_t i = 0; i < c->document_count; i++) {
        pack_str(out, c->documents[i].key);
        pack_u64(out, c->documents[i].digest);
        pack_str(out, c->documents[i].record);
    }
    pack_uint(out, c->output_count);
    for (size_t i = 0; i < c->output_count; i++) {
        pack_str(out, c->outputs[i].url);
        pack_u64(out, c->outputs[i].hash);
        pack_u64(out, c->outputs[i].digest);
        pack_uint(out, c->outputs[i].size);
    }
    pack_uint(out, c->folder_count);
    for (size_t i = 0; i < c->folder_count; i++) {
        pack_str(out, c->folders[i].path);
        pack_u64(out, (uint64_t)c->folders[i].mtime_ns);
    }
}

static int write_file(const char *path, str bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) return -1;
    while (bytes.len) {
        ssize_t n = write(fd, bytes.ptr, bytes.len);
        if (n < 0 && errno != EINTR) { close(fd); return -1; }
        if (n > 0) bytes = str_slice(bytes, (size_t)n, bytes.len);
    }
    return close(fd);
}

int cache_save(str dir, uint64_t program, const struct cache *c, size_t expected)
{
    buf all = BUF_INIT, path = BUF_INIT, temporary = BUF_INIT;
    buf_reserve(&all, expected + expected / 8);
    buf_put(&all, magic, sizeof magic);
    pack_u64(&all, program);
    pack_u64(&all, 0);
    pack_u64(&all, 0);
    pack_all(c, &all);
    uint64_t ends[2] = {all.len - HEADER, str_hash((str){all.ptr + HEADER, all.len - HEADER})};
    memcpy(all.ptr + 16, ends, sizeof ends);
    path_in(dir, "cache", &path);
    path_in(dir, "cache.new", &temporary);
    int rc = write_file(temporary.ptr, buf_view(&all));
    if (rc == 0) rc = rename(temporary.ptr, path.ptr);
    buf_free(&all), buf_free(&path), buf_free(&temporary);
    return rc;
}

int cache_invalidate(str dir)
{
    buf path = BUF_INIT;
    int rc = unlink(path_in(dir, "cache", &path));
    buf_free(&path);
    return rc < 0 && errno == ENOENT ? 0 : rc;
}

int cache_lock(str dir)
{
    buf path = BUF_INIT;
    int fd = -1;
    if (fs_mkdirs(dir.ptr) == 0) fd = open(path_in(dir, "lock", &path), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    buf_free(&path);
    while (fd >= 0 && flock(fd, LOCK_EX) < 0)
        if (errno != EINTR) { close(fd); return -1; }
    return fd;
}
