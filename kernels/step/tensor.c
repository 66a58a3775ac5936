// Tensors: taken from the caching allocator, counted by category, freed with their last holder.
#include "kernels/step/tensor.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    uint64_t size;
} dtypes[DTYPES] = {
    [DTYPE_F32] = {"float32", 4}, [DTYPE_F16] = {"float16", 2}, [DTYPE_BF16] = {"bfloat16", 2},
    [DTYPE_F64] = {"float64", 8}, [DTYPE_I64] = {"int64", 8},   [DTYPE_U8] = {"uint8", 1},
};

static const char *const categories[CATEGORIES] = {
#define X(id, name) [CATEGORY_##id] = name,
    TENSOR_CATEGORIES
#undef X
};

uint64_t dtype_size(enum dtype type)
{
    return dtypes[type].size;
}

const char *dtype_name(enum dtype type)
{
    return dtypes[type].name;
}

const char *category_name(enum category category)
{
    return categories[category];
}

static uint64_t tensor_bytes(const struct tensor *t)
{
    return (uint64_t)t->count * dtype_size(t->type);
}

static void no_room(struct pool *pool, uint64_t bytes)
{
    pool->wanted = bytes;
    if (!pool->out_of_memory)
        abort();
    longjmp(*pool->out_of_memory, 1);
}

static void note_peak(struct pool *pool)
{
    if (pool->live <= pool->live_peak)
        return;
    pool->live_peak = pool->live;
    memcpy(pool->at_peak, pool->by_category, sizeof pool->at_peak);
}

struct tensor *tensor_new(struct pool *pool, enum dtype type, int64_t count, enum category category)
{
    uint64_t bytes = (uint64_t)count * dtype_size(type);
    struct caching_block *block = caching_malloc(pool->allocator, bytes);
    struct tensor *t = block ? calloc(1, sizeof *t) : NULL;
    if (!t) {
        caching_free(pool->allocator, block);
        no_room(pool, bytes);
    }
    *t = (struct tensor){.data = caching_address(block),
                         .count = count,
                         .type = type,
                         .category = category,
                         .holders = 1,
                         .number = ++pool->made,
                         .block = block,
                         .next = pool->all};
    if (pool->all)
        pool->all->previous = t;
    pool->all = t;
    pool->live += bytes;
    pool->by_category[category] += bytes;
    note_peak(pool);
    if (pool->watcher.event)
        pool->watcher.event(pool->watcher.ctx, t, NULL);
    return t;
}

struct tensor *tensor_hold(struct tensor *t)
{
    if (t)
        t->holders++;
    return t;
}

static void tensor_delete(struct pool *pool, struct tensor *t)
{
    if (pool->watcher.event)
        pool->watcher.event(pool->watcher.ctx, NULL, t);
    if (t->previous)
        t->previous->next = t->next;
    else
        pool->all = t->next;
    if (t->next)
        t->next->previous = t->previous;
    pool->live -= tensor_bytes(t);
    pool->by_category[t->category] -= tensor_bytes(t);
    caching_free(pool->allocator, t->block);
    free(t);
}

void tensor_drop(struct pool *pool, struct tensor **t)
{
    struct tensor *gone = *t;
    *t = NULL;
    if (gone && --gone->holders == 0)
        tensor_delete(pool, gone);
}

void pool_clear(struct pool *pool)
{
    while (pool->all)
        tensor_delete(pool, pool->all);
}

void pool_reset_peak(struct pool *pool)
{
    pool->live_peak = pool->live;
    memcpy(pool->at_peak, pool->by_category, sizeof pool->at_peak);
}
