// Files that are copied as they are, under addresses that change with their bytes.
#ifndef GEN_SITE_ASSETS_H
#define GEN_SITE_ASSETS_H

#include "gen/site/plan/site.h"

struct asset {
    str name;            // path below the templates' or the content folder
    str path;            // from the current folder
    str url;             // "assets/style.0123abcd.css"
    struct fs_stat stat;
    uint64_t hash;
    bool of_content;
    uint32_t width, height;   // of a picture in the content folder; 0: not known
};

struct assets {
    struct asset *items; size_t count;    // by name, the templates' first
    size_t template_count;                // so many of items are the templates'
    struct map by_template, by_content;   // name -> struct asset
    uint64_t hash;                        // of all addresses
};

// Finds and hashes them: site->asset_index. known (may be NULL) answers the hash of an unchanged file, or false.
bool assets_load(struct site *site, bool (*known)(void *ctx, str path, const struct fs_stat *st, uint64_t *hash), void *ctx);
// Address below the site of a file of the templates' folder ("style.css" -> "assets/style.0123abcd.css"); "" when there is none.
// place (may be NULL): where it stands in asset_index.items.
str assets_template(const struct site *site, str name, size_t *place);
// Address below the site of a content file that is no page, by its path below the content folder; "" when there is none.
str assets_content(const struct site *site, str path);
// The content file at an address; NULL when there is none.
const struct asset *assets_at(const struct site *site, str url);

#endif
