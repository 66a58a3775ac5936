// manifest.json: what was read and what was written, each with a hash of its bytes.
#ifndef GEN_SITE_MANIFEST_H
#define GEN_SITE_MANIFEST_H

#include "gen/site/output/build_state.h"

// What foreign.c looks for in it: its name, its first lines, the line above the outputs, the head of one output's line.
#define MANIFEST_NAME "manifest.json"
#define MANIFEST_HEAD "{\n  \"generator\": \"vramdoc\",\n"
#define MANIFEST_OUTPUTS "  \"outputs\": {"
#define MANIFEST_INDENT "    \""

void manifest_write(struct build *b);

#endif
