// Owns YAML's scalars: plain, in quotes, and texts of several lines.

#include "calc/parse/yaml.h"

// ---- in quotes -------------------------------------------------------------------------------

static unsigned hex_of(const char *at, int digits, bool *good)
{
    unsigned code = 0;
    for (int i = 0; i < digits; i++) {
        char c = at[i], lower = (char)(c | 32);
        bool digit = c >= '0' && c <= '9', letter = lower >= 'a' && lower <= 'f';
        *good = *good && (digit || letter);
        code = code * 16 + (unsigned)(digit ? c - '0' : lower - 'a' + 10);
    }
    return code;
}

// UTF-8 of a code point; returns its bytes.
static size_t put_code(char *to, unsigned code)
{
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; code >>= 6)
        to[i] = (char)(0x80 | (code & 0x3f));
    to[0] = (char)((0xf00 >> n) | code);
    return n;
}

// Behind a backslash. Returns the bytes written to `to`, which has room for as many as are read.
static size_t escape(struct yaml *y, char *to)
{
    static const char letters[] = "0abtnvfre\"/\\ _", means[] = "\0\a\b\t\n\v\f\r\033\"/\\  ";
    size_t at = y->at - 1;
    char c = yaml_byte(y, 0);
    int digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    for (size_t i = 0; c && i < sizeof letters - 1; i++)
        if (letters[i] == c) {
            y->at++;
            *to = means[i];
            return 1;
        }
    bool good = digits > 0 && y->at + 1 + (size_t)digits <= y->len;
    unsigned code = good ? hex_of(y->text + y->at + 1, digits, &good) : 0;
    y->at += 1 + (size_t)digits;
    if (good && code >= 0xd800 && code < 0xdc00 && y->at + 6 <= y->len && yaml_byte(y, 0) == '\\' &&
        yaml_byte(y, 1) == 'u') {
        code = 0x10000 + ((code & 0x3ff) << 10) + (hex_of(y->text + y->at + 2, 4, &good) & 0x3ff);
        y->at += 6;
    }
    if (!good || code == 0 || code > 0x10ffff) {
        yaml_fail(y, at, MESSAGE_yaml_escape, NO_ARGS);
        return 0;
    }
    return put_code(to, code);
}

// The quote that ends a text in quotes, or len.
static size_t closing(const struct yaml *y, char quote)
{
    for (size_t at = y->at; at < y->len; at++) {
        if (y->text[at] == '\\' && quote == '"')
            at++;
        else if (y->text[at] != quote)
            continue;
        else if (quote == '\'' && at + 1 < y->len && y->text[at + 1] == quote)
            at++;
        else
            return at;
    }
    return y->len;
}

// A line's end inside of quotes, with the blanks around it, is one space.
static size_t fold(struct yaml *y, char *text, size_t n, size_t end)
{
    while (n > 0 && yaml_is_blank(text[n - 1]))
        n--;
    for (; y->at < end && yaml_is_blank(y->text[y->at]); y->at++)
        if (y->text[y->at] == '\n')
            y->line_start = y->at + 1;
    text[n++] = ' ';
    return n;
}

struct yaml_value yaml_quoted(struct yaml *y)
{
    size_t start = y->at++, end, n = 0;
    char quote = y->text[start], *text;
    end = closing(y, quote);
    if (end == y->len)
        return yaml_fail(y, start, MESSAGE_open_quote, NO_ARGS);
    text = mem_arena_new(&y->out->arena, end - start, 1);
    if (!text) {
        y->out->failed = y->failed = true;
        return (struct yaml_value){YAML_NOTHING, {NULL, 0}, start};
    }
    while (y->at < end && !y->failed) {
        char c = y->text[y->at];
        if (c == '\n') {
            n = fold(y, text, n, end);
            continue;
        }
        y->at++;
        if (c == '\\' && quote == '"')
            n += escape(y, text + n);
        else
            text[n++] = c;
        y->at += c == '\'' && quote == '\'';
    }
    y->at = end + 1;
    return (struct yaml_value){YAML_SCALAR, {text, n}, start};
}

// ---- plain -----------------------------------------------------------------------------------

static bool ends_plain(const struct yaml *y, bool in_flow)
{
    char c = yaml_byte(y, 0), next = yaml_byte(y, 1);
    if (c == ':' &&
        (yaml_is_blank(next) || (in_flow && (next == ',' || next == ']' || next == '}'))))
        return true;
    if (c == '#' && y->at > 0 && yaml_is_blank(y->text[y->at - 1]))
        return true;
    return in_flow && (c == ',' || c == '[' || c == ']' || c == '{' || c == '}');
}

// To the end of what belongs to it in this line.
static struct span plain_line(struct yaml *y, bool in_flow)
{
    size_t start = y->at;
    while (!yaml_at_line_end(y) && !ends_plain(y, in_flow))
        y->at++;
    return span_trim((struct span){y->text + start, y->at - start});
}

// Does a plain text go on in the next line that is not empty? Moves there.
static bool goes_on(struct yaml *y, size_t indent)
{
    struct yaml ahead = *y;
    while (ahead.at < ahead.len && yaml_is_blank(ahead.text[ahead.at])) {
        if (ahead.text[ahead.at++] == '\n')
            ahead.line_start = ahead.at;
    }
    size_t column = ahead.at - ahead.line_start;
    char c = yaml_byte(&ahead, 0);
    if (ahead.at >= ahead.len || ahead.line_start == y->line_start || column < indent || c == '#')
        return false;
    struct yaml probe = ahead;
    plain_line(&probe, false);
    if (yaml_byte(&probe, 0) == ':')
        return false;  // a key, which is an error where it is indented so
    *y = ahead;
    return true;
}

struct yaml_value yaml_plain(struct yaml *y, bool in_flow, size_t indent)
{
    size_t start = y->at;
    struct span text = plain_line(y, in_flow);
    while (!in_flow && yaml_at_line_end(y) && goes_on(y, indent)) {
        struct span more = plain_line(y, false);
        struct span both = pairs_join(y->out, text, more, false);
        if (both.len > text.len)
            ((char *)both.at)[text.len] = ' ';
        text = both;
    }
    return (struct yaml_value){YAML_SCALAR, text, start};
}

// ---- texts of several lines ------------------------------------------------------------------

// Every line that is deeper than `indent`, as it is written: no value that counts is so long.
struct yaml_value yaml_block_text(struct yaml *y, size_t indent)
{
    size_t start = y->at, end;
    while (!yaml_at_line_end(y))
        y->at++;
    end = y->at;
    for (;;) {
        struct yaml ahead = *y;
        while (ahead.at < ahead.len && ahead.text[ahead.at] != '\n')
            ahead.at++;
        ahead.line_start = ++ahead.at;
        if (ahead.at >= ahead.len)
            break;
        while (yaml_byte(&ahead, 0) == ' ')
            ahead.at++;
        bool empty = yaml_at_line_end(&ahead);
        if (!empty && ahead.at - ahead.line_start < indent)
            break;
        while (!yaml_at_line_end(&ahead))
            ahead.at++;
        *y = ahead;
        end = ahead.at;
    }
    return (struct yaml_value){YAML_SCALAR, {y->text + start, end - start}, start};
}
