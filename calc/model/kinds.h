// What a run has of kinds.def, as a set: measurements of one kind say little about another.

#ifndef CALC_KINDS_H
#define CALC_KINDS_H

#include "calc/model/model.h"

enum kind_bit {
#define KIND(ident, level, words, condition) KIND_BIT_##ident,
#include "calc/model/kinds.def"
#undef KIND
    KIND_BITS
};
_Static_assert(KIND_BITS <= 64, "a set of them is one number");

enum { KIND_LEVELS = 4, KIND_TEXT = 256 };

// c: as it is set; what is auto is resolved here.
uint64_t kind_of(const struct vram_config *c);
uint64_t kind_at(uint64_t kind, unsigned level);  // what of it tells at that level

// Writes the words of a set, with commas between, into room for KIND_TEXT bytes; returns it.
const char *kind_words(uint64_t kind, char *room);

#endif
