// What commands share that look at a site without building it: its options, opening it, finding a
// document, reading a page.
#ifndef GEN_CMD_SITE_H
#define GEN_CMD_SITE_H

#include "gen/base/args.h"
#include "gen/site/source/include.h"
#include "gen/site/source/site.h"
#include "gen/text/markdown.h"

// The first member of such a command's options.
struct site_options {
    const char *source, *settings, *i18n;
    const char *strict;
    bool json;
};

// Rows of a command's table. T is its options' type, whose member `site` is a struct site_options.
#define SITE_OPTION_ROWS(T) \
    {'s',        "source", \
     ARG_STRING, offsetof(T, site.source), \
     "DIR",      "folder of Markdown files (content)"}, \
        {'c',        "config", \
         ARG_STRING, offsetof(T, site.settings), \
         "FILE",     "settings (DIR/site.yaml of the source, if it is there)"}, \
        {0,          "i18n", \
         ARG_STRING, offsetof(T, site.i18n), \
         "DIR",      "folder of message catalogs (the program's own)"}, \
        {0,          "strict", \
         ARG_STRING, offsetof(T, site.strict), \
         "[WHAT]",   "warnings about content are errors; measured: stale measurements, too"}, \
    { \
        0, "json", ARG_FLAG, offsetof(T, site.json), NULL, "print the result as JSON" \
    }

// A page's text, with what it includes, and what Markdown makes of it.
struct scanned {
    str file, text;
    struct included page;
    struct md_result md;
};

// Diagnostics as the options want them.
struct diag *site_options_diag(const struct site_options *o);
// Settings, pages, documents, locales and catalogs. site->diag is d. as_written: see load.h. False
// after errors were recorded.
bool site_options_open(const struct site_options *o, bool as_written, struct site *site,
                       struct diag *d);
// By key ("index" for the start page), or by the path of its folder; NULL when there is none.
struct document *site_document(const struct site *site, str name);
// Its key as people write it: "index" for the start page.
str site_document_name(const struct document *doc);
// Reads and scans p's file into the site's arena. False after io-read.
bool site_scan_page(struct site *site, const struct page *p, struct scanned *out);
// The file that a byte of the text is from, and its line there.
unsigned scanned_line(const struct scanned *s, size_t offset, str *file);
// Whether bytes [from, to) of the text are of the page's own file; *at is where they are in it.
bool scanned_own(const struct scanned *s, size_t from, size_t to, size_t *at);
// Writes a file unless it has these bytes already: 1 written, 0 unchanged, -1 after io-write.
int site_write_file(struct site *site, str path, str bytes);

#endif
