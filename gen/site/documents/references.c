// Gives one key to the pages that front matter calls translations of each other.
#include "gen/site/documents/references.h"

#include "gen/site/source/publish.h"

struct noted {
    struct page *page;
    struct noted *next;
};

void references_note(struct references *r, struct page *p, str reference, arena *a)
{
    if (!reference.len)
        return;
    void **slot = map_put(&r->pages, a, reference, NULL);
    struct noted *n = arena_new(a, struct noted, 1);
    *n = (struct noted){p, *slot};
    *slot = n;
}

// The page whose key all get; NULL when two of them are in one language.
static struct page *first_of(const struct noted *all, const struct language *source)
{
    struct page *first = NULL;
    for (const struct noted *x = all; x; x = x->next) {
        if (x->page->left_out != PUBLISH)
            continue;
        for (const struct noted *y = x->next; y; y = y->next)
            if (y->page->left_out == PUBLISH && y->page->language == x->page->language)
                return NULL;
        bool better = !first || first->language != source;
        if (better)
            first = x->page;  // they are noted last first
    }
    return first;
}

void references_pair(const struct references *r, struct site *site)
{
    for (size_t i = 0; i < r->pages.count; i++) {
        const struct noted *all = r->pages.entries[i].value;
        const struct page *first = first_of(all, site->source_language);
        for (const struct noted *x = all; first && x; x = x->next) {
            struct page *p = x->page;
            if (p->left_out != PUBLISH || str_eq(p->url, first->url))
                continue;
            if (!p->slug.len)
                p->slug = arena_join(&site->arena, STR("/"), p->url, STR_NONE);
            p->url = first->url;
            p->date = first->date;
        }
    }
}
