// Owns the reading of YAML as configuration files write it, and of JSON, into pairs: block and flow
// collections, all scalars, anchors of scalars. Tags, complex keys, aliases of collections and
// second documents are refused with their place.

#include "calc/parse/yaml.h"

struct yaml_anchor {
    struct span name, text;
    bool scalar;
    struct yaml_anchor *next;
};

static struct yaml_value block_node(struct yaml *y, size_t least);

struct yaml_value yaml_fail(struct yaml *y, size_t at, message_id id, struct args args)
{
    if (!y->failed)
        err_set(&y->p->v->err, id, pairs_pos(y->out, y->p->file, at), NO_FIELD, args);
    y->failed = true;
    y->at = y->len;
    return (struct yaml_value){YAML_NOTHING, {"", 0}, at};
}

// ---- words and lines -------------------------------------------------------------------------

// Within the line, over a comment behind a space.
static void skip_spaces(struct yaml *y)
{
    while (yaml_byte(y, 0) == ' ' || yaml_byte(y, 0) == '\t')
        y->at++;
    if (yaml_byte(y, 0) == '#' && (y->at == 0 || yaml_is_blank(y->text[y->at - 1])))
        while (!yaml_at_line_end(y))
            y->at++;
}

static bool at_mark(const struct yaml *y, const char *mark)
{
    return y->at == y->line_start &&
           span_starts((struct span){y->text + y->at, y->len - y->at}, mark) &&
           yaml_is_blank(yaml_byte(y, 3));
}

// To the next word; false at the end.
static bool next_word(struct yaml *y)
{
    for (skip_spaces(y); y->at < y->len && yaml_at_line_end(y); skip_spaces(y)) {
        y->at += y->text[y->at] == '\r' ? 2 : 1;
        y->line_start = y->at;
    }
    return y->at < y->len;
}

// To the next word of the document; false at its end.
static bool skip(struct yaml *y)
{
    if (!next_word(y))
        return false;
    if (at_mark(y, "...")) {
        y->len = y->at;
        return false;
    }
    if (at_mark(y, "---"))
        yaml_fail(y, y->at, MESSAGE_yaml_second_document, NO_ARGS);
    return !y->failed;
}

static size_t column(const struct yaml *y)
{
    return y->at - y->line_start;
}

// A tab is no indentation.
static bool check_indent(struct yaml *y)
{
    for (size_t i = y->line_start; i < y->at; i++)
        if (y->text[i] == '\t') {
            yaml_fail(y, i, MESSAGE_yaml_tab, NO_ARGS);
            return false;
        }
    return true;
}

// ---- members and items -----------------------------------------------------------------------

bool yaml_enter_key(struct yaml *y, struct span key, size_t at, size_t *before)
{
    bool quoted = y->text[at] == '"' || y->text[at] == '\'';
    if (key.len == 0 && quoted)
        key = span_of("\"\"");  // device_map: {"": 0}
    if (key.len == 0 && !y->failed)
        yaml_fail(y, at, MESSAGE_yaml_no_key, NO_ARGS);
    *before = y->failed ? 0 : pairs_enter(y->out, key);
    if (*before == SIZE_MAX)
        yaml_fail(y, at, MESSAGE_key_too_long, ARGS(arg_u64("most", PAIRS_PATH)));
    return !y->failed;
}

void yaml_leave_key(struct yaml *y, size_t before, size_t key_at, struct yaml_value value)
{
    if (value.kind == YAML_SCALAR && !y->failed)
        pairs_add(y->out, value.text, key_at, value.at);
    pairs_leave(y->out, before);
}

bool yaml_enter_item(struct yaml *y, struct yaml_list *list, size_t *before)
{
    *before = y->failed ? SIZE_MAX : pairs_enter_item(y->out, list->items++);
    if (*before == SIZE_MAX)
        yaml_fail(y, y->at, MESSAGE_key_too_long, ARGS(arg_u64("most", PAIRS_PATH)));
    return !y->failed;
}

void yaml_leave_item(struct yaml *y, struct yaml_list *list, size_t before, struct yaml_value item)
{
    pairs_leave(y->out, before);
    if (item.kind != YAML_SCALAR || y->failed)
        return;
    if (list->joined.len + item.text.len > PARSE_LIST_MAX)
        return;  // a list of numbers, one a layer or a token: no field takes it
    list->joined = pairs_join(y->out, list->joined, item.text, list->scalars++ == 0);
}

