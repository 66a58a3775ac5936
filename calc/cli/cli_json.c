// Owns the flattening of JSON: jansson says whether it is JSON, then one walk over the text gives keys, values and their
// places.

#include "calc/cli/cli_json.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calc/cli/cli_options.h"

enum { DEPTH_MAX = 16, KEY_MAX = 256 };

struct walk {
    const struct cli_texts *texts;
    const struct cli_text *json;
    const char *at;
    uint32_t line, col;
    char key[KEY_MAX];
    uint32_t key_line, key_col;
    struct cli_pairs *out;
    const char *problem;  // NULL: none
};

// ---- the text --------------------------------------------------------------------------------

static void step(struct walk *w)
{
    w->col = *w->at == '\n' ? 1 : w->col + (((unsigned char)w->at[1] & 0xc0) != 0x80);
    w->line += *w->at == '\n';
    w->at++;
}

static void blanks(struct walk *w)
{
    while (*w->at && strchr(" \t\r\n", *w->at))
        step(w);
}

// UTF-8 of a code point.
static void put_code(FILE *out, unsigned code)
{
    if (code < 0x80) {
        fputc((int)code, out);
    } else if (code < 0x800) {
        fputc((int)(0xc0 | code >> 6), out);
        fputc((int)(0x80 | (code & 63)), out);
    } else if (code < 0x10000) {
        fputc((int)(0xe0 | code >> 12), out);
        fputc((int)(0x80 | (code >> 6 & 63)), out);
        fputc((int)(0x80 | (code & 63)), out);
    } else {
        fputc((int)(0xf0 | code >> 18), out);
        fputc((int)(0x80 | (code >> 12 & 63)), out);
        fputc((int)(0x80 | (code >> 6 & 63)), out);
        fputc((int)(0x80 | (code & 63)), out);
    }
}

static unsigned hex4(struct walk *w)
{
    char digits[5] = "";
    for (int i = 0; i < 4 && *w->at; i++, step(w))
        digits[i] = *w->at;
    return (unsigned)strtoul(digits, NULL, 16);
}

// Behind the backslash.
static void escape(struct walk *w, FILE *out)
{
    static const char letters[] = "bfnrt", means[] = "\b\f\n\r\t";
    const char *found = strchr(letters, *w->at);
    if (*w->at != 'u') {
        fputc(found && *found ? means[found - letters] : *w->at, out);
        step(w);
        return;
    }
    step(w);
    unsigned code = hex4(w);
    if (code >= 0xd800 && code < 0xdc00 && w->at[0] == '\\' && w->at[1] == 'u') {
        step(w);
        step(w);
        code = 0x10000 + ((code & 0x3ff) << 10) + (hex4(w) & 0x3ff);
    }
    put_code(out, code);
}

static void string(struct walk *w, FILE *out)
{
    for (step(w); *w->at && *w->at != '"';) {
        if (*w->at == '\\') {
            step(w);
            escape(w, out);
        } else {
            fputc(*w->at, out);
            step(w);
        }
    }
    step(w);
}

// A number with a point or an exponent in as few digits as read back the same: 1e5 is a count, too.
static void number(const char *text, FILE *out)
{
    char shortest[40];
    if (!strpbrk(text, ".eE")) {
        fputs(text, out);
        return;
    }
    double d = strtod(text, NULL);
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(shortest, sizeof shortest, "%.*g", digits, d);
        if (strtod(shortest, NULL) == d)
            break;
    }
    fputs(shortest, out);
}

static void word(struct walk *w, FILE *out)
{
    char text[64];
    size_t n = 0;
    for (; *w->at && !strchr(" \t\r\n,]}", *w->at); step(w))
        if (n + 1 < sizeof text)
            text[n++] = *w->at;
    text[n] = 0;
    if (strchr("-0123456789", text[0]))
        number(text, out);
    else
        fputs(text, out);
}

// A string, number or literal as a text of its own; NULL without memory.
static char *scalar(struct walk *w)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    if (!out)
        return NULL;
    if (*w->at == '"')
        string(w, out);
    else
        word(w, out);
    return fclose(out) == 0 ? text : NULL;
}

// ---- values ----------------------------------------------------------------------------------

static void fail(struct walk *w, const char *problem)
{
    if (!w->problem)
        w->problem = problem;
}

