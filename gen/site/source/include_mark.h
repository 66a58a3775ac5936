// How a line names a file to be included, and how a file marks its parts: by generator.
#ifndef GEN_SITE_INCLUDE_MARK_H
#define GEN_SITE_INCLUDE_MARK_H

#include "gen/site/kinds/kind.h"

struct include_mark {
    size_t start, end;   // in the line
    str path;            // "": the mark is taken away and nothing is put in
    str name;            // of a part of the file; "" for lines by number
    size_t first, last;  // lines from 1
    bool indents;        // what is in front of the mark is in front of each line of the file
    bool escaped;        // the mark is gone, and what is behind it is text
    bool block;          // a list of files follows
    bool fenced;         // shown as code
    bool top;            // the path counts from the tree's own folder
    str arguments;       // of a shortcode, behind the path
};

// The first mark in a line, or in the rest of one.
bool include_next(enum tree_includes how, str line, struct include_mark *m);
// "file", "file:3:5", "file:name", "file{3,5}", "file#name".
void include_spec(enum tree_includes how, str words, struct include_mark *m);
// Whether a line ends a list of files.
bool include_ends_block(str line);
// Whether a line begins or ends a part of its file.
bool include_section(enum tree_includes how, str line, bool *begins, str *name);

#endif
