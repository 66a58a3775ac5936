// Tags of other generators whose meaning is known: {% hint %} of GitBook, {{< alert >}} of Hugo's
// themes, {% include note.html %} of Jekyll's. Those of blocks are containers to the parser.
#ifndef GEN_TEXT_MARKDOWN_SHORTCODE_H
#define GEN_TEXT_MARKDOWN_SHORTCODE_H

#include "gen/text/markdown_foreign_show.h"

enum md_shortcode_how {
    SHORTCODE_ALERT,  // the first are blocks, from a tag to its end
    SHORTCODE_FOLD,
    SHORTCODE_BOX,
    SHORTCODE_CODE,
    SHORTCODE_HIDDEN,
    SHORTCODE_BLOCKS = SHORTCODE_HIDDEN,
    SHORTCODE_LINK,
    SHORTCODE_IMAGE,
    SHORTCODE_WORDS,
    SHORTCODE_AROUND,
    SHORTCODE_STRONG,
    SHORTCODE_PLAIN,
    SHORTCODE_NOTHING,
};

struct md_shortcode_row {
    unsigned where;  // enum md_foreign
    str name;
    enum md_shortcode_how how;
    str kind, words;
};

struct md_shortcode {
    const struct md_shortcode_row *row;
    str name;
    bool end;       // the end of another
    bool alone;     // {{< name />}} has none
    bool markdown;  // {{% name %}}
    str arguments;
};

// Reads a tag as it was written. False for one that is not known.
bool md_shortcode_read(const struct md *r, str tag, struct md_shortcode *out);
// Whether it is none of the table: a shortcode of the tree's own.
bool md_shortcode_is_own(const struct md_shortcode *s);
// The value of the first argument of names, which are separated by spaces, that is there; a digit
// is the place of one without a name.
str md_shortcode_argument(const struct md_shortcode *s, str names);

#endif
