// What the files of the TOML reader share: the place in the text, errors, memory.

#ifndef CALC_TOML_READ_H
#define CALC_TOML_READ_H

#include "calc/toml/toml.h"

struct toml_reader {
    const char *text;
    size_t len, at;
    const struct toml_host *host;
    struct toml_value *root, *table;  // table: of the last header
    unsigned errors;
    bool quiet;             // a look ahead: errors are not handed on
    bool broken_braces;     // the value has a table in braces over several lines
    bool in_lines;          // the error lies inside a value of several lines
    bool no_memory, ended;  // reading stops
};

// A dotted key, or the name in a header.
struct toml_path {
    struct toml_text part[TOML_MAX_DEPTH];
    size_t offset[TOML_MAX_DEPTH];
    size_t count;
};

// The byte at r->at, '\n' for a line's end of either kind and past the last byte.
static inline bool toml_at_end(const struct toml_reader *r)
{
    return r->at >= r->len;
}

static inline char toml_byte(const struct toml_reader *r, size_t ahead)
{
    return r->at + ahead < r->len ? r->text[r->at + ahead] : 0;
}

// A line feed, a carriage return with one, or the end of the text.
static inline bool toml_at_line_end(const struct toml_reader *r)
{
    char c = toml_byte(r, 0);
    return toml_at_end(r) || c == '\n' || (c == '\r' && toml_byte(r, 1) == '\n');
}

static inline bool toml_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// Bytes that TOML has in no comment or string.
static inline bool toml_is_control(char c)
{
    return ((unsigned char)c < 0x20 && c != '\t') || c == 0x7F;
}

// Records an error and returns false. other: where the name is given first, or SIZE_MAX.
bool toml_fail(struct toml_reader *r, size_t offset, enum toml_error_id id);
bool toml_fail_name(struct toml_reader *r, size_t offset, enum toml_error_id id, size_t other);
bool toml_fail_here(struct toml_reader *r,
                    enum toml_error_id id);             // of a control character, if one is there
void *toml_alloc(struct toml_reader *r, size_t bytes);  // NULL sets no_memory

// toml_text.c: reports every run of bytes that is not UTF-8, at most one a line.
bool toml_check_utf8(struct toml_reader *r);
void toml_skip_blank(struct toml_reader *r);  // spaces and tabs
bool toml_read_path(struct toml_reader *r, struct toml_path *p);
// A string in quotes at r->at; r->at moves behind it, or as far as the string can be followed.
bool toml_read_string(struct toml_reader *r, bool is_key, struct toml_text *out);

// toml_scalar.c: a number, a date or a bool at r->at.
bool toml_read_bare(struct toml_reader *r, struct toml_value *out);

// toml_table.c. Each records an error and returns NULL where a name cannot be used.
struct toml_value *toml_table_new(struct toml_reader *r);
struct toml_value *toml_add_item(struct toml_reader *r, struct toml_value *array, size_t offset);
// The table that a header opens.
struct toml_value *toml_open_header(struct toml_reader *r, const struct toml_path *p, bool is_array,
                                    size_t offset);
// The new value of a dotted key in table.
struct toml_value *toml_open_key(struct toml_reader *r, struct toml_value *table,
                                 const struct toml_path *p);

#endif
