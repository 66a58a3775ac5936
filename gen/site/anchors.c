// Links to anchors of other pages, checked when all pages are known.
#include <stdlib.h>

#include "gen/site/build_state.h"
#include "gen/site/load.h"
#include "gen/site/nav.h"
#include "gen/site/record.h"

// The anchors of a page, by its address; looked up among the records when a link asks for the first time.
struct anchors {
    struct build *build;
    struct map pages;       // url -> struct unpack *, of the anchors
    arena arena;
};

static void learn_document(struct anchors *a, const struct built_document *d)
{
    struct record_reader r = record_open(d->record);
    struct record_page p;
    while (record_next(&r, &p)) {
        struct unpack *u = arena_new(&a->arena, struct unpack, 1);
        *u = p.anchors;
        *map_put(&a->pages, &a->arena, p.url, NULL) = u;
    }
}

static bool has_anchor(struct anchors *a, str url, str anchor)
{
    const struct unpack *known = map_get(&a->pages, url);
    if (!known) {
        const struct page *p = map_get(&a->build->site.page_by_url, url);
        if (!p) return true;
        learn_document(a, &a->build->documents[p->document->index]);
        known = map_get(&a->pages, url);
        if (!known) return true;   // it was not rendered: its own errors say why
    }
    struct unpack u = *known;
    for (size_t n = unpack_count(&u); n && !u.bad; n--)
        if (str_eq(unpack_str(&u), anchor)) return true;
    return str_starts(anchor, STR("source-")) || str_eq(anchor, STR("main")) || str_eq(anchor, STR("sources"));
}

static void check_page(struct anchors *a, const struct document *doc, const struct record_page *p)
{
    struct build *b = a->build;
    struct unpack u = p->links;
    for (size_t n = unpack_count(&u); n && !u.bad; n--) {
        str target = unpack_str(&u), anchor = unpack_str(&u);
        size_t offset = unpack_uint(&u);
        if (u.bad || has_anchor(a, target, anchor)) continue;
        const struct page *from = map_get(&b->site.page_by_url, p->url);
        buf what = BUF_INIT;
        buf_printf(&what, "%.*s#%.*s", STR_ARG(target), STR_ARG(anchor));
        site_diag(&b->site, D_LINK_ANCHOR, from ? from : doc->source, offset, what.ptr);
        buf_free(&what);
    }
}

void anchors_check(struct build *b)
{
    struct anchors a = {.build = b, .arena = ARENA_INIT};
    for (size_t i = 0; i < b->site.document_count; i++) {
        struct record_reader r = record_open(b->documents[i].record);
        struct record_page p;
        while (record_next(&r, &p)) check_page(&a, b->documents[i].document, &p);
    }
    arena_free(&a.arena);
}
