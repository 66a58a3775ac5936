// The content folder walked, before anything in it is read.
#ifndef GEN_SITE_SCAN_H
#define GEN_SITE_SCAN_H

#include "gen/site/source/site.h"
#include "gen/text/markdown.h"

// Walks the content folder: site->files, and pages that have only source and stat. settings and
// diag are set already.
bool site_scan(struct site *site);
// The path of a content file from the current folder, as messages name it; lives in a.
str site_path(const struct site *site, str source, arena *a);
// How p's text is parsed. Every parse of a page starts from this, or its blocks are not the same:
// the caller adds only what leaves them as they are (formulas, words, texts).
struct md_options site_markdown(const struct site *site, const struct page *p);
// A place in a page's file by offset; reads the file again for the line.
void site_diag(struct site *site, enum diag_id id, const struct page *p, size_t offset,
               const char *what);

#endif
