// Owns what the names of a Python file stand for: literals bound above, attributes of classes,
// members of dictionaries, defaults of a command line's flags. Nothing is run.

#include "calc/parse/python_names.h"

#include "calc/base/text.h"
#include "calc/model/model.h"
#include "calc/parse/python_filled.h"
#include "calc/parse/python_find.h"
#include "calc/parse/python_scope.h"

// STEPS: of a script of 64 KiB each of 512 parameters may be looked for from end to end.
enum { DEPTH = 8, LOOKUPS = 256, STEPS = 1 << 25 };

// a, between and b as one text of the arena; empty: out of memory, which the reader finds itself.
static struct span joined(const struct python_names *n, struct span a, char between, struct span b)
{
    char *text = mem_arena_new(n->arena, a.len + b.len + 2, 1);
    if (!text)
        return (struct span){"", 0};
    mem_copy(text, a.at, a.len);
    text[a.len] = between;
    mem_copy(text + a.len + 1, b.at, b.len);
    return (struct span){text, a.len + 1 + b.len};
}

// ---- what is behind a name -------------------------------------------------------------------

static struct span line_at(const struct python_names *n, const char *at)
{
    struct span rest = {at, (size_t)(n->end - at)};
    return (struct span){at, span_find(rest, "\n")};
}

static const char *behind(const struct python_names *n, const char *at, char token)
{
    at = python_over_blanks(at, n->end);
    return at < n->end && *at == token ? at + 1 : NULL;
}

// The value of a key in the dictionary that begins at `at`; NULL: it has none, or is no plain one.
static const char *member(const struct python_names *n, const char *at, struct span key)
{
    struct py_names names = python_names_of(n);
    struct py_value v;
    struct py_error error;
    at = behind(n, at, '{');
    while (at && !behind(n, at, '}')) {
        at = py_eval(&names, true, at, n->end, &v, &error);
        bool found = v.kind == PY_STR && span_same(v.s, key);
        at = error.at ? NULL : behind(n, at, ':');
        if (!at || found)
            return at;
        at = py_eval(&names, true, at, n->end, &v, &error);
        at = error.at ? NULL : behind(n, at, ',');
    }
    return NULL;
}

// CONFIG["a"]["b"], of the dictionary at `at`. Its members may be members of others, and these of
// the first: DEPTH ends a circle, LOOKUPS what doubles at each level.
static bool find_member(const struct python_names *outer, const char *at, struct span path,
                        struct py_value *out)
{
    struct python_names inner = *outer, *n = &inner;
    struct py_names names = python_names_of(n);
    if (++n->depth > DEPTH || *n->left == 0)
        return false;
    --*n->left;
    struct py_value key;
    struct py_error error;
    for (size_t depth = 0; at && path.len && depth < DEPTH; depth++) {
        const char *end = path.at + path.len;
        const char *close =
            path.at[0] == '[' ? py_eval(&names, true, path.at + 1, end, &key, &error) : NULL;
        if (!close || error.at || key.kind != PY_STR || close == end || *close != ']')
            return false;
        at = member(n, at, key.s);
        path = span_trim((struct span){close + 1, (size_t)(end - close - 1)});
    }
    if (!at || path.len)
        return false;
    py_eval(&names, true, at, n->end, out, &error);
    return !error.at && out->kind != PY_UNKNOWN;
}

// Whether a binding says a value. A flag without a default is None, which says nothing where a
// setting's own default is meant.
static bool is_known(const struct python_names *n, const struct python_binding *b)
{
    return b && b->value.kind != PY_UNKNOWN &&
           (n->condition || b->value.kind != PY_NONE || !span_starts(b->path, "--"));
}

// args.x where nothing above binds args, or a function of this file does: a flag's default.
static bool find_flag(const struct python_names *n, struct span head, struct span name,
                      struct py_value *out)
{
    bool args = head.len >= 4 && span_is(span_skip(head, head.len - 4), "args");
    const struct python_binding *b =
        args ? python_binding_of(n, joined(n, (struct span){"-", 1}, '-', name)) : NULL;
    if (!is_known(n, b))
        return false;
    *out = b->value;
    return true;
}