struct yaml_value yaml_list_value(const struct yaml_list *list)
{
    if (list->items > 0 && list->scalars == 0)
        return (struct yaml_value){YAML_COLLECTION, {"", 0}, list->at};
    return (struct yaml_value){YAML_SCALAR, list->joined.at ? list->joined : (struct span){"", 0},
                               list->at};
}

// ---- anchors ---------------------------------------------------------------------------------

static struct span anchor_name(struct yaml *y)
{
    size_t start = ++y->at;
    while (!yaml_is_blank(yaml_byte(y, 0)))
        y->at++;
    struct span name = {y->text + start, y->at - start};
    skip_spaces(y);
    return name;
}

static void remember(struct yaml *y, struct span name, struct yaml_value value)
{
    struct yaml_anchor *a = mem_arena_new(&y->out->arena, 1, sizeof *a);
    if (!a) {
        y->out->failed = y->failed = true;
        return;
    }
    *a = (struct yaml_anchor){name, value.text, value.kind == YAML_SCALAR, y->anchors};
    y->anchors = a;
}

static struct yaml_value alias(struct yaml *y)
{
    size_t at = y->at;
    struct span name = anchor_name(y);
    for (const struct yaml_anchor *a = y->anchors; a; a = a->next)
        if (a->scalar && span_same(a->name, name))
            return (struct yaml_value){YAML_SCALAR, a->text, at};
    return yaml_fail(y, at, MESSAGE_yaml_alias, ARGS(arg_part("name", name.at, name.len)));
}

// ---- blocks ----------------------------------------------------------------------------------

static bool is_item(const struct yaml *y)
{
    return yaml_byte(y, 0) == '-' && yaml_is_blank(yaml_byte(y, 1));
}

// A value that begins in the line of its key or dash. least: the columns that its further lines
// have at least.
static struct yaml_value inline_value(struct yaml *y, size_t least)
{
    char c = yaml_byte(y, 0);
    struct yaml_value v;
    if (c == '|' || c == '>')
        return yaml_block_text(y, least);
    if (c == '!' || c == '%' || c == '@' || c == '`' ||
        (c == '?' && yaml_is_blank(yaml_byte(y, 1))))
        return yaml_fail(y, y->at, MESSAGE_yaml_special,
                         ARGS(arg_part("found", y->text + y->at, 1)));
    if (c == '[' || c == '{')
        v = yaml_flow(y);
    else if (c == '"' || c == '\'')
        v = yaml_quoted(y);
    else if (c == '*')
        v = alias(y);
    else
        return yaml_plain(y, false, least);
    skip_spaces(y);
    if (!y->failed && !yaml_at_line_end(y))
        return yaml_fail(y, y->at, MESSAGE_yaml_after_value, NO_ARGS);
    return v;
}

// A key at y->at, with its colon: moves behind it. false: this is none, and y stays.
static bool take_key(struct yaml *y, struct span *key)
{
    struct yaml before = *y;
    char c = yaml_byte(y, 0);
    if (c == '[' || c == '{' || c == '|' || c == '>' || c == '*' || c == '!')
        return false;
    struct yaml_value v = c == '"' || c == '\'' ? yaml_quoted(y) : yaml_plain(y, true, 0);
    if (c != '"' && c != '\'') {  // outside of brackets a key may have brackets and commas in it
        *y = before;
        while (
            !yaml_at_line_end(y) && !(yaml_byte(y, 0) == ':' && yaml_is_blank(yaml_byte(y, 1))) &&
            !(yaml_byte(y, 0) == '#' && y->at > y->line_start && yaml_is_blank(y->text[y->at - 1])))
            y->at++;
        v.text = span_trim((struct span){y->text + before.at, y->at - before.at});
    }
    while (yaml_byte(y, 0) == ' ')
        y->at++;
    if (!y->failed && yaml_byte(y, 0) == ':' && yaml_is_blank(yaml_byte(y, 1))) {
        y->at++;
        *key = v.text;
        return true;
    }
    if (!y->failed)
        *y = before;
    return false;
}

// The value behind a colon or a dash, in this line or below. least: its least column below;
// after_key: a list may have that of its key.
static struct yaml_value value_of(struct yaml *y, size_t least, bool after_key)
{
    struct span anchor = {NULL, 0};
    struct yaml_value v = {YAML_NOTHING, {"", 0}, y->at};
    skip_spaces(y);
    if (yaml_byte(y, 0) == '&')
        anchor = anchor_name(y);
    if (!yaml_at_line_end(y)) {
        struct yaml probe = *y;
        struct span key;
        bool nested = !after_key && (is_item(y) || take_key(&probe, &key));
        if (probe.failed)
            y->failed = true;
        v = y->failed ? v : nested ? block_node(y, least) : inline_value(y, least);
    } else if (skip(y)) {
        size_t at = column(y);
        if (at >= least || (after_key && at + 1 == least && is_item(y)))
            v = block_node(y, at);
    }
    if (anchor.at && !y->failed)
        remember(y, anchor, v);
    return v;
}

