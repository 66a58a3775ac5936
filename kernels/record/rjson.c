// JSON: a recursive reader that is bounded in depth, and the values that it reads.
#include "kernels/record/rjson.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Levels of a text, and members of an object, each of whose keys is compared with those before it.
enum { DEEPEST = 64, MOST_MEMBERS = 512 };

struct reader {
    const char *at, *end, *line_start;
    int line;
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

static struct rjson *rjson_new(enum rjson_kind kind)
{
    struct rjson *j = need(calloc(1, sizeof *j));
    j->kind = kind;
    return j;
}

static struct rjson *fault(struct reader *r, const char *what)
{
    if (!*r->error)
        snprintf(r->error, r->error_size, "%d:%d: %s", r->line, (int)(r->at - r->line_start) + 1,
                 what);
    return NULL;
}

static void skip_space(struct reader *r)
{
    for (; r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\t' || *r->at == '\r');
         r->at++)
        if (*r->at == '\n') {
            r->line++;
            r->line_start = r->at + 1;
        }
}

static struct rjson *read_value(struct reader *r);

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
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return false;
        *out = *out * 16 + (uint32_t)digit;
    }
    return true;
}

// After "\u": one code point, or a pair of surrogates.
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

// From the opening quote. Returns NULL after an error.
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

static struct rjson *read_number(struct reader *r)
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
    struct rjson *j = rjson_new(whole ? RJSON_INT : RJSON_REAL);
    if (whole)
        j->integer = strtoll(text, &end, 10);
    else
        j->real = strtod(text, &end) + 0.0;  // minus zero is zero: its sign would be lost anyway
    const char *digits = text + (text[0] == '-');
    const char *dot = strchr(digits, '.');
    bool leading = digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9';
    bool open = dot && !(dot[1] >= '0' && dot[1] <= '9');
    if (!n || *end || errno || text[0] == '+' || *digits == '.' || leading || open ||
        (!whole && !isfinite(j->real))) {
        rjson_free(j);
        return fault(r, "a number that cannot be read");
    }
    return j;
}

static struct rjson *read_word(struct reader *r)
{
    static const struct {
        const char *word;
        enum rjson_kind kind;
        bool truth;
    } words[] = {
        {"true", RJSON_BOOL, true}, {"false", RJSON_BOOL, false}, {"null", RJSON_NULL, false}};
    for (size_t i = 0; i < 3; i++) {
        size_t n = strlen(words[i].word);
        if ((size_t)(r->end - r->at) >= n && memcmp(r->at, words[i].word, n) == 0) {
            r->at += n;
            struct rjson *j = rjson_new(words[i].kind);
            j->truth = words[i].truth;
            return j;
        }
    }
    return fault(r, "a value is wanted here");
}

// One member of an object or array, with its key. Returns NULL after an error.
static struct rjson *read_member(struct reader *r, bool keyed)
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
    struct rjson *value = read_value(r);
    if (value)
        value->key = key;
    else
        free(key);
    return value;
}

static bool is_twice(const struct rjson *group, const struct rjson *member)
{
    for (const struct rjson *j = group->first; j != member; j = j->next)
        if (strcmp(j->key, member->key) == 0)
            return true;
    return false;
}

