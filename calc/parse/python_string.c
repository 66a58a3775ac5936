// Owns what the escapes in a Python string stand for. SRC: the Python language reference, String
// and Bytes literals.

#include "calc/parse/python_string.h"

#include "calc/base/text.h"

// A letter behind a backslash, and the one byte that both stand for.
static const char LETTERS[] = "\\'\"abfnrtv", BYTES[] = "\\'\"\a\b\f\n\r\t\v";

static size_t letter_at(char c)
{
    return span_find((struct span){LETTERS, sizeof LETTERS - 1}, (char[2]){c, 0});
}

static bool is_octal(char c)
{
    return c >= '0' && c <= '7';
}

// A backslash before what is no escape stays, as does the letter behind it.
static bool is_escape(char c)
{
    return letter_at(c) < sizeof LETTERS - 1 || is_octal(c) || c == '\n' || c == 'x' || c == 'N' ||
           c == 'u' || c == 'U';
}

bool python_string_plain(struct span text)
{
    for (size_t i = 0; i + 1 < text.len; i++)
        if (text.at[i] == '\\' && is_escape(text.at[++i]))
            return false;
    return true;
}

// A number of `most` digits at most; *n is how many there are.
static uint32_t digits(struct span rest, uint32_t base, size_t most, size_t *n)
{
    uint32_t code = 0;
    for (*n = 0; *n < most && *n < rest.len; ++*n) {
        char c = rest.at[*n], low = (char)(c | 0x20);
        uint32_t digit = c >= '0' && c <= '9'       ? (uint32_t)(c - '0')
                         : low >= 'a' && low <= 'f' ? (uint32_t)(low - 'a' + 10)
                                                    : base;
        if (digit >= base)
            break;
        code = code * base + digit;
    }
    return code;
}

// A character in UTF-8. Returns its bytes; 0: it is none.
static size_t put(char *to, uint32_t code)
{
    if (code < 0x80) {
        *to = (char)code;
        return 1;
    }
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return 0;
    size_t more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    to[0] = (char)(0xff00 >> (more + 1) | code >> 6 * more);
    for (size_t i = 1; i <= more; i++)
        to[i] = (char)(0x80 | (code >> 6 * (more - i) & 0x3f));
    return more + 1;
}

// One by its number: \x41, \101, \u0041, \U00000041.
static bool numbered(struct span *rest, char **to)
{
    char c = *rest->at;
    size_t want = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 3, n;
    bool octal = is_octal(c);
    *rest = span_skip(*rest, octal ? 0 : 1);
    uint32_t code = digits(*rest, octal ? 8 : 16, want, &n);
    size_t made = octal || n == want ? put(*to, code) : 0;
    *rest = span_skip(*rest, n);
    *to += made;
    return made > 0;
}

// What is behind a backslash.
static bool escaped(struct span *rest, char **to)
{
    char c = *rest->at;
    size_t letter = letter_at(c);
    if (!is_escape(c)) {
        *(*to)++ = '\\';
        return true;
    }
    if (letter == sizeof LETTERS - 1 && c != '\n')
        return c != 'N' && numbered(rest, to);
    if (c != '\n')  // at a line's end the string goes on
        *(*to)++ = BYTES[letter];
    *rest = span_skip(*rest, 1);
    return true;
}

bool python_string_read(struct mem_arena *arena, struct span text, struct span *out)
{
    char *start = arena ? mem_arena_new(arena, text.len + 1, 1) : NULL, *to = start;
    bool said = start != NULL;
    while (said && text.len) {
        char c = *text.at;
        text = span_skip(text, 1);
        if (c == '\\' && text.len)
            said = escaped(&text, &to);
        else
            *to++ = c;
    }
    *out = (struct span){start, (size_t)(to - start)};
    return said;
}
