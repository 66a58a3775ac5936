// When pages were last changed, as git remembers it.
#ifndef GEN_SITE_GIT_DATES_H
#define GEN_SITE_GIT_DATES_H

#include "gen/site/source/site.h"

// Fills updated of pages whose front matter says nothing, where the content folder lies in a git
// checkout. One call of git for all files; without git, or for files it does not know, nothing is
// filled.
void git_dates_read(struct site *site);

#endif
