// The index of all addresses of a tree of others, which links are looked up in.
#ifndef GEN_SITE_TREE_INDEX_H
#define GEN_SITE_TREE_INDEX_H

#include "gen/site/source/site.h"

struct tree_index {
    struct map pages, lower;  // address -> struct page; lower: the same in lower case
    struct map assets;        // lower-case names -> struct asset; filled when asked for
    struct map posts;         // names of files with a date -> struct page
    struct map names;         // last parts of keys -> struct document; site for several
    struct map languages;     // spellings of languages in addresses -> struct language
    arena arena;
    bool assets_listed;
};

// Fills site->tree_index, for link_resolve. Called when pages have their documents; does nothing
// for a site with settings of its own and no kind.
void tree_links_index(struct site *site);

void tree_links_free(struct site *site);

// s in lower case, which lives in a; and what puts value under a key that has none.
str tree_lowered(str s, arena *a);
void tree_put_first(struct map *m, arena *a, str key, const void *value);
// The page at an address, in lower case when lower; NULL for none. Needs a for a moment.
const struct page *tree_look_up(const struct tree_index *x, str address, bool lower, arena *a);
// Whether a part of an address names a language of the site, in any case. Needs a for a moment.
bool tree_names_language(const struct site *site, str part, arena *a);
// The post whose file has that name, date and all, without its ending; NULL for none.
const struct page *tree_post_named(const struct site *site, str name);
// The page whose file or folder alone has that name, "sdks"; NULL for none and for several.
const struct page *tree_page_named(const struct site *site, str name);
// The page that the tree's generator has at an address, "docs/guide"; NULL for none.
const struct page *tree_page_at(const struct site *site, str address);

#endif
