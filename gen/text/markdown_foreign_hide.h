// What the two files share that hide syntax of other generators from the parser.
#ifndef GEN_TEXT_MARKDOWN_FOREIGN_HIDE_H
#define GEN_TEXT_MARKDOWN_FOREIGN_HIDE_H

#include "gen/text/markdown_foreign.h"

// Where a text is next, from a place on. It is looked for behind the last place only, so that all
// questions, whose places go up, are one pass.
struct md_ahead {
    size_t from, at;  // the next from from on is at at
    bool asked;
};

struct hiding {
    char *text;  // the copy
    str body;    // as it was
    unsigned foreign;
    bool mdx;  // its file says so
    arena *a;
    bool changed;
    str unread;  // the first tag that became a fence, and where it is
    size_t unread_at;
    struct md *abbreviating;  // where abbreviations are noted; NULL: they are text
    size_t searched;          // bytes that ends of elements were looked for in
    struct md_exports exports;
    struct md_ahead braces, statements, comments;  // }}, %} and endcomment
    bool uncommented;                              // no %% ends a comment from here on
};

// Replaces the bytes of a tag, text[from..to), that Markdown would act on.
void md_hide(char *text, size_t from, size_t to);
void md_hide_blank(char *text, size_t from, size_t to);
size_t md_end_of_line(str s, size_t at);
str md_rest_of_line(str s, size_t at);  // from at on
// Whether [from, to) may be a tag: not too long, without an empty line, and without a code span's
// mark unless ticks says so.
bool md_is_one_piece(str s, size_t from, size_t to, bool ticks);

// Each hides what begins at a byte of the body, and returns where the walk goes on; 0 for nothing.
size_t md_hide_import(struct hiding *h, size_t at);
size_t md_hide_jsx(struct hiding *h, size_t at);
size_t md_hide_html(struct hiding *h, size_t at);
size_t md_hide_element(struct hiding *h, size_t at);
size_t md_hide_wiki(struct hiding *h, size_t at);     // [[Note]], ![[picture.png]]
size_t md_hide_comment(struct hiding *h, size_t at);  // %% words %%
// Notes the abbreviation that a line of the body explains; false for any other line.
bool md_hide_abbreviation(struct hiding *h, str line);

#endif
