// Owns the conditions of Python's expressions: not, and, or, a if b else c.

#include "calc/parse/python_choice.h"

#include "calc/base/text.h"
#include "calc/model/model.h"
#include "calc/parse/python_find.h"

enum { TURNS = 4 };  // of conditions within a choice

static bool is_literal(const struct python_names *n, struct span source, bool *holds)
{
    struct py_names names = python_names_of(n);
    struct py_value v;
    struct py_error error;
    const char *end = source.at + source.len;
    bool whole = py_eval(&names, true, source.at, end, &v, &error) == end && !error.at;
    *holds = v.i != 0;
    if (n->condition && whole && v.kind != PY_UNKNOWN) {
        *holds = v.kind == PY_STR ? v.s.len > 0 : v.kind == PY_FLOAT ? v.d != 0 : v.i != 0;
        return true;
    }
    return whole && v.kind == PY_BOOL;
}

static bool is_negated(const struct python_names *n, struct span source, bool *holds)
{
    source = span_trim(source);
    bool negated = span_starts(source, "not ");
    bool known = is_literal(n, span_trim(span_skip(source, negated ? 4 : 0)), holds);
    *holds = *holds != negated;
    return known;
}

// Of parts with the word between them: `ends` is what one part needs to be for all to be it.
static bool parts_hold(const struct python_names *n, struct span source, const char *word,
                       bool ends, bool (*part)(const struct python_names *, struct span, bool *),
                       bool *holds)
{
    bool all = source.len > 0, one;
    for (struct span rest = source; rest.len > 0;) {
        struct span here = {rest.at, span_find(rest, word)};
        bool known = part(n, here, &one);
        rest = span_skip(rest, here.len + text_len(word));
        if (known && one == ends) {
            *holds = ends;
            return true;
        }
        all = all && known;
    }
    *holds = !ends;
    return all;
}

static bool both_hold(const struct python_names *n, struct span source, bool *holds)
{
    return parts_hold(n, source, " and ", false, is_negated, holds);
}

bool python_holds(const struct python_names *n, struct span source, bool *holds)
{
    return parts_hold(n, source, " or ", true, both_hold, holds);
}

struct span python_chosen(const struct python_names *n, struct span source)
{
    for (unsigned turn = 0; turn < TURNS; turn++) {
        size_t at = span_find(source, " if ");
        struct span rest = span_skip(source, at + text_len(" if "));
        size_t both = span_find(rest, " else ");
        bool holds;
        if (both == rest.len || !python_holds(n, (struct span){rest.at, both}, &holds))
            break;
        source = span_trim(holds ? (struct span){source.at, at}
                                 : span_skip(rest, both + text_len(" else ")));
    }
    return source;
}

// Whether a call of that name stands behind this one, too.
static bool is_called_later(const struct python_names *n, const struct python_call *call,
                            const char *at)
{
    size_t number;
    for (at++; at < n->end; at++)
        if (*at == call->name[0] && python_call_at(n->begin, at, n->end, &number) == call)
            return true;
    return false;
}

enum python_truth python_is_made(const struct python_names *n, const struct python_call *call,
                                 const char *at, bool seen)
{
    bool one = !seen && !is_called_later(n, call, at);
    return python_call_lightens(call) || !one ? python_condition(n, at) : PYTHON_ALWAYS;
}

// ---- branches --------------------------------------------------------------------------------

// Of "if x:" and "elif x:".
static enum python_truth test_of(const struct python_names *outer, const char *words)
{
    struct python_names n = *outer;
    struct span rest = {words, (size_t)(n.end - words)};
    size_t begin = span_find(rest, " ");
    const char *end = words + begin;
    bool holds;
    n.condition = true;
    for (size_t depth = 0; end < n.end && (*end != ':' || depth > 0);) {
        const char *behind = python_over_quiet(end, n.end);
        depth += *end == '(' || *end == '[' || *end == '{';
        depth -= depth > 0 && (*end == ')' || *end == ']' || *end == '}');
        end = behind > end ? behind : end + 1;
    }
    struct span source = span_trim((struct span){words + begin, (size_t)(end - words) - begin});
    return !python_holds(&n, source, &holds) ? PYTHON_PERHAPS
           : holds                           ? PYTHON_ALWAYS
                                             : PYTHON_NEVER;
}

// The line above one that stands as deep, over those that stand deeper; NULL: there is none.
static const char *line_above(const struct python_names *n, const char *words)
{
    const char *line = words;
    while (line > n->begin && line[-1] != '\n')
        line--;
    size_t indent = (size_t)(words - line);
    while (line > n->begin) {
        for (line--; line > n->begin && line[-1] != '\n'; line--)
            ;
        const char *first = line;
        while (first < words && (*first == ' ' || *first == '\t'))
            first++;
        bool empty = *first == '\n' || *first == '\r' || *first == '#' || *first == ')';
        if (!empty && (size_t)(first - line) <= indent)
            return (size_t)(first - line) == indent ? first : NULL;
    }
    return NULL;
}

enum python_truth python_branch(const struct python_names *n, const char *words)
{
    struct span rest = {words, (size_t)(n->end - words)};
    enum python_truth truth = span_starts(rest, "else") ? PYTHON_ALWAYS : test_of(n, words);
    bool more = !span_starts(rest, "if ");
    while (more && truth != PYTHON_NEVER && (words = line_above(n, words))) {
        rest = (struct span){words, (size_t)(n->end - words)};
        more = span_starts(rest, "elif ");
        if (!more && !span_starts(rest, "if "))
            return PYTHON_PERHAPS;  // else: of a loop, of try
        enum python_truth above = test_of(n, words);
        truth = above == PYTHON_ALWAYS  ? PYTHON_NEVER
                : above == PYTHON_NEVER ? truth
                                        : PYTHON_PERHAPS;
    }
    return truth;
}

// ---- calls that are not modelled -------------------------------------------------------------

// Does it load an encoder beside the decoder?
static bool encodes(const char *call)
{
    static const char *const words[] = {"Seq2Seq", "ConditionalGeneration", "T5Model", "Marian",
                                        "EncoderDecoder"};
    struct span name = span_of(call);
    bool found = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        found = found || span_find(name, words[i]) < name.len;
    return found;
}

bool python_is_passed(const struct python_names *n, const char *call, const char *at)
{
    struct span text = {n->begin, (size_t)(n->end - n->begin)};
    return python_condition(n, at) == PYTHON_NEVER ||
           (encodes(call) && span_find(text, "ForCausalLM.from_pretrained(") < text.len);
}

message_id python_refusal(const char *call)
{
    return encodes(call) ? MESSAGE_encoder_loaded : MESSAGE_call_not_modelled;
}
