// Owns the fields of objects of settings. Those that a parser fills have the defaults of their
// classes. SRC: transformers hf_argparser.py, HfArgumentParser; trl scripts/utils.py, TrlParser;
// tyro.

#include "calc/parse/python_filled.h"

#include "calc/base/text.h"
#include "calc/parse/python_find.h"

// Behind blanks and opening brackets.
static const char *opened(const char *at, const char *end)
{
    at = python_over_blanks(at, end);
    while (at < end && (*at == '(' || *at == '['))
        at = python_over_blanks(at + 1, end);
    return at;
}

// ---- what a line binds -----------------------------------------------------------------------

// The names between commas from a place on, without brackets and what is before their points.
static size_t names_at(const char *at, const char *end, struct span names[PYTHON_FILLED])
{
    size_t count = 0;
    while (count < PYTHON_FILLED) {
        at = opened(at, end);
        struct span name = python_word_at(at, end);
        at += name.len;
        if (name.len == 0)
            break;
        bool part = at < end && *at == '.';
        if (!part)
            names[count++] = name;
        at = part ? at : python_over_blanks(at, end);
        if (at == end || (!part && *at != ','))
            break;
        at++;
    }
    return count;
}

// Behind the bracket of the call that an expression begins with, and behind a keyword.
static const char *classes_at(const char *at, const char *end)
{
    static const char keyword[] = "dataclass_types=";
    struct span rest = {at, (size_t)(end - at)};
    rest = span_skip(rest, span_find(rest, "(") + 1);
    return span_starts(rest, keyword) ? rest.at + sizeof keyword - 1 : rest.at;
}

// Where the classes stand whose objects the right side of a line gives; NULL: it gives none.
static const char *filler(const struct python_names *n, struct span right)
{
    static const char *const calls[] = {"parse_args_into_dataclasses(", "parse_args_and_config("};
    struct span parser = python_word_at(right.at, right.at + right.len);
    if (span_starts(right, "tyro.cli("))
        return classes_at(right.at, n->end);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        size_t call = span_find(right, calls[i]);
        if (call == right.len)
            continue;
        const char *made = call == parser.len + 1 ? python_bound_to(n, parser) : right.at;
        return made ? classes_at(made, n->end) : NULL;
    }
    return NULL;
}

bool python_bind_filled(struct python_names *n, struct span line)
{
    struct span names[PYTHON_FILLED], classes[PYTHON_FILLED];
    size_t is = span_find(line, "=");
    const char *at = is > 0 && is < line.len ? filler(n, span_trim(span_skip(line, is + 1))) : NULL;
    if (!at)
        return false;
    size_t count = names_at(line.at, line.at + is, names), all = names_at(at, n->end, classes);
    for (size_t i = 0; i < count && i < all && n->count < PYTHON_NAMES; i++)
        n->bound[n->count++] =
            (struct python_binding){names[i], {.kind = PY_UNKNOWN}, classes[i].at, NULL, true};
    return count > 0;
}

// ---- fields ----------------------------------------------------------------------------------

// What a field of the class is by its own line; NULL: it has no such line.
static const struct python_binding *field_of(const struct python_names *n, struct span class,
                                             struct span name)
{
    for (size_t i = n->count; i-- > 0;) {
        struct span path = n->bound[i].path;
        if (path.len == class.len + 1 + name.len &&
            span_same((struct span){path.at, class.len}, class) && path.at[class.len] == '.' &&
            span_same(span_skip(path, class.len + 1), name))
            return &n->bound[i];
    }
    return NULL;
}

// The keyword among the arguments of the call at a place. false: it has none, or no plain one.
static bool keyword(const struct python_names *n, const char *at, struct span name,
                    struct py_value *out)
{
    struct py_names names = python_names_of(n);
    struct py_error error = {0};
    while (at < n->end && (python_is_name_byte(*at) || *at == '.'))
        at++;
    for (bool more = at < n->end && *at == '('; more; more = at < n->end && *at == ',') {
        at = python_over_blanks(at + 1, n->end);
        struct span word = python_word_at(at, n->end);
        const char *is = python_over_blanks(at + word.len, n->end);
        if (is + 1 < n->end && *is == '=' && is[1] != '=' && span_same(word, name)) {
            py_eval(&names, true, is + 1, n->end, out, &error);
            return !error.at && out->kind != PY_UNKNOWN;
        }
        at = python_over_value(at, n->end);
    }
    return false;
}

// "--name", in the arena.
static struct span flag_of(const struct python_names *n, struct span name)
{
    char *text = mem_arena_new(n->arena, name.len + 3, 1);
    if (!text)
        return name;
    text[0] = text[1] = '-';
    mem_copy(text + 2, name.at, name.len);
    return (struct span){text, name.len + 2};
}

bool python_field(const struct python_names *n, struct span object, struct span name,
                  struct py_value *out)
{
    size_t i = n->count;
    while (i > 0 && !(span_same(n->bound[i - 1].path, object) && n->bound[i - 1].from))
        i--;
    const struct python_binding *made = i ? &n->bound[i - 1] : NULL;
    if (!made || *n->left == 0)
        return false;
    --*n->left;
    struct python_names inner = *n;
    inner.depth++;
    struct span class = python_word_at(python_over_blanks(made->from, n->end), n->end);
    if (!made->filled && (inner.depth > 8 || keyword(&inner, class.at, name, out)))
        return inner.depth <= 8;
    const struct python_binding *field = field_of(n, class, name);
    bool call = made->filled || (class.at + class.len < n->end && class.at[class.len] == '(');
    if (!field || !call || field->value.kind == PY_UNKNOWN)
        return false;
    *out = field->value;
    out->of = made->filled ? flag_of(n, name) : out->of;
    return true;
}
