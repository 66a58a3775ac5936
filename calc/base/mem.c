// Owns the core's memory primitives: growth of arrays and the bump arena, all from the caller's
// allocator.

#include "calc/base/mem.h"

#include <limits.h>

struct mem_arena_chunk {
    struct mem_arena_chunk *next;
    size_t size;  // of the whole chunk, this head included
};

enum { MEM_ARENA_ALIGN = 16, MEM_ARENA_CHUNK = 16 * 1024, MEM_ARENA_HEAD = 16 };

_Static_assert(sizeof(struct mem_arena_chunk) <= MEM_ARENA_HEAD,
               "the head of a chunk is its first 16 bytes");

void *mem_alloc(const struct vram_mem *mem, size_t bytes)
{
    return mem->alloc(mem->ctx, bytes);
}

void mem_free(const struct vram_mem *mem, void *ptr, size_t bytes)
{
    if (ptr)
        mem->free(mem->ctx, ptr, bytes);
}

// The compiler's own: libc's of a program, one instruction of a page's module.
void mem_copy(void *restrict to, const void *restrict from, size_t bytes)
{
#ifndef __wasm__  // whose instruction takes no bytes from nowhere, too
    if (!bytes)
        return;
#endif
    __builtin_memcpy(to, from, bytes);
}

void mem_zero(void *to, size_t bytes)
{
#ifndef __wasm__
    if (!bytes)
        return;
#endif
    __builtin_memset(to, 0, bytes);
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

int mem_renew(const struct vram_mem *mem, void **ptr, size_t *cap, size_t need, size_t size)
{
    if (need <= *cap)
        return VRAM_OK;
    size_t before = *cap;
    mem_free(mem, *ptr, before * size);
    *ptr = NULL;
    *cap = 0;
    size_t least = before + before / 2;
    return mem_grow(mem, ptr, cap, need > least ? need : least, size);
}

static bool mem_arena_more(struct mem_arena *a, size_t bytes)
{
    size_t size =
        bytes + MEM_ARENA_HEAD > MEM_ARENA_CHUNK ? bytes + MEM_ARENA_HEAD : MEM_ARENA_CHUNK;
    struct mem_arena_chunk *chunk = mem_alloc(a->mem, size);
    if (!chunk)
        return false;
    chunk->next = a->chunk;
    chunk->size = size;
    a->chunk = chunk;
    a->used = MEM_ARENA_HEAD;
    return true;
}

void *mem_arena_new(struct mem_arena *a, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / 4 / size)
        return NULL;
    size_t bytes = (count * size + MEM_ARENA_ALIGN - 1) / MEM_ARENA_ALIGN * MEM_ARENA_ALIGN;
    if ((!a->chunk || bytes > a->chunk->size - a->used) && !mem_arena_more(a, bytes))
        return NULL;
    void *p = (unsigned char *)a->chunk + a->used;
    a->used += bytes;
    mem_zero(p, bytes);
    return p;
}

static void mem_arena_drop(struct mem_arena *a, struct mem_arena_chunk *chunk)
{
    while (chunk) {
        struct mem_arena_chunk *next = chunk->next;
        mem_free(a->mem, chunk, chunk->size);
        chunk = next;
    }
}

void mem_arena_free(struct mem_arena *a)
{
    mem_arena_drop(a, a->chunk);
    a->chunk = NULL;
    a->used = 0;
}
