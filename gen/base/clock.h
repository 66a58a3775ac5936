// The system's clocks in milliseconds.
#ifndef GEN_BASE_CLOCK_H
#define GEN_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

// CLOCK_MONOTONIC and the like; 0 when there is no such clock (any more).
static inline uint64_t clock_ms(clockid_t clock)
{
    struct timespec t;
    if (clock_gettime(clock, &t) != 0)
        return 0;
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

#endif
