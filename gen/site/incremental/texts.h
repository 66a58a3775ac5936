// The texts of a language's pages as its search index needs them, kept beside the cache: a file a
// language, so that a changed page costs no more than its own language's.
#ifndef GEN_SITE_TEXTS_H
#define GEN_SITE_TEXTS_H

#include "gen/base/buf.h"
#include "gen/site/incremental/cache.h"

// Maps the texts of all languages of c, until cache_close(): false when one is missing or damaged.
bool texts_open(str dir, struct cache *c);
// What texts_add() was given for url; "" when there is nothing.
str texts_find(struct cache *c, str tag, str url);

// Clears file, which is to hold the texts of a language, and adds a page to it.
void texts_begin(buf *file);
void texts_add(buf *file, str url, str text);
// Writes it. digest: of its search index; it is in the file's name, so that
// the last build's stays until this one's is good. Where that fails, texts_open() will: then the
// next build makes everything.
void texts_save(str dir, str tag, uint64_t digest, buf *file);
// Removes files of texts that c does not name, and what a killed build left of one.
void texts_sweep(str dir, const struct cache *c);

#endif
