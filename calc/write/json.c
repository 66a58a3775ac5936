// Owns the writing of JSON.

#include "calc/write/json.h"

#include "calc/base/text.h"

struct json json_of(struct writer *w)
{
    return (struct json){w, 0, true};
}

static void key_of(struct json *j, const char *key)
{
    if (j->depth > 0) {
        writer_str(j->w, j->empty ? "\n" : ",\n");
        for (unsigned i = 0; i < j->depth; i++)
            writer_str(j->w, "  ");
    }
    j->empty = false;
    if (key) {
        writer_json(j->w, key, text_len(key));
        writer_str(j->w, ": ");
    }
}

void json_open(struct json *j, const char *key, char bracket)
{
    key_of(j, key);
    writer_char(j->w, bracket);
    j->depth++;
    j->empty = true;
}

void json_close(struct json *j, char bracket)
{
    j->depth--;
    if (!j->empty) {
        writer_char(j->w, '\n');
        for (unsigned i = 0; i < j->depth; i++)
            writer_str(j->w, "  ");
    }
    writer_char(j->w, bracket);
    j->empty = false;
}

void json_u64(struct json *j, const char *key, uint64_t n)
{
    key_of(j, key);
    writer_u64(j->w, n);
}

void json_i64(struct json *j, const char *key, int64_t n)
{
    key_of(j, key);
    writer_i64(j->w, n);
}

void json_fixed(struct json *j, const char *key, uint64_t n, unsigned decimals)
{
    key_of(j, key);
    while (decimals > 0 && n % 10 == 0) {
        n /= 10;
        decimals--;
    }
    writer_fixed(j->w, n, decimals, decimals);
}

void json_str(struct json *j, const char *key, const char *text)
{
    key_of(j, key);
    if (text)
        writer_json(j->w, text, text_len(text));
    else
        writer_str(j->w, "null");
}

void json_bool(struct json *j, const char *key, bool b)
{
    key_of(j, key);
    writer_str(j->w, b ? "true" : "false");
}

void json_null(struct json *j, const char *key)
{
    json_str(j, key, NULL);
}

void json_end(struct json *j)
{
    writer_char(j->w, '\n');
}
