// Owns the way from an expression in a Python file to its place in a file of settings. Nothing is
// run: the way goes over what names are bound to, what functions return and what their only call
// gives them; where two ways lead to different places there is none.

#include "calc/parse/python_way.h"

#include "calc/base/text.h"
#include "calc/parse/python_find.h"
#include "calc/parse/python_scope.h"

enum { DEPTH = 24, WHOLE = -1 };

// Calls whose result is a file; what is no function here, and loads a configuration by its name.
static const char LOADS[] =
    "yaml.safe_load yaml.load yaml.full_load yaml.unsafe_load safe_load json.load json.loads "
    "OmegaConf.load toml.load toml.loads tomllib.load tomli.load load_config load_yaml "
    "load_yaml_config read_yaml read_config load_cfg load_settings";
// Calls whose result has the members of their first argument.
static const char WRAPS[] =
    "dict SimpleNamespace types.SimpleNamespace Namespace argparse.Namespace Munch munchify "
    "munch.munchify DotDict dotdict EasyDict edict Box AttrDict DotMap ConfigDict Dict "
    "OmegaConf.create OmegaConf.merge OmegaConf.to_container copy.deepcopy deepcopy copy.copy";

static const char *walk(struct way *w, const char *at, const char *end, int number);

// ---- the text --------------------------------------------------------------------------------

static bool spend(const struct python_names *n, size_t bytes)
{
    *n->steps -= bytes < *n->steps ? bytes : *n->steps;
    return *n->steps > 0;
}

const char *way_blank(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
        at++;
    return at;
}

const char *way_spaces(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return at;
}

static struct span word_at(const char *at, const char *end, bool points)
{
    struct span word = {at, 0};
    while (at + word.len < end &&
           (python_is_name_byte(at[word.len]) || (points && at[word.len] == '.')))
        word.len++;
    return word;
}

const char *python_load_at(const char *begin, const char *at, const char *end, size_t *len)
{
    struct span path = word_at(at, end, true);
    bool first = at == begin || !(python_is_name_byte(at[-1]) || at[-1] == '.');
    *len = path.len;
    return first && path.len && text_has_word(LOADS, path.at, path.len) ? at : NULL;
}

const char *way_line_end(const char *at, const char *end)
{
    while (at < end && *at != '\n')
        at++;
    return at;
}

const char *way_next_line(const char *at, const char *end)
{
    at = way_line_end(at, end);
    return at < end ? at + 1 : end;
}

static bool begins(const char *at, const char *end, const char *word)
{
    return span_starts((struct span){at, (size_t)(end - at)}, word);
}

// Behind the header's "def ", "async def ", or NULL.
static const char *header(const char *at, const char *end)
{
    return begins(at, end, "def ") ? at + 4 : begins(at, end, "async def ") ? at + 10 : NULL;
}

// The name of the innermost function whose body a place is in; NULL: none.
static const char *function_at(const struct python_names *n, const char *place)
{
    const char *line = place;
    for (size_t within = SIZE_MAX; within > 0;) {
        while (line > n->begin && line[-1] != '\n')
            line--;
        const char *first = way_spaces(line, n->end), *def = header(first, n->end);
        size_t indent = (size_t)(first - line);
        bool counts = first < n->end && *first != '\n' && *first != '\r' && *first != '#' &&
                      *first != ')' && indent < within;
        if (counts && within != SIZE_MAX && def)
            return spend(n, (size_t)(place - line)) ? def : NULL;
        within = counts ? indent : within;
        if (line == n->begin)
            break;
        line--;
    }
    spend(n, (size_t)(place - line));
    return NULL;
}

// ---- what is bound ---------------------------------------------------------------------------

// What a line binds the name to, and which of several values it is; NULL: it does not.
static const char *binds(const char *line, const char *end, struct span name, int *number)
{
    const char *at = way_spaces(line, end);
    int items = 0, hit = WHOLE;
    for (;; items++) {
        struct span target = word_at(at, end, true);
        if (target.len == 0)
            return NULL;
        if (span_same(target, name))
            hit = items;
        at = way_spaces(at + target.len, end);
        if (at == end || *at != ',')
            break;
        at = way_spaces(at + 1, end);
    }
    *number = items ? hit : WHOLE;
    while (at < end && *at == ':' && hit != WHOLE) {
        const char *stop = way_line_end(at, end);
        while (at < stop && *at != '=')
            at++;
    }
    return hit != WHOLE && at + 1 < end && *at == '=' && at[1] != '=' ? at + 1 : NULL;
}

// The last line of a part of the text that binds the name.
static const char *last_bound(const struct python_names *n, const char *from, const char *to,
                              struct span name, int *number)
{
    const char *found = NULL;
    int which;
    for (const char *line = from; line < to; line = way_next_line(line, to)) {
        const char *value = binds(line, n->end, name, &which);
        if (value && value < to) {
            found = value;
            *number = which;
        }
    }
    return spend(n, (size_t)(to - from)) ? found : NULL;
}

