// Owns text output of the core: the growing buffer, numbers, and the escapes of JSON, CSV and XML.

#include "calc/base/writer.h"

#include "calc/base/mem.h"
#include "calc/base/text.h"

void writer_init(struct writer *w, const struct vram_mem *mem)
{
    *w = (struct writer){.mem = mem};
}

void writer_free(struct writer *w)
{
    mem_free(w->mem, w->text, w->cap);
    *w = (struct writer){.mem = w->mem};
}

void writer_reset(struct writer *w)
{
    w->len = 0;
    w->failed = false;
    if (w->text)
        w->text[0] = 0;
}

const char *writer_text(const struct writer *w)
{
    return w->text ? w->text : "";
}

// SRC: ECMA-48, Select Graphic Rendition.
void writer_style(struct writer *w, enum writer_style style)
{
    static const char *const codes[] = {[STYLE_PLAIN] = "\033[0m",
                                        [STYLE_HEADING] = "\033[1m",
                                        [STYLE_GOOD] = "\033[1;32m",
                                        [STYLE_CLOSE] = "\033[1;33m",
                                        [STYLE_BAD] = "\033[1;31m"};
    if (w->color)
        writer_str(w, codes[style]);
}

int writer_status(const struct writer *w)
{
    return w->failed ? VRAM_ENOMEM : VRAM_OK;
}

void writer_bytes(struct writer *w, const char *text, size_t len)
{
    void *p = w->text;
    if (w->failed || len > SIZE_MAX / 4 - w->len ||
        mem_grow(w->mem, &p, &w->cap, w->len + len + 1, 1) != VRAM_OK) {
        w->failed = true;
        return;
    }
    w->text = p;
    mem_copy(w->text + w->len, text, len);
    w->len += len;
    w->text[w->len] = 0;
}

void writer_char(struct writer *w, char c)
{
    if (!w->failed && w->text && w->len + 1 < w->cap) {
        w->text[w->len++] = c;
        w->text[w->len] = 0;
    } else {
        writer_bytes(w, &c, 1);
    }
}

void writer_str(struct writer *w, const char *text)
{
    writer_bytes(w, text, text_len(text));
}

enum { WRITER_DIGITS = 24 };

// Digits of n, at least `least` of them, at the end of out; returns where they begin.
static size_t writer_digits(uint64_t n, size_t least, char out[WRITER_DIGITS])
{
    size_t at = WRITER_DIGITS;
    while (n > 0 || WRITER_DIGITS - at < least) {
        out[--at] = (char)('0' + n % 10);
        n /= 10;
    }
    return at;
}

void writer_u64(struct writer *w, uint64_t n)
{
    char digits[WRITER_DIGITS];
    size_t at = writer_digits(n, 1, digits);
    writer_bytes(w, digits + at, WRITER_DIGITS - at);
}

void writer_i64(struct writer *w, int64_t n)
{
    if (n < 0)
        writer_char(w, '-');
    writer_u64(w, n < 0 ? 0 - (uint64_t)n : (uint64_t)n);
}

void writer_u64_right(struct writer *w, uint64_t n, unsigned width)
{
    char digits[WRITER_DIGITS];
    size_t at = writer_digits(n, 1, digits);
    for (size_t have = WRITER_DIGITS - at; have < width; have++)
        writer_char(w, ' ');
    writer_bytes(w, digits + at, WRITER_DIGITS - at);
}

static uint64_t writer_power10(unsigned n)
{
    uint64_t p = 1;
    while (n-- > 0)
        p *= 10;
    return p;
}

void writer_ratio(struct writer *w, uint64_t n, uint64_t div, unsigned places)
{
    if (places > 9)
        places = 9;
    uint64_t whole = n / div, rest = n % div, fraction = 0;
    for (unsigned i = 0; i < places; i++) {  // long division: no product can wrap for div < 2^60
        rest *= 10;
        fraction = fraction * 10 + rest / div;
        rest %= div;
    }
    if (rest >= div - rest && ++fraction == writer_power10(places)) {
        fraction = 0;
        whole++;
    }
    writer_u64(w, whole);
    if (places == 0)
        return;
    char digits[WRITER_DIGITS];
    size_t at = writer_digits(fraction, places, digits);
    writer_char(w, '.');
    writer_bytes(w, digits + at, WRITER_DIGITS - at);
}

