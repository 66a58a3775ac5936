// Reads records of measurements, and holds each against the validator of those who write them.
#include "gen/site/source/measurements.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gen/base/path.h"
#include "gen/site/source/scan.h"
#include "kernels/record/record.h"

#define RECORD_MAX ((size_t)16 << 20)  // bytes of a record

const char *measurement_text(const struct rjson *object, const char *key)
{
    return rjson_text(rjson_get(object, key));
}

str measurements_slug(str name, arena *a)
{
    char *to = arena_new(a, char, name.len + 1);
    size_t n = 0;
    for (size_t i = 0; i < name.len; i++) {
        char c = ascii_lower(name.ptr[i]);
        bool kept = ascii_is_lower(c) || ascii_is_digit(c);
        if (kept)
            to[n++] = c;
        else if (n && to[n - 1] != '-')
            to[n++] = '-';
    }
    while (n && to[n - 1] == '-')
        n--;
    return n ? (str){to, n} : STR("gpu");
}

static int newer_first(const void *pa, const void *pb)
{
    const struct measurement *a = pa, *b = pb;
    int order = str_cmp(b->created, a->created);
    return order ? order : str_cmp(b->id, a->id);
}

struct reading {
    struct diag *d;
    str file;
};

static void say(void *ctx, const struct rjson *at, const char *where, const char *what)
{
    const struct reading *r = ctx;
    struct diag_pos pos = {
        .file = r->file, .line = (uint32_t)at->line, .col = (uint32_t)at->column};
    diag_add(r->d, D_RECORD_INVALID, pos, "%s: %s", where, what);
}

// The reader's message begins with "LINE:COLUMN: ".
static void say_unreadable(const struct reading *r, const char *message)
{
    str rest = str_c(message), line, column;
    uint64_t l = 0, c = 0;
    bool placed = str_cut(&rest, ':', &line) && str_cut(&rest, ':', &column) && str_u64(line, &l) &&
                  str_u64(column, &c);
    struct diag_pos at = {.file = r->file, .line = (uint32_t)l, .col = (uint32_t)c};
    if (!placed)
        rest = str_c(message);
    diag_add(r->d, D_RECORD_INVALID, at, "%.*s", STR_ARG(str_trim(rest)));
}

// Whether a record is whole, has its file's name, and is of a GPU.
static bool is_good(struct reading *r, const struct rjson *root, str name)
{
    if (record_check(root, say, r))
        return false;
    const struct rjson *id = rjson_get(root, "id");
    bool named = str_eq(str_c(rjson_text(id)), name), measured = rjson_get(root, "device") != NULL;
    if (!named)
        say(r, id, "id", "the name of the file without .json is wanted");
    if (!measured)
        say(r, rjson_get(root, "status"), "status", "nothing was measured");
    return named && measured;
}

static void read_one(struct site *site, str path)
{
    struct measurements *list = &site->measurements;
    struct reading r = {site->diag, site_path(site, path, &site->arena)};
    str name = str_slice(path, path_name_at(path), path.len - 5);
    char message[200];
    buf bytes = BUF_INIT;
    if (fs_read(r.file.ptr, RECORD_MAX, &bytes) != 0) {
        diag_add(r.d, errno == EFBIG ? D_FILE_TOO_LARGE : D_IO_READ, DIAG_FILE(r.file), "%s",
                 strerror(errno));
        buf_free(&bytes);
        return;
    }
    struct rjson *root = rjson_parse(bytes.ptr, bytes.len, message, sizeof message);
    buf_free(&bytes);
    if (!root)
        say_unreadable(&r, message);
    if (!root || !is_good(&r, root, name)) {
        rjson_free(root);
        return;
    }
    arena *a = &site->arena;
    str device = arena_str(a, str_c(measurement_text(rjson_get(root, "device"), "name")));
    list->items =
        arena_grow(a, list->items, list->count, &list->cap, list->count + 1, sizeof *list->items);
    list->items[list->count++] =
        (struct measurement){arena_str(a, name),
                             r.file,
                             arena_str(a, str_c(measurement_text(root, "created_utc"))),
                             device,
                             measurements_slug(device, a),
                             root};
}

void measurements_read(struct site *site)
{
    struct measurements *list = &site->measurements;
    for (size_t i = 0; i < site->files.count; i++) {
        str path = site->files.items[i].path;
        if (str_starts(path, STR("measurements/")) && str_ends(path, STR(".json")))
            read_one(site, path);
    }
    if (list->count)
        qsort(list->items, list->count, sizeof *list->items, newer_first);
}

void measurements_free(struct site *site)
{
    for (size_t i = 0; i < site->measurements.count; i++)
        rjson_free(site->measurements.items[i].root);
    site->measurements.count = 0;
}

bool measurements_seen(const struct measurements *list, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (str_eq(list->items[k].slug, list->items[i].slug))
            return true;
    return false;
}
