// A build: from a content folder to a site, by as many processes as there are processors, writing
// only what changed.
#ifndef GEN_SITE_BUILD_H
#define GEN_SITE_BUILD_H

#include "gen/base/diag.h"
#include "gen/site/source/settings.h"

struct build_options {
    struct settings_paths paths;
    str program_dir;  // folder of the running program: its templates and catalogs are near it
    unsigned jobs;    // 0: the number of processors
    bool fresh;       // forget what the last build left
    bool progress;    // a line on the terminal that says how far it is
    bool strict, strict_measured;  // which warnings d takes for errors: what was built otherwise is
                                   // looked at again
    bool shuffle;  // documents in another order, for tests: the site must not show it
    bool drafts;   // drafts, and pages whose date is to come, are part of the site
    bool verbose;  // the summary lists what was left out
    bool into;     // the output may hold files of others and no site yet
};

struct build_item {
    str path;
    const char *why;
};
struct build_list {
    struct build_item *items;  // only when they are asked for
    size_t count, cap;
};

struct build_summary {
    size_t pages, documents, languages;
    size_t translations;  // of pages, those whose document has a page in the source language, too
    size_t rendered, written, removed;  // pages rendered; files written and removed
    uint64_t ms;
    struct build_list left_out;      // of the source
    str hosts;                       // of other sites, whose pictures pages show; between blanks
    size_t foreign;                  // files of others that lie in the output, hidden names aside
    struct build_list foreign_list;  // those with hidden names, too
    arena arena;                     // of the lists; the caller's to free
    int64_t until;                   // Unix seconds, when another page is due; INT64_MAX: none
    bool unchanged;                  // nothing had to be done
    char output[4096];
};

// Builds. Messages go to d and are not printed. False when there were errors: then the site is as
// it was.
bool build_site(const struct build_options *o, struct diag *d, struct build_summary *out);
// The folder of the running program.
str build_program_dir(arena *a);

#endif
