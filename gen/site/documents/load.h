// From folders and files to a planned site: pages with their languages, documents, order,
// addresses.
#ifndef GEN_SITE_LOAD_H
#define GEN_SITE_LOAD_H

#include "gen/site/incremental/cache.h"
#include "gen/site/source/site.h"

struct load_options {
    unsigned jobs;
    bool drafts;      // drafts, and pages whose date is to come, are part of the site
    bool as_written;  // a file that makes several pages stays one, see each.h
    const struct cache_file *known;  // of the last build, by path; none: all pages are read
    size_t known_count;
    bool same_paths;  // known has the very files that are there now, changed or not
};

// Reads and plans what site_scan found. Errors of pages are recorded, and the rest is planned all
// the same, so that one run finds them all.
void site_load(struct site *site, const struct load_options *o);
// site_scan, site_load and languages_open.
bool site_open(struct site *site, const struct load_options *o);
void site_close(struct site *site);

#endif
