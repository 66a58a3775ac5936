// Files of texts: a checksum, then address and text of each page.
#include "gen/site/incremental/texts.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gen/base/packed_values.h"

#define PREFIX "texts-"

static char *path_of(str dir, str tag, uint64_t digest, buf *out)
{
    buf name = BUF_INIT;
    buf_printf(&name, PREFIX "%.*s-%016llx", STR_ARG(tag), (unsigned long long)digest);
    char *path = cache_path(dir, name.ptr, out);
    buf_free(&name);
    return path;
}

static bool open_one(str dir, struct cache_texts *t)
{
    buf path = BUF_INIT;
    struct stat st;
    int fd = open(path_of(dir, t->tag, t->digest, &path), O_RDONLY | O_CLOEXEC);
    buf_free(&path);
    if (fd < 0)
        return false;
    if (fstat(fd, &st) == 0 && (size_t)st.st_size >= sizeof(uint64_t)) {
        void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes != MAP_FAILED)
            t->bytes = (str){bytes, (size_t)st.st_size};
    }
    close(fd);
    struct unpack u = unpack_from(t->bytes);
    uint64_t sum = unpack_u64(&u);
    return !u.bad && sum == str_hash((str){u.at, (size_t)(u.end - u.at)});
}

bool texts_open(str dir, struct cache *c)
{
    for (size_t i = 0; i < c->text_count; i++)
        if (!open_one(dir, &c->texts[i]))
            return false;
    return true;
}

static void read_entries(struct cache *c, struct cache_texts *t)
{
    struct unpack u = unpack_from(t->bytes);
    unpack_u64(&u);
    while (u.at < u.end && !u.bad) {
        str url = unpack_str(&u);
        struct unpack at = u;
        unpack_str(&u);
        *map_put_kept(&t->by_url, &c->arena, url, NULL) = (void *)(uintptr_t)at.at;
    }
}

str texts_find(struct cache *c, str tag, str url)
{
    for (size_t i = 0; i < c->text_count; i++) {
        struct cache_texts *t = &c->texts[i];
        if (!str_eq(t->tag, tag))
            continue;
        if (!t->by_url.count)
            read_entries(c, t);
        struct unpack u = {map_get(&t->by_url, url), t->bytes.ptr + t->bytes.len, false};
        return u.at ? unpack_str(&u) : STR_NONE;
    }
    return STR_NONE;
}

void texts_begin(buf *file)
{
    buf_clear(file);
    pack_u64(file, 0);
}

void texts_add(buf *file, str url, str text)
{
    pack_str(file, url);
    pack_str(file, text);
}

void texts_save(str dir, str tag, uint64_t digest, buf *file)
{
    buf path = BUF_INIT;
    uint64_t sum = str_hash(str_slice(buf_view(file), sizeof sum, file->len));
    memcpy(file->ptr, &sum, sizeof sum);
    if (fs_remove_tree(path_of(dir, tag, digest, &path)) == 0)  // whatever it is
        fs_write(path.ptr, buf_view(file));
    buf_free(&path);
}

static bool is_named(str dir, const struct cache *c, const char *path)
{
    buf own = BUF_INIT;
    bool found = false;
    for (size_t i = 0; i < c->text_count && !found; i++)
        found = str_eq(str_c(path), str_c(path_of(dir, c->texts[i].tag, c->texts[i].digest, &own)));
    buf_free(&own);
    return found;
}

void texts_sweep(str dir, const struct cache *c)
{
    DIR *d = opendir(dir.ptr);
    buf path = BUF_INIT;
    for (const struct dirent *e; d && (e = readdir(d));) {
        str name = str_c(e->d_name);
        if (!str_starts(name, STR(PREFIX)) && !str_starts(name, STR(FS_TEMP_PREFIX)))
            continue;
        if (!is_named(dir, c, cache_path(dir, e->d_name, &path)))
            fs_remove_tree(path.ptr);
    }
    if (d)
        closedir(d);
    buf_free(&path);
}
