// How far the translations of a site are, for a page that shows it.
#ifndef GEN_SITE_PAGE_STATUS_H
#define GEN_SITE_PAGE_STATUS_H

#include "gen/site/source/site.h"

// Appends a table of all documents and languages: of the passages of each page, how many are
// translations of what the original says now, with a link. l: whose words it is written in; url: of
// the page that it is on. Reads all pages.
void page_status(const struct site *site, const struct language *l, str url, buf *out);
// A number that changes with what the table says.
uint64_t page_status_digest(const struct site *site);

#endif
