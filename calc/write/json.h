// JSON: objects and arrays with their commas and indentation.

#ifndef CALC_JSON_H
#define CALC_JSON_H

#include "calc/base/writer.h"

struct json {
    struct writer *w;
    unsigned depth;
    bool empty;  // nothing in the innermost object or array yet
};

struct json json_of(struct writer *w);
void json_open(struct json *j, const char *key,
               char bracket);  // '{' or '['; key NULL inside of arrays
void json_close(struct json *j, char bracket);
void json_u64(struct json *j, const char *key, uint64_t n);
void json_i64(struct json *j, const char *key, int64_t n);
void json_fixed(struct json *j, const char *key, uint64_t n,
                unsigned decimals);                                // without zeros at the end
void json_str(struct json *j, const char *key, const char *text);  // NULL becomes null
void json_bool(struct json *j, const char *key, bool b);
void json_null(struct json *j, const char *key);
void json_end(struct json *j);  // the line end after the outermost bracket

#endif
