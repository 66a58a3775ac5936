// Owns the core's memory primitives: growth of arrays and the bump arena, all from the caller's allocator.

#include "calc/mem.h"

#include <limits.h>

struct arena_chunk {
    struct arena_chunk *next;
    size_t size;  // of the whole chunk, this head included
};

enum { ARENA_ALIGN = 16, ARENA_CHUNK = 16 * 1024, ARENA_HEAD = 16 };

_Static_assert(sizeof(struct arena_chunk) <= ARENA_HEAD, "the head of a chunk is its first 16 bytes");

void *mem_alloc(const struct vram_mem *mem, size_t bytes)
{
    return mem->alloc(mem->ctx, bytes);
}

void mem_free(const struct vram_mem *mem, void *ptr, size_t bytes)
{
    if (ptr)
        mem->free(mem->ctx, ptr, bytes);
}

void mem_copy(void *restrict to, const void *restrict from, size_t bytes)
{
    unsigned char *t = to;
    const unsigned char *f = from;
    for (size_t i = 0; i < bytes; i++)
        t[i] = f[i];
}

void mem_zero(void *to, size_t bytes)
{
    unsigned char *t = to;
    for (size_t i = 0; i < bytes; i++)
        t[i] = 0;
}

int mem_grow(const struct vram_mem *mem, void **ptr, size_t *cap, size_t need, size_t size)
{
    if (need <= *cap)
        return VRAM_OK;
    size_t grown = *cap + *cap / 2;
    if (grown < need)
        grown = need;
    if (grown < 16)
        grown = 16;
    if (grown > SIZE_MAX / 2 / size)
        return VRAM_ENOMEM;
    void *fresh = mem_alloc(mem, grown * size);
    if (!fresh)
        return VRAM_ENOMEM;
    mem_copy(fresh, *ptr, *ptr ? *cap * size : 0);
    mem_free(mem, *ptr, *cap * size);
    *ptr = fresh;
    *cap = grown;
    return VRAM_OK;
}

static bool arena_more(struct arena *a, size_t bytes)
{
    size_t size = bytes + ARENA_HEAD > ARENA_CHUNK ? bytes + ARENA_HEAD : ARENA_CHUNK;
    struct arena_chunk *chunk = mem_alloc(a->mem, size);
    if (!chunk)
        return false;
    chunk->next = a->chunk;
    chunk->size = size;
    a->chunk = chunk;
    a->used = ARENA_HEAD;
    return true;
}

void *arena_new(struct arena *a, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / 4 / size)
        return NULL;
    size_t bytes = (count * size + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
    if ((!a->chunk || bytes > a->chunk->size - a->used) && !arena_more(a, bytes))
        return NULL;
    void *p = (unsigned char *)a->chunk + a->used;
    a->used += bytes;
    mem_zero(p, bytes);
    return p;
}

static void arena_drop(struct arena *a, struct arena_chunk *chunk)
{
    while (chunk) {
        struct arena_chunk *next = chunk->next;
        mem_free(a->mem, chunk, chunk->size);
        chunk = next;
    }
}

void arena_reset(struct arena *a)
{
    if (!a->chunk)
        return;
    arena_drop(a, a->chunk->next);
    a->chunk->next = NULL;
    a->used = ARENA_HEAD;
}

void arena_free(struct arena *a)
{
    arena_drop(a, a->chunk);
    a->chunk = NULL;
    a->used = 0;
}
