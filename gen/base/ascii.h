// Classes of ASCII characters, whatever the locale says: a byte of a longer character is in none.
#ifndef GEN_BASE_ASCII_H
#define GEN_BASE_ASCII_H

#include <stdbool.h>

static inline bool ascii_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool ascii_is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static inline bool ascii_is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static inline bool ascii_is_letter(char c)
{
    return ascii_is_lower(c) || ascii_is_upper(c);
}

static inline bool ascii_is_alnum(char c)
{
    return ascii_is_letter(c) || ascii_is_digit(c);
}

static inline char ascii_lower(char c)
{
    return ascii_is_upper(c) ? (char)(c + ('a' - 'A')) : c;
}

// The value of a hexadecimal digit; -1 for what is none.
static inline int ascii_hex(char c)
{
    char low = ascii_lower(c);
    return ascii_is_digit(c) ? c - '0' : low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

#endif
