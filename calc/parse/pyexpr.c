// Evaluates the Python expressions of configuration files: a recursive descent over one logical
// line.

#include "calc/parse/pyexpr.h"

#include "calc/base/text.h"
#include "calc/parse/python_compare.h"
#include "calc/parse/python_known.h"
#include "calc/parse/python_string.h"

enum { PY_DEPTH = 64, PY_JOINED = 4096 };

struct py {
    const struct py_names *names;
    const char *at, *end;
    int brackets;  // inside of ( [ {: a line's end is a blank
    int depth;     // of the recursion
    struct py_error error;
    struct span of;  // the last default that was read
};

static struct py_value py_expression(struct py *p);

static struct py_value py_of(enum py_kind kind)
{
    return (struct py_value){.kind = kind};
}

static struct py_value py_fail(struct py *p, const char *at, message_id id)
{
    if (!p->error.at)
        p->error =
            (struct py_error){at, id, id == MESSAGE_open_string || id == MESSAGE_open_bracket};
    p->at = p->end;
    return py_of(PY_UNKNOWN);
}

static void py_blank(struct py *p)
{
    for (; p->at < p->end; p->at++) {
        char c = *p->at;
        if (c == '#' && p->brackets > 0) {
            while (p->at < p->end && *p->at != '\n')
                p->at++;
            if (p->at == p->end)
                return;
        } else if (c == '\\' && p->at + 1 < p->end && p->at[1] == '\n') {
            p->at++;
        } else if (c != ' ' && c != '\t' && c != '\r' && !(c == '\n' && p->brackets > 0)) {
            return;
        }
    }
}

static bool py_take(struct py *p, const char *token)
{
    size_t n = text_len(token);
    py_blank(p);
    if ((size_t)(p->end - p->at) < n || !text_equal(p->at, n, token))
        return false;
    p->at += n;
    return true;
}

static struct span py_word(const struct py *p)
{
    struct span rest = {p->at, (size_t)(p->end - p->at)};
    return (struct span){p->at, parse_name_len(rest)};
}

static bool py_take_word(struct py *p, const char *word)
{
    py_blank(p);
    if (!span_is(py_word(p), word))
        return false;
    p->at += text_len(word);
    return true;
}

// A string from its opening quote on; skips what it cannot represent.
static struct py_value py_string(struct py *p, bool plain, bool raw)
{
    const char *start = p->at;
    char quote = *p->at;
    size_t n = p->end - p->at >= 3 && p->at[1] == quote && p->at[2] == quote ? 3 : 1;
    const char *text = p->at + n;
    for (p->at = text; p->at < p->end && (n == 3 || *p->at != '\n'); p->at++) {
        if (*p->at == '\\' && p->at + 1 < p->end) {
            p->at++;
        } else if (*p->at == quote &&
                   (n == 1 || (p->end - p->at >= 3 && p->at[1] == quote && p->at[2] == quote))) {
            struct span s = {text, (size_t)(p->at - text)};
            if (plain && !raw && !python_string_plain(s))
                plain = python_string_read(p->names->arena, s, &s);
            p->at += n;
            return (struct py_value){.kind = plain ? PY_STR : PY_UNKNOWN, .s = s, .literal = true};
        }
    }
    return py_fail(p, start, MESSAGE_open_string);
}

// Whether a string begins here, with the letters before its quote.
static bool py_begins_string(const struct py *p, struct span *letters)
{
    *letters = py_word(p);
    const char *quote = letters->at + letters->len;
    return letters->len <= 2 && quote < p->end && (*quote == '\'' || *quote == '"');
}

static struct py_value py_join(struct py *p, struct py_value a, struct py_value b)
{
    size_t len = a.s.len + b.s.len;
    bool can = a.kind == PY_STR && b.kind == PY_STR && p->names->arena && len <= PY_JOINED;
    char *text = can ? mem_arena_new(p->names->arena, len + 1, 1) : NULL;
    if (!text)
        return py_of(PY_UNKNOWN);
    mem_copy(text, a.s.at, a.s.len);
    mem_copy(text + a.s.len, b.s.at, b.s.len);
    a.s = (struct span){text, len};
    return a;
}

