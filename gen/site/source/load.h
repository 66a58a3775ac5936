// From folders and files to a planned site: pages with their languages, documents, order, addresses.
#ifndef GEN_SITE_LOAD_H
#define GEN_SITE_LOAD_H

#include "gen/site/source/site.h"

struct load_options {
    unsigned jobs;
    bool need_words;      // open locales and message catalogs, too
    bool drafts;          // drafts, and pages whose date is to come, are part of the site
    bool as_written;      // a file that stands for several pages stays one, see repeat.h
    // The packed meta of a page whose file has not changed, or STR_NONE; NULL to read all.
    str (*known)(void *ctx, struct page *p);
    // Whether tag, key and date of all pages are as they were; known has filled them then. Asked when all pages are read.
    bool (*placed)(void *ctx);
    void *ctx;
};

// Walks the content folder: site->files, and pages that have only source and stat. settings and diag are set already.
bool site_scan(struct site *site);
// Reads and plans what site_scan found. Errors of pages are recorded, and the rest is planned all the same, so that one run
// finds them all; false when nothing can be done with the site.
bool site_load(struct site *site, const struct load_options *o);
// site_scan and site_load.
bool site_open(struct site *site, const struct load_options *o);
void site_close(struct site *site);
// Opens locale and catalog of every language that has none yet.
bool site_open_words(struct site *site);

// Of nav.c: documents from pages, their order, addresses. 
bool site_plan(struct site *site);
// The path of a content file from the current folder, as messages name it; lives in a.
str site_path(const struct site *site, str source, arena *a);
// A place in a page's file by offset; reads the file again for the line.
void site_diag(struct site *site, enum diag_id id, const struct page *p, size_t offset, const char *what);

#endif
