// Memory in huge pages: malloc's below their size, aligned and asked for above it.
#include "gen/base/huge.h"

#include <stdlib.h>
#include <sys/mman.h>

void *huge_new(size_t *bytes)
{
    if (*bytes < HUGE_FROM) return malloc(*bytes);
    *bytes = (*bytes + HUGE_FROM - 1) & ~((size_t)HUGE_FROM - 1);
    void *p = aligned_alloc(HUGE_FROM, *bytes);
    if (p) madvise(p, *bytes, MADV_HUGEPAGE);   // a kernel without them says no, which is no matter
    return p;
}
