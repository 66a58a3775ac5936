// Memory by lifetime: a chain of chunks, the newest in front, that is given back as a whole.
#include "gen/base/arena.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "gen/base/buf.h"

// The hostile build starts tiny, so that almost every allocation crosses into a new chunk, and an
// array of up to EXACT items has no room to spare: every item more moves it. (Without an end to
// that, n items would take memory of n x n.)
#ifdef BASE_HOSTILE
enum { FIRST_CHUNK = 64, LARGEST_CHUNK = 64, EXACT = 512 };
#else
enum { FIRST_CHUNK = 16 << 10, LARGEST_CHUNK = 2 << 20, EXACT = 0 };
#endif

struct arena_chunk {
    struct arena_chunk *older;
    size_t cap;
    alignas(max_align_t) char bytes[];
};

enum { ALIGNMENT = alignof(max_align_t), SMALL = 8 * ALIGNMENT };

static size_t align_up(size_t n)
{
    return (n + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

// Seldom called: kept out of take(), which is short without it and becomes a part of its callers.
__attribute__((noinline)) static void push_chunk(arena *a, size_t need)
{
    size_t cap = a->head ? a->head->cap * 2 : FIRST_CHUNK;
    if (cap > LARGEST_CHUNK - sizeof *a->head)
        cap = LARGEST_CHUNK - sizeof *a->head;
    if (cap < need)
        cap = need;
    struct arena_chunk *c = malloc(sizeof *c + cap);
    if (!c)
        buf_no_memory();
    c->older = a->head;
    c->cap = cap;
    a->head = c;
    a->used = 0;
}

// Aligned memory that holds anything.
static char *take(arena *a, size_t bytes)
{
    if (!a->head || a->head->cap - a->used < bytes)
        push_chunk(a, bytes);
    char *p = a->head->bytes + a->used;
    a->used += bytes;
    a->total += bytes;
    return p;
}

// bytes are what align_up() made: small ones are zeroed here, since a call of memset costs more.
static void *zeroed(char *p, size_t bytes)
{
    if (bytes > SMALL)
        return memset(p, 0, bytes);
    for (size_t i = 0; i < bytes; i += ALIGNMENT)
        memset(p + i, 0, ALIGNMENT);
    return p;
}

void *arena_alloc(arena *a, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes) || bytes > SIZE_MAX / 4)
        buf_no_memory();
    bytes = align_up(bytes ? bytes : 1);
    return zeroed(take(a, bytes), bytes);
}

// For a string of len bytes, which is what is written to it; its end is.
static char *string_of(arena *a, size_t len)
{
    if (len > SIZE_MAX / 4)
        buf_no_memory();
    char *p = take(a, align_up(len + 1));
    p[len] = 0;
    return p;
}

char *arena_c(arena *a, str s)
{
    char *p = string_of(a, s.len);
    if (s.len)
        memcpy(p, s.ptr, s.len);
    return p;
}

str arena_str(arena *a, str s)
{
    return (str){arena_c(a, s), s.len};
}

str arena_join(arena *a, str x, str y, str z)
{
    char *p = string_of(a, x.len + y.len + z.len);
    if (x.len)
        memcpy(p, x.ptr, x.len);
    if (y.len)
        memcpy(p + x.len, y.ptr, y.len);
    if (z.len)
        memcpy(p + x.len + y.len, z.ptr, z.len);
    return (str){p, x.len + y.len + z.len};
}

str arena_printf(arena *a, const char *format, ...)
{
    buf b = BUF_INIT;
    va_list list;
    va_start(list, format);
    buf_vprintf(&b, format, list);
    va_end(list);
    str copy = arena_str(a, buf_view(&b));
    buf_free(&b);
    return copy;
}

// Grows the newest allocation where it is. False when something lies behind it or the chunk is
// full.
static bool extend(arena *a, void *items, size_t old_bytes, size_t new_bytes)
{
    if (!a->head || !items)
        return false;
    size_t from = align_up(old_bytes), to = align_up(new_bytes);
    if ((char *)items + from != a->head->bytes + a->used || a->head->cap - a->used < to - from)
        return false;
    memset((char *)items + from, 0, to - from);
    a->used += to - from;
    a->total += to - from;
    return true;
}

void *arena_grow(arena *a, void *items, size_t count, size_t *cap, size_t need, size_t size)
{
    if (need <= *cap)
        return items;
    size_t larger = *cap + *cap / 2 + 8, bytes;
    if (larger < need || need <= EXACT)
        larger = need;
    if (__builtin_mul_overflow(larger, size, &bytes) || bytes > SIZE_MAX / 4)
        buf_no_memory();
    if (*cap && extend(a, items, *cap * size, bytes)) {
        *cap = larger;
        return items;
    }
    void *moved = arena_alloc(a, larger, size);
    if (count)
        memcpy(moved, items, count * size);
    *cap = larger;
    return moved;
}

arena_mark arena_save(const arena *a)
{
    return (arena_mark){a->head, a->used, a->total};
}

void arena_rewind(arena *a, arena_mark m)
{
    if (!m.head) {
        arena_reset(a);
        return;
    }
    while (a->head != m.head) {
        struct arena_chunk *older = a->head->older;
        free(a->head);
        a->head = older;
    }
    a->used = m.used;
    a->total = m.total;
}

void arena_reset(arena *a)
{
    if (!a->head)
        return;
    struct arena_chunk *c = a->head->older;
    while (c) {
        struct arena_chunk *older = c->older;
        free(c);
        c = older;
    }
    a->head->older = NULL;
    a->used = 0;
    a->total = 0;
}

void arena_free(arena *a)
{
    arena_reset(a);
    free(a->head);
    *a = ARENA_INIT;
}
