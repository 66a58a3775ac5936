// Files that a page of another generator includes: their lines are put in place of the line that
// names them, before the page is read.
#ifndef GEN_SITE_INCLUDE_H
#define GEN_SITE_INCLUDE_H

#include "gen/site/source/site.h"

// A page's text as every reader of it takes it.
struct included {
    str own;                    // the bytes of its file
    str file;                   // as pieces name it, where something may be included
    str text;                   // with what it includes; own where nothing may be included
    bool may;                   // something may be
    struct diag_piece *pieces;  // where the parts of text are from, for diag_pieces
    size_t count;               // 0: all is of its file
};

// Fills out for the page at source, below the content folder, whose file has these bytes. Files are
// read below the content folder only, through no symbolic link; what cannot be included is left out
// with a warning (d NULL: without one). What is made lives in a.
void include_text(const struct site *site, str source, str own, arena *a, struct diag *d,
                  struct included *out);
// The same of the page's file, whose bytes are read into memory. 0, or -1 with errno: EFBIG for
// more than a page may have.
int include_page(const struct site *site, str source, buf *memory, arena *a, struct diag *d,
                 struct included *out);

#endif
