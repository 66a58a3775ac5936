// Makes several pages of one file.
#include "gen/site/source/each.h"

#include "gen/site/source/measurements.h"

#define WORD "gpu"         // the only word that `each` knows
#define PLACE "{" WORD "}"

bool each_knows(str word) { return str_eq(word, STR(WORD)); }

static str put_in(str text, str name, arena *a)
{
    size_t at = str_search(text, STR(PLACE));
    if (at == text.len) return text;
    str head = str_slice(text, 0, at), tail = str_slice(text, at + sizeof PLACE - 1, text.len);
    return arena_printf(a, "%.*s%.*s%.*s", STR_ARG(head), STR_ARG(name), STR_ARG(tail));
}

// "records/gpu", "nvidia-h200" -> "records/nvidia-h200"
static str key_beside(str key, str slug, arena *a)
{
    size_t slash = str_rfind(key, '/');
    str folder = slash < key.len ? str_slice(key, 0, slash + 1) : STR_NONE;
    return arena_printf(a, "%.*s%.*s", STR_ARG(folder), STR_ARG(slug));
}

static struct page *page_for(const struct page *p, const struct measurement *r, arena *a)
{
    struct page *made = arena_new(a, struct page, 1);
    *made = *p;
    made->subject = arena_str(a, r->device);
    made->url = key_beside(p->url, r->slug, a);   // still the key
    made->title = put_in(p->title, made->subject, a);
    made->description = put_in(p->description, made->subject, a);
    made->slug = STR_NONE;
    made->alias_count = 0;
    return made;
}

struct pages { struct page **items; size_t count, cap; };

static void add(struct site *site, struct pages *to, struct page *p)
{
    to->items = arena_grow(&site->arena, to->items, to->count, &to->cap, to->count + 1, sizeof *to->items);
    p->index = (uint32_t)to->count;
    to->items[to->count++] = p;
}

static void repeat(struct site *site, struct pages *to, struct page *p)
{
    const struct measurements *list = &site->measurements;
    for (size_t i = 0; i < list->count; i++)
        if (!measurements_seen(list, i)) add(site, to, page_for(p, &list->items[i], &site->arena));
}

void each_expand(struct site *site)
{
    bool any = false;
    for (size_t i = 0; i < site->page_count && !any; i++) any = site->pages[i]->subject.len > 0;
    if (!any) return;
    struct pages to = {0};
    for (size_t i = 0; i < site->page_count; i++) {
        struct page *p = site->pages[i];
        if (p->subject.len) repeat(site, &to, p);
        else add(site, &to, p);
    }
    site->pages = to.items;
    site->page_count = to.count;
}

void each_share(struct site *site)
{
    for (size_t i = 0; i < site->page_count; i++) {
        struct page *p = site->pages[i];
        if (!p->subject.len) continue;
        const struct page *known = map_get(&site->page_by_source, p->source);
        if (known) p->sidecar = known->sidecar, p->updated = known->updated;
    }
}
