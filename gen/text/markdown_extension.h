// Syntax that cmark-gfm does not know, added by its extension interface: formulas and admonitions.
// An extension lives as long as one parse; its private data is the struct md of the render.
#ifndef GEN_TEXT_MARKDOWN_EXTENSION_H
#define GEN_TEXT_MARKDOWN_EXTENSION_H

#include <cmark-gfm-extension_api.h>

#include "gen/text/markdown_render.h"

// Made for one parser; the caller attaches it, and frees it when the tree is freed.
cmark_syntax_extension *md_math_extension(struct md *r, cmark_parser *parser);
cmark_syntax_extension *md_admonition_extension(struct md *r);
cmark_syntax_extension *md_shortcode_extension(struct md *r);
void md_shortcodes_drop(cmark_node *parent);  // takes out what is in those that are not shown
// Elements whose tags the pre-pass has hidden are containers; md_elements_unwrap puts what they
// hold in their place, once the parse has ended.
cmark_syntax_extension *md_elements_extension(struct md *r);
void md_elements_unwrap(struct md *r, cmark_node *parent);
// The user data of a code block that shows syntax which is not read.
extern const char md_unread_mark[];
// Puts block, which is in a tree, into an alert: that of the word that a class names; false for any
// other class.
bool md_admonition_wrap(struct md *r, cmark_node *block, str class);

#endif
