// The record beside a translation of what its source said when it was accepted:
// "rtx-4070/es.source.json".
#ifndef GEN_SITE_SIDECAR_H
#define GEN_SITE_SIDECAR_H

#include "gen/base/diag.h"

// One place of the two: the source's block and the translation's, as they were. A hash of 0: there
// was none.
struct sidecar_pair {
    char kind;  // of md_block
    uint64_t source, own;
    str text;  // the source's, see md_block_text; empty in a record of schema 1
};

struct sidecar {
    str source, language;  // of the page that was translated, and the language of the translation
    struct sidecar_pair *pairs;
    size_t count;
};

// False after sidecar-syntax. Strings live in a; file is for messages.
bool sidecar_parse(str json, str file, arena *a, struct diag *d, struct sidecar *out);
// One line a block, so that records can be compared and merged by their lines.
void sidecar_format(const struct sidecar *s, buf *out);

#endif
