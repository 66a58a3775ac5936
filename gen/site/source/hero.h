// Start pages of VitePress, VuePress and Starlight, whose words are in their front matter.
#ifndef GEN_SITE_HERO_H
#define GEN_SITE_HERO_H

#include "gen/site/kinds/kind.h"

// Markdown that stands for a value of the front matter, at its place in the file.
struct hero_part {
    str text;
    size_t offset;
};

// Whether a page of the tree may have such words.
bool hero_may(const struct tree *t, str text);
// What they are in Markdown, to be put in front of the page's own at *body: the title that the page
// has not of itself, the lines below it, links and features. The number of parts, 0 for none.
// Everything lives in a.
size_t hero_parts(const struct tree *t, str text, arena *a, struct hero_part **parts, size_t *body);

#endif
