// Tensors of a training step: device memory with a type, a count of holders and a category, taken
// from one pool.
#ifndef KERNELS_TENSOR_H
#define KERNELS_TENSOR_H

#include <setjmp.h>

#include "kernels/step/allocator.h"

#ifdef __cplusplus
extern "C" {
#endif

enum dtype { DTYPE_F32, DTYPE_F16, DTYPE_BF16, DTYPE_F64, DTYPE_I64, DTYPE_U8, DTYPES };

// The purposes of tensors, by which a report groups them. X(ID, "name in records")
#define TENSOR_CATEGORIES \
    X(PARAMETER, "parameters") \
    X(GRADIENT, "gradients") \
    X(OPTIMIZER, "optimizer_state") \
    X(WEIGHT_CAST, "weight_casts") \
    X(ACTIVATION, "activations") \
    X(LOGITS, "logits_and_loss") \
    X(BACKWARD, "backward_temporaries") \
    X(DATA, "data") \
    X(WORKSPACE, "workspaces")

enum category {
#define X(id, name) CATEGORY_##id,
    TENSOR_CATEGORIES
#undef X
        CATEGORIES
};

struct tensor {
    void *data;
    int64_t count;  // elements
    enum dtype type;
    enum category category;
    int holders;      // the tensor is freed when the last one drops it
    uint64_t number;  // allocations of the pool before it, plus one
    struct caching_block *block;
    struct tensor *previous, *next;  // all tensors of the pool
};

// Called after each allocation (freed NULL) and each free (made NULL).
struct pool_watcher {
    void (*event)(void *ctx, const struct tensor *made, const struct tensor *freed);
    void *ctx;
};

struct pool {
    struct caching_allocator *allocator;
    struct tensor *all;
    uint64_t made;
    uint64_t live, live_peak;  // bytes of the tensors alone, unrounded
    uint64_t by_category[CATEGORIES], at_peak[CATEGORIES];
    struct pool_watcher watcher;
    // Where to jump when the device has no room; must be set while tensors are made.
    jmp_buf *out_of_memory;
    uint64_t wanted;  // bytes of the request that found no room
};

uint64_t dtype_size(enum dtype type);
const char *dtype_name(enum dtype type);
const char *category_name(enum category category);

// Returns a tensor with one holder. Without room, it sets pool->wanted and jumps to
// *pool->out_of_memory.
struct tensor *tensor_new(struct pool *pool, enum dtype type, int64_t count,
                          enum category category);
struct tensor *tensor_hold(struct tensor *t);
// Drops one holder of *t, which frees it when that was the last, and sets *t to NULL. Does nothing
// when *t is NULL.
void tensor_drop(struct pool *pool, struct tensor **t);
// Frees every tensor whoever holds it, after an out-of-memory jump.
void pool_clear(struct pool *pool);
void pool_reset_peak(struct pool *pool);

#ifdef __cplusplus
}
#endif

#endif
