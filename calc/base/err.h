// Errors of the core: one slot in the handle, written by one function. The first error of a call
// stays.

#ifndef CALC_ERR_H
#define CALC_ERR_H

#include "calc/vram.h"

enum { ERR_TEXT_MAX = 400, ERR_FILE_MAX = 256 };

struct err {
    struct vram_message message;  // text and file point into the arrays below
    char text[ERR_TEXT_MAX];
    char file[ERR_FILE_MAX];
};

// Where the parsers are; all zero outside of parsed text.
struct err_pos {
    const char *file;
    uint32_t line, col;
};

void err_clear(struct err *e);

// Records an error and returns its code. The format knows %s (NUL-terminated), %.*s (int, pointer),
// %u (uint64_t!), %d (int64_t!), %%. A text that is too long ends before the argument that does not
// fit.
int err_set(struct err *e, enum vram_code code, struct err_pos pos, const char *format, ...);

// Gives the recorded error a position that it does not have yet.
void err_locate(struct err *e, struct err_pos pos);

// Position of the byte `at` in text.
struct err_pos err_pos_of(const char *file, const char *text, size_t at);

// The nearest of count names to word (edit distance, at most a third of its length), or NULL.
const char *err_nearest(const char *word, size_t len, const char *const *names, size_t count);

#endif
