// Owns YAML's values in brackets, which JSON consists of.

#include "calc/parse/yaml.h"

static struct yaml_value flow_value(struct yaml *y);

// To the next word, over lines and comments. false: the text ends inside of the bracket at `open`.
static bool flow_skip(struct yaml *y, size_t open)
{
    while (y->at < y->len) {
        char c = y->text[y->at];
        if (c == '#' && !y->json)
            while (!yaml_at_line_end(y))
                y->at++;
        else if (c == '\n')
            y->line_start = ++y->at;
        else if (yaml_is_blank(c))
            y->at++;
        else
            return true;
    }
    yaml_fail(y, open, MESSAGE_yaml_open_bracket, NO_ARGS);
    return false;
}

// After a value: a comma, or the closing bracket. false: nothing more, or an error.
static bool flow_more(struct yaml *y, size_t open, char close)
{
    char closing[2] = {close, 0};
    if (y->failed || !flow_skip(y, open))
        return false;
    char c = y->text[y->at];
    if (c != ',' && c != close) {
        yaml_fail(y, y->at, MESSAGE_yaml_flow_next,
                  ARGS(arg_part("found", y->text + y->at, 1), arg_text("close", closing)));
        return false;
    }
    size_t comma = y->at++;
    if (c == close || !flow_skip(y, open))
        return false;
    if (y->text[y->at] != close)
        return true;
    if (y->json)
        yaml_fail(y, comma, MESSAGE_json_comma, ARGS(arg_text("close", closing)));
    y->at++;
    return false;
}

static bool begins(struct yaml *y, size_t open, char close)
{
    y->at++;
    if (!flow_skip(y, open))
        return false;
    if (y->text[y->at] != close)
        return true;
    y->at++;
    return false;
}

static bool flow_member(struct yaml *y, size_t open)
{
    size_t at = y->at, before;
    char c = yaml_byte(y, 0);
    struct yaml_value key =
        c == '"' || (c == '\'' && !y->json) ? yaml_quoted(y) : yaml_plain(y, true, 0);
    if (!y->failed && y->json && c != '"')
        yaml_fail(y, at, MESSAGE_json_name, NO_ARGS);
    if (y->failed || !flow_skip(y, open))
        return false;
    if (yaml_byte(y, 0) != ':') {
        yaml_fail(y, y->at, MESSAGE_yaml_no_colon,
                  ARGS(arg_part("key", key.text.at, key.text.len)));
        return false;
    }
    y->at++;
    if (!flow_skip(y, open) || !yaml_enter_key(y, key.text, at, &before))
        return false;
    yaml_leave_key(y, before, at, flow_value(y));
    return !y->failed;
}

static struct yaml_value flow_map(struct yaml *y)
{
    size_t open = y->at;
    bool more = begins(y, open, '}');
    struct yaml_value none = {YAML_SCALAR, {"", 0}, open};
    if (!more)
        return none;
    do
        more = flow_member(y, open) && flow_more(y, open, '}');
    while (more);
    return (struct yaml_value){YAML_COLLECTION, {"", 0}, open};
}

static struct yaml_value flow_list(struct yaml *y)
{
    size_t before;
    struct yaml_list list = {.at = y->at};
    bool more = begins(y, list.at, ']');
    while (more && yaml_enter_item(y, &list, &before)) {
        yaml_leave_item(y, &list, before, flow_value(y));
        more = flow_more(y, list.at, ']');
    }
    return yaml_list_value(&list);
}

// JSON's words stand alone: numbers, true, false, null.
static struct yaml_value json_word(struct yaml *y)
{
    struct yaml_value v = yaml_plain(y, true, 0);
    char c = v.text.len ? v.text.at[0] : 0;
    bool word = span_is(v.text, "true") || span_is(v.text, "false") || span_is(v.text, "null");
    bool number = (c >= '0' && c <= '9') || c == '-';
    for (size_t i = 1; i < v.text.len; i++)
        number = number && v.text.at[i] != ' ' && v.text.at[i] != ':';
    return word || number || y->failed ? v : yaml_fail(y, v.at, MESSAGE_json_word, NO_ARGS);
}

static struct yaml_value flow_value(struct yaml *y)
{
    struct yaml_value v = {YAML_NOTHING, {"", 0}, y->at};
    char c = yaml_byte(y, 0);
    if (++y->depth > PAIRS_DEPTH)
        return yaml_fail(y, y->at, MESSAGE_nested_too_deep, ARGS(arg_u64("most", PAIRS_DEPTH)));
    if (c == '{')
        v = flow_map(y);
    else if (c == '[')
        v = flow_list(y);
    else if (c == '"' || (c == '\'' && !y->json))
        v = yaml_quoted(y);
    else if (y->json)
        v = json_word(y);
    else if (c == '&' || c == '*' || c == '!')
        v = yaml_fail(y, y->at, MESSAGE_yaml_special, ARGS(arg_part("found", y->text + y->at, 1)));
    else if (c != ',' && c != ']' && c != '}')
        v = yaml_plain(y, true, 0);
    y->depth--;
    return v;
}

struct yaml_value yaml_flow(struct yaml *y)
{
    return flow_value(y);
}
