// What is known of a page without rendering it: its front matter, its title, and a hash of its
// bytes, as packed bytes.
#ifndef GEN_SITE_READ_H
#define GEN_SITE_READ_H

#include "gen/site/source/site.h"

struct page_meta {
    uint64_t content_hash;
    size_t body;         // offset of the Markdown, behind a first heading that repeats the title
    bool includes;       // lines of other files are in its text: its own file does not say all
    str written;         // the language that its letters say, where nothing else says one
    struct front front;  // title: also from that heading, "" when there is none
};

// body of a page that could not be read.
#define PAGE_BROKEN SIZE_MAX

// Reads text as a page. False after errors were recorded; out is filled as far as possible.
// Views into packed; lists and pairs live in a. False when the bytes are damaged.
bool page_meta_unpack(str packed, arena *a, struct page_meta *out);
// Whether a packed page is made of other files, too.
bool page_meta_includes(str packed);
// Whether two packed pages differ in their text at most: their front matter and titles are the
// same.
bool page_meta_same(str a, str b);

// Fills meta of every page of the site that has none, by reading files, in workers when there are
// many. jobs: as the command line says, 0 for the processors. False after errors were recorded.
bool pages_read(struct site *site, unsigned jobs);

#endif
