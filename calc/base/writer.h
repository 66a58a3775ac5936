// Text output of the core: a growing buffer in the caller's memory with a sticky error. No libc.

#ifndef CALC_WRITER_H
#define CALC_WRITER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calc/vram.h"

struct writer {
    const struct vram_mem *mem;
    char *text;  // NULL until the first byte; else NUL-terminated
    size_t len, cap;
    bool failed;  // an allocation failed; what follows is dropped
    bool color;   // for a terminal: writer_style writes its codes
};

void writer_init(struct writer *w, const struct vram_mem *mem);
void writer_free(struct writer *w);
void writer_reset(struct writer *w);              // empty, storage kept, error forgotten
const char *writer_text(const struct writer *w);  // never NULL

void writer_char(struct writer *w, char c);
void writer_bytes(struct writer *w, const char *text, size_t len);
void writer_str(struct writer *w, const char *text);
void writer_u64(struct writer *w, uint64_t n);
void writer_i64(struct writer *w, int64_t n);

// n / 10^decimals, rounded half up to `places` places: writer_fixed(w, 123456, 6, 2) writes 0.12.
void writer_fixed(struct writer *w, uint64_t n, unsigned decimals, unsigned places);

// n * mul / div with `places` places, rounded half up; for MiB: writer_ratio(w, bytes, 1048576, 1).
void writer_ratio(struct writer *w, uint64_t n, uint64_t div, unsigned places);

// Right-aligned number in a field.
void writer_u64_right(struct writer *w, uint64_t n, unsigned width);

// A JSON string with its quotes; bytes below 32, quote, backslash and broken UTF-8 escaped.
void writer_json(struct writer *w, const char *text, size_t len);

// A CSV cell, quoted where needed.
void writer_csv(struct writer *w, const char *text);

// %s, %.*s (int, pointer), %c, %u (uint64_t), %d (int64_t), %%: the integers are always 64 bits
// wide.
void writer_f(struct writer *w, const char *format, ...);

// How the text that follows looks, where colours are wanted.
enum writer_style { STYLE_PLAIN, STYLE_HEADING, STYLE_GOOD, STYLE_CLOSE, STYLE_BAD };
void writer_style(struct writer *w, enum writer_style style);

// VRAM_OK or VRAM_ENOMEM.
int writer_status(const struct writer *w);

#endif