// A string, or several one after the other, which are one.
static struct py_value py_strings(struct py *p, struct span letters)
{
    struct py_value all = py_of(PY_UNKNOWN);
    for (bool first = true, more = true; more && !p->error.at; first = false) {
        p->at += letters.len;
        bool raw = span_is(letters, "r") || span_is(letters, "R");
        struct py_value one = py_string(p, !letters.len || raw || span_is(letters, "u"), raw);
        all = first ? one : py_join(p, all, one);
        py_blank(p);
        more = py_begins_string(p, &letters);
    }
    return all;
}

static struct py_value py_number(struct py *p)
{
    struct span s = {p->at, 0};
    bool overflow, is_float = false;
    uint64_t n = 0;
    for (; s.at + s.len < p->end; s.len++) {
        char c = s.at[s.len], before = s.len ? s.at[s.len - 1] : 0;
        bool sign = (c == '-' || c == '+') && (before == 'e' || before == 'E');
        if (!(c >= '0' && c <= '9') && c != '_' && c != '.' && c != 'e' && c != 'E' && !sign)
            break;
        is_float = is_float || c == '.' || c == 'e' || c == 'E';
    }
    p->at += s.len;
    if (!is_float && text_to_u64(s.at, s.len, &n, &overflow) && n < (uint64_t)1 << 62)
        return (struct py_value){.kind = PY_INT, .i = (int64_t)n, .literal = true};
    if (is_float && text_to_millionths(s.at, s.len, &n, &overflow))
        return (struct py_value){.kind = PY_FLOAT, .d = (double)n / 1e6, .literal = true};
    return py_fail(p, s.at,
                   is_float || n == 0 ? MESSAGE_number_unreadable : MESSAGE_number_too_large);
}

// Everything up to the bracket that closes the one at p->at.
static void py_skip_bracket(struct py *p)
{
    const char *start = p->at;
    int level = 0;
    while (p->at < p->end) {
        char c = *p->at;
        if (c == '\'' || c == '"') {
            py_string(p, true, false);
            continue;
        }
        level += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
        p->at++;
        if (level == 0)
            return;
    }
    if (!p->error.at)
        py_fail(p, start, MESSAGE_open_bracket);
}

static bool py_find(struct py *p, struct span path, struct py_value *v)
{
    bool found = p->names->find(p->names->ctx, path, v);
    if (found && v->of.len)
        p->of = v->of;
    v->literal = false;
    return found;
}

static struct py_value py_name(struct py *p)
{
    struct span name = py_word(p);
    p->at += name.len;
    if (span_is(name, "True") || span_is(name, "False"))
        return (struct py_value){.kind = PY_BOOL, .i = name.at[0] == 'T', .literal = true};
    if (span_is(name, "None"))
        return (struct py_value){.kind = PY_NONE, .literal = true};
    if (span_is(name, "lambda"))
        return py_fail(p, name.at, MESSAGE_lambda);
    struct py_value v = py_of(PY_UNKNOWN);
    py_find(p, name, &v);
    return v;
}

static struct py_value py_atom(struct py *p)
{
    py_blank(p);
    char c = p->at < p->end ? *p->at : 0;
    struct span letters;
    if (py_begins_string(p, &letters))
        return py_strings(p, letters);
    if ((c >= '0' && c <= '9') || c == '.')
        return py_number(p);
    if (c == '[' || c == '{') {
        py_skip_bracket(p);
        return py_of(PY_UNKNOWN);
    }
    if (c == '(') {
        p->at++;
        p->brackets++;
        struct py_value v = py_expression(p);
        bool tuple = py_take(p, ",");
        while (tuple && !p->error.at && p->at < p->end && *p->at != ')')
            tuple = (py_expression(p), py_take(p, ","));
        if (!py_take(p, ")"))
            return py_fail(p, p->at, MESSAGE_no_bracket);
        p->brackets--;
        return tuple ? py_of(PY_UNKNOWN) : v;
    }
    if (!parse_is_name((struct span){p->at, c != 0}))
        return py_fail(p, p->at, c && c != '\n' ? MESSAGE_value_unreadable : MESSAGE_value_missing);
    return py_name(p);
}

// false: there are other arguments than a call of the table has.
static bool py_arguments(struct py *p, bool field, struct py_arguments *a)
{
    *a = (struct py_arguments){.count = 0};
    while (!py_take(p, ")")) {
        const char *start = p->at;
        bool fallback = py_take_word(p, "default") && py_take(p, "=");
        p->at = fallback ? p->at : start;
        // field(default=4, metadata={...})
        bool other = field && !fallback && (p->at += py_word(p).len, py_take(p, "="));
        p->at = fallback || other ? p->at : start;
        struct py_value v = py_expression(p);
        if (p->error.at || (!fallback && !other && a->count == 2))
            return false;
        if (fallback)
            a->fallback = v;
        else if (!other)
            a->at[a->count++] = v;
        a->has_fallback = a->has_fallback || fallback;
        if (!py_take(p, ",") && (p->at == p->end || *p->at != ')'))
            return false;
    }
    return true;
}

