// Makes several pages of one file.
#include "gen/site/source/each.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gen/base/path.h"
#include "gen/site/source/measurements.h"
#include "gen/site/source/scan.h"

#define WORD "gpu"                  // of records
#define LIST_MAX ((size_t)1 << 20)  // bytes of a list

static int by_path(const void *key, const void *entry)
{
    return str_cmp(*(const str *)key, ((const struct fs_entry *)entry)->path);
}

// Path of the list below the content folder.
static str list_path(const struct page *p, str word, arena *a)
{
    str folder = path_folder_slash(p->source);
    return arena_printf(a, "%.*s%.*s.tsv", STR_ARG(folder), STR_ARG(word));
}

static bool is_name(str word)
{
    for (size_t i = 0; i < word.len; i++)
        if (word.ptr[i] < 'a' || word.ptr[i] > 'z')
            return false;
    return word.len > 0;
}

bool each_knows(const struct site *site, const struct page *p, str word)
{
    if (str_eq(word, STR(WORD)))
        return true;
    if (!is_name(word) || !site->files.count)
        return false;
    arena scratch = ARENA_INIT;
    str path = list_path(p, word, &scratch);
    bool there = bsearch(&path, site->files.items, site->files.count, sizeof *site->files.items,
                         by_path) != NULL;
    arena_free(&scratch);
    return there;
}

bool each_recorded(const struct page *p)
{
    return p->subject.len > 0 && str_eq(p->each, STR(WORD));
}

bool each_listed(const struct page *p)
{
    return p->subject.len > 0 && !str_eq(p->each, STR(WORD));
}

// {WORD} becomes the name.
static str put_in(str text, str word, str name, arena *a)
{
    str place = arena_printf(a, "{%.*s}", STR_ARG(word));
    size_t at = str_search(text, place);
    if (at == text.len)
        return text;
    str head = str_slice(text, 0, at), tail = str_slice(text, at + place.len, text.len);
    return arena_printf(a, "%.*s%.*s%.*s", STR_ARG(head), STR_ARG(name), STR_ARG(tail));
}

// "records/gpu", "nvidia-h200" -> "records/nvidia-h200"
static str key_beside(str key, str slug, arena *a)
{
    return arena_join(a, path_folder_slash(key), slug, STR_NONE);
}

static struct page *page_for(const struct page *p, str name, str slug, arena *a)
{
    struct page *made = arena_new(a, struct page, 1);
    *made = *p;
    made->subject = arena_str(a, name);
    made->url = key_beside(p->url, slug, a);  // still the key
    made->title = put_in(p->title, p->each, name, a);
    made->description = put_in(p->description, p->each, name, a);
    made->slug = STR_NONE;
    made->alias_count = 0;
    return made;
}

struct pages {
    struct page **items;
    size_t count, cap;
};

static void add(struct site *site, struct pages *to, struct page *p)
{
    to->items =
        arena_grow(&site->arena, to->items, to->count, &to->cap, to->count + 1, sizeof *to->items);
    p->index = (uint32_t)to->count;
    to->items[to->count++] = p;
}

static void repeat(struct site *site, struct pages *to, struct page *p)
{
    const struct measurements *list = &site->measurements;
    for (size_t i = 0; i < list->count; i++)
        if (!measurements_seen(list, i))
            add(site, to, page_for(p, list->items[i].device, list->items[i].slug, &site->arena));
}

// One line of a list: a name, and noindex behind a tab.
static void take_line(struct site *site, struct pages *to, struct page *p, str line,
                      struct diag_pos at)
{
    str name = STR_NONE;
    str_cut(&line, '\t', &name);
    name = str_trim(name);
    str robots = str_trim(line);
    if (!name.len || (robots.len && !str_eq(robots, STR("noindex")))) {
        diag_add(site->diag, D_EACH_LIST, at,
                 "wanted: a name, and noindex or nothing behind a tab");
        return;
    }
    struct page *made = page_for(p, name, measurements_slug(name, &site->arena), &site->arena);
    made->robots = robots.len ? STR("noindex") : STR_NONE;
    made->label = made->subject;
    made->order = at.line;
    add(site, to, made);
}

static void repeat_list(struct site *site, struct pages *to, struct page *p)
{
    str file = site_path(site, list_path(p, p->each, &site->arena), &site->arena), line;
    struct diag_pos at = {.file = file, .col = 1};
    buf bytes = BUF_INIT;
    if (fs_read(file.ptr, LIST_MAX, &bytes) != 0) {
        diag_add(site->diag, errno == EFBIG ? D_FILE_TOO_LARGE : D_IO_READ, DIAG_FILE(file), "%s",
                 strerror(errno));
        buf_free(&bytes);
        return;
    }
    str text = arena_str(&site->arena, buf_view(&bytes));
    buf_free(&bytes);
    while (str_line(&text, &line)) {
        at.line++;
        if (str_trim(line).len)
            take_line(site, to, p, line, at);
    }
}

void each_expand(struct site *site)
{
    bool any = false;
    for (size_t i = 0; i < site->page_count && !any; i++)
        any = site->pages[i]->each.len > 0;
    if (!any)
        return;
    struct pages to = {0};
    for (size_t i = 0; i < site->page_count; i++) {
        struct page *p = site->pages[i];
        if (!p->each.len)
            add(site, &to, p);
        else if (str_eq(p->each, STR(WORD)))
            repeat(site, &to, p);
        else
            repeat_list(site, &to, p);
    }
    site->pages = to.items;
    site->page_count = to.count;
}

void each_share(struct site *site)
{
    for (size_t i = 0; i < site->page_count; i++) {
        struct page *p = site->pages[i];
        if (!p->subject.len)
            continue;
        const struct page *known = map_get(&site->page_by_source, p->source);
        if (known)
            p->sidecar = known->sidecar, p->updated = known->updated;
    }
}
