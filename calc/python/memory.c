// Owns the memory of a Python handle: malloc's, so that no allocation of the library calls back
// into Python.

#include "calc/vram.h"

VRAM_API vram *vram_new_malloc(void);

// A handle with the memory of malloc and free; NULL if there is none. The caller frees it with
// vram_free.
vram *vram_new_malloc(void)
{
    struct vram_mem mem = vram_mem_malloc();
    return vram_new(&mem);
}
