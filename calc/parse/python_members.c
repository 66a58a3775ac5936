// Owns the reading of dictionaries that a Python file makes of literals, names and other
// dictionaries. Nothing is run.

#include "calc/parse/python_members.h"

#include "calc/parse/python_find.h"

enum { DEPTH = 8 };

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// To the next byte that says something, in brackets.
static const char *skip(const char *at, const char *end)
{
    while (at < end) {
        while (at < end && is_blank(*at))
            at++;
        if (at == end || *at != '#')
            break;
        while (at < end && *at != '\n')
            at++;
    }
    return at;
}

// In a line: what a line end closes is over.
static const char *skip_spaces(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return at;
}

static size_t word(const char *at, const char *end)
{
    size_t n = 0;
    while (at + n < end && python_is_name_byte(at[n]))
        n++;
    return n;
}

// Behind an expression: at a comma or a bracket that it does not open, or at the end of its line
// where it is in none.
static const char *expression_end(const char *at, const char *end, bool inside)
{
    for (size_t depth = 0; at < end;) {
        const char *quiet = python_over_quiet(at, end);
        if (quiet > at && (*at != '#' || inside || depth > 0)) {
            at = quiet;
            continue;
        }
        bool opens = *at == '(' || *at == '[' || *at == '{',
             closes = *at == ')' || *at == ']' || *at == '}';
        if (depth == 0 && (closes || *at == ',' || *at == '#' || (*at == '\n' && !inside)))
            return at;
        depth += opens;
        depth -= closes;
        at++;
    }
    return at;
}

static void unread(struct python_members *m, const char *at)
{
    if (!m->unread)
        m->unread = at;
}

// Dictionaries may hold each other twice over: a file's look-ups have an end.
static bool may_look(struct python_members *m)
{
    bool may = *m->names->left > 0;
    *m->names->left -= may;
    return may;
}

// A later value of a key is the one that counts.
static void add(struct python_members *m, struct python_member one)
{
    size_t i = 0;
    while (i < m->count && !span_same(m->at[i].key, one.key))
        i++;
    if (i == PYTHON_MEMBERS)
        unread(m, one.key_at);
    else
        m->at[i] = one;
    m->count += i == m->count && i < PYTHON_MEMBERS;
}

// "key": value; false where that is something else, as a comprehension is.
static bool add_item(struct python_members *m, const char **at, const char *end)
{
    struct py_names names = python_names_of(m->names);
    struct py_value key;
    struct py_error error;
    const char *key_at = *at;
    const char *colon = py_eval(&names, true, key_at, end, &key, &error);
    if (error.at)
        return false;
    colon = skip(colon, end);
    if (colon == end || *colon != ':')
        return false;
    const char *value = skip(colon + 1, end);
    *at = expression_end(value, end, true);
    struct span text = {value, (size_t)(*at - value)};
    if (key.kind != PY_STR || span_find(text, " for ") < text.len)
        return false;
    add(m, (struct python_member){key.s, key_at, value, *at});
    return true;
}

// Of {...}, behind its bracket.
static const char *items(struct python_members *m, const char *at, const char *end)
{
    for (at = skip(at, end); at < end && *at != '}'; at = skip(at, end)) {
        const char *start = at;
        if (end - at > 2 && at[0] == '*' && at[1] == '*')
            at = python_members(m, at + 2, end);
        else if (!add_item(m, &at, end)) {
            unread(m, start);
            at = expression_end(start, end, true);
        }
        if (at < end && *at != '}')
            at++;
    }
    return at < end ? at + 1 : at;
}

// Of dict(...) and x.update(...), behind the bracket: key=value, **others, a dictionary.
static const char *arguments(struct python_members *m, const char *at, const char *end)
{
    for (at = skip(at, end); at < end && *at != ')'; at = skip(at, end)) {
        size_t n = word(at, end);
        const char *behind = skip(at + n, end);
        bool named = n > 0 && behind + 1 < end && *behind == '=' && behind[1] != '=';
        const char *value = named ? skip(behind + 1, end) : at;
        if (named) {
            const char *stop = expression_end(value, end, true);
            add(m, (struct python_member){{at, n}, at, value, stop});
            at = stop;
        } else
            at = python_members(m, at[0] == '*' && at[1] == '*' ? at + 2 : at, end);
        if (at < end && *at != ')')
            at++;
    }
    return at < end ? at + 1 : at;
}

