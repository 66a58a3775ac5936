// What the last build knew of the files that are there: pages that did not change are not read
// again.
#ifndef GEN_SITE_KNOWN_H
#define GEN_SITE_KNOWN_H

#include "gen/site/incremental/cache.h"
#include "gen/site/source/site.h"

// Gives each page what its path said, and one whose file has not changed its packed meta, too.
// files: by path, as site->files.
void known_take(struct site *site, const struct cache_file *files, size_t count);
// When all pages are read, and files are the very ones that are there now: whether what the paths
// say is as it was. It depends on all paths, on the settings, and on the languages that changed
// pages name. Fills site->only_bodies.
bool known_places(struct site *site, const struct cache_file *files);

#endif