// The call of a path at its bracket. What it gives is unknown where it is none of the table's.
static struct py_value py_call(struct py *p, struct span path)
{
    struct py_arguments a;
    const char *bracket = p->at;
    struct span of = p->of;
    enum python_known call = python_known(path);
    if (call != PYTHON_OTHER && (p->names->arena || call != PYTHON_DEFAULT)) {
        p->at++;
        p->brackets++;
        bool read = py_arguments(p, call == PYTHON_FIELD, &a);
        p->brackets--;
        if (read)
            return python_known_value(call, &a, &p->of);
        p->error = (struct py_error){0};
        p->at = bracket;
        p->of = of;
    }
    py_skip_bracket(p);
    struct py_value v = py_of(PY_UNKNOWN);
    if (!p->error.at && p->depth < PY_DEPTH / 2)
        py_find(p, (struct span){path.at, (size_t)(p->at - path.at)}, &v);
    return v;
}

// Attributes and subscripts are what the names know of them.
static struct py_value py_primary(struct py *p)
{
    py_blank(p);
    const char *start = p->at;
    struct py_value v = py_atom(p);
    while (!p->error.at) {
        struct span path = {start, (size_t)(p->at - start)};
        py_blank(p);
        if (p->at < p->end && *p->at == '(') {
            v = py_call(p, path);
            continue;
        }
        if (p->at < p->end && *p->at == '[') {
            py_skip_bracket(p);
        } else if (p->at < p->end && *p->at == '.') {
            p->at++;
            p->at += py_word(p).len;
        } else {
            return v;
        }
        v = py_of(PY_UNKNOWN);
        path.len = (size_t)(p->at - start);
        if (!p->error.at && p->depth < PY_DEPTH / 2)
            py_find(p, path, &v);
    }
    return v;
}

static bool py_is_number(struct py_value v)
{
    return v.kind == PY_INT || v.kind == PY_FLOAT || v.kind == PY_BOOL;
}

static double py_double(struct py_value v)
{
    return v.kind == PY_FLOAT ? v.d : (double)v.i;
}

// |result| stays below 2^62, so that the next sum cannot wrap.
static struct py_value py_int_op(struct py *p, char op, int64_t a, int64_t b, const char *at)
{
    const int64_t limit = (int64_t)1 << 62;
    int64_t n = 0;
    if (op == '*' && a != 0 && b != 0 && (a < 0 ? -a : a) >= limit / (b < 0 ? -b : b))
        return py_fail(p, at, MESSAGE_product_too_large);
    if ((op == '/' || op == '%') && b == 0)
        return py_fail(p, at, MESSAGE_division_by_zero);
    if (op == '*')
        n = a * b;
    else if (op == '/')  // floor division, as Python's //
        n = a / b - (a % b != 0 && (a < 0) != (b < 0));
    else if (op == '%')
        n = a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0);
    else
        n = op == '+' ? a + b : a - b;
    if (n >= limit || n <= -limit)
        return py_fail(p, at, MESSAGE_number_too_large);
    return (struct py_value){.kind = PY_INT, .i = n};
}

static struct py_value py_op(struct py *p, char op, bool floor, struct py_value a,
                             struct py_value b, const char *at)
{
    if (!py_is_number(a) || !py_is_number(b))
        return py_of(PY_UNKNOWN);
    if (a.kind != PY_FLOAT && b.kind != PY_FLOAT && !(op == '/' && !floor))
        return py_int_op(p, op, a.i, b.i, at);
    double x = py_double(a), y = py_double(b), d = 0;
    if ((op == '/' || op == '%') && y == 0)
        return py_fail(p, at, MESSAGE_division_by_zero);
    if (op == '%' || (op == '/' && floor))
        return py_of(PY_UNKNOWN);
    d = op == '*' ? x * y : op == '/' ? x / y : op == '+' ? x + y : x - y;
    if (!(d < 1e18 && d > -1e18))
        return py_fail(p, at, MESSAGE_number_too_large);
    return (struct py_value){.kind = PY_FLOAT, .d = d};
}

