// The lexers that go line by line: YAML, diffs, and sessions at a console.
#include <string.h>

#include "gen/text/highlight_lexer.h"

// Never back: a span may have gone over the line's end.
static void next_line(struct hl *h, size_t end)
{
    size_t next = end < h->code.len ? end + 1 : end;
    if (h->at < next)
        h->at = next;
}

static size_t indent_of(str line)
{
    size_t n = 0;
    while (n < line.len && line.ptr[n] == ' ')
        n++;
    return n;
}

// Offset in a line of the : that ends a key; line.len when it has none. Quotes are heeded.
static size_t key_end(str line)
{
    for (size_t i = 0; i < line.len; i++) {
        char c = line.ptr[i];
        if ((c == '"' || c == '\'') && (!i || strchr(" {,-", line.ptr[i - 1])))
            i = hl_quoted_end(line, i, false) - 1;
        else if (c == '#' && i && line.ptr[i - 1] == ' ')
            return line.len;
        else if (c == ':' && (i + 1 == line.len || line.ptr[i + 1] == ' '))
            return i;
    }
    return line.len;
}

// A plain scalar: up to a comment, a flow's end, or the line's.
static size_t scalar_end(str line, size_t i)
{
    while (i < line.len && !strchr(",[]{}", line.ptr[i]) &&
           !(line.ptr[i] == '#' && line.ptr[i - 1] == ' '))
        i++;
    return i;
}

static bool is_number(str s)
{
    size_t i = s.len > 1 && (s.ptr[0] == '-' || s.ptr[0] == '+');
    return i < s.len && ascii_is_digit(s.ptr[i]) && hl_number_end(s, i) == s.len;
}

static void yaml_scalar(struct hl *h, str line, size_t start)
{
    size_t i = h->at - start, end = scalar_end(line, i);
    str s = str_trim(str_slice(line, i, end));
    char class = hl_word(h->l, s);
    size_t colon = key_end(str_slice(line, i, end));
    if (!class && i + colon < end) {
        class = 'f';
        s = str_slice(line, i, i + colon);
    } else if (!class && s.len && strchr("&*!", s.ptr[0])) {
        class = 'f';
        s = str_slice(s, 0, str_find(s, ' '));
        end = (size_t)(s.ptr - line.ptr) + s.len;
    } else if (!class && is_number(s)) {
        class = 'n';
    }
    if (class && s.len) {
        h->at = start + (size_t)(s.ptr - line.ptr);
        hl_span(h, class, h->at + s.len);
    } else {
        h->at = start + (end > i ? end : i + 1);
    }
}

// A quoted scalar; before a : it is a key.
static void yaml_quoted(struct hl *h)
{
    size_t end = hl_quoted_end(h->code, h->at, false);
    hl_span(h, end < h->code.len && h->code.ptr[end] == ':' ? 'f' : 's', end);
}

// What is behind a key, or a line without one.
static void yaml_value(struct hl *h, str line, size_t start)
{
    size_t end = start + line.len;
    while (h->at < end) {
        char c = h->code.ptr[h->at];
        if (c == '#' && (h->at == start || h->code.ptr[h->at - 1] == ' '))
            hl_span(h, 'c', end);
        else if (c == '"' || c == '\'')
            yaml_quoted(h);
        else if (strchr(" ,[]{}\t:\r", c))
            h->at++;
        else
            yaml_scalar(h, line, start);
    }
}

// Whether a line ends with | or >, perhaps with modifiers: a block of text follows.
static bool opens_block(str line)
{
    str s = str_trim(line);
    while (s.len && strchr("+-0123456789", s.ptr[s.len - 1]))
        s.len--;
    return s.len && (s.ptr[s.len - 1] == '|' || s.ptr[s.len - 1] == '>') &&
           (s.len == 1 || s.ptr[s.len - 2] == ' ');
}

static void yaml_line(struct hl *h, str line)
{
    size_t start = h->at, i = indent_of(line);
    while (i + 1 < line.len && line.ptr[i] == '-' && line.ptr[i + 1] == ' ')
        i += 1 + indent_of(str_slice(line, i + 1, line.len));
    str rest = str_slice(line, i, line.len);
    size_t key = rest.len && strchr("#[{\"'", rest.ptr[0]) ? rest.len : key_end(rest);
    h->at = start + i;
    if (str_starts(line, STR("---")) || str_starts(line, STR("...")))
        hl_span(h, 'k', start + 3);
    else if (key < rest.len)
        hl_span(h, 'f', h->at + key);
    yaml_value(h, line, start);
}

