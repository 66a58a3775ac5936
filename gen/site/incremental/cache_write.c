// The cache file as it is written: anew and whole, or with what changed appended to the file of the last build.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
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
    if (!f->meta.len) return;
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
}

static void pack_lists(buf *out, const struct cache *c)
{
    pack_uint(out, c->file_count);
    for (size_t i = 0; i < c->file_count; i++) pack_str(out, c->files[i].path), pack_file(out, &c->files[i]);
    pack_uint(out, c->document_count);
    for (size_t i = 0; i < c->document_count; i++)
        pack_str(out, c->documents[i].key), pack_document(out, &c->documents[i]);
    pack_uint(out, c->output_count);
    for (size_t i = 0; i < c->output_count; i++) pack_str(out, c->outputs[i].url), pack_output(out, &c->outputs[i]);
    pack_uint(out, c->folder_count);
    for (size_t i = 0; i < c->folder_count; i++) {
        pack_str(out, c->folders[i].path);
        pack_u64(out, (uint64_t)c->folders[i].mtime_ns);
    }
}

// Fills in the head of the part that begins at from and ends where all ends.
static void part_end(buf *all, size_t from, uint64_t before)
{
    str part = {all->ptr + from + CACHE_PART, all->len - from - CACHE_PART};
    uint64_t head[2] = {part.len, cache_sum(before, part)};
    memcpy(all->ptr + from, head, sizeof head);
}

static void part_begin(buf *all)
{
    pack_u64(all, 0);
    pack_u64(all, 0);
}

static int write_file(const char *path, int flags, str bytes)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | flags, 0666);
    if (fd < 0) return -1;
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
    part_begin(&all);
    pack_numbers(&all, c);
    pack_lists(&all, c);
    part_end(&all, CACHE_HEADER, program);
    int rc = write_file(cache_path(dir, "cache.new", &temporary), O_CREAT | O_TRUNC, buf_view(&all));
    if (rc == 0) rc = rename(temporary.ptr, cache_path(dir, "cache", &path));
    fs_remove_tree(cache_path(dir, "cache.stale", &temporary));
    buf_free(&all), buf_free(&path), buf_free(&temporary);
    return rc;
}

void cache_changes_begin(struct cache_changes *x)
{
    *x = (struct cache_changes){0};
    for (size_t i = 0; i < CACHE_LISTS; i++) x->lists[i].bytes = BUF_INIT;
}

void cache_changes_free(struct cache_changes *x)
{
    for (size_t i = 0; i < CACHE_LISTS; i++) buf_free(&x->lists[i].bytes);
}

static buf *change(struct cache_changes *x, enum cache_list list, size_t place)
{
    x->lists[list].count++;
    pack_uint(&x->lists[list].bytes, place);
    return &x->lists[list].bytes;
}

void cache_change_file(struct cache_changes *x, size_t place, const struct cache_file *f)
{
    pack_file(change(x, CACHE_FILES, place), f);
}

void cache_change_document(struct cache_changes *x, size_t place, const struct cache_document *d)
{
    pack_document(change(x, CACHE_DOCUMENTS, place), d);
}

void cache_change_output(struct cache_changes *x, size_t place, const struct cache_output *o)
{
    pack_output(change(x, CACHE_OUTPUTS, place), o);
}

void cache_change_folder(struct cache_changes *x, size_t place, const struct cache_folder *f)
{
    pack_u64(change(x, CACHE_FOLDERS, place), (uint64_t)f->mtime_ns);
}

// The file is the one that old was read from: nobody else writes while the lock is held, but for one who knows no lock.
static int append_to(const char *path, const struct cache *old, str bytes)
{
    struct stat st;
    if (stat(path, &st) < 0) return -1;
    if ((size_t)st.st_size != old->len) return errno = ESTALE, -1;
    return write_file(path, O_APPEND, bytes);
}

int cache_append(str dir, const struct cache *old, const struct cache *now, const struct cache_changes *x)
{
    buf all = BUF_INIT, path = BUF_INIT, stale = BUF_INIT;
    int rc = -1;
    part_begin(&all);
    pack_numbers(&all, now);
    for (size_t i = 0; i < CACHE_LISTS; i++) {
        pack_uint(&all, x->lists[i].count);
        buf_str(&all, buf_view(&x->lists[i].bytes));
    }
    part_end(&all, 0, old->sum);
    if (old->len + all.len - old->whole > old->whole / 2) errno = EFBIG;
    else rc = append_to(cache_path(dir, "cache.stale", &stale), old, buf_view(&all));
    if (rc == 0) rc = rename(stale.ptr, cache_path(dir, "cache", &path));
    buf_free(&all), buf_free(&path), buf_free(&stale);
    return rc;
}
