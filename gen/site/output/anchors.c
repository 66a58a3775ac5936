// Links to anchors of other pages, checked when all pages are known.
#include <stdlib.h>

#include "gen/site/output/build_state.h"
#include "gen/site/source/scan.h"
#include "gen/site/output/rendered.h"

// The render of the page at an address, in the language that the address has.
static const struct rendered_page *rendered_at(const struct build *b, str url)
{
    const struct page *p = map_get(&b->site.page_by_url, url);
    for (size_t l = 0; p && l < b->site.language_count; l++) {
        const struct rendered_page *r =
            rendered_of(b, p->document->index, (l + p->language->index) % b->site.language_count);
        if (r && str_eq(r->url, url))
            return r;
    }
    return NULL;
}

static bool has_anchor(const struct build *b, str url, str anchor)
{
    const struct rendered_page *r = rendered_at(b, url);
    if (!r || r->any_anchor)
        return true;  // what was not rendered has errors of its own
    struct unpack u = r->anchors;
    for (size_t n = unpack_count(&u); n && !u.bad; n--)
        if (str_eq(unpack_str(&u), anchor))
            return true;
    return str_starts(anchor, STR("source-")) || str_eq(anchor, STR("main")) ||
           str_eq(anchor, STR("page-sources"));
}

static void check_page(struct build *b, const struct document *doc, const struct rendered_page *p)
{
    struct unpack u = p->links;
    for (size_t n = unpack_count(&u); n && !u.bad; n--) {
        str target = unpack_str(&u), anchor = unpack_str(&u);
        size_t offset = unpack_uint(&u);
        if (u.bad || has_anchor(b, target, anchor))
            continue;
        const struct page *from = map_get(&b->site.page_by_url, p->url);
        buf what = BUF_INIT;
        buf_printf(&what, "%.*s#%.*s", STR_ARG(target), STR_ARG(anchor));
        site_diag(&b->site, D_LINK_ANCHOR, from ? from : doc->source, offset, what.ptr);
        buf_free(&what);
    }
}

void anchors_check(struct build *b)
{
    size_t languages = b->site.language_count;
    for (size_t i = 0; i < b->site.document_count * languages; i++)
        if (b->rendered[i].url.len)
            check_page(b, b->site.documents[i / languages], &b->rendered[i]);
}
