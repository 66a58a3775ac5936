// Views of bytes that someone else owns.

#ifndef CALC_SPAN_H
#define CALC_SPAN_H

#include <stdbool.h>
#include <stddef.h>

#include "calc/base/text.h"

struct span {
    const char *at;
    size_t len;
};

struct span span_of(const char *s);
struct span span_of_number(uint64_t n, char digits[TEXT_DIGITS]);
struct span span_trim(struct span s);
bool span_is(struct span s, const char *word);
bool span_same(struct span a, struct span b);
bool span_starts(struct span s, const char *prefix);
struct span span_skip(struct span s, size_t n);  // without its first n bytes; empty if shorter
// Index of needle in s, or s.len.
size_t span_find(struct span s, const char *needle);
// A name with a * at its end stands for all that begin so. span_in_words: one of several.
bool span_matches(struct span name, struct span s);
bool span_in_words(const char *words, struct span s);

#endif
