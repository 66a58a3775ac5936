// Addresses: relative ones between pages, and what a link in the text leads to.
#ifndef GEN_SITE_LINKS_H
#define GEN_SITE_LINKS_H

#include "gen/site/site.h"

// Appends the address of to (below the site) as it is written in the page from: "../de/x.html". Not escaped.
void link_relative(str from, str to, buf *out);

#endif