// All lines of the text that bind the name and lead into a file, if to one place.
static bool bound_anywhere(struct way *w, struct span name)
{
    const struct python_names *n = w->n;
    struct way start = *w, one;
    bool found = false;
    start.len = 0;
    for (const char *line = n->begin; line < n->end; line = way_next_line(line, n->end)) {
        int number;
        const char *value = binds(line, n->end, name, &number);
        one = start;
        if (!value || !walk(&one, value, n->end, number))
            continue;
        if (found && (one.len != w->len || !text_equal(one.path, one.len, w->path)))
            return false;
        *w = one;
        found = true;
    }
    return spend(n, (size_t)(n->end - n->begin)) && found;
}

// Of a function's parameter, or of a name of the whole file.
static bool walk_outer(struct way *w, struct span name, const char *def)
{
    const struct python_names *n = w->n;
    struct span text = {n->begin, (size_t)(n->end - n->begin)};
    const char *value = NULL;
    bool given = def && python_parameter(text, def, name, n->steps, &value);
    if (given && value && walk(w, value, n->end, WHOLE))
        return true;
    return (given && span_find(text, "@hydra.main(") < text.len) || bound_anywhere(w, name);
}

// Where a name leads, which is looked for once for all its places in a function. *is_new: it is yet
// to be looked for; while it is, it leads nowhere. NULL: there are too many.
static struct python_known_way *known_way(const struct python_names *n, struct span name,
                                          const char *def, const char *bound, bool *is_new)
{
    struct python_ways *all = n->ways;
    *is_new = false;
    for (size_t i = 0; i < all->count; i++)
        if (all->at[i].def == def && all->at[i].bound == bound && span_same(all->at[i].name, name))
            return &all->at[i];
    if (all->count == PYTHON_WAYS)
        return NULL;
    *is_new = true;
    all->at[all->count] = (struct python_known_way){name, def, bound, {NULL, 0}, 0};
    return &all->at[all->count++];
}

static bool take_known(struct way *w, const struct python_known_way *known)
{
    if (!known->path.at)
        return false;
    mem_copy(w->path, known->path.at, known->path.len);
    w->path[w->len = known->path.len] = 0;
    w->soft = known->soft;
    return true;
}

static bool walk_name(struct way *w, struct span name)
{
    const struct python_names *n = w->n;
    bool own = span_find(name, ".") == name.len, is_new;
    const char *def = own ? function_at(n, name.at) : NULL;
    int number = WHOLE;
    const char *bound = def ? last_bound(n, def, name.at, name, &number) : NULL;
    struct python_known_way *known = known_way(n, name, def, bound, &is_new);
    if (!known || !is_new)
        return known && take_known(w, known);
    bool found = bound ? walk(w, bound, n->end, number) != NULL : walk_outer(w, name, def);
    char *path = found ? mem_arena_new(n->arena, w->len + 1, 1) : NULL;
    if (!path)
        return found;
    mem_copy(path, w->path, w->len);
    known->path = (struct span){path, w->len};
    known->soft = w->soft;
    return true;
}

// ---- functions -------------------------------------------------------------------------------

// What the function of this name returns, where that leads into a file.
static bool walk_function(struct way *w, struct span name, int number)
{
    const struct python_names *n = w->n;
    size_t inside = SIZE_MAX;  // how deep its header stands
    for (const char *line = n->begin; line < n->end; line = way_next_line(line, n->end)) {
        const char *first = way_spaces(line, n->end), *def = header(first, n->end);
        size_t indent = (size_t)(first - line);
        bool empty = first == n->end || *first == '\n' || *first == '\r' || *first == ')';
        if (!empty && inside != SIZE_MAX && indent <= inside)
            break;
        if (def && inside == SIZE_MAX && span_same(word_at(def, n->end, false), name))
            inside = indent;
        if (inside != SIZE_MAX && begins(first, n->end, "return ") &&
            walk(w, first + 7, n->end, number))
            return true;
    }
    spend(n, (size_t)(n->end - n->begin));
    return false;
}

static bool is_function(const struct python_names *n, struct span name)
{
    for (const char *line = n->begin; line < n->end; line = way_next_line(line, n->end)) {
        const char *def = header(way_spaces(line, n->end), n->end);
        if (def && span_same(word_at(def, n->end, false), name))
            return true;
    }
    spend(n, (size_t)(n->end - n->begin));
    return false;
}

// A call whose path and bracket begin at `path`: a file, what a function returns, what is in
// another's shape. Returns its end, or NULL.
static const char *walk_call(struct way *w, struct span path, const char *end, int number)
{
    const char *inside = path.at + path.len + 1;
    bool self = span_starts(path, "self.") || span_starts(path, "cls.");
    struct span name = self ? span_skip(path, span_find(path, ".") + 1) : path;
    const char *first = way_blank(inside, end);
    bool spreads = first + 1 < end && first[0] == '*' && first[1] == '*',
         class = path.at[0] >= 'A' && path.at[0] <= 'Z';
    bool found = is_function(w->n, name)                   ? walk_function(w, name, number)
                 : text_has_word(LOADS, path.at, path.len) ? true
                 : text_has_word(WRAPS, path.at, path.len) || (class && spreads)
                     ? walk(w, spreads ? first + 2 : first, end, WHOLE) != NULL
                     : false;
    const char *behind = python_over_rest(inside, end);
    spend(w->n, (size_t)(behind - inside));
    return found ? behind : NULL;
}

