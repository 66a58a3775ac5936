// libvram: its versions, and where the memory of a handle comes from.

#ifndef VRAM_BASE_H
#define VRAM_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#if !defined(VRAM_FREESTANDING) && __STDC_HOSTED__
#include <stdlib.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define VRAM_VERSION "0.1.0"
#define VRAM_ABI 2
#define VRAM_SCHEMA "vramcalc/1"  // of what is written as JSON

// Only what is marked so leaves the library.
#if defined(__GNUC__)
#define VRAM_API __attribute__((visibility("default")))
#else
#define VRAM_API
#endif

typedef struct vram vram;

VRAM_API const char *vram_version(void);   // VRAM_VERSION of the library itself
VRAM_API uint32_t vram_abi_version(void);  // VRAM_ABI of the library itself

// ---- memory --------------------------------------------------------------------------------

// Where the memory of a handle comes from. alloc returns storage aligned for any object, or NULL,
// at any call: the library then returns VRAM_ENOMEM. free gets the size that was asked for.
typedef struct vram_mem {
    void *(*alloc)(void *ctx, size_t bytes);
    void (*free)(void *ctx, void *ptr, size_t bytes);
    void *ctx;
} vram_mem;

#if !defined(VRAM_FREESTANDING) && __STDC_HOSTED__
static inline void *vram_malloc_alloc(void *ctx, size_t bytes)
{
    (void)ctx;
    return malloc(bytes);
}

static inline void vram_malloc_free(void *ctx, void *ptr, size_t bytes)
{
    (void)ctx;
    (void)bytes;
    free(ptr);
}

// The memory of malloc and free.
static inline struct vram_mem vram_mem_malloc(void)
{
    struct vram_mem mem = {vram_malloc_alloc, vram_malloc_free, NULL};
    return mem;
}
#endif

#ifdef __cplusplus
}
#endif

#endif
