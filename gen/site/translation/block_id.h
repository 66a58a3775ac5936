// Names of a document's blocks that stay when something elsewhere in it changes: for translators'
// files and command lines.
#ifndef GEN_SITE_BLOCK_ID_H
#define GEN_SITE_BLOCK_ID_H

#include "gen/text/markdown.h"

// ids[i] of the i-th block: a heading's own id, or that of the heading above, the kind of block and
// its number among those of its kind there: "why-it-fits/p2"; "p2" above the first heading. Lives
// in a.
str *block_ids(const struct md_result *md, arena *a);

#endif
