// Bodies of pages whose generator reads them in a way of its own.
#ifndef GEN_SITE_INCLUDE_BODY_H
#define GEN_SITE_INCLUDE_BODY_H

#include "gen/site/source/including.h"

// Whether a line is of code between fences, these included. open: the fence that is open, "" at
// first.
bool include_is_code(str line, str *open);

// The body of a page of MDX, whose listings become fences.
void include_put_mdx(struct including *g, const struct include_source *s, size_t at);
// The body of a page of kramdown, whose tables without a head get an empty one.
void include_put_kramdown(struct including *g, const struct include_source *s, size_t at);

#endif
