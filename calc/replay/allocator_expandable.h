// Virtual segments of the caching allocator, for allocator.c alone.

#ifndef CALC_ALLOCATOR_EXPANDABLE_H
#define CALC_ALLOCATOR_EXPANDABLE_H

#include "calc/replay/allocator_state.h"

// Extends or starts the pool's virtual segment so that one free block of at least size bytes is
// there, takes it out of the pool, and puts its number in *block; 0 if the device has no more.
// Errors: VRAM_ENOMEM.
int allocator_map(struct allocator *a, struct allocator_pool *p, uint64_t size, uint32_t *block);

// Unmaps the pages of block i (free, of a virtual segment) that it covers wholly; drops the segment
// when nothing of it is mapped. Errors: VRAM_ENOMEM.
int allocator_unmap(struct allocator *a, uint32_t i);

#endif
