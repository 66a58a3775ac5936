// Owns what the parameters of a function stand for: the argument of its call in the same file, or
// the default in its header. Nothing is run.

#include "calc/parse/python_scope.h"

#include "calc/base/text.h"
#include "calc/parse/python_find.h"

// Takes the bytes of a way from those that may still be looked at.
static void walked(size_t *steps, const char *from, const char *to)
{
    size_t bytes = (size_t)(to - from);
    *steps -= bytes < *steps ? bytes : *steps;
}

// To the first of these bytes outside of brackets and texts.
static const char *over(const char *at, const char *end, const char *stops, size_t *steps)
{
    const char *from = at;
    end = (size_t)(end - at) > *steps ? at + *steps : end;
    for (size_t depth = 0; at < end;) {
        bool stop = false;
        for (size_t i = 0; stops[i]; i++)
            stop = stop || (depth == 0 && *at == stops[i]);
        if (stop)
            break;
        depth += *at == '(' || *at == '[' || *at == '{';
        depth -= depth > 0 && (*at == ')' || *at == ']' || *at == '}');
        const char *behind = python_over_quiet(at, end);
        at = behind > at ? behind : at + 1;
    }
    walked(steps, from, at);
    return at;
}

// Among what stands between the bracket behind `open` and its end: the item by its name, or by its
// number where it has none. *number: of the named item, counted from 0. NULL: there is none.
static const char *item(const char *open, const char *end, struct span name, size_t *number,
                        bool by_number, size_t *steps)
{
    const char *at = python_over_blanks(open, end);
    for (size_t i = 0; at < end && *at != ')' && *steps; i++) {
        struct span word = python_word_at(at, end);
        const char *behind = python_over_blanks(at + word.len, end);
        bool keyword = word.len && behind + 1 < end && *behind == '=' && behind[1] != '=';
        if (by_number ? (keyword && span_same(word, name)) || (!keyword && i == *number)
                      : span_same(word, name)) {
            *number = i;
            return by_number && keyword ? behind + 1 : at;
        }
        at = over(at, end, ",)", steps);
        at = at < end && *at == ',' ? python_over_blanks(at + 1, end) : at;
    }
    return NULL;
}

// The next call of the function from `at` on, behind its bracket; NULL: there is none more.
static const char *next_call(struct span text, const char *at, struct span function, size_t *steps)
{
    const char *end = text.at + text.len, *behind, *from = at;
    for (; at + function.len<end; at = behind> at ? behind : at + 1) {
        behind = python_over_quiet(at, end);
        bool begins = at == text.at || !(python_is_name_byte(at[-1]) || at[-1] == '.');
        if (begins && at[function.len] == '(' &&
            span_same((struct span){at, function.len}, function) &&
            !(at - text.at >= 4 && text_equal(at - 4, 4, "def "))) {
            walked(steps, from, at);
            return at + function.len + 1;
        }
    }
    walked(steps, from, end);
    return NULL;
}

// What the only call that gives the parameter has for it; *calls: how many give it.
static const char *given(struct span text, struct span function, struct span name, size_t number,
                         size_t *steps, size_t *calls)
{
    const char *end = text.at + text.len, *last = NULL;
    *calls = 0;
    for (const char *call = text.at; *steps && (call = next_call(text, call, function, steps));) {
        size_t place = number;
        const char *value = item(call, end, name, &place, true, steps);
        *calls += value != NULL;
        last = value ? value : last;
    }
    return last;
}

void python_enter(struct python_names *n, const char *at, size_t indent)
{
    enum { DEEP = sizeof n->functions / sizeof *n->functions };
    struct span rest = {at, (size_t)(n->end - at)}, line = {at, span_find(rest, "\n")};
    bool begins = span_starts(line, "def ") || span_starts(line, "async def ");
    if (line.len == 0 || *at == '#' || *at == ')')
        return;
    while (n->functions_in && n->functions[n->functions_in - 1].indent >= indent)
        n->functions_in--;
    if (begins && n->functions_in < DEEP)
        n->functions[n->functions_in++] =
            (struct python_function){at + span_find(line, "def ") + 4, indent};
}

bool python_enter_all(struct python_names *n, const char *place)
{
    size_t bytes = (size_t)(place - n->begin);
    bool may = *n->steps > bytes;
    walked(n->steps, n->begin, place);
    n->functions_in = 0;
    for (const char *at = n->begin; may && at < place; at++) {
        const char *line = at;
        while (at < place && *at == ' ')
            at++;
        python_enter(n, at, (size_t)(at - line));
        while (at < place && *at != '\n')
            at++;
    }
    return may;
}

bool python_parameter(struct span text, const char *def, struct span name, size_t *steps,
                      const char **value)
{
    const char *end = text.at + text.len;
    struct span function = python_word_at(def, end);
    const char *open = def + function.len;
    size_t number, calls;
    *value = NULL;
    if (!function.len || open >= end || *open != '(')
        return false;
    const char *own = item(open + 1, end, name, &number, false, steps);
    if (!own)
        return *steps == 0;
    const char *argument = given(text, function, name, number, steps, &calls);
    const char *fallback = over(own, end, "=,)", steps);
    if (*steps == 0)
        return true;
    if (calls == 1)
        *value = argument;
    else if (calls == 0 && fallback < end && *fallback == '=')
        *value = fallback + 1;
    return true;
}
