// What is kept of formulas from build to build: a file of keys and values, which workers append to.
#ifndef GEN_TEXT_MATH_CACHE_H
#define GEN_TEXT_MATH_CACHE_H

#include "gen/base/buf.h"

// Reads the file, whose bytes found's views are of. One that is damaged, or larger than any tree
// makes it, is removed: what it held is made again.
void math_cache_read(const char *path, buf *file, void (*found)(void *ctx, str key, str value),
                     void *ctx);
// Appends a record to those that are to be written.
void math_cache_put(buf *records, str key, str value);
// Writes records behind the others, all at once. What cannot be written is made again next time: no
// error.
void math_cache_append(const char *path, str records);

#endif
