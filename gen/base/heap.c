// How malloc takes memory from the system: what is freed stays, and most comes in large pages.
#include "gen/base/heap.h"

#include <limits.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

// A page of 4 KiB that is touched for the first time costs an interrupt, and one more in each
// worker that writes to it: of a build of 1,656 pages a tenth. LARGE_PAGE is x86-64's; where it is
// another one, the system rounds. FIRST is more than what a program has before main.
enum { LARGE_PAGE = 2 << 20, FIRST = 1 << 20, TOP_PAD = 1 << 20, LARGEST_IN_HEAP = 64 << 20 };

// Freed memory is used again soon: given back to the system, it would be cleared once more.
static void keep_freed(void)
{
    mallopt(M_MMAP_THRESHOLD, LARGEST_IN_HEAP);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
}

void heap_prepare(void)
{
    keep_freed();
    mallopt(M_TOP_PAD, HEAP_ROOM);
    char *first = malloc(FIRST);
    uintptr_t from = ((uintptr_t)first + LARGE_PAGE - 1) & ~(uintptr_t)(LARGE_PAGE - 1);
    uintptr_t end = (uintptr_t)sbrk(0);
    if (first && from < end && end - from <= HEAP_ROOM + FIRST)
        madvise((void *)from, end - from, MADV_HUGEPAGE);
    free(first);
    mallopt(M_TOP_PAD, TOP_PAD);
}

size_t heap_reserved(uint64_t most)
{
    size_t reserved = mallinfo2().keepcost;
    if (reserved <= most)
        return reserved;
    malloc_trim(0);
    return 0;
}
