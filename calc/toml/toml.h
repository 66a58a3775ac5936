// TOML 1.0 as a tree: the whole language, https://toml.io/en/v1.0.0. It includes nothing of the
// project and no library, so that the estimator's core and the generator read TOML by the same
// code.

#ifndef CALC_TOML_H
#define CALC_TOML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Arrays, tables and the parts of a key, one inside the other: what is deeper is an error.
enum { TOML_MAX_DEPTH = 64 };

// After this many errors the rest of a text is not read.
enum { TOML_MAX_ERRORS = 50 };

enum toml_kind {
    TOML_TABLE,
    TOML_ARRAY,
    TOML_STRING,
    TOML_INTEGER,
    TOML_FLOAT,
    TOML_BOOL,
    TOML_OFFSET_DATE_TIME,
    TOML_LOCAL_DATE_TIME,
    TOML_LOCAL_DATE,
    TOML_LOCAL_TIME,
};

enum toml_made { TOML_BY_SUPER, TOML_BY_DOTS, TOML_BY_HEADER, TOML_BY_VALUE };

// len bytes, not NUL-terminated; may hold NULs.
struct toml_text {
    const char *at;
    size_t len;
};

// A date, a time or both; what the value does not have is 0.
struct toml_date {
    uint32_t nanosecond;   // digits behind the ninth are cut
    int16_t year, offset;  // offset: minutes east of UTC
    uint8_t month, day;    // from 1
    uint8_t hour, minute, second,
        zoned;  // second: 60 in a leap second; zoned: an offset or Z is given
};

struct toml_index;

struct toml_value {
    struct toml_text key;     // in a table
    size_t key_offset;        // bytes from the start of the text
    size_t offset;            // of the value; of a table or array by header: of the header
    struct toml_value *next;  // the value behind it, in the order of the text, or NULL
    uint8_t kind;             // enum toml_kind
    uint8_t made, depth;      // the reader's own
    union {
        struct {  // a table or an array
            struct toml_value *first, *last;
            size_t count;
            struct toml_index *index;  // the reader's own
        };
        struct {
            struct toml_text
                text;  // of a string its content, of others what is written, of a float without '_'
            union {
                int64_t integer;  // of an integer; 0 or 1 of a bool
                struct toml_date date;
            };
        };
    };
};

enum toml_error_id {
#define X(id, sentence) TOML_E_##id,
#include "calc/toml/toml.def"
#undef X
    TOML_E_COUNT
};

struct toml_error {
    enum toml_error_id id;
    size_t offset;  // bytes from the start of the text
    size_t other;   // the place where the name is given first, or SIZE_MAX
};

// Memory and messages. alloc returns zeroed bytes, aligned for any type, that live as long as the
// tree does, or NULL. error gets every error as it is found: in the order of the text, but for what
// is not closed, which is known late. A text that is not UTF-8 gets no other errors.
struct toml_host {
    void *(*alloc)(void *ctx, size_t bytes);
    void (*error)(void *ctx, const struct toml_error *e);
    void *ctx;
};

enum toml_status { TOML_OK, TOML_INVALID, TOML_NO_MEMORY };

// Reads len bytes at text as one document. *root is its table, or NULL unless the status is
// TOML_OK. Keys and strings without escapes are views of text, the rest is host's memory. Takes
// time proportional to len, and memory of at most 80 bytes for a byte of text; no recursion.
enum toml_status toml_read(const char *text, size_t len, const struct toml_host *host,
                           struct toml_value **root);

// The value of a key, or NULL. table is of kind TOML_TABLE.
const struct toml_value *toml_get(const struct toml_value *table, struct toml_text key);

// What is wrong and what to do, one clause or two: static, lower case, without a full stop.
const char *toml_sentence(enum toml_error_id id);

#endif
