// Lists of all pages for programs: sitemap, Atom feeds, llms.txt.
#ifndef GEN_SITE_FEEDS_H
#define GEN_SITE_FEEDS_H

#include "gen/site/output/build_state.h"

// sitemap.xml with its parts, one feed a language that has dated pages, llms.txt.
void feeds_write(struct build *b);

#endif