static const char *function_of(const struct python_names *n)
{
    return n->functions_in ? n->functions[n->functions_in - 1].name : NULL;
}

// Is the name a parameter of a function around the line, the innermost that has it, and not bound
// (b) in that one? Its value, unknown where nothing says it.
static bool find_parameter(const struct python_names *outer, struct span name,
                           const struct python_binding *b, struct py_value *out)
{
    struct python_names inner = *outer, *n = &inner;
    struct span text = {n->begin, (size_t)(n->end - n->begin)};
    struct py_names names = python_names_of(n);
    struct py_error error = {0};
    const char *at = NULL, *function = function_of(n);
    for (;; n->functions_in--, function = function_of(n)) {
        if (!function || (b && b->from && b->from > function))
            return false;
        if (python_parameter(text, function, name, n->steps, &at))
            break;
    }
    *out = (struct py_value){.kind = PY_UNKNOWN};
    if (!at || ++n->depth > DEPTH || *n->left == 0)
        return true;
    --*n->left;
    bool may = python_enter_all(n, at);  // the call stands in others
    py_eval(&names, true, at, n->end, out, &error);
    if (error.at || !may)
        *out = (struct py_value){.kind = PY_UNKNOWN};
    return true;
}

// args.x of `args = parser.parse_args()`, config.x of `config = Config()`.
static bool find_attribute(const struct python_names *n, const char *from, struct span name,
                           struct py_value *out)
{
    struct span line = line_at(n, from);
    struct span class = {from, 0};
    const struct python_binding *b = NULL;
    while (class.at < n->end && *class.at == ' ')
        class.at++;
    class = python_word_at(class.at, n->end);
    if (span_find(line, ".parse_args(") < line.len ||
        span_find(line, "parse_known_args(") < line.len)
        b = python_binding_of(n, joined(n, (struct span){"-", 1}, '-', name));
    else if (class.len && behind(n, class.at + class.len, '(') &&
             behind(n, class.at + class.len + 1, ')'))
        b = python_binding_of(n, joined(n, class, '.', name));
    if (!is_known(n, b))
        return false;
    *out = b->value;
    return true;
}

// Whether it is in a file of settings.
static bool in_file(const struct python_names *n, struct span path, struct py_value *out)
{
    return n->setting(n, path, out);
}

static bool find(const void *ctx, struct span path, struct py_value *out)
{
    const struct python_names *n = ctx;
    const struct python_binding *b = python_binding_of(n, path);
    struct span head = python_word_at(path.at, path.at + path.len);
    if (head.len == path.len && find_parameter(n, path, b, out))
        return true;
    if (b)
        *out = b->value;
    if (b || head.len == path.len)
        return b != NULL;
    const char *from = python_bound_to(n, head);
    struct span rest = span_skip(path, head.len);
    if (rest.at[0] == '[' && from && find_member(n, from, rest, out))
        return true;
    struct span name = span_skip(rest, 1);
    return (parse_is_name(name) &&
            ((from && find_attribute(n, from, name, out)) || python_field(n, head, name, out) ||
             find_flag(n, head, name, out))) ||
           in_file(n, path, out);
}

// ---- a file, from its first line --------------------------------------------------------------

int python_names_begin(struct python_names *n, struct mem_arena *arena, struct span text)
{
    *n = (struct python_names){
        .begin = text.at, .end = text.at + text.len, .arena = arena, .find = find};
    n->bound = mem_arena_new(arena, PYTHON_NAMES, sizeof *n->bound);
    n->left = mem_arena_new(arena, 1, sizeof *n->left);
    n->steps = mem_arena_new(arena, 1, sizeof *n->steps);
    if (!n->bound || !n->left || !n->steps)
        return VRAM_ENOMEM;
    *n->left = LOOKUPS, *n->steps = STEPS;
    return VRAM_OK;
}

