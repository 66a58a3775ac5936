// Values that a page names in a tag and that are written elsewhere in the tree: in its settings, in
// the page's own front matter, in files of data.
#ifndef GEN_SITE_INCLUDE_VALUE_H
#define GEN_SITE_INCLUDE_VALUE_H

#include "gen/site/source/including.h"

// Whether a text may name a value, in the way that the tree has them.
bool include_may_name(const struct tree *t, str text);
// Puts the source's bytes [from, to) with the values of the tags in them.
void include_put_values(struct including *g, const struct include_source *s, size_t from,
                        size_t to);
// Words with the values of the tags in them.
str include_expand(struct including *g, const struct include_source *s, str words);
// The argument of a shortcode {{< name "argument" >}} or {{% name argument %}} at the head of s:
// the first without a name, in quotes or not. *end is behind the tag. False for anything else.
bool include_shortcode_argument(str s, str *name, str *argument, str *rest, size_t *end);

#endif
