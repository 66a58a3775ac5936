// Files that keep their names: everything in the static folder, and what belongs to the root of a
// site.
#ifndef GEN_SITE_STATICS_H
#define GEN_SITE_STATICS_H

#include "gen/site/source/site.h"

// Finds the static folder, unless the settings name it, and lists what is in it: site->statics.
// Keys in it are errors.
void statics_scan(struct site *site);
bool statics_has(const struct site *site, str url);
void statics_add(struct site *site, str name, str path, str url, const struct fs_stat *stat);

#endif
