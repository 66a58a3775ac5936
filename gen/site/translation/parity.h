// Whether a translation says the same numbers, in the same structure, as its source.
#ifndef GEN_SITE_PARITY_H
#define GEN_SITE_PARITY_H

#include "gen/site/source/site.h"
#include "gen/text/markdown.h"

struct parity_text {
    const struct page *page;
    str file, text;              // text: the whole file
    const struct md_result *md;  // of md_scan or md_render
};

// Records number-differs for numbers of prose (normalised by locale), of code and cells (exactly)
// that only one of the two has, and structure-differs for the first block of another kind. Whole
// numbers up to 12 are left out of prose: languages write them as words.
void parity_check(const struct parity_text *source, const struct parity_text *own, struct diag *d,
                  arena *a);

#endif
