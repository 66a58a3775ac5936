// The texts of all pages as their search indexes need them: one file beside the cache. A build
// appends those of the pages that it renders; the others stay where they are.
#ifndef GEN_SITE_TEXTS_H
#define GEN_SITE_TEXTS_H

#include <stdatomic.h>

#include "gen/base/buf.h"
#include "gen/site/incremental/cache.h"

// The file as a build has it open. What the last build wrote of it is never changed, so that its
// cache stays good until this build's is.
struct texts {
    uint64_t name;  // of the file; 0: there is none
    int fd;
    _Atomic uint64_t *end;  // shared by workers: where the next one appends
    str bytes;              // the file, mapped; "" before texts_map()
};

// Opens the file of old for appending, a new one where old is NULL or has none. False with errno.
bool texts_begin(struct texts *t, str dir, const struct cache *old);
// Appends, from any worker; *at is where. False with errno.
bool texts_add(struct texts *t, str bytes, uint64_t *at);
// Maps all that was added. False with errno.
bool texts_map(struct texts *t);
// The len bytes at a place; "" where the file has none.
str texts_at(const struct texts *t, uint64_t at, uint64_t len);
// What the next build's cache_open() is to be told.
struct cache_texts texts_known(const struct texts *t);
void texts_end(struct texts *t);

// Removes files of texts that c does not name.
void texts_sweep(str dir, const struct cache *c);

#endif
