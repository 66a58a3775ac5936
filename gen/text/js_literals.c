// Reads literals out of JavaScript without running it: strings, numbers, lists and objects, and
// names that stand for such.
#include "gen/text/js_literals.h"

#include <string.h>

#include "gen/text/js_declarations.h"
#include "gen/text/js_string.h"

enum { MAX_DEPTH = 24, MAX_NODES = 20000, MAX_NAMES = 6 };

struct scanner {
    const struct js_text *js;
    str text;
    struct js_declarations *declared;  // of text
    size_t at;
    size_t *nodes;
    unsigned depth, names;
};

static char byte(const struct scanner *s, size_t ahead)
{
    return s->at + ahead < s->text.len ? s->text.ptr[s->at + ahead] : 0;
}

static bool is_spent(const struct scanner *s)
{
    return s->at >= s->text.len;
}

static void skip_blank(struct scanner *s)
{
    while (!is_spent(s)) {
        char c = byte(s, 0);
        if (c == ' ' || (c >= '\t' && c <= '\r')) {
            s->at++;
        } else if (c == '/' && byte(s, 1) == '/') {
            while (!is_spent(s) && byte(s, 0) != '\n')
                s->at++;
        } else if (c == '/' && byte(s, 1) == '*') {
            size_t end = str_search(str_slice(s->text, s->at + 2, s->text.len), STR("*/"));
            s->at += end + 4;
        } else {
            return;
        }
    }
}

static struct yaml_node *node_new(struct scanner *s, enum yaml_kind kind)
{
    struct yaml_node *n = arena_new(s->js->a, struct yaml_node, 1);
    n->kind = kind;
    n->offset = s->at;
    n->plain = kind == YAML_SCALAR;
    ++*s->nodes;
    return n;
}

static str read_string(struct scanner *s)
{
    return js_string(s->text, &s->at, s->js->a);
}

static bool is_quote(char c)
{
    return c == '"' || c == '\'' || c == '`';
}

// A pattern such as /a\/[/]b/ may come where a value may begin.
static void skip_pattern(struct scanner *s)
{
    bool set = false;
    for (s->at++; !is_spent(s) && byte(s, 0) != '\n'; s->at++) {
        char c = byte(s, 0);
        if (c == '\\')
            s->at++;
        else if (c == '[')
            set = true;
        else if (c == ']')
            set = false;
        else if (c == '/' && !set)
            break;
    }
    s->at++;
}

// One token: a string, a name, a pattern, or a sign.
static void skip_token(struct scanner *s, char before)
{
    char c = byte(s, 0);
    bool value = before && strchr("(,=:[!&|?{};", before);
    if (is_quote(c)) {
        read_string(s);
    } else if (js_is_name_byte(c)) {
        while (js_is_name_byte(byte(s, 0)))
            s->at++;
    } else if (c == '/' && value) {
        skip_pattern(s);
    } else {
        s->at++;
    }
}

// To the sign that ends a value: a comma, a semicolon or a closing bracket on this level.
static void skip_to_end(struct scanner *s)
{
    int depth = 0;
    char before = '(';
    for (skip_blank(s); !is_spent(s); skip_blank(s)) {
        char c = byte(s, 0);
        if (depth == 0 && strchr(",;)]}", c))
            return;
        depth += strchr("([{", c) ? 1 : strchr(")]}", c) ? -1 : 0;
        skip_token(s, before);
        before = c;
    }
}

static str read_name(struct scanner *s)
{
    size_t from = s->at;
    while (js_is_name_byte(byte(s, 0)))
        s->at++;
    return str_slice(s->text, from, s->at);
}

static struct yaml_node *read_value(struct scanner *s);

static void add_item(struct scanner *s, struct yaml_node *list, size_t *cap, struct yaml_node *item)
{
    list->items =
        arena_grow(s->js->a, list->items, list->count, cap, list->count + 1, sizeof *list->items);
    list->items[list->count++] = item;
}

