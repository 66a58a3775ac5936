// Owns the finding of the file that a script of HfArgumentParser reads its arguments from. SRC:
// transformers hf_argparser.py, parse_yaml_file, parse_json_file.

#include "calc/parse/python_settings.h"

#include "calc/parse/python_find.h"

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
