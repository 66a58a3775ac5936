// What wiki links of a vault name: a note or a file by its name alone, in whatever folder it is.
#ifndef GEN_SITE_WIKI_LINKS_H
#define GEN_SITE_WIKI_LINKS_H

#include "gen/site/source/site.h"

// What "[[Note#Heading]]" means in page p: a page, or a file that is none; neither for a note that
// is not written yet. anchor: the id of the heading or of the block, "" for none. Lives in a.
struct wiki_target {
    const struct page *page;
    str file;  // below the content folder
    str anchor;
    bool here;  // [[#Heading]]: of page p
};

// Notes and files by their names; called when pages have their documents. Lives in site->arena.
void wiki_index(struct site *site);
struct wiki_target wiki_find(const struct site *site, const struct page *p, str destination,
                             arena *a);

#endif
