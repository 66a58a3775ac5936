// Records of measurements below content/measurements: read, checked against their schema, newest first.
#ifndef GEN_SITE_MEASUREMENTS_H
#define GEN_SITE_MEASUREMENTS_H

#include <jansson.h>

#include "gen/site/plan/site.h"

struct record {
    str id, file, created;
    str device, slug;      // "NVIDIA H200", "nvidia-h200"; records with one slug are of one kind of GPU
    json_t *root;
};

struct record_list {
    struct record *items;
    size_t count, cap;
};

// Reads all valid records into a list that lives in a but for the JSON, which measurements_free gives back. The others are
// named in d; NULL says nothing of them.
void measurements_read(const struct site *site, arena *a, struct diag *d, struct record_list *out);
void measurements_free(struct record_list *list);
// Whether the list has an earlier record of the same kind of GPU as items[i].
bool measurements_seen(const struct record_list *list, size_t i);
// "NVIDIA GeForce RTX 4070" -> "nvidia-geforce-rtx-4070"; lives in a.
str measurements_slug(str name, arena *a);
// The string under key; "" when there is none.
const char *record_text(const json_t *object, const char *key);

#endif
