// Translations that front matter pairs: Jekyll's blogs write "ref: about" in each, Hugo
// "translationKey: about".
#ifndef GEN_SITE_REFERENCES_H
#define GEN_SITE_REFERENCES_H

#include "gen/site/source/site.h"

struct references {
    struct map pages;  // reference -> the pages that have it
};

// Notes that p, whose key is in p->url, has a reference; "" is none. What is noted lives in a.
void references_note(struct references *r, struct page *p, str reference, arena *a);
// Gives pages with one reference, each in another language, one key: that of the source language's
// page, else of the first. Every page keeps its address. Pages that share language and reference
// are left as they are.
void references_pair(const struct references *r, struct site *site);

#endif
