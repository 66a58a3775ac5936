// Ways through a planned site: addresses, neighbours, the pages above and below.
#ifndef GEN_SITE_NAV_H
#define GEN_SITE_NAV_H

#include "gen/site/source/site.h"

// Groups pages into documents, puts these in order with sections above them, and gives every page
// its address. False after an error.
void nav_plan(struct site *site);

// The page that a document shows in a language: its own, or the source's where untranslated pages
// fall back; NULL for none.
struct page *nav_page(const struct site *site, const struct document *doc,
                      const struct language *l);
// The address of a document in a language below the output folder; "" when nav_page returns NULL.
// Lives in the site or in a.
str nav_url(const struct site *site, const struct document *doc, const struct language *l,
            arena *a);
// The nearest document before (step -1) or after (+1) with the same section that the language has;
// NULL for none.
struct document *nav_near(const struct site *site, const struct document *doc,
                          const struct language *l, int step);
// The title that a document shows in a language, "" when it has no page.
str nav_title(const struct site *site, const struct document *doc, const struct language *l);

#endif
