// The tree of contents at the side of a page: in the order of the tree's own configuration, else by
// sections.
#ifndef GEN_SITE_CONTENTS_H
#define GEN_SITE_CONTENTS_H

#include "gen/site/source/site.h"

// A page shows this many entries at most: more would cost more than its text.
enum { CONTENTS_SHOWN = 60 };

struct contents_entry {
    str title, url;  // url: below the output folder; "" for a heading
    str address;     // of another site; "" without
    uint32_t depth;  // from 0
    // This page; a section that it is in; a link to the rest of a section.
    bool current, above, more;
};

// Fills site->contents from the tree's own configuration or from the sections. For a dozen
// documents or fewer only from the configuration, for the order of their pages.
void contents_plan(struct site *site);
// What a page of doc shows in a language: the top level, the ancestors, their siblings, its
// siblings and children, never more than CONTENTS_SHOWN. The number of entries; they live in a.
size_t contents_of(const struct site *site, const struct document *doc, const struct language *l,
                   arena *a, struct contents_entry **out);
// Changes when an entry does that any page may show.
uint64_t contents_hash(const struct site *site);
// The document before (-1) or after (+1) in the tree's own order; NULL where that says nothing.
struct document *contents_near(const struct site *site, const struct document *doc,
                               const struct language *l, int step);

#endif
