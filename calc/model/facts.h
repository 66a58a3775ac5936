// The parts of a run that files say and no field is for, kept from one file to the next.

#ifndef CALC_FACTS_H
#define CALC_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct facts {
#define FACT(ident, words) uint64_t ident;
#include "calc/model/facts.def"
#undef FACT
    bool model;  // which model it is has been said
};

enum fact_id {
#define FACT(ident, words) FACT_##ident,
#include "calc/model/facts.def"
#undef FACT
    FACT_COUNT
};

// Index of a fact by its name, or -1.
int facts_find(const char *name, size_t len);

// Sets a fact from a word of it, or from a number; false where it is neither.
bool facts_set(struct facts *f, int fact, const char *value, size_t len);
uint64_t facts_get(const struct facts *f, int fact);

// The words of a fact, "" where it is a number.
const char *facts_words(int fact);

#endif
