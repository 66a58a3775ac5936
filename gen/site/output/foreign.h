// What lies in an output folder: the files that a build wrote, by its manifest, and those of
// others, which no build removes.
#ifndef GEN_SITE_FOREIGN_H
#define GEN_SITE_FOREIGN_H

#include "gen/base/map.h"

// Files of others below an output folder; of a folder that holds nothing of a build only itself,
// with a '/' behind it.
struct foreign {
    str *paths;  // sorted, in the arena that was given
    size_t count, cap;
    size_t shown;  // how many of them have no hidden name
};

// Whether a folder holds nothing but hidden names, or a site with a manifest of this program; *why
// says what it holds instead.
bool foreign_may_build(int output, const char **why);
// Fills urls with what the manifest of the folder lists, itself included; nothing where there is
// none of this program.
void foreign_ours(int output, arena *a, struct map *urls);
// Everything below output that ours does not have. False with errno when a folder cannot be read.
bool foreign_find(int output, const struct map *ours, arena *a, struct foreign *out);
// Empties an old output: removes what ours has, the manifest last, and moves everything else to the
// same place below to (-1 for nowhere), unless something is there. What is left stays.
void foreign_retire(int old, const struct map *ours, int to);

#endif
