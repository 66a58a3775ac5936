// What the files that make a page share while they make it.
#ifndef GEN_SITE_PAGE_WORK_H
#define GEN_SITE_PAGE_WORK_H

#include "gen/site/page/page.h"

struct page_work {
    struct page_renderer *r;
    const struct page *page;
    const struct language *language;
    struct page_output *out;
    str url;
    struct anchor_link *here;
    size_t here_count, here_cap;  // links to anchors of the same page
};

// Appends the text as HTML to out and fills h->out. front_end: where the front matter ends. False
// after errors were recorded.
bool page_body(struct page_work *h, const struct document *doc, str text, size_t front_end,
               buf *out);
// Notes that the page shows a content file or links to it.
void page_keep_use(struct page_work *h, struct asset *x);

#endif
