// Finds the language, and the pieces that every lexer is made of: spans, words, strings, numbers.
#include "gen/text/highlight.h"

#include <string.h>

#include "gen/base/escape.h"
#include "gen/text/highlight_lexer.h"

static const struct hl_language languages[HL_LANGUAGES] = {
#define LANGUAGE(id, names, lexer, comment, open, close, flags) \
    [HL_##id] = {STR(names), lexer, STR(comment), STR(open), STR(close), flags, HL_##id},
#include "gen/text/highlight.def"
};

enum { K = 'k', F = 'f' };

static const struct {
    enum hl_language_id language;
    char class;
    str word;
} words[] = {
#define WORD(id, word, class) {HL_##id, class, STR(word)},
#include "gen/text/highlight.def"
};

const struct hl_language *hl_language(enum hl_language_id id)
{
    return &languages[id];
}

static const struct hl_language *find_language(str name)
{
    for (size_t i = 0; i < HL_LANGUAGES; i++) {
        str rest = languages[i].names, word;
        while (str_cut(&rest, ' ', &word))
            if (str_eq_nocase(word, name))
                return &languages[i];
    }
    return NULL;
}

bool highlight(str language, str code, buf *out)
{
    const struct hl_language *l = find_language(language);
    if (l)
        l->lex(l, code, out);
    else
        escape_text(out, code);
    return l != NULL;
}

char hl_word(const struct hl_language *l, str word)
{
    size_t low = 0, high = sizeof words / sizeof *words;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = (int)l->id - (int)words[middle].language;
        if (!order)
            order = str_cmp(word, words[middle].word);
        if (!order)
            return words[middle].class;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return 0;
}

void hl_flush(struct hl *h)
{
    escape_text(h->out, str_slice(h->code, h->plain, h->at));
    h->plain = h->at;
}

void hl_span(struct hl *h, char class, size_t to)
{
    char open[] = "<span class=\"?\">";
    if (to <= h->at)
        return;
    hl_flush(h);
    open[13] = class;
    buf_put(h->out, open, sizeof open - 1);
    h->at = to;
    hl_flush(h);
    buf_lit(h->out, "</span>");
}

size_t hl_line_end(str code, size_t i)
{
    const char *p = i < code.len ? memchr(code.ptr + i, '\n', code.len - i) : NULL;
    return p ? (size_t)(p - code.ptr) : code.len;
}

// A string in the quote that is at i, with backslash escapes. One that is not closed ends with
// its line, or with the code when it may have many.
size_t hl_quoted_end(str code, size_t i, bool many_lines)
{
    char quote = code.ptr[i++];
    for (; i < code.len; i++) {
        char c = code.ptr[i];
        if (c == '\\')
            i++;
        else if (c == quote)
            return i + 1;
        else if (c == '\n' && !many_lines)
            return i;
    }
    return code.len;
}

bool hl_is_name_byte(char c)
{
    return ascii_is_alnum(c) || c == '_' || (uint8_t)c >= 0x80;
}

size_t hl_name_end(str code, size_t i)
{
    while (i < code.len && hl_is_name_byte(code.ptr[i]))
        i++;
    return i;
}

// Digits of any base, separators, one suffix: 0x1F, 1_000, 1.5e-3, 10ull. Two dots end it (Lua's
// 1..2).
size_t hl_number_end(str code, size_t i)
{
    bool hex = i + 1 < code.len && code.ptr[i] == '0' && (code.ptr[i + 1] | 32) == 'x';
    for (; i < code.len; i++) {
        char c = code.ptr[i];
        char before = (char)(i ? code.ptr[i - 1] | 32 : 0);
        bool sign = (c == '+' || c == '-') && (hex ? before == 'p' : before == 'e');
        bool dot = c == '.' && !(i + 1 < code.len && code.ptr[i + 1] == '.');
        if (!sign && !dot && (!hl_is_name_byte(c) || (uint8_t)c >= 0x80))
            break;
    }
    return i;
}
