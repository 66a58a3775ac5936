// Records of measurements below content/measurements: read once for the whole site, newest first.
#ifndef GEN_SITE_MEASUREMENTS_H
#define GEN_SITE_MEASUREMENTS_H

#include "gen/site/source/site.h"
#include "kernels/record/rjson.h"

struct measurement {
    str id, file, created;
    // "NVIDIA H200", "nvidia-h200"; measurements with one slug are of one kind of GPU.
    str device, slug;
    struct rjson *root;  // a whole record: see kernels/record/record.h
};

// Fills site->measurements. A record that is none is an error, at its place where it cannot be
// read, and is left out.
void measurements_read(struct site *site);
void measurements_free(struct site *site);
// Whether there is a newer one of the same kind of GPU as items[i].
bool measurements_seen(const struct measurements *list, size_t i);
// "NVIDIA GeForce RTX 4070" -> "nvidia-geforce-rtx-4070"; lives in a.
str measurements_slug(str name, arena *a);
// The text under key; "" when there is none.
const char *measurement_text(const struct rjson *object, const char *key);

#endif
