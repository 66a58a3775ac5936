// What the two files of raw HTML in Markdown share.
#ifndef GEN_TEXT_MARKDOWN_HTML_H
#define GEN_TEXT_MARKDOWN_HTML_H

#include "gen/text/markdown_render.h"

// Writes those attributes of an element that pass. tag: its name as in markdown_tags.def; node: the
// piece of raw HTML that it stands in.
void md_html_attributes(struct md *r, cmark_node *node, str tag, str attributes);

// A tag that is a link: <a> without an address is the place of an id.
bool md_html_is_link(str tag, str attributes);

#endif
