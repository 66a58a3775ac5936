// Parses options by their table, and finds what a misspelled one was meant to be.
#include "gen/base/args.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = 64 };

// Edits (insert, delete, replace) between two names; at most NAME_MAX_BYTES are looked at.
static size_t distance(const char *a, const char *b)
{
    size_t n = strnlen(a, NAME_MAX_BYTES), m = strnlen(b, NAME_MAX_BYTES);
    size_t row[NAME_MAX_BYTES + 1];
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t replace = corner + (a[i - 1] != b[j - 1]);
            corner = row[j];
            size_t edit = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            row[j] = replace < edit ? replace : edit;
        }
    }
    return row[m];
}

const char *args_nearest(const char *word, const char *const *names, size_t count)
{
    const char *best = NULL;
    size_t least = strlen(word) / 3 + 1;
    for (size_t i = 0; i < count; i++) {
        size_t d = distance(word, names[i]);
        if (d <= least && (!best || d < least))
            best = names[i], least = d;
    }
    return best;
}

static size_t option_count(const struct arg_command *c)
{
    size_t n = 0;
    while (c->options && c->options[n].name)
        n++;
    return n;
}

static const struct arg_option *find_long(const struct arg_command *c, str name)
{
    for (size_t i = 0, n = option_count(c); i < n; i++)
        if (str_eq(str_c(c->options[i].name), name))
            return &c->options[i];
    return NULL;
}

static const struct arg_option *find_short(const struct arg_command *c, char name)
{
    for (size_t i = 0, n = option_count(c); i < n; i++)
        if (c->options[i].letter == name)
            return &c->options[i];
    return NULL;
}

static int unknown(const struct arg_command *c, str name, buf *error)
{
    size_t n = option_count(c);
    const char **names = calloc(n + 1, sizeof *names);
    char *word = strndup(name.len ? name.ptr : "", name.len);
    if (!names || !word)
        buf_no_memory();
    for (size_t i = 0; i < n; i++)
        names[i] = c->options[i].name;
    names[n] = "help";
    const char *near = args_nearest(word, names, n + 1);
    buf_printf(error, "%s: unknown option --%s", c->name, word);
    if (near)
        buf_printf(error, "; did you mean --%s?", near);
    free(names);
    free(word);
    return 2;
}

static bool value_is_optional(const struct arg_option *o)
{
    return o->argument && o->argument[0] == '[';
}

static int set(const struct arg_command *c, const struct arg_option *o, const char *value,
               void *options, buf *error)
{
    char *target = (char *)options + o->offset;
    switch (o->kind) {
    case ARG_FLAG: *(bool *)(void *)target = true; return 0;
    case ARG_STRING: *(const char **)(void *)target = value; return 0;
    case ARG_UINT:
        if (str_u64(str_c(value), (uint64_t *)(void *)target))
            return 0;
    }
    buf_printf(error, "%s: --%s wants a number, not %s", c->name, o->name, value);
    return 2;
}

// What is left of argv while it is parsed.
struct rest {
    int argc, at;
    char **argv;
};

// given: what is behind '=' or the letter; NULL when nothing does.
static int take(const struct arg_command *c, const struct arg_option *o, const char *given,
                struct rest *r, void *options, buf *error)
{
    if (o->kind == ARG_FLAG && given) {
        buf_printf(error, "%s: --%s takes no value", c->name, o->name);
        return 2;
    }
    if (o->kind != ARG_FLAG && !given && value_is_optional(o))
        given = "";
    if (o->kind != ARG_FLAG && !given) {
        if (r->at >= r->argc) {
            buf_printf(error, "%s: --%s wants a value: --%s %s", c->name, o->name, o->name,
                       o->argument);
            return 2;
        }
        given = r->argv[r->at++];
    }
    return set(c, o, given, options, error);
}

static int parse_long(const struct arg_command *c, const char *word, struct rest *r, void *options,
                      buf *error)
{
    str whole = str_c(word);
    size_t equals = str_find(whole, '=');
    str name = str_slice(whole, 0, equals);
    const char *given = equals < whole.len ? word + equals + 1 : NULL;
    const struct arg_option *o = find_long(c, name);
    if (o)
        return take(c, o, given, r, options, error);
    if (str_eq(name, STR("help")))
        return ARGS_HELP;
    return unknown(c, name, error);
}

static int parse_short(const struct arg_command *c, const char *letters, struct rest *r,
                       void *options, buf *error)
{
    for (; *letters; letters++) {
        const struct arg_option *o = find_short(c, *letters);
        if (!o && *letters == 'h')
            return ARGS_HELP;
        if (!o) {
            buf_printf(error, "%s: unknown option -%c", c->name, *letters);
            return 2;
        }
        bool valued = o->kind != ARG_FLAG && letters[1];
        int rc = take(c, o, valued ? letters + 1 : NULL, r, options, error);
        if (rc || valued)
            return rc;
    }
    return 0;
}

int args_parse(const struct arg_command *c, int argc, char **argv, void *options, char ***operands,
               int *operand_count, buf *error)
{
    struct rest r = {argc, 0, argv};
    int kept = 0;
    bool only_operands = false;
    while (r.at < argc) {
        char *word = argv[r.at++];
        int rc = 0;
        if (only_operands || word[0] != '-' || !word[1])
            argv[kept++] = word;
        else if (!strcmp(word, "--"))
            only_operands = true;
        else if (word[1] == '-')
            rc = parse_long(c, word + 2, &r, options, error);
        else
            rc = parse_short(c, word + 1, &r, options, error);
        if (rc)
            return rc;
    }
    *operands = argv;
    *operand_count = kept;
    return 0;
}
