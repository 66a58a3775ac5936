// vramdoc.json, the manifest: what was read and what was written, each with a hash of its bytes.
#ifndef GEN_SITE_MANIFEST_H
#define GEN_SITE_MANIFEST_H

#include "gen/site/output/build_state.h"

void manifest_write(struct build *b);

#endif
