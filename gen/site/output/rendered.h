// What a document's render leaves for the build and for the next one, as packed bytes.
#ifndef GEN_SITE_RENDERED_H
#define GEN_SITE_RENDERED_H

#include "gen/base/packed_values.h"
#include "gen/site/output/build_state.h"
#include "gen/site/page/page.h"

struct rendered_page {
    str language, url, description;
    str search;        // see units_pack()
    uint64_t text_at;  // where that is among the texts of the document
    uint64_t hash, size, markdown_hash, markdown_size;
    str assets;            // see view_assets()
    uint64_t search_hash;  // of url, description and search: what the search index shows, beside
                           // the title
    str hosts;             // of other sites, whose pictures it shows
    str preview;           // see figures_preview(); "" for none
    bool has_media;        // it has a video
    bool any_anchor;       // anchors that are not listed may be there, too
    bool written, markdown_written;  // by the render that this is of
    bool is_new;                     // no earlier build had written them
    struct unpack anchors;           // count, then strings
    struct unpack links;             // count, then target, anchor, offset
    struct unpack uses;  // content files that it refers to: count, then name, stamp, hash, size
};

// texts_from: where the document's texts for search begin in their file. said: packed messages;
// then the number of pages, then each page.
void rendered_begin(buf *out, uint64_t texts_from, str said);
// The same with another texts_from, in a.
str rendered_moved(str rendered, uint64_t texts_from, arena *a);
void rendered_count(buf *out, size_t pages);
void rendered_page(buf *out, const struct rendered_page *p, const struct page_output *o);

// Reads the messages, then pages one by one: false at the end.
struct rendered_reader {
    struct unpack u;
    size_t left;
    uint64_t texts_from;
    str said;
    const struct texts *texts;  // of which rendered_next() takes .search; NULL: "" is enough
};
struct rendered_reader rendered_open(str rendered);
bool rendered_next(struct rendered_reader *r, struct rendered_page *out);
// Opens what the renders of all documents left, at once: b->rendered.
void rendered_index(struct build *b);
// What the render of a document left in a language; NULL when it has no such page.
static inline const struct rendered_page *rendered_of(const struct build *b, size_t document,
                                                      size_t language)
{
    const struct rendered_page *p = &b->rendered[document * b->site.language_count + language];
    return p->url.len ? p : NULL;
}

#endif
