// Shortcodes of Hugo that put in the file that they name: of a tree's own, and those of well-known
// modules.
#ifndef GEN_SITE_INCLUDE_SHORTCODE_H
#define GEN_SITE_INCLUDE_SHORTCODE_H

#include "gen/site/source/including.h"
#include "gen/site/source/include_mark.h"

// Whether a text has one, or names a value of the settings by {{< param "name" >}}.
bool include_may_shortcode(const struct tree *t, str text);
// The first one in a line, or in the rest of one, whose file is there. Its path is one below the
// content folder.
bool include_next_shortcode(struct including *g, const struct include_source *s, str line,
                            struct include_mark *m);

#endif
