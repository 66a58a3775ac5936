// Two sequences of hashes aligned: which item of one is which of the other.
#ifndef GEN_SITE_SEQUENCE_H
#define GEN_SITE_SEQUENCE_H

#include "gen/base/arena.h"

#define SEQUENCE_NONE SIZE_MAX

// partner[i] becomes the index in b of a[i]'s equal, or SEQUENCE_NONE. Partners rise with i, and as
// many as possible are found (in very long sequences: those that are unique). partner has room for
// a_count.
void sequence_align(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count,
                    size_t *partner, arena *scratch);

#endif
