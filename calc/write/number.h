// Numbers for people: thousands, MiB, bars; the phases of a step in words.

#ifndef CALC_NUMBER_H
#define CALC_NUMBER_H

#include "calc/base/writer.h"

enum { NUMBER_MIB = 1048576 };

void put_count(struct writer *w, uint64_t n);  // 124,373,760
void put_count_right(struct writer *w, uint64_t n, unsigned width);
void put_mib(struct writer *w, uint64_t bytes);  // 16,834.2 (MiB, one place)
void put_mib_right(struct writer *w, uint64_t bytes, unsigned width);
void put_mib_round(struct writer *w, uint64_t bytes);  // 16,834
void put_size(struct writer *w, uint64_t bytes);       // 786.00 MiB, as PyTorch writes sizes
void put_bar(struct writer *w, uint64_t part, uint64_t whole,
             unsigned width);  // blocks, padded to width
void put_percent_right(struct writer *w, uint64_t part, uint64_t whole, unsigned width);

// Blanks up to column `width` behind where the writer was at `start`.
void put_pad(struct writer *w, size_t start, size_t width);
void put_cell(struct writer *w, const char *text, size_t width);

// "bwd:it1.m1" -> "backward of micro-step 2, steady state"
enum { NUMBER_PHASE = 48 };
const char *phase_words(const char *phase, char out[NUMBER_PHASE]);

#endif
