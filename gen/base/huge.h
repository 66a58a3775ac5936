// Memory in huge pages where the kernel has them: one fault then does for 512, and a fork copies less.
#ifndef GEN_BASE_HUGE_H
#define GEN_BASE_HUGE_H

#include <stddef.h>

enum { HUGE_FROM = 2 << 20 };   // bytes from which it is worth it: a huge page of x86-64; elsewhere nothing is lost

// At least *bytes, which become what there is; 16-byte aligned, for realloc and free. NULL when memory ran out.
void *huge_new(size_t *bytes);

#endif
