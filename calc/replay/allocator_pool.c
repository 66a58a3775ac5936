// Owns room for the caching allocator's blocks, and the limit of the device.

#include "calc/replay/allocator_pool.h"

enum { FIRST_BLOCKS = 1024 };

int allocator_reserve(struct allocator *a, uint32_t n)
{
    bool first = !a->blocks;
    if (!first && a->cap - a->count + a->spares >= n)
        return VRAM_OK;
    if (a->count > UINT32_MAX - n)
        return VRAM_ENOMEM;
    void *blocks = a->blocks;
    size_t need = first ? FIRST_BLOCKS : (size_t)a->count + n;
    int rc = mem_grow(a->mem, &blocks, &a->cap, need, sizeof *a->blocks);
    if (rc)
        return rc;
    a->blocks = blocks;
    if (first)
        a->blocks[0] = (struct allocator_block){0};
    return VRAM_OK;
}

bool allocator_device_has(const struct allocator *a, uint64_t bytes)
{
    uint64_t limit = a->config.device_bytes ? a->config.device_bytes : ALLOCATOR_MAX;
    return bytes <= limit && a->stats.reserved.now <= limit - bytes;
}
