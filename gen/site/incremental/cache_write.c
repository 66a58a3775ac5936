// The cache file as it is written: beside the old one, then put in its place.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gen/site/incremental/cache.h"
#include "gen/base/packed_values.h"

static void pack_stat(buf *out, const struct fs_stat *s)
{
    pack_uint(out, s->size);
    pack_uint(out, s->inode);
    pack_u64(out, (uint64_t)s->mtime_ns);
    pack_u64(out, (uint64_t)s->ctime_ns);
}

static void pack_file(buf *out, const struct cache_file *f)
{
    pack_stat(out, &f->stat);
    pack_str(out, f->meta);
    if (!f->meta.len)
        return;
    pack_str(out, f->tag);
    pack_str(out, f->key);
    pack_str(out, f->date);
}

static void pack_document(buf *out, const struct cache_document *d)
{
    pack_u64(out, d->digest);
    pack_str(out, d->rendered);
}

static void pack_output(buf *out, const struct cache_output *o)
{
    pack_u64(out, o->hash);
    pack_u64(out, o->digest);
    pack_uint(out, o->size);
    pack_str(out, o->assets);
}

static void pack_numbers(buf *out, const struct cache *c)
{
    pack_u64(out, c->outside);
    pack_u64(out, c->addresses);
    pack_u64(out, c->shown);
    pack_u64(out, c->output_inode);
    pack_uint(out, c->foreign);
    pack_uint(out, c->left_out);
    pack_int(out, c->since);
    pack_int(out, c->until);
    pack_str(out, c->said);
    pack_str(out, c->catalogs);
    pack_str(out, c->assets);
    pack_u64(out, c->texts.name);
    pack_stat(out, &c->texts.stat);
}

// The file on its way: what is packed goes out in pieces, so that no build holds its cache whole.
struct writer {
    buf waiting;
    uint64_t sum;
    int fd;
    bool failed;
};

static void send(struct writer *w, size_t n)
{
    str piece = str_slice(buf_view(&w->waiting), 0, n);
    w->sum = cache_sum(w->sum, piece);
    w->failed = w->failed || fs_write_all(w->fd, piece) < 0;
    w->waiting.len -= n;
    memmove(w->waiting.ptr, w->waiting.ptr + n, w->waiting.len);
}

// What the next entry is packed into.
static buf *next(struct writer *w)
{
    while (w->waiting.len >= CACHE_PIECE)
        send(w, CACHE_PIECE);
    return &w->waiting;
}

static void pack_lists(struct writer *w, const struct cache *c)
{
    pack_uint(next(w), c->file_count);
    for (size_t i = 0; i < c->file_count; i++)
        pack_str(next(w), c->files[i].path), pack_file(&w->waiting, &c->files[i]);
    pack_uint(next(w), c->document_count);
    for (size_t i = 0; i < c->document_count; i++)
        pack_str(next(w), c->documents[i].key), pack_document(&w->waiting, &c->documents[i]);
    pack_uint(next(w), c->output_count);
    for (size_t i = 0; i < c->output_count; i++)
        pack_str(next(w), c->outputs[i].url), pack_output(&w->waiting, &c->outputs[i]);
    pack_uint(next(w), c->folder_count);
    for (size_t i = 0; i < c->folder_count; i++) {
        pack_str(next(w), c->folders[i].path);
        pack_u64(&w->waiting, (uint64_t)c->folders[i].mtime_ns);
    }
}

// The header is written last, over the place that was left for it.
static bool write_all(struct writer *w, uint64_t program, const struct cache *c)
{
    char header[CACHE_HEADER] = {0};
    w->failed = fs_write_all(w->fd, (str){header, sizeof header}) < 0;
    pack_numbers(&w->waiting, c);
    pack_lists(w, c);
    send(w, next(w)->len);
    pack_u64(&w->waiting, program);
    pack_u64(&w->waiting, w->sum);
    memcpy(header, CACHE_MAGIC, 8);
    memcpy(header + 8, w->waiting.ptr, CACHE_HEADER - 8);
    return !w->failed && lseek(w->fd, 0, SEEK_SET) == 0 &&
           fs_write_all(w->fd, (str){header, sizeof header}) == 0;
}

static int write_file(const char *path, uint64_t program, const struct cache *c)
{
    struct writer w = {.waiting = BUF_INIT,
                       .fd = open(path, O_WRONLY | O_CLOEXEC | O_CREAT | O_TRUNC, 0666)};
    if (w.fd < 0)
        return -1;
    bool done = write_all(&w, program, c);
    int error = errno;
    buf_free(&w.waiting);
    if (close(w.fd) == 0 && done)
        return 0;
    errno = done ? errno : error;
    return -1;
}

int cache_save(str dir, uint64_t program, const struct cache *c)
{
    buf path = BUF_INIT, temporary = BUF_INIT;
    int rc = write_file(cache_path(dir, "cache.new", &temporary), program, c);
    if (rc == 0)
        rc = rename(temporary.ptr, cache_path(dir, "cache", &path));
    buf_free(&path), buf_free(&temporary);
    return rc;
}