void python_names_again(struct python_names *n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n->count; i++)
        if (span_starts(n->bound[i].path, "--") || n->bound[i].filled)
            n->bound[kept++] = n->bound[i];
    n->count = kept;
    n->class = (struct span){NULL, 0};
    n->indent = 0;
    n->functions_in = 0;
    *n->left = LOOKUPS, *n->steps = STEPS;
}

// ---- what a line binds -----------------------------------------------------------------------

static void add(struct python_names *n, struct span path, struct py_value value, const char *from)
{
    if (n->count < PYTHON_NAMES && path.len)
        n->bound[n->count++] = (struct python_binding){path, value, from, NULL, false};
}

// The value behind `=`, unknown where it cannot be read.
static struct py_value value_at(const struct python_names *n, bool inside, const char *at)
{
    struct py_names names = python_names_of(n);
    struct py_value v;
    struct py_error error;
    py_eval(&names, inside, at, n->end, &v, &error);
    return error.at ? (struct py_value){.kind = PY_UNKNOWN} : v;
}

// `=` behind blanks and, with a colon, a type; NULL: there is none.
static const char *assigned(const struct python_names *n, const char *at)
{
    struct span line = line_at(n, at);
    size_t i = 0;
    while (i < line.len && line.at[i] == ' ')
        i++;
    if (i < line.len && line.at[i] == ':')
        while (i < line.len && line.at[i] != '=' && line.at[i] != '#')
            i++;
    bool here = i + 1 < line.len && line.at[i] == '=' && line.at[i + 1] != '=';
    return here ? line.at + i + 1 : NULL;
}

// --max-length is args.max_length.
static struct span flag_path(const struct python_names *n, struct span flag)
{
    char *text = mem_arena_new(n->arena, flag.len + 1, 1);
    for (size_t i = 0; text && i < flag.len; i++)
        text[i] = i >= 2 && flag.at[i] == '-' ? '_' : flag.at[i];
    return (struct span){text ? text : "", text ? flag.len : 0};
}

// A switch is off without its flag, and action="store_false" on.
static struct py_value switch_of(struct py_value action, struct py_value fallback)
{
    bool off = action.kind == PY_STR && span_is(action.s, "store_true"),
         on = action.kind == PY_STR && span_is(action.s, "store_false");
    return off || on ? (struct py_value){.kind = PY_BOOL, .i = on} : fallback;
}

// parser.add_argument("--x", type=int, default=4)
static void bind_flag(struct python_names *n, const char *at)
{
    struct py_names names = python_names_of(n);
    struct py_value v, flag = {.kind = PY_UNKNOWN}, fallback = {.kind = PY_NONE};
    struct py_error error = {0};
    while (at && at < n->end && !behind(n, at, ')')) {
        at = python_over_blanks(at, n->end);
        struct span word = python_word_at(at, n->end);
        const char *value = word.len ? behind(n, at + word.len, '=') : NULL;
        at = py_eval(&names, true, value ? value : at, n->end, &v, &error);
        if (error.at)
            return;
        if (!value && v.kind == PY_STR && span_starts(v.s, "--"))
            flag = v;
        if (value && span_is(word, "default"))
            fallback = v;
        if (value && span_is(word, "action"))
            fallback = switch_of(v, fallback);
        if (value && span_is(word, "required"))
            fallback = (struct py_value){.kind = PY_UNKNOWN};
        at = behind(n, at, ',');
    }
    if (flag.kind != PY_STR || fallback.kind == PY_UNKNOWN)
        return;
    fallback.of = flag.s;
    add(n, flag_path(n, flag.s), fallback, NULL);
}

// A line that is at the beginning of, in, or behind the body of a class. true: it is an attribute.
static bool bind_attribute(struct python_names *n, const char *at, size_t indent)
{
    struct span line = line_at(n, at);
    if (line.len == 0 || *at == '#' || *at == '@' || *at == ')')
        return false;
    if (indent == 0) {
        bool class = span_starts(line, "class ");
        n->class = (struct span){at + 6, class ? python_word_at(at + 6, n->end).len : 0};
        n->indent = 0;
        return false;
    }
    if (!n->class.len)
        return false;
    n->indent = n->indent ? n->indent : indent;
    struct span name = python_word_at(at, n->end);
    const char *value = assigned(n, at + name.len);
    if (indent != n->indent || !name.len || !value)
        return false;
    add(n, joined(n, n->class, '.', name), value_at(n, false, value), NULL);
    return true;
}

