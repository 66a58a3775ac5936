// The cache file as it is written: beside the old one, then put in its place.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gen/site/incremental/cache.h"
#include "gen/base/packed_values.h"

static void pack_file(buf *out, const struct cache_file *f)
{
    pack_uint(out, f->stat.size);
    pack_uint(out, f->stat.inode);
    pack_u64(out, (uint64_t)f->stat.mtime_ns);
    pack_u64(out, (uint64_t)f->stat.ctime_ns);
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
}

static void pack_lists(buf *out, const struct cache *c)
{
    pack_uint(out, c->file_count);
    for (size_t i = 0; i < c->file_count; i++)
        pack_str(out, c->files[i].path), pack_file(out, &c->files[i]);
    pack_uint(out, c->document_count);
    for (size_t i = 0; i < c->document_count; i++)
        pack_str(out, c->documents[i].key), pack_document(out, &c->documents[i]);
    pack_uint(out, c->output_count);
    for (size_t i = 0; i < c->output_count; i++)
        pack_str(out, c->outputs[i].url), pack_output(out, &c->outputs[i]);
    pack_uint(out, c->folder_count);
    for (size_t i = 0; i < c->folder_count; i++) {
        pack_str(out, c->folders[i].path);
        pack_u64(out, (uint64_t)c->folders[i].mtime_ns);
    }
    pack_uint(out, c->text_count);
    for (size_t i = 0; i < c->text_count; i++) {
        pack_str(out, c->texts[i].tag);
        pack_u64(out, c->texts[i].digest);
    }
}

static int write_file(const char *path, str bytes)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_CREAT | O_TRUNC, 0666);
    if (fd < 0)
        return -1;
    if (fs_write_all(fd, bytes) < 0) {
        close(fd);
        return -1;
    }
    return close(fd);
}

int cache_save(str dir, uint64_t program, const struct cache *c, size_t expected)
{
    buf all = BUF_INIT, path = BUF_INIT, temporary = BUF_INIT;
    buf_reserve(&all, expected + expected / 8);
    buf_put(&all, CACHE_MAGIC, 8);
    pack_u64(&all, program);
    pack_u64(&all, 0);
    pack_numbers(&all, c);
    pack_lists(&all, c);
    uint64_t sum = str_hash(str_slice(buf_view(&all), CACHE_HEADER, all.len));
    memcpy(all.ptr + CACHE_HEADER - sizeof sum, &sum, sizeof sum);
    int rc = write_file(cache_path(dir, "cache.new", &temporary), buf_view(&all));
    if (rc == 0)
        rc = rename(temporary.ptr, cache_path(dir, "cache", &path));
    buf_free(&all), buf_free(&path), buf_free(&temporary);
    return rc;
}
