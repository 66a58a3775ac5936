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
    bool head;    // lines of options may come
    bool ended;   // its last line has been read
    char *word;   // a type that is not known, to be its title; NULL otherwise
    char *title;  // Markdown; NULL for the alert's own word
};

// The user data of a title's node.
extern const char md_title_mark[];

#endif
