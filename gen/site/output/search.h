// The search index of a site: what each page's render leaves for it, and a folder of scripts for
// each language.
#ifndef GEN_SITE_SEARCH_H
#define GEN_SITE_SEARCH_H

#include "gen/site/output/build_state.h"
#include "gen/site/search/units.h"

struct rendered_page;

// Fills out, which is empty, with what the index needs of a page.
void search_page(struct unit_maker *units, const struct site *site, const struct page *p,
                 const struct page_output *o, buf *out);
// Of all that the index shows of a page beside its title.
uint64_t search_hash(const struct rendered_page *p);
// Writes the index of every language; view_site.search_index has the urls of the first files.
void search_write(struct build *b);
// Address of a language's first file; "" when the settings want no search.
str search_url(const struct site *site, const struct language *l, arena *a);

#endif
