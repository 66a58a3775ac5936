// Where a destination in a tree of others is looked for.
#ifndef GEN_SITE_TREE_PLACES_H
#define GEN_SITE_TREE_PLACES_H

#include "gen/site/source/site.h"

enum { MAX_PLACES = 22 };

// Paths below the content folder, or addresses, most likely first.
struct places {
    str items[MAX_PLACES];
    size_t count;
};

// The path from a folder, normalised; false when it climbs above the root. Lives in a.
bool tree_join(str folder, str path, arena *a, str *out);
// "/en/guide" is /guide where en is a language of the site.
str tree_without_language(const struct site *site, str path, arena *a);
// The addresses that a path in page p may mean, which is not empty.
void tree_place_addresses(const struct site *site, const struct page *p, str path, arena *a,
                          struct places *all);
// Where the file may lie that it names, if it is no page.
void tree_place_files(const struct site *site, const struct page *p, str path, arena *a,
                      struct places *all);

#endif