static struct yaml_node *read_list(struct scanner *s)
{
    struct yaml_node *list = node_new(s, YAML_LIST);
    size_t cap = 0;
    s->at++;
    for (skip_blank(s); !is_spent(s) && byte(s, 0) != ']'; skip_blank(s)) {
        size_t start = s->at;
        bool spread = str_starts(str_slice(s->text, s->at, s->text.len), STR("..."));
        s->at += spread ? 3 : 0;
        struct yaml_node *item = read_value(s);
        bool many = spread && item->kind == YAML_LIST;
        for (size_t i = 0; many && i < item->count; i++)
            add_item(s, list, &cap, item->items[i]);
        if (!spread)
            add_item(s, list, &cap, item);
        skip_to_end(s);
        if (byte(s, 0) == ',')
            s->at++;
        if (s->at == start || *s->nodes > MAX_NODES)
            break;
    }
    if (byte(s, 0) == ']')
        s->at++;
    return list;
}

static void add_pair(struct scanner *s, struct yaml_node *map, size_t *cap, struct yaml_pair pair)
{
    map->pairs =
        arena_grow(s->js->a, map->pairs, map->count, cap, map->count + 1, sizeof *map->pairs);
    map->pairs[map->count++] = pair;
}

static struct yaml_node *named(struct scanner *s, str name);

// key: value, a name alone, which is its own value, ...more, or a function.
static void read_pair(struct scanner *s, struct yaml_node *map, size_t *cap)
{
    struct yaml_node *key = node_new(s, YAML_SCALAR), *value = NULL;
    if (str_starts(str_slice(s->text, s->at, s->text.len), STR("..."))) {
        s->at += 3;
        value = read_value(s);
        for (size_t i = 0; value->kind == YAML_MAP && i < value->count; i++)
            add_pair(s, map, cap, value->pairs[i]);
        return;
    }
    key->text = is_quote(byte(s, 0)) ? read_string(s) : read_name(s);
    skip_blank(s);
    if (byte(s, 0) == ':') {
        s->at++;
        value = read_value(s);
    } else if (byte(s, 0) == ',' || byte(s, 0) == '}') {
        value = named(s, key->text);
    }
    if (key->text.len && value)
        add_pair(s, map, cap, (struct yaml_pair){key, value});
}

static struct yaml_node *read_map(struct scanner *s)
{
    struct yaml_node *map = node_new(s, YAML_MAP);
    size_t cap = 0;
    s->at++;
    for (skip_blank(s); !is_spent(s) && byte(s, 0) != '}'; skip_blank(s)) {
        size_t start = s->at;
        read_pair(s, map, &cap);
        skip_to_end(s);
        if (byte(s, 0) == ',' || byte(s, 0) == ';')
            s->at++;
        if (s->at == start)
            s->at++;
        if (*s->nodes > MAX_NODES)
            break;
    }
    if (byte(s, 0) == '}')
        s->at++;
    return map;
}

// Where word is as a word of its own, from on.
static size_t find_word(str text, str word, size_t from)
{
    for (size_t at = from; at < text.len; at++) {
        at += str_search(str_slice(text, at, text.len), word);
        if (at >= text.len)
            break;
        bool starts = at == 0 || !js_is_name_byte(text.ptr[at - 1]);
        if (starts && (at + word.len == text.len || !js_is_name_byte(text.ptr[at + word.len])))
            return at;
    }
    return text.len;
}

static bool follows_word(str text, size_t at, str word)
{
    str before = str_trim(str_slice(text, 0, at));
    return str_ends(before, word) && before.len < at;
}

static struct yaml_node *empty(struct scanner *s)
{
    return node_new(s, YAML_SCALAR);
}