static struct yaml_value block_list(struct yaml *y, size_t indent)
{
    struct yaml_list list = {.at = y->at};
    size_t before;
    do {
        if (!check_indent(y) || !yaml_enter_item(y, &list, &before))
            break;
        y->at++;
        yaml_leave_item(y, &list, before, value_of(y, indent + 1, false));
    } while (!y->failed && skip(y) && column(y) == indent && is_item(y));
    return yaml_list_value(&list);
}

static struct yaml_value block_map(struct yaml *y, size_t indent)
{
    struct yaml_value map = {YAML_COLLECTION, {"", 0}, y->at};
    struct span key;
    size_t before;
    do {
        size_t at = y->at;
        if (!take_key(y, &key)) {
            size_t n = 0;
            while (at + n < y->len && y->text[at + n] != '\n')
                n++;
            return y->failed ? map
                             : yaml_fail(y, at, MESSAGE_yaml_no_pair,
                                         ARGS(arg_part("line", y->text + at, n)));
        }
        if (!yaml_enter_key(y, key, at, &before))
            return map;
        yaml_leave_key(y, before, at, value_of(y, indent + 1, true));
    } while (!y->failed && skip(y) && column(y) == indent);
    if (!y->failed && y->at < y->len && column(y) > indent && check_indent(y))
        return yaml_fail(y, y->at, MESSAGE_yaml_indent, NO_ARGS);
    return map;
}

static struct yaml_value block_node(struct yaml *y, size_t least)
{
    struct yaml probe = *y;
    struct span key;
    struct yaml_value v;
    size_t indent = column(y);
    if (!check_indent(y))
        return (struct yaml_value){YAML_NOTHING, {"", 0}, y->at};
    if (++y->depth > PAIRS_DEPTH)
        return yaml_fail(y, y->at, MESSAGE_nested_too_deep, ARGS(arg_u64("most", PAIRS_DEPTH)));
    if (is_item(y))
        v = block_list(y, indent);
    else if (take_key(&probe, &key))
        v = block_map(y, indent);
    else if (probe.failed)
        v = (y->failed = true, (struct yaml_value){YAML_NOTHING, {"", 0}, y->at});
    else
        v = inline_value(y, least);
    y->depth--;
    return v;
}

// ---- all -------------------------------------------------------------------------------------

// Before the first word: directives and the line that begins the document.
static void skip_head(struct yaml *y)
{
    while (next_word(y) && yaml_byte(y, 0) == '%' && column(y) == 0)
        while (!yaml_at_line_end(y))
            y->at++;
    if (at_mark(y, "---"))
        y->at += 3;
}

int read_yaml(struct parse *p, struct pair_list *out)
{
    struct yaml y = {.p = p, .out = out, .text = p->text, .len = p->len};
    skip_head(&y);
    skip(&y);
    y.json = yaml_byte(&y, 0) == '{';
    struct yaml_value v = {YAML_NOTHING, {"", 0}, 0};
    if (y.at < y.len && !y.failed)
        v = block_node(&y, 0);
    else
        yaml_fail(&y, 0, MESSAGE_nothing_here, NO_ARGS);
    if (!y.failed && skip(&y))
        yaml_fail(&y, y.at, y.json ? MESSAGE_json_goes_on : MESSAGE_yaml_indent, NO_ARGS);
    if (!y.failed && v.at < p->len && p->text[v.at] == '[')
        yaml_fail(&y, v.at, MESSAGE_list_alone, NO_ARGS);
    if (!y.failed && v.kind == YAML_SCALAR && v.text.len)
        yaml_fail(&y, v.at, MESSAGE_yaml_no_pair, ARGS(arg_part("line", v.text.at, v.text.len)));
    if (out->failed)
        return handle_no_memory(p->v);
    return y.failed ? p->v->err.out.code : VRAM_OK;
}

int read_json_within(struct parse *p, struct pair_list *out, size_t at, size_t len)
{
    struct yaml y = {.p = p, .out = out, .text = p->text, .len = at + len, .at = at, .json = true};
    yaml_flow(&y);
    if (!y.failed && y.at < y.len)
        yaml_fail(&y, y.at, MESSAGE_json_goes_on, NO_ARGS);
    if (out->failed)
        return handle_no_memory(p->v);
    return y.failed ? p->v->err.out.code : VRAM_OK;
}
