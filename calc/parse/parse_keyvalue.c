// Flat text: one `key = value` (or `key: value`, or `--key=value`) a line, `#` comments.

#include "calc/parse/parse.h"

// The value without a comment and without the quotes around it. *end is where an unclosed quote
// began, or NULL.
static struct span value_of(struct span s, const char **unclosed)
{
    *unclosed = NULL;
    s = span_trim(s);
    char quote = s.len > 0 ? s.at[0] : 0;
    if (quote == '"' || quote == '\'') {
        for (size_t i = 1; i < s.len; i++)
            if (s.at[i] == quote)
                return (struct span){s.at + 1, i - 1};
        *unclosed = s.at;
        return s;
    }
    s.len = span_find(s, "#");
    s = span_trim(s);
    while (s.len > 0 && (s.at[s.len - 1] == ',' || s.at[s.len - 1] == ';'))
        s = span_trim((struct span){s.at, s.len - 1});
    return s;
}

// "5 * 8", as Python files write it
static bool is_arithmetic(struct span value)
{
    bool digits =
        value.len > 0 && ((value.at[0] >= '0' && value.at[0] <= '9') || value.at[0] == '(');
    for (size_t i = 1; digits && i < value.len; i++)
        if (value.at[i] == '*' || value.at[i] == '/' || value.at[i] == '+' || value.at[i] == '(')
            return value.at[i] != '+' || (value.at[i - 1] != 'e' && value.at[i - 1] != 'E');
    return false;
}

// A preset looks at the mode, and puts back what other lines set: so the mode comes first, presets
// next.
enum { TURN_MODE, TURN_PRESET, TURN_REST, TURN_COUNT };

static int turn_of(struct span key)
{
    return span_is(key, "mode") ? TURN_MODE : span_is(key, "preset") ? TURN_PRESET : TURN_REST;
}

static int read_pair(struct parse *p, struct span line, int turn)
{
    size_t n = 0;
    const char *unclosed;
    while (span_starts(line, "-"))
        line = span_skip(line, 1);
    while (n < line.len && line.at[n] != '=' && line.at[n] != ':')
        n++;
    struct span key = span_trim((struct span){line.at, n});
    if (n == line.len || key.len == 0)
        return err_set(&p->v->err, MESSAGE_no_pair, parse_at(p, line.at), NO_FIELD,
                       ARGS(arg_part("line", line.at, line.len)));
    struct span value = value_of(span_skip(line, n + 1), &unclosed);
    if (unclosed)
        return err_set(&p->v->err, MESSAGE_open_quote, parse_at(p, unclosed), NO_FIELD, NO_ARGS);
    if (value.len == 0)
        return err_set(&p->v->err, MESSAGE_no_value, parse_at(p, line.at + n), NO_FIELD,
                       ARGS(arg_part("key", key.at, key.len)));
    if (turn_of(key) != turn)
        return VRAM_OK;
    return is_arithmetic(value) ? parse_assignment(p, key, value) : parse_set(p, key, value);
}

// The errors of a line that cannot be read are said in the first turn only.
static int report(struct parse *p, int turn)
{
    if (turn > TURN_MODE && p->v->err.out.code == VRAM_EPARSE)
        message_clear(&p->v->err);
    return parse_report(p);
}

static int read_lines(struct parse *p, int turn)
{
    struct span line;
    int rc = VRAM_OK;
    while (rc == VRAM_OK && parse_line(p, &line)) {
        line = span_trim(line);
        if (line.len > 0 && line.at[0] != '#' && read_pair(p, line, turn) != VRAM_OK)
            rc = report(p, turn);
    }
    return rc;
}

static int read_pairs(struct parse *p, int turn)
{
    struct entry e;
    int rc = VRAM_OK;
    while (rc == VRAM_OK && parse_entry(p, &e))
        if (turn_of(e.key) == turn && parse_set_entry(p, &e) != VRAM_OK)
            rc = parse_report(p);
    return rc;
}

// The order of the lines does not matter, but for the last of two that set the same field.
int parse_flat(struct parse *p)
{
    int rc = VRAM_OK;
    for (int turn = 0; turn < TURN_COUNT && rc == VRAM_OK; turn++) {
        parse_rewind(p);
        rc = p->pairs ? read_pairs(p, turn) : read_lines(p, turn);
    }
    return rc;
}
