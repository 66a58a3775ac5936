// Errors of the core: one slot in the handle, written by one function. The first error of a call
// stays.

#ifndef CALC_ERR_H
#define CALC_ERR_H

#include "calc/base/message.h"

// Where the parsers are; all zero outside of parsed text.
struct err_pos {
    const char *file;
    uint32_t line, col;
};

#define NO_POS ((struct err_pos){NULL, 0, 0})

static inline bool err_is_set(const struct message *e)
{
    return e->out.code != VRAM_OK;
}

// Records an error, unless there is one already, and returns the code of the one that is recorded.
int err_set(struct message *e, message_id id, struct err_pos pos, const char *const *about,
            struct args args);

// Position of the byte `at` in text.
struct err_pos err_pos_of(const char *file, const char *text, size_t at);

#endif
