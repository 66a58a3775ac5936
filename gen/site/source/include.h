// Files that a page of another generator includes: their lines are put in place of the line that
// names them, before the page is read.
#ifndef GEN_SITE_INCLUDE_H
#define GEN_SITE_INCLUDE_H

#include "gen/site/source/site.h"

// Whether a text may name a file, in the way that the tree includes them.
bool include_may(const struct site *site, str text);
// The text of the page at source, below the content folder, with what it includes. Files are read
// below the content folder only, through no symbolic link; what cannot be included is left out with
// a warning (d NULL: without one). Lives in a. *pieces: where its parts are from, for diag_pieces.
str include_files(const struct site *site, str source, str text, arena *a, struct diag *d,
                  struct diag_piece **pieces, size_t *count);

#endif
