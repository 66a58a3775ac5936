// The text of a page as its readers see it, cut where headings begin: for the search index.
#ifndef GEN_TEXT_PAGE_TEXT_H
#define GEN_TEXT_PAGE_TEXT_H

#include "gen/base/arena.h"
#include "gen/base/buf.h"

struct text_section {
    str anchor;         // of its heading; "" for what is before the first
    str heading, text;  // plain; text: a line for each block, a line feed behind each but the last
};

// Sections of a page's body, which is HTML of our own making, in its order. The first has no
// heading and may be empty. Drawings and what is hidden from readers is left out. text keeps the
// bytes: it is appended to, and may not change while sections are used.
struct text_section *page_text_sections(str html, arena *a, buf *text, size_t *count);

#endif