// `CONFIG["a"] = 1`, `config.x = 2`, `CONFIG.update(...)`, `CONFIG |= ...`: what was known of it is
// no more.
static void unbind(struct python_names *n, struct span name)
{
    struct span line = line_at(n, name.at);
    struct span path = name;
    struct py_value unknown = {.kind = PY_UNKNOWN};
    while (path.len < line.len &&
           (python_is_name_byte(line.at[path.len]) || line.at[path.len] == '.'))
        path.len++;
    const char *rest = line.at + path.len;
    size_t before = n->count;
    bool joins = span_starts(span_trim(span_skip(line, name.len)), "|=");
    if (line.at[name.len] == '[' || joins || span_find(path, ".update") < path.len)
        add(n, name, unknown, NULL);
    else if (assigned(n, rest) || (path.len + 2 < line.len && rest[1] == '='))
        add(n, path, unknown, NULL);
    if (n->count > before)
        n->bound[before].change = name.at;
}

enum python_truth python_condition(const struct python_names *n, const char *at)
{
    const char *text = n->begin, *line = at;
    size_t within = SIZE_MAX;
    enum python_truth all = PYTHON_ALWAYS;
    while (within > 0) {
        while (line > text && line[-1] != '\n')
            line--;
        const char *first = line;
        while (first < n->end && *first == ' ')
            first++;
        struct span words = line_at(n, first);
        size_t indent = (size_t)(first - line);
        bool nearer = words.len > 0 && *first != '#' && *first != ')' && indent < within;
        bool test = nearer && within != SIZE_MAX &&
                    (span_starts(words, "if ") || span_starts(words, "elif "));
        bool branch = test || (nearer && within != SIZE_MAX && span_starts(words, "else"));
        enum python_truth truth = branch ? n->branch(n, first) : PYTHON_ALWAYS;
        if (truth == PYTHON_NEVER)
            return PYTHON_NEVER;
        if (nearer && (span_starts(words, "def ") || span_starts(words, "class ")))
            return all;
        if (truth == PYTHON_PERHAPS)
            all = PYTHON_PERHAPS;
        within = nearer ? indent : within;
        if (line == text)
            break;
        line--;
    }
    return all;
}

// Whether a line that changes something is done, or may be.
static bool is_done(const struct python_names *n, const char *line)
{
    return python_condition(n, line) != PYTHON_NEVER;
}

void python_bind(struct python_names *n, const char *line)
{
    static const char flag[] = ".add_argument(";
    const char *at = line;
    while (at < n->end && *at == ' ')
        at++;
    struct span name = python_word_at(at, n->end);
    python_enter(n, at, (size_t)(at - line));
    if (bind_attribute(n, at, (size_t)(at - line)))
        return;
    if (span_starts((struct span){name.at + name.len, (size_t)(n->end - name.at) - name.len},
                    flag)) {
        bind_flag(n, name.at + name.len + sizeof flag - 1);
        return;
    }
    if (python_bind_filled(n, line_at(n, at)))
        return;
    const char *value = name.len ? assigned(n, name.at + name.len) : NULL;
    if (!value) {
        struct span rest = span_trim(span_skip(line_at(n, at), name.len));
        if (name.len && rest.len &&
            (rest.at[0] == '.' || rest.at[0] == '[' || span_starts(rest, "|=")) && is_done(n, at))
            unbind(n, name);
        return;
    }
    bool again = python_binding_of(n, name) != NULL;
    struct py_value v = value_at(n, false, value);
    if (at > line && again)
        v = (struct py_value){.kind = PY_UNKNOWN};
    add(n, name, v, again ? NULL : value);
}
