// JSON at the edge: a file read by jansson becomes the flat `key = value` lines that the library reads.

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "calc/cli/cli.h"

enum { DEPTH_MAX = 16, KEY_MAX = 256 };

struct flat {
    FILE *out;
    const char *name;
    char key[KEY_MAX];
    bool is_model;
};

// A string in quotes; line ends and quotes inside would break the line that it stands in.
static void put_string(FILE *out, const char *s)
{
    fputc('"', out);
    for (; *s; s++)
        fputc(*s == '"' || (unsigned char)*s < 32 || *s == 127 ? ' ' : *s, out);
    fputs("\"\n", out);
}

// A double as few digits as read back the same.
static void put_real(FILE *out, double d)
{
    char text[40];
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, d);
        if (strtod(text, NULL) == d)
            break;
    }
    fprintf(out, "%s\n", text);
}

static int complain(const struct flat *f, const char *text)
{
    fprintf(stderr, "%s:1:1: error: %s\n", f->name, text);
    return CLI_INPUT;
}

static int put_object(struct flat *f, json_t *object, size_t at, int depth);

static int put_value(struct flat *f, json_t *value, size_t at, int depth)
{
    if (json_is_object(value))
        return put_object(f, value, at, depth + 1);
    if (json_is_array(value)) // lists (architectures, layer_types) hold nothing that is asked for
        return CLI_OK;
    fprintf(f->out, "%s = ", f->key);
    if (json_is_string(value))
        put_string(f->out, json_string_value(value));
    else if (json_is_integer(value))
        fprintf(f->out, "%" JSON_INTEGER_FORMAT "\n", json_integer_value(value));
    else if (json_is_real(value))
        put_real(f->out, json_real_value(value));
    else
        fprintf(f->out, "%s\n",
                json_is_true(value)    ? "true"
                : json_is_false(value) ? "false"
                                       : "null");
    return CLI_OK;
}

static int put_object(struct flat *f, json_t *object, size_t at, int depth)
{
    const char *key;
    json_t *value;
    int rc = CLI_OK;
    if (depth > DEPTH_MAX)
        return complain(f, "the objects are nested too deeply");
    json_object_foreach(object, key, value)
    {
        size_t len = strlen(key);
        if (rc != CLI_OK)
            break;
        if (at + len + 2 > KEY_MAX || strpbrk(key, "=\n\r\"# "))
            return complain(f, "a key is too long, or has a blank, quote, '=' or '#' in it");
        memcpy(f->key + at, key, len + 1);
        f->is_model |= strcmp(key, "model_type") == 0;
        size_t next = at + len;
        if (json_is_object(value)) {
            f->key[next++] = '.';
            f->key[next] = 0;
        }
        rc = put_value(f, value, next, depth);
    }
    return rc;
}

// Is the bracket at which reading stopped behind a comma?
static bool after_comma(const struct cli_text *json, const json_error_t *error)
{
    size_t at = error->position > 0 ? (size_t)error->position : 0;
    while (at > 0 && (at > json->len || !strchr("]}", json->text[at - 1])))
        at--;
    while (at > 1 && strchr(" \t\r\n]}", json->text[at - 1]))
        at--;
    return at > 0 && json->text[at - 1] == ',';
}

static int not_json(const struct cli_text *json, const json_error_t *error)
{
    int line = error->line > 0 ? error->line : 1, col = error->column > 0 ? error->column : 1;
    fprintf(stderr, "%s:%d:%d: error: this is not JSON: %s%s\n", json->name, line, col, error->text,
            after_comma(json, error) ? "; remove the comma before it" : "");
    if (json->len)
        cli_show_line(json, (uint32_t)line, (uint32_t)col);
    return CLI_INPUT;
}

int cli_flatten(const struct cli_text *json, struct cli_text *flat, bool *is_model)
{
    json_error_t error;
    const char *nul = memchr(json->text, 0, json->len); // jansson reads over one behind a number
    if (nul) {
        fprintf(stderr, "%s:1:1: error: byte 0 after %zu others is not text: is this the right file?\n",
                json->name, (size_t)(nul - json->text));
        return CLI_INPUT;
    }
    json_t *root = json_loadb(json->text, json->len, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        return not_json(json, &error);
    struct flat f = {.name = json->name};
    int rc = CLI_INPUT;
    f.out = open_memstream(&flat->text, &flat->len);
    if (!f.out)
        complain(&f, "out of memory");
    else if (!json_is_object(root))
        complain(&f, "an object is expected: { \"n_layer\": 12, ... }");
    else
        rc = put_object(&f, root, 0, 0);
    if (f.out && fclose(f.out) != 0)
        rc = complain(&f, "out of memory");
    json_decref(root);
    *is_model = f.is_model;
    return rc;
}
