// Sixteen bytes that are compared at once, by the compiler's vectors.
#ifndef GEN_BASE_BYTES16_H
#define GEN_BASE_BYTES16_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t bytes16 __attribute__((vector_size(16)));

static inline bytes16 bytes16_at(const char *p)
{
    bytes16 v;
    memcpy(&v, p, sizeof v);
    return v;
}

// Sixteen times c.
static inline bytes16 bytes16_of(char c)
{
    return (bytes16){0} + (uint8_t)c;
}

// Whether a comparison was true of any of them.
static inline bool bytes16_any(bytes16 hits)
{
    uint64_t half[2];
    memcpy(half, &hits, sizeof half);
    return (half[0] | half[1]) != 0;
}

// Which of them is the first that it was true of, each being 0xff then; 16 where it was of none.
static inline unsigned bytes16_first(bytes16 hits)
{
    uint64_t half[2];
    memcpy(half, &hits, sizeof half);
    if (half[0])
        return (unsigned)__builtin_ctzll(le64toh(half[0])) / 8;
    return half[1] ? 8 + (unsigned)__builtin_ctzll(le64toh(half[1])) / 8 : 16;
}

// Of how many it was true: each is 0xff then.
static inline unsigned bytes16_count(bytes16 hits)
{
    uint64_t half[2], ones = 0x0101010101010101u;
    memcpy(half, &hits, sizeof half);
    return (unsigned)(((half[0] & ones) + (half[1] & ones)) * ones >> 56);
}

#endif
