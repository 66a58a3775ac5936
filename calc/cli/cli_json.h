// JSON at the edge: an object becomes the keys and values that the library reads.

#ifndef CALC_CLI_JSON_H
#define CALC_CLI_JSON_H

#include "calc/cli/cli_text.h"
#include "calc/vram.h"

struct cli_pairs {
    struct vram_pair *at;
    size_t count;
    bool is_model;  // there is a model_type
};

// Owns: cli_pairs_free, also after an error. Returns CLI_OK, or CLI_INPUT after saying why on stderr.
int cli_flatten(const struct cli_texts *t, const struct cli_text *json, struct cli_pairs *out);
void cli_pairs_free(struct cli_pairs *p);

#endif
