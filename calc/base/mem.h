// Memory inside the core: the caller's allocator, counted, and a bump arena over it.
// Owns: nothing global; every chunk is given back by mem_arena_free with the size it was asked for.

#ifndef CALC_MEM_H
#define CALC_MEM_H

#include <stddef.h>
#include <stdint.h>

#include "calc/vram.h"

// A growable array's storage: asks the caller's allocator for bytes, NULL when it has none.
void *mem_alloc(const struct vram_mem *mem, size_t bytes);
void mem_free(const struct vram_mem *mem, void *ptr, size_t bytes);  // NULL is allowed

// Grows *ptr (cap elements of size bytes) to at least need elements, by half or more. The old
// content is kept. Returns 0, or VRAM_ENOMEM and changes nothing.
int mem_grow(const struct vram_mem *mem, void **ptr, size_t *cap, size_t need, size_t size);

// The same, but what is there is lost.
int mem_renew(const struct vram_mem *mem, void **ptr, size_t *cap, size_t need, size_t size);

void mem_copy(void *restrict to, const void *restrict from, size_t bytes);
void mem_zero(void *to, size_t bytes);

// A bump arena: memory that dies together. Zero-initialised apart from mem.
struct mem_arena_chunk;
struct mem_arena {
    const struct vram_mem *mem;
    struct mem_arena_chunk *chunk;  // newest first
    size_t used;                    // bytes used in the newest chunk
};

// Zeroed, aligned to 16. NULL when the caller's allocator has none or count * size overflows.
void *mem_arena_new(struct mem_arena *a, size_t count, size_t size);

void mem_arena_free(struct mem_arena *a);

#endif
