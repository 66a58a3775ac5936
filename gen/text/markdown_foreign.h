// Syntax of other generators in Markdown: hidden from the parser, byte by byte, and put back into
// its tree as code.
#ifndef GEN_TEXT_MARKDOWN_FOREIGN_H
#define GEN_TEXT_MARKDOWN_FOREIGN_H

#include "gen/text/attributes.h"
#include "gen/text/markdown_render.h"

// A copy of body, of the same length and with the same lines, in which tags of r->o->foreign hold
// nothing that Markdown knows. body itself when it has no such tag. Lives in r->a.
str md_foreign_hide(struct md *r, str body);
// Puts back what was hidden: code stays as it was written, a tag in text becomes code, or what it
// means.
void md_foreign_show(struct md *r, cmark_node *root);
bool md_foreign_is(cmark_node *n);  // whether md_foreign_show made it
void md_foreign_inline(struct md *r, cmark_node *n);
// Finds the known tags of blocks in a text in which tags are hidden.
void md_shortcodes_find(struct md *r, str hidden);

// How a hidden tag begins, with <, [, !, : or {, and how it ends.
enum {
    MD_HIDDEN_TAG = 0x01,
    MD_HIDDEN_BRACKET = 0x05,
    MD_HIDDEN_PERCENT = 0x06,  // behind MD_HIDDEN_BANG: they stand for %%
    MD_HIDDEN_BANG = 0x08,
    MD_HIDDEN_COLON = 0x15,
    MD_HIDDEN_BRACE = 0x16,
    MD_HIDDEN_END = 0x1f
};
// The words of an attribute in quotes; "" without it.
str md_tag_attribute(str tag, str name);
// Whether a component is a link round what it encloses.
bool md_component_is_link(str name);
// Puts the hidden bytes of a text back in their places.
void md_foreign_put_back(char *text, size_t len);

// A tag is no longer than this; one that holds a whole picture of a terminal, than that.
enum { MD_MAX_TAG = 8000, MD_MAX_RAW = 65536 };
// The end of the tag at s[from], whose attributes may hold braces and strings, empty lines in them
// included; 0 for none up to longest bytes behind it.
size_t md_jsx_end(str s, size_t from, size_t longest);
// Behind the brace that closes the one at s[at]; 0 for none up to longest bytes behind it.
size_t md_jsx_braces_end(str s, size_t at, size_t longest);
// The same for <Tabs ...>, </Tabs>, <Foo.Bar/>, <>, </> only; a type such as Vec<T> is none.
size_t md_jsx_tag_end(str s, size_t at, size_t longest);
// Of a tag of JSX, text[from..to) behind its name: attributes become HTML's, byte by byte, so that
// the text keeps its length. {283}, {'words'}, {require('file')} are values; every other expression
// is blanked out with its attribute's name.
void md_jsx_attributes(char *text, size_t from, size_t to);

// What export const NAME = "words" gives names in a page of MDX; read when it is first asked for.
struct md_exports {
    struct map words;  // name -> str *; NULL for another value
    bool read;
};
// The words of a name; false for any other value.
bool md_exported_text(struct md_exports *x, str body, str name, str *words, arena *a);

// Whether the tag at s[at], a '<', is of an element whose content is Markdown: where the tag ends,
// where the element's end tag is, and what is behind that. searched: bytes that were looked through
// for the page so far; past 16 MiB no further element is found.
bool md_markdown_element(str s, size_t at, size_t *searched, size_t *end, size_t *close,
                         size_t *behind);

// The same for an element of MDX: both of its tags stand on lines of their own.
bool md_mdx_element(str s, size_t at, size_t *searched, size_t *end, size_t *close, size_t *behind);
// The same for an element, or an end tag, that ends with its line and is followed by one that is
// not empty, which CommonMark would take for more HTML.
bool md_whole_element(str s, size_t at, size_t *searched, size_t *behind);
// An <img> or <br> that is all of a line, where the next is not empty: kramdown and Python-Markdown
// read both as words, CommonMark as a block of HTML. Behind it; 0 for none. Source: kramdown,
// parser/html.rb, HTML_SPAN_ELEMENTS.
size_t md_void_before_line(str s, size_t at);
bool md_is_void_in_line(str name);

// Shows what the abbreviations that md_foreign_hide met mean, wherever they are words of the text.
void md_abbreviations_apply(struct md *r, cmark_node *root);

// Takes attributes behind words and blocks out of the tree; an id stays as an anchor.
void md_attributes_apply(struct md *r, cmark_node *root);

#endif
