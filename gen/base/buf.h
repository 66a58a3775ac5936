// Growing bytes: always a valid pointer, always a NUL behind the end; the only place that formats.
#ifndef GEN_BASE_BUF_H
#define GEN_BASE_BUF_H

#include <stdarg.h>
#include <string.h>

#include "gen/base/str.h"

typedef struct {
    char *ptr;  // never NULL once initialised; ptr[len] is 0
    size_t len;
    size_t cap;  // 0 while ptr is the shared empty byte
} buf;

extern char buf_empty[1];
#define BUF_INIT ((buf){buf_empty, 0, 0})

// Says so on stderr and ends the program with exit code 3.
_Noreturn void buf_no_memory(void);

// Running out of memory ends the program (exit 3): no caller has an error path for it.
void buf_reserve(buf *b, size_t more);
void buf_u64(buf *b, uint64_t v);
void buf_utf8(buf *b, uint32_t code_point);
void buf_printf(buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(buf *b, const char *format, va_list list) __attribute__((format(printf, 2, 0)));
#define buf_lit(b, literal) buf_put((b), "" literal, sizeof(literal) - 1)
void buf_clear(buf *b);  // keeps the memory
void buf_free(buf *b);   // back to BUF_INIT

// What a page calls a million times is here, so that it costs no call.
static inline void buf_put(buf *b, const void *bytes, size_t n)
{
    if (n == 0)
        return;
    if (b->cap <= n || b->cap - n <= b->len)
        buf_reserve(b, n);
    memcpy(b->ptr + b->len, bytes, n);
    b->len += n;
    b->ptr[b->len] = 0;
}

static inline void buf_str(buf *b, str s)
{
    buf_put(b, s.ptr, s.len);
}

static inline void buf_char(buf *b, char c)
{
    if (b->len + 2 > b->cap)
        buf_reserve(b, 1);
    b->ptr[b->len++] = c;
    b->ptr[b->len] = 0;
}

// Valid until b changes.
static inline str buf_view(const buf *b)
{
    return (str){b->ptr, b->len};
}

#endif
