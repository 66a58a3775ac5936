// JSON: a recursive reader bounded in depth, and an indenting writer.
#include "kernels/record/json.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEEPEST = 64 };

struct reader {
    const char *at, *end, *begin;
    char *error;
    size_t error_size;
    int depth;
};

static void *need(void *p)
{
    if (!p) {
        fputs("vramprobe: error: out of host memory\n", stderr);
        exit(3);
    }
    return p;
}

static struct json *json_new(enum json_kind kind)
{
    struct json *j = need(calloc(1, sizeof *j));
    j->kind = kind;
    return j;
}

static struct json *fault(struct reader *r, const char *what)
{
    int line = 1, column = 1;
    for (const char *p = r->begin; p < r->at; p++) {
        column = *p == '\n' ? 1 : column + 1;
        line += *p == '\n';
    }
    if (!*r->error)
        snprintf(r->error, r->error_size, "%d:%d: %s", line, column, what);
    return NULL;
}

static void skip_space(struct reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\t' || *r->at == '\r'))
        r->at++;
}

static struct json *read_value(struct reader *r);

static void put_utf8(char **out, uint32_t c)
{
    char *p = *out;
    if (c < 0x80) {
        *p++ = (char)c;
    } else if (c < 0x800) {
        *p++ = (char)(0xc0 | c >> 6);
        *p++ = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        *p++ = (char)(0xe0 | c >> 12);
        *p++ = (char)(0x80 | ((c >> 6) & 0x3f));
        *p++ = (char)(0x80 | (c & 0x3f));
    } else {
        *p++ = (char)(0xf0 | c >> 18);
        *p++ = (char)(0x80 | ((c >> 12) & 0x3f));
        *p++ = (char)(0x80 | ((c >> 6) & 0x3f));
        *p++ = (char)(0x80 | (c & 0x3f));
    }
    *out = p;
}

static bool read_hex4(struct reader *r, uint32_t *out)
{
    *out = 0;
    for (int i = 0; i < 4; i++, r->at++) {
        char c = r->at < r->end ? *r->at : 0;
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
        if (digit < 0)
            return false;
        *out = *out * 16 + (uint32_t)digit;
    }
    return true;
}

// Behind "\u": one code point, or two halves of one.
static bool read_unicode(struct reader *r, uint32_t *c)
{
    uint32_t low;
    if (!read_hex4(r, c))
        return false;
    if (*c < 0xd800 || *c > 0xdfff)
        return *c != 0;
    if (*c > 0xdbff || r->end - r->at < 6 || r->at[0] != '\\' || r->at[1] != 'u')
        return false;
    r->at += 2;
    if (!read_hex4(r, &low) || low < 0xdc00 || low > 0xdfff)
        return false;
    *c = 0x10000 + ((*c - 0xd800) << 10) + (low - 0xdc00);
    return true;
}

static bool read_escape(struct reader *r, char **out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char c = r->at < r->end ? *r->at++ : 0;
    const char *found = c ? strchr(from, c) : NULL;
    uint32_t code;
    if (found) {
        *(*out)++ = to[found - from];
        return true;
    }
    if (c != 'u' || !read_unicode(r, &code))
        return false;
    put_utf8(out, code);
    return true;
}

// At the opening quote. NULL after a fault.
static char *read_text(struct reader *r)
{
    char *text = need(malloc((size_t)(r->end - r->at) + 1)), *out = text;
    for (r->at++; r->at < r->end && *r->at != '"';) {
        bool good = (unsigned char)*r->at >= 0x20;
        if (good && *r->at == '\\') {
            r->at++;
            good = read_escape(r, &out);
        } else if (good) {
            *out++ = *r->at++;
        }
        if (!good) {
            free(text);
            fault(r, "a string with a character that must be escaped, or a wrong escape");
            return NULL;
        }
    }
    if (r->at == r->end) {
        free(text);
        fault(r, "a string without its closing quote");
        return NULL;
    }
    r->at++;
    *out = 0;
    return need(realloc(text, (size_t)(out - text) + 1));
}

static struct json *read_number(struct reader *r)
{
    char text[64];
    size_t n = 0;
    bool whole = true;
    while (r->at < r->end && n < sizeof text - 1 && *r->at && strchr("+-0123456789.eE", *r->at)) {
        whole = whole && !strchr(".eE", *r->at);
        text[n++] = *r->at++;
    }
    text[n] = 0;
    char *end;
    errno = 0;
    struct json *j = json_new(whole ? JSON_INT : JSON_REAL);
    if (whole)
        j->integer = strtoll(text, &end, 10);
    else
        j->real = strtod(text, &end);
    const char *digits = text + (text[0] == '-');
    bool leading = digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9';
    if (!n || *end || errno || text[0] == '+' || *digits == '.' || leading || (!whole && !isfinite(j->real))) {
        json_free(j);
        return fault(r, "a number that cannot be read");
    }
    return j;
}