static struct py_value py_power(struct py *p, struct py_value base, struct py_value exponent,
                                const char *at)
{
    if (base.kind != PY_INT || exponent.kind != PY_INT || exponent.i < 0)
        return py_of(PY_UNKNOWN);
    struct py_value v = {.kind = PY_INT, .i = 1};
    if (base.i >= -1 && base.i <= 1 && exponent.i > 2)
        exponent.i = 2 - exponent.i % 2;
    for (int64_t i = 0; i < exponent.i && !p->error.at; i++)
        v = py_int_op(p, '*', v.i, base.i, at);
    return v;
}

static struct py_value py_unary(struct py *p)
{
    if (++p->depth > PY_DEPTH)
        return py_fail(p, p->at, MESSAGE_too_deep);
    struct py_value v;
    if (py_take(p, "-")) {
        v = py_unary(p);
        v.literal = false;
        v.i = -v.i;
        v.d = -v.d;
        if (!py_is_number(v))
            v = py_of(PY_UNKNOWN);
    } else if (py_take(p, "+")) {
        v = py_unary(p);
    } else {
        v = py_primary(p);
        const char *at = p->at;
        if (!p->error.at && py_take(p, "**"))
            v = py_power(p, v, py_unary(p), at);
    }
    p->depth--;
    return v;
}

static struct py_value py_product(struct py *p)
{
    struct py_value v = py_unary(p);
    while (!p->error.at) {
        py_blank(p);
        const char *at = p->at;
        if (py_take(p, "//"))
            v = py_op(p, '/', true, v, py_unary(p), at);
        else if (at < p->end && (*at == '*' || *at == '/' || *at == '%') && p->at++)
            v = py_op(p, *at, false, v, py_unary(p), at);
        else
            break;
    }
    return v;
}

static struct py_value py_sum(struct py *p)
{
    struct py_value v = py_product(p);
    while (!p->error.at) {
        py_blank(p);
        const char *at = p->at;
        if (at == p->end || (*at != '+' && *at != '-'))
            break;
        p->at++;
        v = py_op(p, *at, false, v, py_product(p), at);
    }
    return v;
}

// The word or sign between two operands; empty: there is none.
static struct span py_operator(struct py *p)
{
    static const char *const words[] = {"and", "or", "in", "is", "not"};
    static const char *const signs[] = {"==", "!=", "<=", ">=", "<", ">", "|", "&"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (py_take_word(p, words[i]))
            return span_of(words[i]);
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (py_take(p, signs[i]))
            return span_of(signs[i]);
    return (struct span){"", 0};
}

// Comparisons of what is known; other logic is read over.
static struct py_value py_logic(struct py *p)
{
    bool negated = py_take_word(p, "not"), first = true, isnt = false;
    struct py_value v = py_sum(p);
    for (struct span is; !p->error.at && (is = py_operator(p)).len > 0;) {
        py_blank(p);
        if (span_is(py_word(p), "not")) {
            isnt = span_is(is, "is");
            continue;
        }
        struct py_value other = py_sum(p);
        v = first ? py_compared(isnt ? span_of("!=") : is, v, other) : py_of(PY_UNKNOWN);
        first = false;
    }
    return negated ? py_negated(v) : v;
}

// `a if test else b`: a, unless the test is known to be false.
static struct py_value py_expression(struct py *p)
{
    if (++p->depth > PY_DEPTH)
        return py_fail(p, p->at, MESSAGE_too_deep);
    struct py_value v = py_logic(p);
    if (!p->error.at && py_take_word(p, "if")) {
        struct py_value test = py_logic(p);
        if (!p->error.at && !py_take_word(p, "else"))
            return py_fail(p, p->at, MESSAGE_no_else);
        struct py_value other = p->error.at ? v : py_expression(p);
        if ((test.kind == PY_BOOL || test.kind == PY_INT) && test.i == 0)
            v = other;
        v.literal = false;
    }
    p->depth--;
    return v;
}

const char *py_eval(const struct py_names *names, bool inside, const char *at, const char *end,
                    struct py_value *out, struct py_error *error)
{
    struct py p = {.names = names, .at = at, .end = end, .brackets = inside};
    *out = py_expression(&p);
    out->of = out->kind == PY_UNKNOWN ? (struct span){at, 0} : p.of;
    py_blank(&p);
    *error = p.error;
    return p.error.at ? p.error.at : p.at;
}