static struct rjson *read_group(struct reader *r, bool keyed)
{
    char close = keyed ? '}' : ']';
    struct rjson *group = rjson_new(keyed ? RJSON_OBJECT : RJSON_ARRAY), **tail = &group->first;
    r->at++;
    skip_space(r);
    if (r->at < r->end && *r->at == close) {
        r->at++;
        return group;
    }
    for (int count = 0; (*tail = read_member(r, keyed)); count++) {
        if (keyed && (count == MOST_MEMBERS || is_twice(group, *tail))) {
            fault(r, count == MOST_MEMBERS ? "an object with too many members"
                                           : "a key that the object has already");
            break;
        }
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
    rjson_free(group);
    return NULL;
}

static struct rjson *read_string(struct reader *r)
{
    char *text = read_text(r);
    struct rjson *j = text ? rjson_new(RJSON_STRING) : NULL;
    if (j)
        j->text = text;
    return j;
}

static struct rjson *read_value(struct reader *r)
{
    skip_space(r);
    if (r->at == r->end)
        return fault(r, "the text ends where a value is wanted");
    if (r->depth == DEEPEST)
        return fault(r, "too many levels");
    r->depth++;
    char c = *r->at;
    int line = r->line, column = (int)(r->at - r->line_start) + 1;
    struct rjson *j = c == '{'                             ? read_group(r, true)
                      : c == '['                           ? read_group(r, false)
                      : c == '"'                           ? read_string(r)
                      : c == '-' || (c >= '0' && c <= '9') ? read_number(r)
                                                           : read_word(r);
    r->depth--;
    if (j) {
        j->line = line;
        j->column = column;
    }
    return j;
}

struct rjson *rjson_parse(const char *text, size_t length, char *error, size_t size)
{
    struct reader r = {.at = text,
                       .end = text + length,
                       .line_start = text,
                       .line = 1,
                       .error = error,
                       .error_size = size};
    *error = 0;
    struct rjson *j = read_value(&r);
    skip_space(&r);
    if (j && r.at != r.end) {
        rjson_free(j);
        return fault(&r, "there is something after the end");
    }
    return j;
}

struct rjson *rjson_read_file(const char *path, char *error, size_t size)
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
    struct rjson *j = ferror(f) ? NULL : rjson_parse(text, length, error, size);
    if (ferror(f))
        snprintf(error, size, "cannot be read");
    fclose(f);
    free(text);
    return j;
}

void rjson_free(struct rjson *j)
{
    while (j) {
        struct rjson *next = j->next;
        rjson_free(j->first);
        free(j->text);
        free(j->key);
        free(j);
        j = next;
    }
}

struct rjson *rjson_get(const struct rjson *object, const char *key)
{
    if (!object || object->kind != RJSON_OBJECT)
        return NULL;
    for (struct rjson *j = object->first; j; j = j->next)
        if (strcmp(j->key, key) == 0)
            return j;
    return NULL;
}

double rjson_number(const struct rjson *j)
{
    return !j                      ? NAN
           : j->kind == RJSON_INT  ? (double)j->integer
           : j->kind == RJSON_REAL ? j->real
                                   : NAN;
}

const char *rjson_text(const struct rjson *j)
{
    return j && j->kind == RJSON_STRING ? j->text : "";
}

struct rjson *rjson_object(void)
{
    return rjson_new(RJSON_OBJECT);
}
struct rjson *rjson_array(void)
{
    return rjson_new(RJSON_ARRAY);
}
struct rjson *rjson_null(void)
{
    return rjson_new(RJSON_NULL);
}

struct rjson *rjson_int(int64_t v)
{
    struct rjson *j = rjson_new(RJSON_INT);
    j->integer = v;
    return j;
}

struct rjson *rjson_real(double v)
{
    if (!isfinite(v)) {
        fputs("vramprobe: error: a measurement that is not a number\n", stderr);
        exit(1);
    }
    struct rjson *j = rjson_new(RJSON_REAL);
    j->real = v;
    return j;
}

struct rjson *rjson_bool(bool v)
{
    struct rjson *j = rjson_new(RJSON_BOOL);
    j->truth = v;
    return j;
}

struct rjson *rjson_string(const char *text)
{
    struct rjson *j = rjson_new(RJSON_STRING);
    j->text = need(strdup(text));
    return j;
}

struct rjson *rjson_copy(const struct rjson *j)
{
    struct rjson *out = rjson_new(j->kind);
    *out =
        (struct rjson){.kind = j->kind, .truth = j->truth, .integer = j->integer, .real = j->real};
    out->text = j->text ? need(strdup(j->text)) : NULL;
    struct rjson **tail = &out->first;
    for (const struct rjson *child = j->first; child; child = child->next, tail = &(*tail)->next) {
        *tail = rjson_copy(child);
        (*tail)->key = child->key ? need(strdup(child->key)) : NULL;
    }
    return out;
}

struct rjson *rjson_add(struct rjson *array, struct rjson *value)
{
    struct rjson **tail = &array->first;
    while (*tail)
        tail = &(*tail)->next;
    return *tail = value;
}

struct rjson *rjson_set(struct rjson *object, const char *key, struct rjson *value)
{
    value->key = need(strdup(key));
    return rjson_add(object, value);
}