static void add(struct walk *w, char *value, uint32_t line, uint32_t col)
{
    struct vram_pair *more = realloc(w->out->at, (w->out->count + 1) * sizeof *more);
    char *key = strdup(w->key);
    if (more)
        w->out->at = more;
    if (!more || !key || !value) {
        free(key);
        free(value);
        fail(w, "out of memory");
        return;
    }
    w->out->at[w->out->count++] = (struct vram_pair){key, value, w->key_line, w->key_col, line, col};
}

static void object(struct walk *w, size_t prefix, int depth);

// Lists (architectures, layer_types) hold nothing that is asked for.
static void skip_list(struct walk *w)
{
    int level = 0;
    do {
        if (*w->at == '"') {
            free(scalar(w));
            continue;
        }
        level += (*w->at == '[' || *w->at == '{') - (*w->at == ']' || *w->at == '}');
        step(w);
    } while (*w->at && level > 0);
}

static void value(struct walk *w, size_t len, int depth)
{
    if (*w->at == '{') {
        w->key[len] = '.';
        object(w, len + 1, depth + 1);
    } else if (*w->at == '[') {
        skip_list(w);
    } else {
        uint32_t line = w->line, col = w->col;
        add(w, scalar(w), line, col);
    }
}

// Appends the next key behind `prefix` bytes. Returns the length of both, 0 where it does not fit.
static size_t key(struct walk *w, size_t prefix)
{
    w->key_line = w->line;
    w->key_col = w->col;
    char *name = scalar(w);
    size_t len = name ? strlen(name) : 0;
    if (!name || prefix + len + 2 > KEY_MAX) {
        fail(w, name ? "a key is too long" : "out of memory");
        free(name);
        return 0;
    }
    memcpy(w->key + prefix, name, len + 1);
    w->out->is_model |= strcmp(name, "model_type") == 0;
    free(name);
    return prefix + len;
}

static void object(struct walk *w, size_t prefix, int depth)
{
    if (depth > DEPTH_MAX)
        fail(w, "the objects are nested too deeply");
    step(w);
    blanks(w);
    while (*w->at == '"' && !w->problem) {
        size_t len = key(w, prefix);
        blanks(w);
        step(w);  // the colon
        blanks(w);
        if (!w->problem)
            value(w, len, depth);
        w->key[prefix] = 0;
        blanks(w);
        if (*w->at == ',')
            step(w);
        blanks(w);
    }
    step(w);
}

// ---- all -------------------------------------------------------------------------------------

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

static int not_json(const struct cli_texts *t, const struct cli_text *json, const json_error_t *error)
{
    char text[JSON_ERROR_TEXT_LENGTH + 80];
    int line = error->line > 0 ? error->line : 1, col = error->column > 0 ? error->column : 1;
    snprintf(text, sizeof text, "this is not JSON: %s%s", error->text,
             after_comma(json, error) ? "; remove the comma before it" : "");
    cli_say(t, json->name, (uint32_t)line, (uint32_t)col, text);
    return CLI_INPUT;
}

static int complain(const struct cli_texts *t, const struct cli_text *json, const char *text)
{
    cli_say(t, json->name, 0, 0, text);
    return CLI_INPUT;
}

int cli_flatten(const struct cli_texts *t, const struct cli_text *json, struct cli_pairs *out)
{
    json_error_t error;
    const char *nul = memchr(json->text, 0, json->len);  // jansson reads over one behind a number
    char text[80];
    *out = (struct cli_pairs){NULL, 0, false};
    if (nul) {
        snprintf(text, sizeof text, "byte 0 after %zu others is not text: is this the right file?",
                 (size_t)(nul - json->text));
        return complain(t, json, text);
    }
    json_t *root = json_loadb(json->text, json->len, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        return not_json(t, json, &error);
    bool is_object = json_is_object(root);
    json_decref(root);
    if (!is_object)
        return complain(t, json, "an object is expected: { \"n_layer\": 12, ... }");
    struct walk w = {.texts = t, .json = json, .at = json->text, .line = 1, .col = 1, .out = out};
    blanks(&w);
    object(&w, 0, 0);
    return w.problem ? complain(t, json, w.problem) : CLI_OK;
}

void cli_pairs_free(struct cli_pairs *p)
{
    for (size_t i = 0; i < p->count; i++) {
        free((char *)p->at[i].key);
        free((char *)p->at[i].value);
    }
    free(p->at);
}