// ---- members ---------------------------------------------------------------------------------

static bool enter(struct way *w, struct span key)
{
    if (w->len + key.len + 2 > sizeof w->path)
        return false;
    if (w->len)
        w->path[w->len++] = '.';
    mem_copy(w->path + w->len, key.at, key.len);
    w->path[w->len += key.len] = 0;
    return true;
}

// A text in quotes at a place, and what is behind it; NULL: there is none.
static const char *key_at(const char *at, const char *end, struct span *key)
{
    at = way_blank(at, end);
    if (at == end || (*at != '"' && *at != '\''))
        return NULL;
    const char *behind = python_over_quiet(at, end);
    *key = (struct span){at + 1, behind - at > 1 ? (size_t)(behind - at - 2) : 0};
    return way_blank(behind, end);
}

// ["k"], .k, .get("k"), .get("k", default). Returns its end, NULL: it is none of them.
static const char *walk_member(struct way *w, const char *at, const char *end)
{
    struct span key = {at + 1, 0};
    const char *behind;
    w->fallback = NULL;
    w->gets = false;
    if (*at == '[') {
        behind = key_at(at + 1, end, &key);
        return behind && behind < end && *behind == ']' && enter(w, key) ? behind + 1 : NULL;
    }
    key = word_at(at + 1, end, false);
    behind = at + 1 + key.len;
    if (!span_is(key, "get") || behind == end || *behind != '(')
        return key.len && (behind == end || *behind != '(') && enter(w, key) ? behind : NULL;
    size_t above = w->len;
    behind = key_at(behind + 1, end, &key);
    if (!behind || behind == end || !enter(w, key))
        return NULL;
    w->gets = true;
    if (*behind == ',')
        w->fallback = way_blank(behind + 1, end);
    if (w->fallback && *w->fallback == '{' && w->soft > above)
        w->soft = above;
    return python_over_rest(behind, end);
}

// The item of "a, b" by its number.
static const char *item(const char *at, const char *end, int number)
{
    for (; number > 0; number--) {
        at = python_over_value(at, end);
        if (at == end || *at != ',')
            return NULL;
        at = way_blank(at + 1, end);
    }
    return at;
}

struct span way_name(const char *at, const char *end)
{
    struct span name = word_at(at, end, false);
    bool self = (span_is(name, "self") || span_is(name, "cls")) && at + name.len < end &&
                at[name.len] == '.';
    if (self)
        name.len += 1 + word_at(at + name.len + 1, end, false).len;
    return name;
}

// self.x for the .x at a place, where the text has it; empty: it has not.
static struct span attribute(const struct python_names *n, const char *at, const char *end)
{
    struct span text = {n->begin, (size_t)(n->end - n->begin)}, none = {at, 0};
    struct span word = word_at(at + 1, at < end ? end : at + 1, false);
    struct text_line line = {{0}, 0};
    if (at >= end || *at != '.' || word.len == 0 || word.len > 64)
        return none;
    text_append(&line, "self.");
    mem_copy(line.text + line.len, word.at, word.len);
    line.text[line.len += word.len] = 0;
    size_t found = span_find(text, line.text);
    return found < text.len && spend(n, found) ? (struct span){n->begin + found, line.len} : none;
}

// From an expression into a file. Returns the expression's end, NULL: it does not lead there.
static const char *walk(struct way *w, const char *at, const char *end, int number)
{
    if (w->depth >= DEPTH || *w->n->steps == 0)
        return NULL;
    w->depth++;
    spend(w->n, 16);
    at = way_spaces(at, end);
    struct span path = word_at(at, end, true);
    bool calls = path.len && at + path.len < end && at[path.len] == '(' &&
                 !(path.len > 4 && span_is(span_skip(path, path.len - 4), ".get"));
    if (number > 0 && !calls) {
        at = item(at, end, number);
        path = at ? word_at(at, end, true) : path;
    } else if (number == 0 && !calls)
        number = WHOLE;
    if (at && calls)
        at = walk_call(w, path, end, number);
    else if (at) {
        struct span name = way_name(at, end), own = attribute(w->n, at + name.len, end);
        if (name.len && walk_name(w, name))
            at += name.len;
        else if (name.len && own.len && walk_name(w, own))
            at += name.len + 1 + own.len - text_len("self.");  // of an object of a class here
        else
            at = NULL;
    }
    while (at && at < end && (*at == '[' || *at == '.'))
        at = walk_member(w, at, end);
    w->depth--;
    return at;
}

const char *way_walk(struct way *w, const char *at, const char *end)
{
    return walk(w, at, end, WHOLE);
}
