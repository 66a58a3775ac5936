// Files that are copied as they are: the templates' and the content's under addresses that change
// with their bytes, when something refers to them, and those of the static folder under their
// names.
#ifndef GEN_SITE_ASSETS_H
#define GEN_SITE_ASSETS_H

#include "gen/site/source/site.h"

enum asset_kind { ASSET_TEMPLATE, ASSET_CONTENT, ASSET_STATIC };

struct asset {
    str name;  // path below the templates' or the content folder; of the static folder, with its
               // name before it
    str path;  // from the current folder
    str url;   // "assets/style.0123abcd.css", "favicon.svg"; "" until it is read, see assets_read
    struct fs_stat stat;
    enum asset_kind kind;
    // Of a known one all is there but bytes.
    enum { ASSET_UNREAD, ASSET_KNOWN, ASSET_READING, ASSET_READ, ASSET_BROKEN } state;
    bool used;      // something that is published refers to it
    uint64_t hash;  // of bytes
    size_t size;
    uint32_t width, height;  // of a picture; 0: not known
    str bytes;  // of a stylesheet, whose addresses are put in, or a picture that was cleaned; ""
                // for others
    struct asset **refs;
    size_t ref_count, ref_cap;  // what a stylesheet refers to
};

struct assets {
    arena arena;
    struct asset *items;
    size_t count;                        // by name, the templates' first
    size_t template_count;               // of items, those of the templates
    struct map by_template, by_content;  // name -> struct asset
    struct map by_url;                   // of the static ones
    uint64_t hash;                       // of all names, and of the addresses that are known
    str said;                            // packed messages about the templates'
};

// Lists them, and reads the templates': site->asset_index. known: what assets_pack() left of
// templates' and static files that are as they were then, "" for none; it must outlive the site.
// False after errors were recorded.
bool assets_load(struct site *site, str known);
// What reading the templates' has told, and what was said about them.
void assets_pack(const struct site *site, buf *out);
// The content file at a path below the content folder, or the static one at that address; read, so
// that its url is known. NULL when there is none, or when it cannot be read: then after an error,
// if d is given.
struct asset *assets_find(const struct site *site, str path, struct diag *d);
// The same without reading it.
struct asset *assets_lookup(const struct site *site, str path);
// The file that keeps its name at this address; NULL when there is none.
struct asset *assets_static(const struct site *site, str url);
// Takes what runs out of the bytes of a content file that is an SVG; says so in d, which may be
// NULL. Whether they have changed.
bool assets_clean(const struct asset *x, buf *bytes, struct diag *d);
// Reads x, unless it is read or known. False after io-read.
bool assets_read(const struct site *site, struct asset *x, struct diag *d);
// What is published of x where it is not the file as it is, else ""; a known one is read for that.
str assets_bytes(const struct site *site, struct asset *x);
// A number that changes with the file, or with one that a stylesheet refers to.
uint64_t assets_stamp(const struct site *site, struct asset *x);
// Marks x and what it refers to as used. hash and size: as someone found them who has read it.
void assets_use(const struct site *site, struct asset *x, uint64_t hash, size_t size);

#endif