// What the whole text exports.
static struct yaml_node *exported(struct scanner *s)
{
    s->at = find_word(s->text, STR("default"), 0);
    if (s->at < s->text.len && follows_word(s->text, s->at, STR("export"))) {
        s->at += 7;
        return read_value(s);
    }
    s->at = str_search(s->text, STR("module.exports")) + 14;
    skip_blank(s);
    if (byte(s, 0) != '=')
        return NULL;
    s->at++;
    return read_value(s);
}

// What a file has: one of JSON, or what a program exports.
static struct yaml_node *file_value(struct scanner *s, str path)
{
    struct yaml_node *root = NULL;
    str bytes = path.len && s->js->import ? s->js->import(s->js->ctx, path) : STR_NONE;
    struct diag *quiet = diag_new((struct diag_options){.quiet = true});
    if (bytes.len && str_ends(path, STR(".json")))
        yaml_parse(bytes, 0, bytes.len, path, s->js->a, quiet, &root);
    diag_free(quiet);
    struct scanner in = *s;
    in.text = bytes, in.at = 0, in.names++;
    in.declared = &(struct js_declarations){0};
    return root || !bytes.len || s->names >= MAX_NAMES ? root : exported(&in);
}

// import NAME from "./file.json"
static struct yaml_node *imported(struct scanner *s, size_t behind)
{
    struct scanner in = *s;
    in.at = behind;
    skip_blank(&in);
    if (!str_eq(read_name(&in), STR("from")))
        return NULL;
    skip_blank(&in);
    return file_value(s, is_quote(byte(&in, 0)) ? read_string(&in) : STR_NONE);
}

// require("./file"); NULL for anything else. It is passed over then.
static struct yaml_node *required(struct scanner *s, str name)
{
    struct scanner in = *s;
    if (!str_eq(name, STR("require")) || byte(&in, 0) != '(' || !is_quote(byte(&in, 1)))
        return NULL;
    in.at++;
    str path = read_string(&in);
    struct yaml_node *value = byte(&in, 0) == ')' ? file_value(&in, path) : NULL;
    if (value)
        s->at = in.at + 1;
    return value;
}

// What a declaration of name gives it; NULL where the word at is none.
static struct yaml_node *declared_at(struct scanner *s, size_t at, str name)
{
    struct scanner in = *s;
    in.at = at + name.len;
    in.names++;
    if (follows_word(s->text, at, STR("import")))
        return imported(s, in.at);
    if (follows_word(s->text, at, STR("function"))) {
        in.at = find_word(s->text, STR("return"), in.at) + 6;
        return in.at < s->text.len ? read_value(&in) : NULL;
    }
    if (!follows_word(s->text, at, STR("const")) && !follows_word(s->text, at, STR("let")) &&
        !follows_word(s->text, at, STR("var")))
        return NULL;
    while (!is_spent(&in) && !strchr("=;\n{", byte(&in, 0)))
        skip_token(&in, ' ');
    if (byte(&in, 0) != '=')
        return NULL;
    in.at++;
    return read_value(&in);
}

static struct yaml_node *named(struct scanner *s, str name)
{
    if (s->names >= MAX_NAMES || !name.len)
        return empty(s);
    for (const struct js_declaration *d = js_declarations_of(s->declared, s->text, name, s->js->a);
         d; d = d->next) {
        struct yaml_node *value = declared_at(s, d->at, name);
        if (value)
            return value;
    }
    return empty(s);
}

// A name, a call or a path of names; "a || 'b'" is 'b' where a is unknown.
static struct yaml_node *read_named(struct scanner *s)
{
    size_t from = s->at;
    str name = read_name(s);
    bool word =
        str_eq(name, STR("true")) || str_eq(name, STR("false")) || str_eq(name, STR("null"));
    if (word || ascii_is_digit(name.ptr[0])) {
        struct yaml_node *n = empty(s);
        while (byte(s, 0) == '.' && ascii_is_digit(byte(s, 1)))
            s->at++, read_name(s);
        n->text = arena_str(s->js->a, str_slice(s->text, from, s->at));
        return n;
    }
    struct yaml_node *file = required(s, name);
    if (file)
        return file;
    struct yaml_node *value = byte(s, 0) == '.' ? empty(s) : named(s, name);
    if (value->kind == YAML_SCALAR && !value->text.len) {
        while (!is_spent(s) && (js_is_name_byte(byte(s, 0)) || byte(s, 0) == '.'))
            s->at++;
        skip_blank(s);
        bool other =
            (byte(s, 0) == '|' && byte(s, 1) == '|') || (byte(s, 0) == '?' && byte(s, 1) == '?');
        if (!other)
            return value;
        s->at += 2;
        return read_value(s);
    }
    return value;
}