void writer_fixed(struct writer *w, uint64_t n, unsigned decimals, unsigned places)
{
    writer_ratio(w, n, writer_power10(decimals > 17 ? 17 : decimals), places);
}

// Length of the well-formed UTF-8 character at s, or 0.
static size_t writer_utf8(const char *s, size_t len)
{
    unsigned char a = (unsigned char)s[0];
    size_t n = a < 0x80                ? 1
               : a >= 0xc2 && a < 0xe0 ? 2
               : a >= 0xe0 && a < 0xf0 ? 3
               : a >= 0xf0 && a < 0xf5 ? 4
                                       : 0;
    if (n == 0 || n > len)
        return 0;
    for (size_t i = 1; i < n; i++)
        if (((unsigned char)s[i] & 0xc0) != 0x80)
            return 0;
    unsigned char b = n > 1 ? (unsigned char)s[1] : 0;
    bool bad = (a == 0xe0 && b < 0xa0) || (a == 0xed && b > 0x9f) || (a == 0xf0 && b < 0x90) ||
               (a == 0xf4 && b > 0x8f);
    return bad ? 0 : n;
}

static void writer_json_control(struct writer *w, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    writer_str(w, "\\u00");
    writer_char(w, hex[c >> 4]);
    writer_char(w, hex[c & 15]);
}

// How many of the next bytes are ASCII that JSON takes as it is.
static size_t writer_json_plain(const char *text, size_t len)
{
    size_t n = 0;
    while (n < len && text[n] >= 0x20 && text[n] < 0x7f && text[n] != '"' && text[n] != '\\')
        n++;
    return n;
}

void writer_json(struct writer *w, const char *text, size_t len)
{
    writer_char(w, '"');
    for (size_t i = 0; i < len;) {
        size_t plain = writer_json_plain(text + i, len - i);
        writer_bytes(w, text + i, plain);
        i += plain;
        if (i == len)
            break;
        unsigned char c = (unsigned char)text[i];
        size_t n = writer_utf8(text + i, len - i);
        if (n == 0) {
            writer_str(w, "\\ufffd");
        } else if (c == '"' || c == '\\') {
            writer_char(w, '\\');
            writer_char(w, (char)c);
        } else if (c == '\n') {
            writer_str(w, "\\n");
        } else if (c < 0x20 || c == 0x7f) {
            writer_json_control(w, c);
        } else {
            writer_bytes(w, text + i, n);
        }
        i += n ? n : 1;
    }
    writer_char(w, '"');
}

void writer_csv(struct writer *w, const char *text)
{
    bool quote = false;
    for (const char *p = text; *p; p++)
        quote = quote || *p == ',' || *p == '"' || *p == '\n' || *p == '\r';
    if (!quote) {
        writer_str(w, text);
        return;
    }
    writer_char(w, '"');
    for (; *text; text++) {
        if (*text == '"')
            writer_char(w, '"');
        writer_char(w, *text);
    }
    writer_char(w, '"');
}

static const char *writer_string_arg(struct writer *w, const char *f, va_list *args)
{
    if (f[0] == '.') {  // %.*s
        int n = va_arg(*args, int);
        const char *s = va_arg(*args, const char *);
        writer_bytes(w, s, n > 0 ? (size_t)n : 0);
        return f + 2;
    }
    writer_str(w, va_arg(*args, const char *));
    return f;
}

static void write_format(struct writer *w, const char *format, va_list given)
{
    va_list args;
    va_copy(args, given);
    for (const char *f = format; *f; f++) {
        if (*f != '%') {
            writer_char(w, *f);
            continue;
        }
        f++;
        if (*f == 's' || *f == '.')
            f = writer_string_arg(w, f, &args);
        else if (*f == 'u')
            writer_u64(w, va_arg(args, uint64_t));
        else if (*f == 'd')
            writer_i64(w, va_arg(args, int64_t));
        else if (*f == 'c')
            writer_char(w, (char)va_arg(args, int));
        else
            writer_char(w, '%');
        if (!*f)
            break;
    }
    va_end(args);
}

void writer_f(struct writer *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_format(w, format, args);
    va_end(args);
}
