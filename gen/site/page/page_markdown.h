// The Markdown copy of a page, for readers that are programs: figures as plain text, links to the
// other copies.
#ifndef GEN_SITE_PAGE_MARKDOWN_H
#define GEN_SITE_PAGE_MARKDOWN_H

#include "gen/site/page/page.h"

// "es/x.html" -> "es/x.md"
str page_markdown_url(str url, arena *a);
// Appends the copy of page p as it is shown in language l at url. o: of its render, for links and
// figures.
void page_markdown_write(struct page_renderer *r, const struct page_output *o, const struct page *p,
                         const struct language *l, str url, str text, buf *out);
// Whether a cell's HTML is a block (a chart, a section); appends one as Markdown.
bool page_markdown_is_block(str html);
void page_markdown_block(str html, buf *out);

#endif
