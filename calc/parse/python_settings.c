// Owns the finding of the files that a script reads: its arguments, by HfArgumentParser (SRC:
// transformers hf_argparser.py, parse_yaml_file, parse_json_file), or settings of its own.

#include "calc/parse/python_settings.h"

#include "calc/base/text.h"
#include "calc/parse/python_find.h"
#include "calc/parse/python_way.h"
#include "calc/parse/settings.h"

static const char *const READERS[] = {"parse_yaml_file(", "parse_json_file("};

// The literal at the beginning, behind "yaml_file=" or not.
static struct span literal(struct span text)
{
    size_t n = 0;
    while (n < text.len && (python_is_name_byte(text.at[n]) || text.at[n] == '=' ||
                            text.at[n] == ' ' || text.at[n] == '\n'))
        n++;
    text = span_skip(text, n);
    if (text.len == 0 || (text.at[0] != '"' && text.at[0] != '\''))
        return (struct span){"", 0};
    const char *behind = python_over_quiet(text.at, text.at + text.len);
    struct span name = {text.at + 1, (size_t)(behind - text.at - 2)};
    return span_find(name, "\n") < name.len ? (struct span){"", 0} : name;
}

struct span python_settings(struct span text)
{
    for (size_t i = 0; i < sizeof READERS / sizeof *READERS; i++) {
        size_t n = span_find(text, READERS[i]);
        struct span name = n < text.len ? literal(span_skip(text, n + span_of(READERS[i]).len))
                                        : (struct span){"", 0};
        if (name.len > 0)
            return name;
    }
    return (struct span){"", 0};
}

// A text in quotes that is a file's name, as settings are: YAML, TOML, and JSON that says so.
static bool is_file(struct span name)
{
    static const char *const ends[] = {".yaml", ".yml", ".toml", ".json"};
    static const char *const words[] = {"conf", "setting", "param", "args"};
    if (name.len > 255 || span_find(name, "\n") < name.len || span_find(name, "{") < name.len ||
        span_find(name, "*") < name.len)
        return false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t n = text_len(ends[i]);
        if (name.len <= n || !span_is(span_skip(name, name.len - n), ends[i]))
            continue;
        bool says = i < 3;
        for (size_t k = 0; k < sizeof words / sizeof *words; k++)
            says = says || span_find(name, words[k]) < name.len;
        return says && span_find(name, "tokenizer") == name.len;
    }
    return false;
}

// Whether the name stands in the same quotes above.
static bool is_said(const struct parse *p, struct span name)
{
    struct span quoted = {name.at - 1, name.len + 2};
    for (const char *at = p->text; at < quoted.at; at++)
        if (*at == *quoted.at && span_same((struct span){at, quoted.len}, quoted))
            return true;
    return false;
}

static void ask(struct parse *p, struct pair_list *out, struct span name)
{
    parse_warn(p, MESSAGE_settings_apart, pairs_pos(out, p->file, (size_t)(name.at - p->text)),
               ARGS(arg_part("value", name.at, name.len)));
}

void python_settings_ask(struct parse *p, struct pair_list *out, const struct python_names *n)
{
    struct span load = {n->begin, 0};
    bool said = false;
    for (const char *at = n->begin; *n->asked && at < n->end;) {
        size_t word;
        const char *behind = python_over_quiet(at, n->end);
        struct span name = {at + 1, behind - at > 2 ? (size_t)(behind - at - 2) : 0};
        if (behind > at && *at != '#' && is_file(name)) {
            said = true;
            if (!settings_are_given(n->v, name) && !is_said(p, name))
                ask(p, out, name);
        } else if (behind == at && python_load_at(n->begin, at, n->end, &word) && load.len == 0)
            load = (struct span){at, word};
        at = behind > at ? behind : at + 1;
    }
    if (!said && load.len && !settings_are_given(n->v, (struct span){"", 0}))
        ask(p, out, load);
}
