// What a build left out of its source, and what others have put into its output: counted for its
// last line, listed for --verbose.
#ifndef GEN_SITE_UNPUBLISHED_H
#define GEN_SITE_UNPUBLISHED_H

#include "gen/site/output/build_state.h"

// Fills the summary's left_out. When everything is rendered.
void unpublished_find(struct build *b);
// Lists the files of others in the output. When everything is in place.
void unpublished_list_foreign(struct build *b);

#endif
