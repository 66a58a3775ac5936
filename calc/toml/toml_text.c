// Reads what TOML writes in characters: UTF-8, keys, and strings of all four kinds.

#include "calc/toml/toml_read.h"

// Length of the UTF-8 sequence at s, 0 if it is none: overlong forms, surrogates and what is above
// U+10FFFF are none (Unicode 15, table 3-7).
static size_t utf8_length(const char *s, size_t len)
{
    unsigned char c = (unsigned char)s[0], low = 0x80, high = 0xBF;
    if (c < 0x80)
        return 1;
    if (c < 0xC2 || c > 0xF4)
        return 0;
    size_t n = c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
    if (c == 0xE0)
        low = 0xA0;
    else if (c == 0xED)
        high = 0x9F;
    else if (c == 0xF0)
        low = 0x90;
    else if (c == 0xF4)
        high = 0x8F;
    if (n > len || (unsigned char)s[1] < low || (unsigned char)s[1] > high)
        return 0;
    for (size_t i = 2; i < n; i++)
        if (((unsigned char)s[i] & 0xC0) != 0x80)
            return 0;
    return n;
}

bool toml_check_utf8(struct toml_reader *r)
{
    bool said = false;  // in this line
    for (size_t i = 0; i < r->len && !r->ended;) {
        size_t n = utf8_length(r->text + i, r->len - i);
        if (!n && !said)
            said = !toml_fail(r, i, TOML_E_UTF8);
        if (r->text[i] == '\n')
            said = false;
        i += n ? n : 1;
    }
    return r->errors == 0;
}

void toml_skip_blank(struct toml_reader *r)
{
    while (toml_byte(r, 0) == ' ' || toml_byte(r, 0) == '\t')
        r->at++;
}

static bool is_bare(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || toml_is_digit(c) || c == '-' ||
           c == '_';
}

static bool read_part(struct toml_reader *r, struct toml_text *out)
{
    size_t from = r->at;
    char c = toml_byte(r, 0);
    if (c == '"' || c == '\'')
        return toml_read_string(r, true, out);
    while (is_bare(toml_byte(r, 0)))
        r->at++;
    *out = (struct toml_text){r->text + from, r->at - from};
    if (out->len)
        return true;
    bool is_missing =
        toml_at_line_end(r) || c == '=' || c == '.' || c == ']' || c == '}' || c == '[' || c == ',';
    return toml_fail_here(r, is_missing ? TOML_E_KEY : TOML_E_KEY_BYTE);
}

bool toml_read_path(struct toml_reader *r, struct toml_path *p)
{
    for (p->count = 0; p->count < TOML_MAX_DEPTH;) {
        p->offset[p->count] = r->at;
        if (!read_part(r, &p->part[p->count++]))
            return false;
        toml_skip_blank(r);
        if (toml_byte(r, 0) != '.') {
            unsigned char c = (unsigned char)toml_byte(r, 0);
            bool is_word = c >= 0x80 || (c > ' ' && c != '=' && c != ']' && c != '}' && c != '#' &&
                                         c != ',' && c < 0x7F);
            return !is_word || toml_fail(r, r->at, TOML_E_KEY_BYTE);
        }
        r->at++;
        toml_skip_blank(r);
    }
    return toml_fail(r, r->at, TOML_E_DEEP);
}