static struct yaml_node *read_scalar(struct scanner *s)
{
    struct yaml_node *n = node_new(s, YAML_SCALAR);
    n->plain = false;
    n->text = read_string(s);
    return n;
}

static struct yaml_node *read_value(struct scanner *s)
{
    struct yaml_node *value;
    skip_blank(s);
    if (s->depth >= MAX_DEPTH || *s->nodes > MAX_NODES)
        return empty(s);
    s->depth++;
    char c = byte(s, 0);
    if (c == '(') {  // ({...}) and (a as B)
        s->at++;
        value = read_value(s);
        skip_to_end(s);
        if (byte(s, 0) == ')')
            s->at++;
    } else if (is_quote(c))
        value = read_scalar(s);
    else if (c == '[')
        value = read_list(s);
    else if (c == '{')
        value = read_map(s);
    else if (js_is_name_byte(c))
        value = read_named(s);
    else
        value = empty(s);
    s->depth--;
    return value;
}

// Where the value of the outermost key of that name begins: behind its colon, or at the name where
// that is its own value. *shorthand says which. text.len for none.
static size_t find_key(struct scanner *s, str key, bool *shorthand)
{
    char before = 0;
    int depth = 0, best_depth = s->js->deepest ? s->js->deepest + 1 : 1 << 30;
    size_t best = s->text.len;
    for (skip_blank(s); !is_spent(s); skip_blank(s)) {
        size_t from = s->at;
        char first = byte(s, 0);
        bool may = before == '{' || before == ',' || before == ';';
        str word = STR_NONE;
        if (is_quote(first))
            word = read_string(s);
        else if (js_is_name_byte(first))
            word = read_name(s);
        else
            skip_token(s, before);
        depth += strchr("([{", first) ? 1 : strchr(")]}", first) ? -1 : 0;
        before = first;
        if (!may || depth >= best_depth || !str_eq(word, key))
            continue;
        skip_blank(s);
        bool colon = byte(s, 0) == ':';
        if (!colon && byte(s, 0) != ',' && byte(s, 0) != '}')
            continue;
        best_depth = depth;
        best = colon ? s->at + 1 : from;
        *shorthand = !colon;
    }
    return best;
}

static struct scanner scan(const struct js_text *js, size_t *nodes,
                           struct js_declarations *declared)
{
    return (struct scanner){.js = js, .text = js->text, .nodes = nodes, .declared = declared};
}

struct yaml_node *js_value(const struct js_text *js, str key)
{
    size_t nodes = 0;
    bool shorthand = false;
    struct scanner s = scan(js, &nodes, &(struct js_declarations){0});
    s.at = find_key(&s, key, &shorthand);
    if (s.at == s.text.len)
        return NULL;
    return shorthand ? named(&s, key) : read_value(&s);
}

struct yaml_node *js_declared(const struct js_text *js, str name)
{
    size_t nodes = 0;
    struct scanner s = scan(js, &nodes, &(struct js_declarations){0});
    struct yaml_node *n = named(&s, name);
    return n->kind == YAML_SCALAR && !n->text.len ? NULL : n;
}

struct yaml_node *js_exported(const struct js_text *js)
{
    size_t nodes = 0;
    struct scanner s = scan(js, &nodes, &(struct js_declarations){0});
    return exported(&s);
}
