// What the last build read and wrote, kept outside the output: one file, mapped into memory, and
// one of texts (texts.h), believed only when whole.
#ifndef GEN_SITE_CACHE_H
#define GEN_SITE_CACHE_H

#include "gen/base/fs.h"
#include "gen/base/map.h"

// meta: packed front matter, "" for no page; tag, key, date: what the path says, see struct page.
struct cache_file {
    str path;
    struct fs_stat stat;
    str meta, tag, key, date;
};
struct cache_document {
    str key;
    uint64_t digest;
    str rendered;
};  // rendered: see rendered.h
// What is neither a document's page nor its Markdown copy; assets: see view_assets().
struct cache_output {
    str url;
    uint64_t hash, digest, size;
    str assets;
};
struct cache_folder {
    str path;
    int64_t mtime_ns;
};  // of the output
// The file of texts, see texts.h, as the build left it. name: 0 where there is none.
struct cache_texts {
    uint64_t name;
    struct fs_stat stat;
};

struct cache {
    void *bytes;
    size_t len;        // the mapping; everything below points into it
    uint64_t outside;  // digest of inputs that are no content files: settings, templates, catalogs
    str catalogs, assets;  // what of these was read: see languages_pack() and assets_pack()
    uint64_t addresses;    // digest of all addresses
    uint64_t shown;        // digest of what all pages show
    uint64_t output_inode;
    uint64_t foreign, left_out;  // see build_summary
    int64_t since, until;        // of time, see struct site
    str said;                    // packed messages that belong to no document
    struct cache_file *files;
    size_t file_count;  // by path
    struct cache_document *documents;
    size_t document_count;  // by key
    struct cache_output *outputs;
    size_t output_count;
    struct map output_by_url;  // filled when the first is looked for
    struct cache_folder *folders;
    size_t folder_count;
    struct cache_texts texts;
    arena arena;
};

// NULL when there is none, when it is damaged, or when another program (by its digest) wrote it.
struct cache *cache_open(str dir, uint64_t program);
void cache_close(struct cache *c);
const struct cache_document *cache_document_find(const struct cache *c, str key);
const struct cache_output *cache_output_find(struct cache *c, str url);
// Writes c's content (bytes and arena are not looked at), replacing the old file whole. -1 with
// errno.
int cache_save(str dir, uint64_t program, const struct cache *c);

// A build that is about to change the output says so first: whoever is killed then leaves no cache
// to be believed.
int cache_invalidate(str dir);
// Takes the lock of this cache, waiting for another build to end. A descriptor to close, or -1 with
// errno: ENOTEMPTY for a folder with files of somebody else, which a cache would remove.
int cache_lock(str dir);

// What reading and writing share (cache.c, cache_write.c): a magic word, the program, a checksum of
// all that follows, in pieces of CACHE_PIECE bytes and a shorter last one.
#define CACHE_MAGIC "vramdocB"
enum { CACHE_HEADER = 24, CACHE_PIECE = 256 * 1024 };
// The checksum of a piece and of all before it, whose sum is before; 0 at the beginning.
uint64_t cache_sum(uint64_t before, str piece);
char *cache_path(str dir, const char *name, buf *b);

#endif
