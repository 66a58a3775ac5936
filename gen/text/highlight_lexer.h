// What the lexers of the highlighter share: a cursor over code that prints coloured and plain
// pieces.
#ifndef GEN_TEXT_HIGHLIGHT_LEXER_H
#define GEN_TEXT_HIGHLIGHT_LEXER_H

#include "gen/base/buf.h"

enum hl_language_id {
#define LANGUAGE(id, names, lexer, comment, open, close, flags) HL_##id,
#include "gen/text/highlight.def"
    HL_LANGUAGES
};

enum {
    HL_CALLS = 1,           // a name before ( is a function
    HL_DIRECTIVES = 2,      // # at a line's start begins a directive
    HL_KEYS = 4,            // a string before : is a key
    HL_LONG_BRACKETS = 8,   // [[ ]], [=[ ]=]
    HL_DECORATORS = 16,     // @name
    HL_TRIPLE = 32,         // """ and '''
    HL_PREFIXES = 64,       // r"", b'', f""
    HL_WORD_COMMENT = 128,  // a comment begins only behind white space
    HL_OPTIONS = 256,       // a word of a shell that begins with - is an option, which stays whole
};

struct hl_language {
    str names;
    void (*lex)(const struct hl_language *l, str code, buf *out);
    str comment, open, close;
    unsigned flags;
    enum hl_language_id id;
};

// A cursor: code up to plain has been printed, code up to at has been read.
struct hl {
    const struct hl_language *l;
    str code;
    size_t plain, at;
    buf *out;
};

const struct hl_language *hl_language(enum hl_language_id id);
// Prints what has been read and not printed, uncoloured.
void hl_flush(struct hl *h);
// Colours code from h->at up to to, after what was plain before it.
void hl_span(struct hl *h, char class, size_t to);
// The class of a word ('k' or 'f'), or 0.
char hl_word(const struct hl_language *l, str word);
// Offsets behind what begins at i.
size_t hl_line_end(str code, size_t i);
size_t hl_quoted_end(str code, size_t i, bool many_lines);
size_t hl_number_end(str code, size_t i);
size_t hl_name_end(str code, size_t i);
bool hl_is_name_byte(char c);
static inline char hl_peek(const struct hl *h, size_t ahead)
{
    return h->at + ahead < h->code.len ? h->code.ptr[h->at + ahead] : 0;
}

void hl_code(const struct hl_language *l, str code, buf *out);
void hl_shell(const struct hl_language *l, str code, buf *out);
void hl_yaml(const struct hl_language *l, str code, buf *out);
void hl_diff(const struct hl_language *l, str code, buf *out);
void hl_console(const struct hl_language *l, str code, buf *out);

#endif
