// Ids out of the words of headings, as the tree's own generator makes them.
#ifndef GEN_TEXT_SLUGS_H
#define GEN_TEXT_SLUGS_H

#include "gen/text/markdown.h"

// Appends the id that a heading's text has in a style; nothing for a text without letters and
// digits.
void slug_text(enum md_slug style, str text, buf *out);
// Appends a text in lower case.
void slug_lower(str text, buf *out);

#endif
