// What a document's render leaves for the build and for the next one, as packed bytes.
#ifndef GEN_SITE_RECORD_H
#define GEN_SITE_RECORD_H

#include "gen/base/pack.h"
#include "gen/site/output/build_state.h"
#include "gen/site/page/page.h"

struct record_page {
    str language, url, description, search;
    uint64_t hash, size, twin_hash, twin_size;
    str assets;                       // see view_assets()
    uint64_t search_hash;             // of url, description and search: what the search index shows, beside the title
    bool written, twin_written;       // by the render that made the record
    bool is_new;                      // no earlier build had written them
    struct unpack anchors;            // count, then strings
    struct unpack links;              // count, then target, anchor, offset
    struct unpack uses;               // content files that it refers to: count, then name, stamp, hash, size
};

// said: packed messages; then the number of pages, then each page.
void record_begin(buf *out, str said);
void record_count(buf *out, size_t pages);
void record_page(buf *out, const struct record_page *p, const struct page_output *o);

// Reads the messages, then pages one by one: false at the end.
struct record_reader { struct unpack u; size_t left; str said; };
struct record_reader record_open(str record);
bool record_next(struct record_reader *r, struct record_page *out);
// Opens the records of all documents at once: b->records.
void records_index(struct build *b);
// What the render of a document left in a language; NULL when it has no such page.
static inline const struct record_page *record_of(const struct build *b, size_t document, size_t language)
{
    const struct record_page *p = &b->records[document * b->site.language_count + language];
    return p->url.len ? p : NULL;
}

#endif
