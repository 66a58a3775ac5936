// What a page's place in a tree of others says: its key, and where its own generator would have it.
#ifndef GEN_SITE_TREE_PATHS_H
#define GEN_SITE_TREE_PATHS_H

#include "gen/site/source/site.h"

// The path that names are looked for in: behind its root's prefix, without the numbers that order
// it. Lives in a.
str tree_page_path(const struct page *p, arena *a);
// Whether releases/Releases.md of Docusaurus is the page of its folder. Source: its
// plugin-content-docs, src/docs.ts, isCategoryIndex.
bool tree_is_folders(str folder, str name);
// The language of a page as the keys of other generators or the tree's defaults say it; "" when
// they do not.
str tree_language(const struct site *site, const struct page *p, const struct front *f, arena *a);
// What pages that are translations of each other have in common, by the keys that other generators
// know; "" for none.
str tree_reference(const struct site *site, const struct front *f);
// Fills p->address, p->categories, p->label and p->order from keys that other generators know.
void tree_front(const struct site *site, struct page *p, const struct front *f, arena *a);
// The addresses of a page in its own generator, below the language's own folder: normalised,
// without slashes at the ends and without a file's ending. At most TREE_ADDRESSES; the number of
// them.
enum { TREE_ADDRESSES = 5 };
size_t tree_addresses(const struct site *site, const struct page *p, arena *a,
                      str out[TREE_ADDRESSES]);
// An address in that form: "/a/b/index.html" is "a/b". One that no page can have is "..".
str tree_address(str written, arena *a);

// A path without the tree's base path; itself where it does not begin with that.
str tree_without_base(const struct tree *t, str path);

#endif
