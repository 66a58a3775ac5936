// What the generator's fuzz targets share: the input as text, a place for messages, and a check
// that ends the run.
#ifndef TESTS_FUZZ_GEN_FUZZ_H
#define TESTS_FUZZ_GEN_FUZZ_H

#include <stdlib.h>

#include "gen/base/arena.h"
#include "gen/base/diag.h"
#include "tests/fuzz/fuzz.h"

static inline str fuzz_text(const uint8_t *data, size_t size)
{
    return (str){(const char *)data, size};
}

static inline void fuzz_check(bool good, const char *what)
{
    if (good)
        return;
    diag_say(str_c(what));
    abort();
}

// Whatever was recorded must be printable: line, column and caret are computed on the way.
static inline void fuzz_messages(struct diag *d)
{
    buf b = BUF_INIT, packed = BUF_INIT;
    diag_text(d, &b);
    fuzz_check(utf8_invalid(buf_view(&b)) == b.len, "messages are not UTF-8\n");
    diag_pack(d, &packed);
    struct diag *other = diag_new((struct diag_options){0});
    fuzz_check(diag_unpack(other, buf_view(&packed)), "messages do not travel\n");
    fuzz_check(diag_count(other, DIAG_NOTE) == diag_count(d, DIAG_NOTE),
               "messages are lost on the way\n");
    diag_free(other);
    buf_free(&packed);
    buf_free(&b);
    diag_free(d);
}

#endif