void hl_yaml(const struct hl_language *l, str code, buf *out)
{
    struct hl h = {.l = l, .code = code, .out = out};
    size_t block = 0;  // 1 + the indentation that a block of text is deeper than; 0 outside
    while (h.at < code.len) {
        size_t end = hl_line_end(code, h.at);
        str line = str_slice(code, h.at, end);
        if (block && (!str_trim(line).len || indent_of(line) >= block)) {
            hl_span(&h, 's', end);
        } else {
            block = opens_block(line) ? indent_of(line) + 1 : 0;
            yaml_line(&h, line);
        }
        next_line(&h, end);
    }
    hl_flush(&h);
}

// "-12,7" or "+12": how many lines of a side a hunk has.
static uint64_t hunk_lines(str *rest, char side)
{
    uint64_t count = 1;
    str word, start;
    size_t at = str_find(*rest, side);
    *rest = str_slice(*rest, at + 1, rest->len);
    word = str_slice(*rest, 0, str_find(*rest, ' '));
    str_cut(&word, ',', &start);
    if (word.ptr)
        str_u64(word, &count);
    return count;
}

void hl_diff(const struct hl_language *l, str code, buf *out)
{
    struct hl h = {.l = l, .code = code, .out = out};
    uint64_t old_lines = 0, new_lines = 0;  // that the hunk still has: in it, --- is a removed line
    while (h.at < code.len) {
        size_t end = hl_line_end(code, h.at);
        str line = str_slice(code, h.at, end);
        char c = line.len ? line.ptr[0] : ' ';
        bool hunk = old_lines || new_lines;
        if (str_starts(line, STR("@@"))) {
            str rest = line;
            old_lines = hunk_lines(&rest, '-');
            new_lines = hunk_lines(&rest, '+');
            hl_span(&h, 'k', end);
        } else if (!hunk && (str_starts(line, STR("---")) || str_starts(line, STR("+++")) ||
                             str_starts(line, STR("diff ")) || str_starts(line, STR("index ")))) {
            hl_span(&h, 'k', end);
        } else if (c == '+' || c == '-') {
            hl_span(&h, c == '+' ? 'a' : 'd', end);
        }
        old_lines -= old_lines && (c == '-' || c == ' ');
        new_lines -= new_lines && (c == '+' || c == ' ');
        next_line(&h, end);
    }
    hl_flush(&h);
}

// Length of the prompt that a line begins with: "$ ", "# ", "> ", ">>> ", "... ", "user@host:~$ ",
// "(venv) $ ".
static size_t prompt_length(str line)
{
    if (str_starts(line, STR(">>> ")) || str_starts(line, STR("... ")))
        return 4;
    for (size_t i = 0; i + 1 < line.len && i < 80; i++) {
        if (strchr("$#>%", line.ptr[i]) && line.ptr[i + 1] == ' ') {
            str head = str_slice(line, 0, i);
            bool alone =
                !i || (line.ptr[0] == '(' && line.ptr[i - 1] == ' ') || line.ptr[i - 1] == ']';
            bool shell = line.ptr[i] != '>' && str_find(head, '@') < i && str_find(head, ' ') == i;
            if (alone || shell)
                return i + 2;
        }
        if (line.ptr[i] == ' ' && line.ptr[0] != '(' && line.ptr[0] != '[')
            break;
    }
    return 0;
}

static void command(struct hl *h, size_t end, bool python)
{
    struct hl_language l = *hl_language(python ? HL_PYTHON : HL_BASH);
    l.flags |= HL_OPTIONS;  // the lines of a console are broken where they are too long
    hl_flush(h);
    l.lex(&l, str_slice(h->code, h->at, end), h->out);
    h->at = h->plain = end;
}

void hl_console(const struct hl_language *l, str code, buf *out)
{
    struct hl h = {.l = l, .code = code, .out = out};
    bool goes_on = false;  // the line before ended with a backslash
    while (h.at < code.len) {
        size_t end = hl_line_end(code, h.at);
        str line = str_slice(code, h.at, end);
        size_t prompt = prompt_length(line);
        bool python = prompt == 4 && (line.ptr[0] == '>' || line.ptr[0] == '.');
        if (prompt)
            hl_span(&h, 'p', h.at + prompt);
        if (prompt || goes_on)
            command(&h, end, python);
        goes_on = (prompt || goes_on) && line.len && line.ptr[line.len - 1] == '\\';
        next_line(&h, end);
    }
    hl_flush(&h);
}
