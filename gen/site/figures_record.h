// The records of measurements as they were read, for who searches them and who lists them.
#ifndef GEN_SITE_FIGURES_RECORD_H
#define GEN_SITE_FIGURES_RECORD_H

#include <jansson.h>

#include "gen/site/figures_lib.h"

struct record {
    str id, file, created;
    json_t *root;
};

// Newest first.
struct record_list {
    struct record *items;
    size_t count, cap;
};

// Reads all valid records of content/measurements once; the others are named as diagnostics.
const struct record_list *records_of(lua_State *L);
// The string under key; "" when there is none.
const char *record_text(const json_t *object, const char *key);

#endif
