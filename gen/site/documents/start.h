// The start page of a tree: by an alias, and as what the tree is called.
#ifndef GEN_SITE_START_H
#define GEN_SITE_START_H

#include "gen/site/source/site.h"

// Takes the alias "/" off the pages of a tree of others: it makes a page the start page of its
// language where no file is that, and so does an address that is the language's. Called while keys
// are kept in url.
void start_by_alias(struct site *site);

// A tree of others that says no title is called as its start page is, in few words.
void start_title(struct site *site);

#endif
