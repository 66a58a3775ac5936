// What the kind of a tree says where the settings of the site say nothing.
#ifndef GEN_SITE_TREE_SETTINGS_H
#define GEN_SITE_TREE_SETTINGS_H

#include "gen/site/source/site.h"

// Recognises the content folder: site->tree, and settings that follow from it.
void tree_settings(struct site *site);

#endif