// x["k"] = value, x.update(...), x |= {...}: a line that changes a dictionary.
static void change(struct python_members *m, const char *line, size_t name)
{
    const char *end = m->names->end, *at = line + name;
    enum python_truth done = python_condition(m->names, line);
    struct span rest = {at, (size_t)(end - at)};
    struct py_names names = python_names_of(m->names);
    struct py_value key = {.kind = PY_UNKNOWN};
    struct py_error error = {0};
    if (done == PYTHON_NEVER)
        return;
    if (done == PYTHON_PERHAPS || !may_look(m))
        unread(m, line);
    else if (span_starts(rest, ".update("))
        arguments(m, at + 8, end);
    else if (span_starts(span_trim(rest), "|="))
        python_members(m, skip_spaces(at, end) + 2, end);
    else if (*at == '[') {
        const char *close = py_eval(&names, true, at + 1, end, &key, &error);
        const char *is = error.at || close == end ? end : skip_spaces(close + 1, end);
        bool sets = !error.at && key.kind == PY_STR && *close == ']' && is + 1 < end &&
                    is[0] == '=' && is[1] != '=';
        const char *value = sets ? skip_spaces(is + 1, end) : end;
        if (sets)
            add(m, (struct python_member){key.s, line, value, expression_end(value, end, false)});
        else
            unread(m, line);
    } else
        unread(m, line);
}

// What a name is bound to above, once, and then the lines that changed it.
static void named(struct python_members *m, struct span name)
{
    const struct python_names *n = m->names;
    size_t i = may_look(m) ? n->count : 0;
    while (i > 0 && (!span_same(n->bound[i - 1].path, name) || n->bound[i - 1].change))
        i--;
    if (i == 0 || !n->bound[i - 1].from) {
        unread(m, name.at);
        return;
    }
    const char *at = skip_spaces(n->bound[i - 1].from, n->end);
    const char *stop = python_members(m, at, n->end);
    if (skip_spaces(stop, n->end) < expression_end(stop, n->end, false))
        unread(m, at);
    for (; i < n->count; i++)
        if (span_same(n->bound[i].path, name) && n->bound[i].change)
            change(m, n->bound[i].change, name.len);
}

// The member of what was read that ["k"] asks for, as a dictionary of its own.
static const char *member(struct python_members *m, size_t from, const char *at, const char *end)
{
    struct py_names names = python_names_of(m->names);
    struct py_value key;
    struct py_error error;
    const char *close = py_eval(&names, true, at + 1, end, &key, &error);
    const struct python_member *found = NULL;
    for (size_t i = from; !error.at && key.kind == PY_STR && i < m->count; i++)
        if (span_same(m->at[i].key, key.s))
            found = &m->at[i];
    m->count = from;
    if (error.at || close == end || *close != ']' || !found)
        unread(m, at);
    else
        python_members(m, found->value_at, found->end);
    return error.at ? end : close + 1;
}

static const char *primary(struct python_members *m, const char *at, const char *end)
{
    size_t n = word(at, end);
    struct span name = {at, n};
    if (at < end && *at == '{')
        return items(m, at + 1, end);
    if (span_is(name, "dict") && at + n < end && at[n] == '(')
        return arguments(m, at + n + 1, end);
    if (n == 0 || (*at >= '0' && *at <= '9')) {
        unread(m, at);
        return expression_end(at, end, true);
    }
    const char *before = m->unread;
    size_t from = m->count;
    bool part = at + n < end && at[n] == '[';
    named(m, name);
    if (m->unread && m->unread != before)
        m->unread = at;  // the place where it is used says more than that where it is made
    return part ? member(m, from, at + n, end) : at + n;
}

const char *python_members(struct python_members *m, const char *at, const char *end)
{
    static const char copy[] = ".copy()";
    if (++m->depth > DEPTH) {
        unread(m, at);
        m->depth--;
        return expression_end(at, end, true);
    }
    at = primary(m, skip(at, end), end);
    if (span_starts((struct span){at, (size_t)(end - at)}, copy))
        at += sizeof copy - 1;
    const char *next = skip_spaces(at, end);
    if (next < end && *next == '|')
        at = python_members(m, next + 1, end);
    else if (next < end && *next != ',' && *next != '#' && !is_blank(*next) && *next != ')' &&
             *next != ']' && *next != '}') {
        unread(m, next);
        at = expression_end(next, end, true);
    }
    m->depth--;
    return at;
}
