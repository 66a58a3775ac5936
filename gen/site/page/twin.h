// The twin of a page: its Markdown for readers that are programs, with figures as plain text and links that lead to twins.
#ifndef GEN_SITE_TWIN_H
#define GEN_SITE_TWIN_H

#include "gen/site/page/page.h"

// "es/x.html" -> "es/x.md"
str twin_url(str url, arena *a);
// Appends the twin of page p as it is shown in language l at url. o: of its render, for links and figures.
void twin_write(struct page_renderer *r, const struct page_output *o, const struct page *p, const struct language *l,
                str url, str text, buf *out);
// Whether a cell's HTML is a block (a chart, a section); appends one as Markdown.
bool twin_is_block(str html);
void twin_block(str html, buf *out);

#endif
