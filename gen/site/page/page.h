// One page: its Markdown as HTML, then the template, then its Markdown copy.
#ifndef GEN_SITE_PAGE_H
#define GEN_SITE_PAGE_H

#include "gen/site/figures/figures.h"
#include "gen/site/documents/assets.h"
#include "gen/site/documents/links.h"
#include "gen/site/template/view.h"

// A link into another page by its anchor, to be checked when all pages are known.
struct anchor_link {
    str target, anchor;
    size_t offset;
};

// A content file that the page shows or links to.
struct asset_use {
    struct asset *asset;
    uint64_t stamp;
};

// What an inline cell became, for the Markdown copy.
struct cell_value {
    str code, html;
};

// What one render leaves behind, besides the bytes.
struct page_output {
    buf html, markdown;
    buf body;  // the page's own part of html, without what its template puts around it
    struct md_result md;
    struct anchor_link *links;
    size_t link_count, link_cap;
    struct asset_use *uses;
    size_t use_count, use_cap;
    size_t stale_count;  // blocks older than their source
    bool any_anchor;     // it may have anchors that are not known: part of its syntax is not read
    struct cell_value *cells;
    size_t cell_count, cell_cap;
    str hosts;        // of other sites, whose pictures it shows, between blanks
    str description;  // the page's, or its first paragraph
    str preview;  // parts of the picture that stands for the page; "" where that is a file, or none
};

// What all renders of a worker share.
struct page_renderer {
    const struct site *site;
    struct view *view;
    const bool *feeds;  // [site.language_count]: whether the language has a feed
    const str *words;   // of page_words()
    struct math *math;  // may be NULL
    struct diag *diag;
    arena *arena;             // of the page; the caller resets it
    struct figures *figures;  // of the document
    const str *ids;           // of the source's headings
    size_t id_count;
    // Of the document's source page, for staleness; NULL while it is rendered.
    const struct md_result *source;
    str source_text;
    // The same for all pages of the document; NULL: not made yet.
    const struct view_translation *translations;
    bool parity;  // compare each translation's numbers and structure with the source's
};

// Renders the page that doc shows in language l; text: the bytes of its file ("" for a made page).
// out's buffers are appended to. False after errors were recorded.
bool page_render(struct page_renderer *r, const struct document *doc, const struct language *l,
                 str text, struct page_output *out);

// What md_options.words is for each language of the site, one after the other.
const str *page_words(const struct site *site, arena *a);

// What the lists of a page are made of.
struct page_context {
    struct page_renderer *renderer;
    struct page_output *out;
    const struct front *front;
};

// Of page_lists.c: fills the lists of p that templates name. The rest of p must be filled.
void page_fill_lists(struct view_page *p, const struct page_context *c);

// What a page shows of another document: as a link; as a child of its section, false where the
// language has none.
struct view_link page_link(const struct site *site, const struct document *doc,
                           const struct language *l, arena *a);
bool page_child(const struct site *site, const struct document *child, const struct language *l,
                arena *a, struct view_child *out);
// base_url and the address, a folder's index left out; "" without base_url.
str page_address(const struct site *site, str url, arena *a);

#endif