static int hex_digit(char c)
{
    if (toml_is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// The character of \uXXXX or \UXXXXXXXX at s, behind the backslash; false if it is none.
static bool read_code(const char *s, size_t len, uint32_t *out, size_t *used)
{
    size_t digits = s[0] == 'u' ? 4 : 8;
    uint32_t code = 0;
    if (len < 1 + digits)
        return false;
    for (size_t i = 1; i <= digits; i++) {
        int digit = hex_digit(s[i]);
        if (digit < 0 || code > 0x0FFFFFFF)
            return false;
        code = code * 16 + (uint32_t)digit;
    }
    *out = code;
    *used = 1 + digits;
    return code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
}

static char *put_code(char *to, uint32_t c)
{
    if (c < 0x80) {
        *to++ = (char)c;
        return to;
    }
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char lead[] = {0, 0xC0, 0xE0, 0xF0};
    *to++ = (char)(lead[more] | c >> (6 * more));
    while (more--)
        *to++ = (char)(0x80 | (c >> (6 * more) & 0x3F));
    return to;
}

static const char escapes[] = "btnfr\"\\", escaped[] = "\b\t\n\f\r\"\\";

static const char *find_escape(char c)
{
    for (const char *e = escapes; *e; e++)
        if (*e == c)
            return e;
    return NULL;
}

// Length of the backslash at s that ends a line, with all blanks and line ends behind it; 0 if it
// ends none.
static size_t line_escape(const char *s, size_t len)
{
    size_t i = 1, ends = 0;
    while (i < len && (s[i] == ' ' || s[i] == '\t' || s[i] == '\n' ||
                       (s[i] == '\r' && i + 1 < len && s[i + 1] == '\n'))) {
        // Blanks alone before other text are no end of a line.
        ends += s[i] == '\n';
        i++;
    }
    return ends ? i : 0;
}

// One escape at r->at; moves behind it.
static bool check_escape(struct toml_reader *r, bool is_long)
{
    const char *s = r->text + r->at;
    size_t left = r->len - r->at, used = is_long ? line_escape(s, left) : 0;
    uint32_t code;
    if (used) {
        r->at += used;
        return true;
    }
    char c = toml_byte(r, 1);
    bool is_code = c == 'u' || c == 'U',
         ok = is_code ? read_code(s + 1, left - 1, &code, &used) : find_escape(c) && left > 1;
    size_t offset = r->at;
    r->at += ok ? (is_code ? 1 + used : 2) : 1;
    return ok || toml_fail(r, offset, is_code ? TOML_E_ESCAPE_CODE : TOML_E_ESCAPE);
}

// A string as it is between its quotes.
struct quoted {
    size_t from, to;
    char quote;
    bool is_long, plain;  // plain: its bytes are its content
};

// How many quotes are at r->at, at most five: two of the string, three that close it.
static size_t count_quotes(const struct toml_reader *r, char quote)
{
    size_t n = 0;
    while (n < 5 && toml_byte(r, n) == quote)
        n++;
    return n;
}

// Goes on to the end of the string, checking what is in it, and behind its closing quotes. False
// after an error.
static bool scan_string(struct toml_reader *r, struct quoted *q, size_t opening)
{
    bool ok = true;
    while (!toml_at_end(r) && (q->is_long || !toml_at_line_end(r))) {
        char c = r->text[r->at];
        size_t quotes = c == q->quote ? (q->is_long ? count_quotes(r, c) : 1) : 0;
        if (quotes >= (q->is_long ? 3u : 1u)) {
            q->to = r->at + (q->is_long ? quotes - 3 : 0);
            r->at += quotes;
            return ok;
        }
        if (c == '\\' && q->quote == '"') {
            q->plain = false;
            ok &= check_escape(r, q->is_long);
            continue;
        }
        if (c == '\r' && toml_byte(r, 1) == '\n')
            q->plain = false;
        else if (c != '\n' && toml_is_control(c))
            ok = toml_fail_here(r, TOML_E_CONTROL);
        r->at++;
    }
    return toml_fail(r, opening, q->is_long ? TOML_E_LONG_END : TOML_E_STRING_END);
}

// The content of a string that was scanned: escapes resolved, line ends as \n.
static bool unescape(struct toml_reader *r, const struct quoted *q, struct toml_text *out)
{
    const char *s = r->text + q->from, *end = r->text + q->to;
    char *start = toml_alloc(r, (size_t)(end - s) + 1), *to = start;
    if (!start)
        return false;
    while (s < end) {
        size_t used = 2;
        uint32_t code;
        if (*s == '\r' && s[1] == '\n') {
            s++;
        } else if (*s != '\\' || q->quote == '\'') {
            *to++ = *s++;
        } else if (q->is_long && line_escape(s, (size_t)(end - s))) {
            s += line_escape(s, (size_t)(end - s));
        } else if (s[1] == 'u' || s[1] == 'U') {
            read_code(s + 1, (size_t)(end - s) - 1, &code, &used);
            to = put_code(to, code);
            s += 1 + used;
        } else {
            *to++ = escaped[find_escape(s[1]) - escapes];
            s += 2;
        }
    }
    *out = (struct toml_text){start, (size_t)(to - start)};
    return true;
}

bool toml_read_string(struct toml_reader *r, bool is_key, struct toml_text *out)
{
    size_t opening = r->at;
    struct quoted q = {.quote = toml_byte(r, 0), .plain = true};
    q.is_long = count_quotes(r, q.quote) >= 3;
    if (q.is_long && is_key)
        return toml_fail(r, opening, TOML_E_KEY_LINES);
    r->at += q.is_long ? 3 : 1;
    // A line end right behind the opening quotes is not of the string.
    if (q.is_long && toml_at_line_end(r))
        r->at += toml_byte(r, 0) == '\r' ? 2 : !toml_at_end(r);
    q.from = r->at;
    if (!scan_string(r, &q, opening))
        return false;
    if (!q.plain)
        return unescape(r, &q, out);
    *out = (struct toml_text){r->text + q.from, q.to - q.from};
    return true;
}
