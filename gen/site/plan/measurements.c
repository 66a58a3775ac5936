// Reads records of measurements.
#include "gen/site/plan/measurements.h"

#include <stdlib.h>
#include <string.h>

#define RECORD_MAX ((size_t)16 << 20)   // bytes of a record
#define SCHEMA "vramprobe/1"            // SRC: kernels/vramprobe.schema.json

const char *record_text(const json_t *object, const char *key)
{
    const char *s = json_string_value(json_object_get(object, key));
    return s ? s : "";
}

// What is wrong with a record; NULL for a good one.
static const char *record_fault(json_t *root, str name)
{
    if (strcmp(record_text(root, "schema"), SCHEMA) != 0)
        return "another schema than " SCHEMA;
    if (!str_eq(str_c(record_text(root, "id")), name))
        return "its id is not the file's name";
    if (strcmp(record_text(root, "status"), "ok") != 0)
        return "its status is not ok";
    if (strlen(record_text(root, "created_utc")) != 20 || !json_is_object(json_object_get(root, "tool"))
        || !json_is_object(json_object_get(root, "device")) || !json_is_array(json_object_get(root, "results")))
        return "created_utc, tool, device or results are missing";
    return NULL;
}

str measurements_slug(str name, arena *a)
{
    char *to = arena_new(a, char, name.len + 1);
    size_t n = 0;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        if (c >= 'A' && c <= 'Z') c += 32;
        bool kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (kept) to[n++] = c;
        else if (n && to[n - 1] != '-') to[n++] = '-';
    }
    while (n && to[n - 1] == '-') n--;
    return n ? (str){to, n} : STR("gpu");
}

static int newer_first(const void *pa, const void *pb)
{
    const struct record *a = pa, *b = pb;
    int order = str_cmp(b->created, a->created);
    return order ? order : str_cmp(b->id, a->id);
}

static void say(struct diag *d, enum diag_id id, str file, const char *fault)
{
    if (d) diag_add(d, id, DIAG_FILE(file), fault ? "the record is left out: %s" : "%s", fault ? fault : "");
}

static void record_read(struct record_list *list, str dir, str path, arena *a, struct diag *d)
{
    str file = arena_printf(a, "%.*s/%.*s", STR_ARG(dir), STR_ARG(path));
    str name = str_slice(path, 0, path.len - 5);
    buf bytes = BUF_INIT;
    json_error_t e;
    if (fs_read(file.ptr, RECORD_MAX, &bytes) != 0) {
        say(d, D_IO_READ, file, NULL);
        buf_free(&bytes);
        return;
    }
    json_t *root = json_loadb(bytes.ptr, bytes.len, JSON_REJECT_DUPLICATES, &e);
    buf_free(&bytes);
    const char *fault = root ? record_fault(root, name) : e.text;
    if (fault) {
        say(d, D_FIGURE_STALE, file, fault);
        json_decref(root);
        return;
    }
    str device = arena_str(a, str_c(record_text(json_object_get(root, "device"), "name")));
    list->items = arena_grow(a, list->items, list->count, &list->cap, list->count + 1, sizeof *list->items);
    list->items[list->count++] = (struct record){
        arena_str(a, name), file, arena_str(a, str_c(record_text(root, "created_utc"))), device, measurements_slug(device, a), root};
}

static bool not_json(void *ctx, str path, bool is_dir)
{
    (void)ctx;
    return is_dir || !str_ends(path, STR(".json"));
}

void measurements_read(const struct site *site, arena *a, struct diag *d, struct record_list *out)
{
    str dir = arena_printf(a, "%.*s/measurements", STR_ARG(site->settings.content_dir)), bad;
    struct fs_list files;
    struct fs_stat st;
    *out = (struct record_list){0};
    if (fs_stat(dir.ptr, &st) != 0 || fs_walk(dir.ptr, &(struct fs_rules){.skip = not_json}, a, &files, &bad) != 0) return;
    for (size_t i = 0; i < files.count; i++) record_read(out, dir, files.items[i].path, a, d);
    if (out->count) qsort(out->items, out->count, sizeof *out->items, newer_first);
}

void measurements_free(struct record_list *list)
{
    for (size_t i = 0; i < list->count; i++) json_decref(list->items[i].root);
    list->count = 0;
}

bool measurements_seen(const struct record_list *list, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (str_eq(list->items[k].slug, list->items[i].slug)) return true;
    return false;
}
