// The lexer of shells: words, quotes, variables, here-documents.
#include <string.h>

#include "gen/text/highlight_lexer.h"

enum { MAX_HERE = 8 };

// Here-documents that a line has announced; their bodies follow it.
struct here {
    str ends[MAX_HERE];
    bool indented[MAX_HERE];
    size_t count;
};

static bool is_word_byte(char c)
{
    return hl_is_name_byte(c) || (c && strchr("-./+:%,@~", c));
}

static bool word_starts(const struct hl *h)
{
    char before = h->at ? h->code.ptr[h->at - 1] : '\n';
    return strchr(" \t\n;|&(){}`", before) != NULL && before;
}

// $NAME, ${...}, $1, $?; the inside of $(...) is code and stays so.
static bool read_variable(struct hl *h)
{
    char next = hl_peek(h, 1);
    if (hl_peek(h, 0) != '$' || !next)
        return false;
    size_t end = h->at + 2;
    if (next == '{') {
        size_t close = str_find(str_slice(h->code, h->at, hl_line_end(h->code, h->at)), '}');
        end = h->at + close + 1 <= h->code.len ? h->at + close + 1 : h->code.len;
    } else if (hl_is_name_byte(next)) {
        end = ascii_is_digit(next) ? end : hl_name_end(h->code, h->at + 1);
    } else if (!strchr("?@*#$!-", next)) {
        return false;
    }
    hl_span(h, 'n', end);
    return true;
}

// Single quotes know no escapes; double quotes may go over lines.
static bool read_quotes(struct hl *h)
{
    char c = hl_peek(h, 0);
    if (c == '"') {
        hl_span(h, 's', hl_quoted_end(h->code, h->at, true));
        return true;
    }
    if (c != '\'')
        return false;
    str rest = str_slice(h->code, h->at + 1, h->code.len);
    size_t close = str_find(rest, '\'');
    hl_span(h, 's', close < rest.len ? h->at + close + 2 : hl_line_end(h->code, h->at));
    return true;
}

// "<<EOF", "<<-'EOF'": notes the word that will end the document.
static bool read_here(struct hl *h, struct here *here)
{
    if (hl_peek(h, 0) != '<' || hl_peek(h, 1) != '<' || hl_peek(h, 2) == '<' ||
        here->count == MAX_HERE)
        return false;
    size_t i = h->at + 2;
    bool indented = i < h->code.len && h->code.ptr[i] == '-';
    i += indented;
    while (i < h->code.len && h->code.ptr[i] == ' ')
        i++;
    char quote =
        i < h->code.len && (h->code.ptr[i] == '\'' || h->code.ptr[i] == '"') ? h->code.ptr[i] : 0;
    i += quote != 0;
    size_t end = hl_name_end(h->code, i);
    if (end == i || ascii_is_digit(h->code.ptr[i]))
        return false;
    here->ends[here->count] = str_slice(h->code, i, end);
    here->indented[here->count++] = indented;
    h->at = end + (quote && end < h->code.len && h->code.ptr[end] == quote);
    return true;
}

static bool ends_here(str line, str end, bool indented)
{
    while (indented && line.len && line.ptr[0] == '\t')
        line = str_slice(line, 1, line.len);
    return str_eq(line, end);
}

// The bodies of the line's here-documents, each as one string; the last line is the word.
static void read_bodies(struct hl *h, struct here *here)
{
    h->at++;
    for (size_t i = 0; i < here->count && h->at < h->code.len; i++) {
        size_t end = h->at;
        for (;;) {
            size_t stop = hl_line_end(h->code, end);
            bool last = ends_here(str_slice(h->code, end, stop), here->ends[i], here->indented[i]);
            end = stop < h->code.len && (!last || i + 1 < here->count) ? stop + 1 : stop;
            if (last || stop == h->code.len)
                break;
        }
        hl_span(h, 's', end);
    }
    here->count = 0;
}

static bool read_word(struct hl *h)
{
    if (!is_word_byte(hl_peek(h, 0)))
        return false;
    size_t end = h->at;
    while (end < h->code.len && is_word_byte(h->code.ptr[end]))
        end++;
    str word = str_slice(h->code, h->at, end);
    bool assigned = end < h->code.len && h->code.ptr[end] == '=';
    char class = word_starts(h) && !assigned ? hl_word(h->l, word) : 0;
    uint64_t number;
    if (!class && str_u64(word, &number))
        class = 'n';
    if (!class && (h->l->flags & HL_OPTIONS) && word.len > 1 && word.ptr[0] == '-' &&
        word_starts(h))
        class = 'o';
    if (class)
        hl_span(h, class, end);
    else
        h->at = end;
    return true;
}

static bool read_comment(struct hl *h)
{
    if (hl_peek(h, 0) != '#' || !word_starts(h))
        return false;
    hl_span(h, 'c', hl_line_end(h->code, h->at));
    return true;
}

void hl_shell(const struct hl_language *l, str code, buf *out)
{
    struct hl h = {.l = l, .code = code, .out = out};
    struct here here = {.count = 0};
    while (h.at < code.len) {
        char c = code.ptr[h.at];
        if (c == '\n' && here.count)
            read_bodies(&h, &here);
        else if (c == '\\')
            h.at += h.at + 1 < code.len ? 2 : 1;
        else if (!read_comment(&h) && !read_variable(&h) && !read_quotes(&h) &&
                 !read_here(&h, &here) && !read_word(&h))
            h.at++;
    }
    hl_flush(&h);
}
