// A finished site looked at from outside: every page parsed, every internal link and anchor
// followed, sizes measured.
#ifndef GEN_SITE_CHECK_H
#define GEN_SITE_CHECK_H

#include "gen/base/diag.h"

struct check_summary {
    size_t files, pages, links;
    uint64_t largest_page, css, script;  // gzip bytes
};

// Checks the site in the folder output. Messages go to d. False when there were errors.
bool check_site(str output, unsigned jobs, struct diag *d, struct check_summary *out);

#endif
