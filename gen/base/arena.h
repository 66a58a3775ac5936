// Memory by lifetime: allocate often, free once. Three lives: site (a build), page (a render),
// scratch (mark and rewind).
#ifndef GEN_BASE_ARENA_H
#define GEN_BASE_ARENA_H

#include "gen/base/str.h"

struct arena_chunk;

typedef struct {
    struct arena_chunk *head;  // newest chunk
    size_t used;               // in head
    size_t total;              // bytes handed out since the last reset, all chunks
} arena;

typedef struct {
    struct arena_chunk *head;
    size_t used;
    size_t total;
} arena_mark;

#define ARENA_INIT ((arena){0})

// Zeroed, aligned for any type. n * size is checked; out of memory ends the program (exit 3).
void *arena_alloc(arena *a, size_t n, size_t size);
#define arena_new(a, type, n) ((type *)arena_alloc((a), (n), sizeof(type)))
str arena_str(arena *a, str s);  // a copy, NUL-terminated beyond len
char *arena_c(arena *a, str s);  // the same, as a C string
// The three, one behind the other; NUL-terminated beyond len.
str arena_join(arena *a, str x, str y, str z);
str arena_printf(arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Grows an array of *cap items held in the arena so that at least need fit; returns the (perhaps
// moved) array.
void *arena_grow(arena *a, void *items, size_t count, size_t *cap, size_t need, size_t size);

arena_mark arena_save(const arena *a);
void arena_rewind(arena *a, arena_mark m);  // what was handed out since m is gone
void arena_reset(arena *a);                 // everything is gone, one chunk is kept
void arena_free(arena *a);

#endif
