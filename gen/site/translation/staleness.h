// Which paragraphs of a translation are older than their source: by hashes kept beside the
// translation, without dates.
#ifndef GEN_SITE_STALENESS_H
#define GEN_SITE_STALENESS_H

#include "gen/site/source/site.h"
#include "gen/site/translation/sidecar.h"
#include "gen/text/markdown.h"

enum block_state {
    BLOCK_FRESH,     // made from what the source says now
    BLOCK_STALE,     // its source has changed
    BLOCK_ORPHANED,  // its source is gone
    BLOCK_UNKNOWN,   // never accepted
};

struct stale_block {
    enum block_state state;
    size_t source;  // index of the source's block, SIZE_MAX for none
    size_t pair;    // index of what the sidecar says of it, SIZE_MAX for nothing
};

// A source's block that has no translation; before: the translation's block in front of which it
// belongs.
struct missing_block {
    size_t source, before;
};

struct staleness {
    struct stale_block *blocks;
    size_t count;  // of the translation, in order
    bool *behind;  // [count] whether it is stale or orphaned
    struct missing_block *missing;
    size_t missing_count;
    size_t stale_count;   // stale and orphaned
    struct sidecar then;  // what the sidecar says
};

// The sidecar of a translation, "rtx-4070/es.source.json" for "rtx-4070/es.md", as a path from the
// current folder; in a.
str staleness_path(const struct site *site, const struct page *p, arena *a);
// Compares a translation with its source. NULL without a sidecar, or after sidecar-syntax. Lives in
// a.
struct staleness *staleness_read(const struct site *site, const struct page *p,
                                 const struct md_result *source, const struct md_result *own,
                                 struct diag *d, arena *a);
// From the sidecar's bytes; file is for messages.
struct staleness *staleness_parse(str json, str file, const struct md_result *source,
                                  const struct md_result *own, struct diag *d, arena *a);
// Records stale-paragraph for each stale, orphaned and missing block. file and text are the
// translation's.
void staleness_report(const struct staleness *s, str file, str text, const struct md_result *own,
                      struct diag *d);
// Whose block is whose by their kinds, in order: partner[i] is the translation's block of the
// source's i-th, or SIZE_MAX.
size_t *staleness_pair_up(const struct md_result *source, const struct md_result *own, arena *a);
// Fills pairs of a sidecar: the translation is accepted as one of the source as it is now. Both
// results have texts (keep_text). A translation need not have every block.
void staleness_accept_all(const struct md_result *source, const struct md_result *own,
                          struct sidecar *out, arena *a);
// The same for chosen blocks of the translation (chosen[s->count]); what is said of the others
// stays.
void staleness_accept(const struct staleness *s, const bool *chosen, const struct md_result *source,
                      const struct md_result *own, struct sidecar *out, arena *a);

#endif
