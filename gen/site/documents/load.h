// From folders and files to a planned site: pages with their languages, documents, order, addresses.
#ifndef GEN_SITE_LOAD_H
#define GEN_SITE_LOAD_H

#include "gen/site/source/site.h"

struct load_options {
    unsigned jobs;
    bool need_catalogs;   // open locales and message catalogs, too
    bool drafts;          // drafts, and pages whose date is to come, are part of the site
    bool as_written;      // a file that stands for several pages stays one, see each.h
    // The packed meta of a page whose file has not changed, or STR_NONE; NULL to read all.
    str (*known)(void *ctx, struct page *p);
    // Whether tag, key and date of all pages are as they were; known has filled them then. Asked when all pages are read.
    bool (*placed)(void *ctx);
    void *ctx;
};

// Reads and plans what site_scan found. Errors of pages are recorded, and the rest is planned all the same, so that one run
// finds them all; false when nothing can be done with the site.
bool site_load(struct site *site, const struct load_options *o);
// site_scan and site_load.
bool site_open(struct site *site, const struct load_options *o);
void site_close(struct site *site);

#endif
