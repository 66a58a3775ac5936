// What is known of an admonition while it is parsed and rendered.
#ifndef GEN_TEXT_MARKDOWN_ADMONITION_H
#define GEN_TEXT_MARKDOWN_ADMONITION_H

#include "gen/text/markdown_extension.h"

struct md_admonition {
    char mark;   // '!' '?' '=' '/' ':', or '<' of an element
    int length;  // of a fence
    uint8_t alert;
    bool bare;         // a container of another kind: only what is in it is shown
    bool folds, open;  // it can be opened and closed by the reader
    bool untitled;
    bool head;        // lines of options may come
    bool ended;       // its last line has been read
    size_t set, tab;  // of tabs: which set of the page, which of it; from 1
    char *word;       // a type that is not known, to be its title; NULL otherwise
    char *title;      // Markdown; NULL for the alert's own word
};

// Sets the alert that a word names; false for a word that names none.
bool md_admonition_alert(struct md_admonition *m, str word);
// Sets what a word says that names an admonition; any other is its title.
void md_admonition_type(struct md *r, struct md_admonition *m, str word);
// Puts block, which is in a tree, into an alert; of a quote what is in it. Its title, NULL when it
// has no place.
cmark_node *md_admonition_put(struct md *r, cmark_node *block, const struct md_admonition *m);

// markdown_tabs.c: numbers a tab that is the last child of its parent.
void md_tab_number(struct md *r, cmark_node *tab, struct md_admonition *m);
// The anchor of a tab, which is noted; "" for one without.
str md_tab_id(struct md *r, cmark_node *tab, const struct md_admonition *m);

// The user data of an admonition's first child, its title, and of an element's, its opening tag:
// what holds text and no blocks.
extern const char md_title_mark[], md_tag_mark[];
// An extension of containers, custom blocks whose first child has one of these marks.
cmark_syntax_extension *md_block_extension(struct md *r, const char *name,
                                           cmark_open_block_func open,
                                           cmark_match_block_func match);
// A block of such an extension, as the last child of parent, where the line begins.
cmark_node *md_block_open(cmark_syntax_extension *ext, cmark_parser *parser, cmark_node *parent,
                          void *data);
// Takes the rest of a line of len bytes, but for its end.
void md_line_take(cmark_parser *parser, const unsigned char *input, int len);

#endif
