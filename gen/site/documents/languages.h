// The languages of a site with their locale data and their words.
#ifndef GEN_SITE_LANGUAGES_H
#define GEN_SITE_LANGUAGES_H

#include "gen/site/source/site.h"

// Opens locale and catalog of every language. known: what languages_pack() left of catalogs that
// are as they were then, "" for none; it must outlive the site. False after errors were recorded.
bool languages_open(struct site *site, str known);
// All catalogs and what was said about them.
void languages_pack(const struct site *site, buf *out);

// The language that most pages of the site are in, of those in a map by their tags; it numbers them
// for that. NULL for none.
struct language *languages_most_used(const struct site *site, const struct map *languages);

#endif
