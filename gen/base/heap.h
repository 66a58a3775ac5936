// How malloc takes memory from the system.
#ifndef GEN_BASE_HEAP_H
#define GEN_BASE_HEAP_H

#include <stddef.h>
#include <stdint.h>

enum { HEAP_ROOM = 128 << 20 };

// Before anything large is asked for. Freed memory is kept, and the first HEAP_ROOM bytes of the
// heap are asked for in large pages; where there are none, or less address space, the heap is as it
// was.
void heap_prepare(void);
// How many bytes are reserved behind what the heap uses: what a limit of address space counts
// already. Where they are more than most, they are given back, and 0 are left.
size_t heap_reserved(uint64_t most);

#endif
