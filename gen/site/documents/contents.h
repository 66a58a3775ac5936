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
};

// Where an entry is in what a page shows.
struct contents_place {
    uint32_t item;   // its number in the tree, for contents_entry()
    uint32_t depth;  // from 0
    // This page; a section that it is in; a link to the rest of a section.
    bool current, above, more;
};
// Whether there was something to show.
typedef bool contents_show(void *ctx, const struct contents_place *place);

// Fills site->contents from the tree's own configuration or from the sections. For a dozen
// documents or fewer only from the configuration, for the order of their pages.
void contents_plan(struct site *site);
// Shows what a page of doc has beside it: the top level, the ancestors, their siblings, its
// siblings and children, never more than CONTENTS_SHOWN.
void contents_walk(const struct site *site, const struct document *doc, contents_show *show,
                   void *ctx);
// What an entry is in a language; it lives in a. False where the language has none of it.
bool contents_entry(const struct site *site, const struct language *l, uint32_t item, arena *a,
                    struct contents_entry *out);
// Changes when an entry does that any page may show.
uint64_t contents_hash(const struct site *site);
// The document before (-1) or after (+1) in the tree's own order; NULL where that says nothing.
struct document *contents_near(const struct site *site, const struct document *doc,
                               const struct language *l, int step);

#endif
