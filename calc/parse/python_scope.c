// Owns what the parameters of a function stand for: the argument of its call in the same file, or
// the default in its header. Nothing is run.

#include "calc/parse/python_scope.h"

#include "calc/base/text.h"
#include "calc/parse/python_find.h"

// To the first of these bytes outside of brackets and texts.
static const char *over(const char *at, const char *end, const char *stops)
{
    for (size_t depth = 0; at < end;) {
        struct span rest = span_of(stops);
        bool stop = false;
        for (size_t i = 0; i < rest.len; i++)
            stop = stop || (depth == 0 && *at == rest.at[i]);
        if (stop)
            return at;
        depth += *at == '(' || *at == '[' || *at == '{';
        depth -= depth > 0 && (*at == ')' || *at == ']' || *at == '}');
        const char *behind = python_over_quiet(at, end);
        at = behind > at ? behind : at + 1;
    }
    return end;
}

static const char *blank(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r'))
        at++;
    return at;
}

static struct span word_at(const char *at, const char *end)
{
    struct span word = {at, 0};
    while (at + word.len < end && python_is_name_byte(at[word.len]))
        word.len++;
    return word;
}

// Among what stands between the bracket behind `open` and its end: the item by its name, or by its
// number where it has none. *number: of the named item, counted from 0. NULL: there is none.
static const char *item(const char *open, const char *end, struct span name, size_t *number,
                        bool by_number)
{
    const char *at = blank(open, end);
    for (size_t i = 0; at < end && *at != ')'; i++) {
        struct span word = word_at(at, end);
        const char *behind = blank(at + word.len, end);
        bool keyword = word.len && behind + 1 < end && *behind == '=' && behind[1] != '=';
        if (by_number ? (keyword && span_same(word, name)) || (!keyword && i == *number)
                      : span_same(word, name)) {
            *number = i;
            return by_number && keyword ? behind + 1 : at;
        }
        at = over(at, end, ",)");
        at = at < end && *at == ',' ? blank(at + 1, end) : at;
    }
    return NULL;
}

// The next call of the function from `at` on, behind its bracket; NULL: there is none more.
static const char *next_call(struct span text, const char *at, struct span function)
{
    const char *end = text.at + text.len, *behind;
    for (; at + function.len<end; at = behind> at ? behind : at + 1) {
        behind = python_over_quiet(at, end);
        bool begins = at == text.at || !(python_is_name_byte(at[-1]) || at[-1] == '.');
        if (begins && at[function.len] == '(' &&
            span_same((struct span){at, function.len}, function) &&
            !(at - text.at >= 4 && text_equal(at - 4, 4, "def ")))
            return at + function.len + 1;
    }
    return NULL;
}

// What the only call that gives the parameter has for it; *calls: how many give it.
static const char *given(struct span text, struct span function, struct span name, size_t number,
                         size_t *calls)
{
    const char *end = text.at + text.len, *last = NULL;
    *calls = 0;
    for (const char *call = text.at; (call = next_call(text, call, function));) {
        size_t place = number;
        const char *value = item(call, end, name, &place, true);
        *calls += value != NULL;
        last = value ? value : last;
    }
    return last;
}

bool python_parameter(struct span text, const char *def, struct span name, const char **value)
{
    const char *end = text.at + text.len;
    struct span function = word_at(def, end);
    const char *open = def + function.len;
    size_t number, calls;
    *value = NULL;
    if (!function.len || open >= end || *open != '(')
        return false;
    const char *own = item(open + 1, end, name, &number, false);
    if (!own)
        return false;
    const char *argument = given(text, function, name, number, &calls);
    const char *fallback = over(own, end, "=,)");
    if (calls == 1)
        *value = argument;
    else if (calls == 0 && fallback < end && *fallback == '=')
        *value = fallback + 1;
    return true;
}
