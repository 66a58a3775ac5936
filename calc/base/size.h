// Overflow-checked arithmetic on sizes. A size above SIZE_LIMIT is SIZE_BAD, and SIZE_BAD is
// contagious, so that a whole expression needs one check at its end.

#ifndef CALC_SIZE_H
#define CALC_SIZE_H

#include <stdbool.h>
#include <stdint.h>

// 2^53: what a JSON number holds exactly. A sum of two good sizes cannot wrap.
#define SIZE_LIMIT ((uint64_t)1 << 53)
#define SIZE_BAD UINT64_MAX

static inline bool size_ok(uint64_t a)
{
    return a <= SIZE_LIMIT;
}

static inline uint64_t size_add(uint64_t a, uint64_t b)
{
    return size_ok(a) && size_ok(b) && a + b <= SIZE_LIMIT ? a + b : SIZE_BAD;
}

static inline uint64_t size_mul(uint64_t a, uint64_t b)
{
    if (!size_ok(a) || !size_ok(b))
        return SIZE_BAD;
    if (a == 0 || b == 0)
        return 0;
    return a <= SIZE_LIMIT / b ? a * b : SIZE_BAD;
}

static inline uint64_t size_mul3(uint64_t a, uint64_t b, uint64_t c)
{
    return size_mul(size_mul(a, b), c);
}

static inline uint64_t size_ceil_to(uint64_t a, uint64_t step)
{
    uint64_t up = size_add(a, step - 1);
    return size_ok(up) ? up / step * step : SIZE_BAD;
}

static inline uint64_t size_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t size_max(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

#endif
