// JSON as records need it: a small reader into one tree, a writer that indents, whole numbers kept
// whole.
#ifndef KERNELS_RJSON_H
#define KERNELS_RJSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

enum rjson_kind {
    RJSON_NULL,
    RJSON_BOOL,
    RJSON_INT,
    RJSON_REAL,
    RJSON_STRING,
    RJSON_ARRAY,
    RJSON_OBJECT
};

struct rjson {
    enum rjson_kind kind;
    bool truth;
    int64_t integer;
    double real;                 // of RJSON_REAL; rjson_number gives either
    char *text;                  // of RJSON_STRING: UTF-8, NUL-terminated
    char *key;                   // within an object
    struct rjson *first, *next;  // children of an array or object, in order; the next sibling
    int line, column;            // where it was read, from 1; 0 when it was not
};

// Returns NULL with place and reason in error (size bytes); reads at most 64 levels. The caller
// frees the tree.
struct rjson *rjson_parse(const char *text, size_t length, char *error, size_t size);
struct rjson *rjson_read_file(const char *path, char *error, size_t size);
void rjson_free(struct rjson *j);
// Returns NULL when the key is absent or object is no object.
struct rjson *rjson_get(const struct rjson *object, const char *key);
double rjson_number(const struct rjson *j);
const char *rjson_text(const struct rjson *j);  // "" when it is no string

// New values. When the host runs out of memory the program ends: a measurement without its record
// is worth nothing.
struct rjson *rjson_object(void);
struct rjson *rjson_array(void);
struct rjson *rjson_int(int64_t v);
struct rjson *rjson_real(double v);  // must be finite
struct rjson *rjson_bool(bool v);
struct rjson *rjson_string(const char *text);
struct rjson *rjson_null(void);
struct rjson *rjson_copy(const struct rjson *j);
// Appends value, which the tree then owns. Returns value.
struct rjson *rjson_set(struct rjson *object, const char *key, struct rjson *value);
struct rjson *rjson_add(struct rjson *array, struct rjson *value);

void rjson_write(const struct rjson *j, FILE *out, int indent);
// Writes by temporary file and rename. Returns 0, or -1 with errno: EEXIST when the file exists and
// may not be replaced.
int rjson_write_file(const struct rjson *j, const char *path, bool replace);

#ifdef __cplusplus
}
#endif

#endif
