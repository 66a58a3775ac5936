// Growing bytes, the only place that formats, and the end of the program when memory runs out.
#include "gen/base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The hostile build (./build.sh check) starts tiny, so that every growth path is walked.
#ifdef BASE_HOSTILE
enum { FIRST_CAP = 4 };
#else
enum { FIRST_CAP = 64 };
#endif

char buf_empty[1];

_Noreturn void buf_no_memory(void)
{
    static const char text[] = "vramdoc: error: out of memory\n";
    // Nothing can be done about a failed write here.
    ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    (void)written;
    _exit(3);
}

void buf_reserve(buf *b, size_t more)
{
    if (more > SIZE_MAX / 4 || b->len > SIZE_MAX / 4)
        buf_no_memory();
    size_t need = b->len + more + 1;
    if (need <= b->cap)
        return;
    size_t cap = b->cap ? b->cap + b->cap / 2 : FIRST_CAP;
    if (cap < need)
        cap = need;
    char *p = realloc(b->cap ? b->ptr : NULL, cap);
    if (!p)
        buf_no_memory();
    b->ptr = p;
    b->cap = cap;
    b->ptr[b->len] = 0;
}

void buf_u64(buf *b, uint64_t v)
{
    char digits[20];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + v % 10);
    while (v /= 10);
    buf_put(b, digits + at, sizeof digits - at);
}

void buf_utf8(buf *b, uint32_t c)
{
    char bytes[4];
    bool is_none = c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff);
    buf_put(b, bytes, utf8_put(bytes, is_none ? 0xfffd : c));
}

void buf_vprintf(buf *b, const char *format, va_list list)
{
    va_list again;
    va_copy(again, list);
    size_t room = b->cap > b->len ? b->cap - b->len : 0;
    int n = vsnprintf(room ? b->ptr + b->len : NULL, room, format, list);
    if (n < 0)
        n = 0;
    if ((size_t)n >= room) {
        buf_reserve(b, (size_t)n);
        vsnprintf(b->ptr + b->len, (size_t)n + 1, format, again);
    }
    va_end(again);
    b->len += (size_t)n;
}

void buf_printf(buf *b, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    buf_vprintf(b, format, list);
    va_end(list);
}

void buf_clear(buf *b)
{
    b->len = 0;
    if (b->cap)
        b->ptr[0] = 0;
}

void buf_free(buf *b)
{
    if (b->cap)
        free(b->ptr);
    *b = BUF_INIT;
}