static struct json *read_word(struct reader *r)
{
    static const struct { const char *word; enum json_kind kind; bool truth; } words[] = {
        {"true", JSON_BOOL, true}, {"false", JSON_BOOL, false}, {"null", JSON_NULL, false}};
    for (size_t i = 0; i < 3; i++) {
        size_t n = strlen(words[i].word);
        if ((size_t)(r->end - r->at) >= n && memcmp(r->at, words[i].word, n) == 0) {
            r->at += n;
            struct json *j = json_new(words[i].kind);
            j->truth = words[i].truth;
            return j;
        }
    }
    return fault(r, "a value is wanted here");
}

// One member of an object or array, with its key. NULL after a fault.
static struct json *read_member(struct reader *r, bool keyed)
{
    char *key = NULL;
    skip_space(r);
    if (keyed) {
        if (r->at == r->end || *r->at != '"')
            return fault(r, "a key in quotes is wanted here");
        if (!(key = read_text(r)))
            return NULL;
        skip_space(r);
        if (r->at == r->end || *r->at++ != ':') {
            free(key);
            return fault(r, "a colon is wanted here");
        }
    }
    struct json *value = read_value(r);
    if (value)
        value->key = key;
    else
        free(key);
    return value;
}

static struct json *read_group(struct reader *r, bool keyed)
{
    char close = keyed ? '}' : ']';
    struct json *group = json_new(keyed ? JSON_OBJECT : JSON_ARRAY), **tail = &group->first;
    r->at++;
    skip_space(r);
    if (r->at < r->end && *r->at == close) {
        r->at++;
        return group;
    }
    while ((*tail = read_member(r, keyed))) {
        tail = &(*tail)->next;
        skip_space(r);
        char c = r->at < r->end ? *r->at : 0;
        if (c == close || c == ',')
            r->at++;
        if (c == close)
            return group;
        if (c != ',') {
            fault(r, "a comma or the end of the list is wanted here");
            break;
        }
    }
    json_free(group);
    return NULL;
}

static struct json *read_string(struct reader *r)
{
    char *text = read_text(r);
    struct json *j = text ? json_new(JSON_STRING) : NULL;
    if (j)
        j->text = text;
    return j;
}

static struct json *read_value(struct reader *r)
{
    skip_space(r);
    if (r->at == r->end)
        return fault(r, "the text ends where a value is wanted");
    if (r->depth == DEEPEST)
        return fault(r, "too many levels");
    r->depth++;
    char c = *r->at;
    struct json *j = c == '{'   ? read_group(r, true)
                     : c == '[' ? read_group(r, false)
                     : c == '"' ? read_string(r)
                     : c == '-' || (c >= '0' && c <= '9') ? read_number(r)
                                                          : read_word(r);
    r->depth--;
    return j;
}

struct json *json_parse(const char *text, size_t length, char *error, size_t size)
{
    struct reader r = {.at = text, .end = text + length, .begin = text, .error = error, .error_size = size};
    *error = 0;
    struct json *j = read_value(&r);
    skip_space(&r);
    if (j && r.at != r.end) {
        json_free(j);
        return fault(&r, "something stands behind the end");
    }
    return j;
}

struct json *json_read_file(const char *path, char *error, size_t size)
{
    FILE *f = fopen(path, "rb");
    size_t length = 0, capacity = 1 << 16;
    if (!f) {
        snprintf(error, size, "%s", strerror(errno));
        return NULL;
    }
    char *text = need(malloc(capacity));
    for (size_t n; (n = fread(text + length, 1, capacity - length, f)) > 0;) {
        length += n;
        if (length == capacity)
            text = need(realloc(text, capacity *= 2));
    }
    struct json *j = ferror(f) ? NULL : json_parse(text, length, error, size);
    if (ferror(f))
        snprintf(error, size, "cannot be read");
    fclose(f);
    free(text);
    return j;
}

void json_free(struct json *j)
{
    while (j) {
        struct json *next = j->next;
        json_free(j->first);
        free(j->text);
        free(j->key);
        free(j);
        j = next;
    }
}

struct json *json_get(const struct json *object, const char *key)
{
    if (!object || object->kind != JSON_OBJECT)
        return NULL;
    for (struct json *j = object->first; j; j = j->next)
        if (strcmp(j->key, key) == 0)
            return j;
    return NULL;
}

