// Reads a string of JavaScript escape by escape.
// SRC: ECMA-262, 12.9.4 (string literals) and 12.9.6 (templates)
#include "gen/text/js_string.h"

#include "gen/base/buf.h"

struct reading {
    str text;
    size_t at;
};

static char byte(const struct reading *r, size_t ahead)
{
    return r->at + ahead < r->text.len ? r->text.ptr[r->at + ahead] : 0;
}

static bool is_spent(const struct reading *r)
{
    return r->at >= r->text.len;
}

// How long x41, u0041 or u{41} is behind its backslash, and its code point; 0 for none.
static size_t hex_length(const struct reading *r, size_t ahead, uint32_t *code_point)
{
    bool braces = byte(r, ahead) == 'u' && byte(r, ahead + 1) == '{';
    size_t from = braces ? 2 : 1, most = byte(r, ahead) == 'x' ? 2 : braces ? 6 : 4, n = 0;
    *code_point = 0;
    for (int v; n < most && (v = ascii_hex(byte(r, ahead + from + n))) >= 0; n++)
        *code_point = *code_point * 16 + (uint32_t)v;
    if (braces)
        return n && byte(r, ahead + from + n) == '}' ? from + n + 1 : 0;
    return n == most ? from + n : 0;
}

// A letter beyond 16 bits may be two escapes: \uD83D\uDE80.
static bool put_code_point(struct reading *r, buf *b)
{
    uint32_t c, low;
    size_t n = hex_length(r, 0, &c), more = 0;
    if (!n)
        return false;
    bool first = c >= 0xD800 && c < 0xDC00 && byte(r, n) == '\\' && byte(r, n + 1) == 'u';
    if (first && (more = hex_length(r, n + 1, &low)) && low >= 0xDC00 && low < 0xE000) {
        c = 0x10000 + ((c - 0xD800) << 10 | (low - 0xDC00));
        n += 1 + more;
    }
    buf_utf8(b, c ? c : 0xFFFD);
    r->at += n;
    return true;
}

static void put_escape(struct reading *r, buf *b)
{
    static const char from[] = "nrtbfv", to[] = "\n\r\t\b\f\v";
    char c = byte(r, 0);
    if ((c == 'x' || c == 'u') && put_code_point(r, b))
        return;
    const char *known = c ? strchr(from, c) : NULL;
    r->at++;
    if (c != '\n')
        buf_char(b, known ? to[known - from] : c);
}

// "${...}" in a template, whose value is unknown: it is left out.
static void skip_braces(struct reading *r)
{
    int depth = 0;
    do {
        char c = byte(r, 0);
        depth += c == '{' ? 1 : c == '}' ? -1 : 0;
        r->at++;
    } while (depth > 0 && !is_spent(r));
}

str js_string(str text, size_t *at, arena *a)
{
    struct reading r = {text, *at};
    char quote = byte(&r, 0);
    buf b = BUF_INIT;
    for (r.at++; !is_spent(&r) && byte(&r, 0) != quote;) {
        char c = byte(&r, 0);
        if (c == '\n' && quote != '`')
            break;
        r.at++;
        if (c == '\\')
            put_escape(&r, &b);
        else if (quote == '`' && c == '$' && byte(&r, 0) == '{')
            skip_braces(&r);
        else
            buf_char(&b, c);
    }
    *at = r.at + 1;
    str out = arena_str(a, buf_view(&b));
    buf_free(&b);
    return out;
}
