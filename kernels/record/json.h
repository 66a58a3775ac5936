// JSON as records need it: a small reader into one tree, a writer that indents, whole numbers kept whole.
#ifndef KERNELS_JSON_H
#define KERNELS_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

enum json_kind { JSON_NULL, JSON_BOOL, JSON_INT, JSON_REAL, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json {
    enum json_kind kind;
    bool truth;
    int64_t integer;
    double real;          // of JSON_REAL; json_number gives either
    char *text;           // of JSON_STRING: UTF-8, NUL-terminated
    char *key;            // within an object
    struct json *first, *next;  // children of an array or object, in order; the next sibling
};

// NULL after saying in error (size bytes) where and what; 64 levels deep at most. The caller frees the tree.
struct json *json_parse(const char *text, size_t length, char *error, size_t size);
struct json *json_read_file(const char *path, char *error, size_t size);
void json_free(struct json *j);
// NULL when absent or when object is no object.
struct json *json_get(const struct json *object, const char *key);
double json_number(const struct json *j);
const char *json_text(const struct json *j);  // "" when it is no string

// New values. Host memory running out ends the program: a measurement without its record is worth nothing.
struct json *json_object(void);
struct json *json_array(void);
struct json *json_int(int64_t v);
struct json *json_real(double v);     // must be finite
struct json *json_bool(bool v);
struct json *json_string(const char *text);
struct json *json_null(void);
struct json *json_copy(const struct json *j);
// Appends value, which the tree then owns. Returns value.
struct json *json_set(struct json *object, const char *key, struct json *value);
struct json *json_add(struct json *array, struct json *value);

void json_write(const struct json *j, FILE *out, int indent);
// By temporary file and rename. 0, or -1 with errno; -1 and EEXIST when it exists and may not be replaced.
int json_write_file(const struct json *j, const char *path, bool replace);

#ifdef __cplusplus
}
#endif

#endif