double json_number(const struct json *j)
{
    return !j ? NAN : j->kind == JSON_INT ? (double)j->integer : j->kind == JSON_REAL ? j->real : NAN;
}

const char *json_text(const struct json *j)
{
    return j && j->kind == JSON_STRING ? j->text : "";
}

struct json *json_object(void) { return json_new(JSON_OBJECT); }
struct json *json_array(void) { return json_new(JSON_ARRAY); }
struct json *json_null(void) { return json_new(JSON_NULL); }

struct json *json_int(int64_t v)
{
    struct json *j = json_new(JSON_INT);
    j->integer = v;
    return j;
}

struct json *json_real(double v)
{
    if (!isfinite(v)) {
        fputs("vramprobe: error: a measurement that is not a number\n", stderr);
        exit(1);
    }
    struct json *j = json_new(JSON_REAL);
    j->real = v;
    return j;
}

struct json *json_bool(bool v)
{
    struct json *j = json_new(JSON_BOOL);
    j->truth = v;
    return j;
}

struct json *json_string(const char *text)
{
    struct json *j = json_new(JSON_STRING);
    j->text = need(strdup(text));
    return j;
}

struct json *json_copy(const struct json *j)
{
    struct json *out = json_new(j->kind);
    *out = (struct json){.kind = j->kind, .truth = j->truth, .integer = j->integer, .real = j->real};
    out->text = j->text ? need(strdup(j->text)) : NULL;
    struct json **tail = &out->first;
    for (const struct json *child = j->first; child; child = child->next, tail = &(*tail)->next) {
        *tail = json_copy(child);
        (*tail)->key = child->key ? need(strdup(child->key)) : NULL;
    }
    return out;
}

struct json *json_add(struct json *array, struct json *value)
{
    struct json **tail = &array->first;
    while (*tail)
        tail = &(*tail)->next;
    return *tail = value;
}

struct json *json_set(struct json *object, const char *key, struct json *value)
{
    value->key = need(strdup(key));
    return json_add(object, value);
}

static void write_text(const char *text, FILE *out)
{
    fputc('"', out);
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p == '"' || *p == '\\')
            fprintf(out, "\\%c", *p);
        else if (*p < 0x20)
            fprintf(out, "\\u%04x", *p);
        else
            fputc(*p, out);
    }
    fputc('"', out);
}

static bool has_groups(const struct json *group)
{
    for (const struct json *j = group->first; j; j = j->next)
        if (j->kind >= JSON_ARRAY)
            return true;
    return group->kind == JSON_OBJECT && group->first && group->first->next;
}

// Lists of plain values stay on one line.
static void write_group(const struct json *group, FILE *out, int indent)
{
    bool keyed = group->kind == JSON_OBJECT, lines = has_groups(group);
    fputc(keyed ? '{' : '[', out);
    for (const struct json *j = group->first; j; j = j->next) {
        if (lines)
            fprintf(out, "\n%*s", indent + 1, "");
        if (keyed) {
            write_text(j->key, out);
            fputs(": ", out);
        }
        json_write(j, out, indent + 1);
        fputs(j->next ? (lines ? "," : ", ") : "", out);
    }
    if (lines)
        fprintf(out, "\n%*s", indent, "");
    fputc(keyed ? '}' : ']', out);
}

void json_write(const struct json *j, FILE *out, int indent)
{
    switch (j->kind) {
    case JSON_NULL: fputs("null", out); break;
    case JSON_BOOL: fputs(j->truth ? "true" : "false", out); break;
    case JSON_INT: fprintf(out, "%lld", (long long)j->integer); break;
    case JSON_REAL: fprintf(out, "%.9g", j->real); break;
    case JSON_STRING: write_text(j->text, out); break;
    default: write_group(j, out, indent); break;
    }
}

int json_write_file(const struct json *j, const char *path, bool replace)
{
    char temporary[4096];
    if (!replace && access(path, F_OK) == 0) {
        errno = EEXIST;
        return -1;
    }
    if (snprintf(temporary, sizeof temporary, "%s.tmp", path) >= (int)sizeof temporary) {
        errno = ENAMETOOLONG;
        return -1;
    }
    FILE *f = fopen(temporary, "wb");
    if (!f)
        return -1;
    json_write(j, f, 0);
    fputc('\n', f);
    bool bad = fflush(f) != 0 || fsync(fileno(f)) != 0;
    bad = fclose(f) != 0 || bad;
    if (!bad && rename(temporary, path) == 0)
        return 0;
    int saved = errno;
    unlink(temporary);
    errno = saved;
    return -1;
}
