// What one HTML file of a finished site says: its anchors, its links, and what it asks the reader's
// browser to load.
#ifndef GEN_SITE_CHECK_PAGE_H
#define GEN_SITE_CHECK_PAGE_H

#include "gen/base/diag.h"

struct check_link {
    str target;  // below the site
    str anchor;
    uint32_t line, col;
    bool language;  // of a switcher
};

struct check_page {
    str *ids;
    size_t id_count;
    struct check_link *links;
    size_t link_count;
    size_t size;      // gzip bytes, inline SVG left out
    str lang;         // of <html>
    str css, script;  // addresses of the stylesheets and of the deferred scripts, one a line
    size_t requests;  // the page, its stylesheets and its scripts
    bool is_redirect;
};

// Parses html, the file url of the site; path is its name in messages. Everything lives in a.
// Records html-malformed, anchor-duplicate and link-escapes.
void check_page(str html, str url, str path, arena *a, struct diag *d, struct check_page *out);
// What a worker found as bytes, and back: views of packed and lists in a. False when damaged.
void check_page_pack(const struct check_page *p, buf *out);
bool check_page_unpack(str packed, arena *a, struct check_page *out);
// How many bytes gzip -9 makes of them.
size_t check_gzip_size(str bytes);

#endif
