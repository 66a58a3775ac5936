// Byte strings without libc: compare, length, numbers out of text.

#ifndef CALC_TEXT_H
#define CALC_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

size_t text_len(const char *s);
bool text_equal(const char *a, size_t a_len, const char *b);  // b is NUL-terminated
bool text_equal_nocase(const char *a, size_t a_len,
                       const char *b);  // ASCII; '-', ' ' and '_' are alike
bool text_has_word(const char *words, const char *s,
                   size_t len);  // one of words separated by spaces, no case

// Decimal digits with optional '_' between them. false: not a number or above UINT64_MAX (*overflow
// tells).
bool text_to_u64(const char *s, size_t len, uint64_t *out, bool *overflow);

// Writes the decimal digits of n so that they end before end; where they begin. TEXT_DIGITS are
// enough.
enum { TEXT_DIGITS = 20 };
char *text_digits(char *end, uint64_t n);

// "12282 MiB", "12 GB" (of 2^30 bytes, as cards are sold) in MiB, up to 2^24; false if it is no
// such size.
bool text_to_mib(const char *s, size_t len, uint64_t *out);

// "0.1", "1e-3", "2", ".5" -> millionths, rounded half up. false: not a finite non-negative number.
bool text_to_millionths(const char *s, size_t len, uint64_t *out, bool *overflow);

// A text in a fixed array, which nothing can make fail: what does not fit is cut.
#ifdef VRAM_SMALL  // which knows fewer families to name in one
enum { TEXT_LINE = 400 };
#else
enum { TEXT_LINE = 1000 };
#endif
struct text_line {
    char text[TEXT_LINE];
    size_t len;
};
void text_append(struct text_line *t, const char *s);  // t zeroed at first

#endif
