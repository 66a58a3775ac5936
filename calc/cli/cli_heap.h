// How the program's malloc takes memory from the system.

#ifndef CALC_CLI_HEAP_H
#define CALC_CLI_HEAP_H

#include <limits.h>
#include <malloc.h>

// What is freed is used again soon: given back to the system, each of its pages would cost an
// interrupt once more, a tenth of the time of advice about a large model.
static inline void cli_keep_freed(void)
{
    enum { TOP_PAD = 16 << 20, LARGEST_IN_HEAP = 64 << 20 };
    mallopt(M_MMAP_THRESHOLD, LARGEST_IN_HEAP);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_TOP_PAD, TOP_PAD);
}

#endif
