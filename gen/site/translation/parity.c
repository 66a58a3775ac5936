// Numbers and structure of a translation against its source, block by block where the blocks agree.
#include "gen/site/translation/parity.h"

#include <string.h>

#include "gen/text/cells.h"

#define SMALL_MAX 12

// A number, a cell or a piece of code with digits. text is normalised and lives in the arena.
struct token {
    str text;
    size_t offset, block;
    char kind;  // 'n' in prose, 'c' in code
};

struct tokens {
    struct token *items;
    size_t count, cap;
};

struct scan {
    const struct parity_text *t;
    arena *a;
    struct tokens *out;
    size_t block;
};

static void token_add(struct scan *s, char kind, str text, size_t offset)
{
    struct tokens *out = s->out;
    out->items =
        arena_grow(s->a, out->items, out->count, &out->cap, out->count + 1, sizeof *out->items);
    out->items[out->count++] = (struct token){arena_str(s->a, text), offset, s->block, kind};
}

static bool has_digit(str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (ascii_is_digit(s.ptr[i]))
            return true;
    return false;
}

static bool is_small(str number)
{
    uint64_t v;
    return str_u64(number, &v) && v <= SMALL_MAX;
}

// A letter, digit or underscore before a digit makes it part of a word: "H200", "fp16".
static bool inside_word(str text, size_t i)
{
    if (i == 0)
        return false;
    char c = text.ptr[i - 1];
    return ascii_is_alnum(c) || c == '_' || c == '#';
}

// Offset behind a code span that opens at i, its inside in *inside; i when it never closes before
// end.
static size_t code_span(str text, size_t i, size_t end, str *inside)
{
    size_t n = 0;
    while (i + n < end && text.ptr[i + n] == '`')
        n++;
    for (size_t at = i + n; at < end;) {
        size_t run = 0;
        while (at + run < end && text.ptr[at + run] == '`')
            run++;
        if (run == n) {
            *inside = str_trim(str_slice(text, i + n, at));
            return at + run;
        }
        at += run ? run : 1;
    }
    return i;
}

// Offset behind what holds no prose at i: a link's destination, an address, a tag, an entity, an
// anchor; else i.
static size_t skip_markup(str text, size_t i, size_t end)
{
    str rest = str_slice(text, i, end);
    if (str_starts(rest, STR("](")))
        return i + str_find(rest, ')');
    if (str_starts(rest, STR("http://")) || str_starts(rest, STR("https://"))) {
        size_t n = 0;
        while (n < rest.len && !strchr(" \n\t)>", rest.ptr[n]))
            n++;
        return i + n;
    }
    if (str_starts(rest, STR("{#")))
        return i + str_find(rest, '}');
    if (str_starts(rest, STR("&#")) || (str_starts(rest, STR("<")) && rest.len > 1 &&
                                        (rest.ptr[1] == '/' || (rest.ptr[1] | 32) >= 'a')))
        return i + str_find(rest, rest.ptr[0] == '<' ? '>' : ';');
    return i;
}

static size_t take_number(struct scan *s, size_t i, size_t end)
{
    str text = s->t->text;
    buf normal = BUF_INIT;
    size_t n = locale_read_number(s->t->page->language->locale, str_slice(text, i, end), &normal);
    if (n && !inside_word(text, i) && !is_small(buf_view(&normal)))
        token_add(s, 'n', buf_view(&normal), i);
    buf_free(&normal);
    return i + (n ? n : 1);
}

// Code blocks: every run of digits and points as it is.
static void scan_code(struct scan *s, size_t from, size_t end)
{
    str text = s->t->text;
    for (size_t i = from; i < end; i++) {
        size_t n = i;
        if (!ascii_is_digit(text.ptr[i]) || inside_word(text, i))
            continue;
        while (n < end && (ascii_is_digit(text.ptr[n]) ||
                           (text.ptr[n] == '.' && n + 1 < end && ascii_is_digit(text.ptr[n + 1]))))
            n++;
        token_add(s, 'c', str_slice(text, i, n), i);
        i = n;
    }
}

static bool is_fence(str text, size_t i)
{
    return str_starts(str_slice(text, i, text.len), STR("```"));
}

static void scan_prose(struct scan *s, size_t from, size_t end)
{
    str text = s->t->text, inside, code;
    for (size_t i = from; i < end;) {
        size_t next = skip_markup(text, i, end);
        if (next > i) {
            i = next;
        } else if (text.ptr[i] == '`') {
            next = code_span(text, i, end, &inside);
            // A formula or code that is no block of its own: its words may be translated, its
            // numbers not.
            if (next > i && is_fence(text, i))
                scan_code(s, i, next);
            else if (next > i && (cell_inline(inside, &code) || has_digit(inside)))
                token_add(s, 'c', inside, i);
            i = next > i ? next : i + 1;
        } else if (ascii_is_digit(text.ptr[i]) || (text.ptr[i] & 0x80)) {
            size_t n = 1;
            if (!ascii_is_digit(text.ptr[i]))
                utf8_next(str_slice(text, i, end), &n);
            size_t behind = take_number(s, i, end);
            i = behind > i + 1 ? behind : i + n;
        } else {
            i++;
        }
    }
}

static struct tokens collect(const struct parity_text *t, arena *a)
{
    struct tokens out = {0};
    struct scan s = {t, a, &out, 0};
    for (size_t i = 0; i < t->md->block_count; i++) {
        const struct md_block *b = &t->md->blocks[i];
        size_t end = i + 1 < t->md->block_count ? t->md->blocks[i + 1].offset : t->text.len;
        s.block = i;
        if (end <= b->offset)
            continue;
        if (b->kind == 'c' || b->kind == 'x' || b->kind == 'm')
            scan_code(&s, b->offset, end);
        else
            scan_prose(&s, b->offset, end);
    }
    return out;
}

static bool same_structure(const struct md_result *a, const struct md_result *b)
{
    if (a->block_count != b->block_count)
        return false;
    for (size_t i = 0; i < a->block_count; i++)
        if (a->blocks[i].kind != b->blocks[i].kind)
            return false;
    return true;
}

static const char *kind_name(uint8_t kind)
{
    switch (kind) {
    case 'h': return "a heading";
    case 'r': return "a table's row";
    case 'c': return "code";
    case 'x': return "a worked example";
    case 'm': return "a formula";
    case 'q': return "a quotation";
    default: return "a paragraph";
    }
}

static void report_structure(const struct parity_text *source, const struct parity_text *own,
                             struct diag *d)
{
    size_t i = 0, n = source->md->block_count, m = own->md->block_count;
    while (i < n && i < m && source->md->blocks[i].kind == own->md->blocks[i].kind)
        i++;
    uint32_t line = 0, col = 0;
    size_t at = i < m ? own->md->blocks[i].offset : own->text.len;
    diag_line_col(source->text, i < n ? source->md->blocks[i].offset : source->text.len, &line,
                  &col);
    diag_add(d, D_STRUCTURE_DIFFERS, DIAG_AT(own->file, own->text, at),
             "%s here, %s in line %u of the source; %zu and %zu blocks",
             i < m ? kind_name(own->md->blocks[i].kind) : "the end",
             i < n ? kind_name(source->md->blocks[i].kind) : "the end", line, m, n);
}

static bool same_token(const struct token *a, const struct token *b, bool by_block)
{
    return a->kind == b->kind && (!by_block || a->block == b->block) && str_eq(a->text, b->text);
}

// Crosses out what both have. Tokens of one block are close together, so the search is short.
static void cross_out(struct tokens *source, struct tokens *own, bool by_block)
{
    size_t first = 0;
    for (size_t i = 0; i < own->count; i++) {
        while (by_block && first < source->count &&
               source->items[first].block < own->items[i].block)
            first++;
        for (size_t j = first; j < source->count; j++) {
            if (by_block && source->items[j].block > own->items[i].block)
                break;
            if (source->items[j].text.ptr &&
                same_token(&source->items[j], &own->items[i], by_block)) {
                source->items[j].text = own->items[i].text = STR_NONE;
                break;
            }
        }
    }
}

// The next token from i on that the other side does not have; count when there is none.
static size_t next_left(const struct tokens *t, size_t i)
{
    while (i < t->count && !t->items[i].text.ptr)
        i++;
    return i;
}

// The token of the source that is where one of the translation should be: the next of its block
// and kind; count for none.
static size_t counterpart(const struct tokens *in_source, const struct token *own)
{
    size_t i = next_left(in_source, 0);
    while (i < in_source->count &&
           (in_source->items[i].block != own->block || in_source->items[i].kind != own->kind))
        i = next_left(in_source, i + 1);
    return i;
}

static unsigned line_of(const struct parity_text *t, size_t offset)
{
    uint32_t line, col;
    diag_line_col(t->text, offset, &line, &col);
    return line;
}

// Each message points at a number: at the translation's, with what the source says in its place;
// and at those of the source that the translation lacks.
static void report_numbers(const struct parity_text *source, struct tokens *in_source,
                           const struct parity_text *own, const struct tokens *in_own,
                           bool by_block, struct diag *d)
{
    for (size_t i = next_left(in_own, 0); i < in_own->count; i = next_left(in_own, i + 1)) {
        const struct token *t = &in_own->items[i];
        size_t other = by_block ? counterpart(in_source, t) : in_source->count;
        struct diag_pos at = DIAG_AT(own->file, own->text, t->offset);
        if (other == in_source->count) {
            diag_add(d, D_NUMBER_DIFFERS, at, "%.*s is not in the source", STR_ARG(t->text));
            continue;
        }
        struct token *s = &in_source->items[other];
        diag_add(d, D_NUMBER_DIFFERS, at, "%.*s here, %.*s in line %u of the source",
                 STR_ARG(t->text), STR_ARG(s->text), line_of(source, s->offset));
        s->text = STR_NONE;
    }
    for (size_t i = next_left(in_source, 0); i < in_source->count;
         i = next_left(in_source, i + 1)) {
        const struct token *t = &in_source->items[i];
        size_t at = by_block                          ? own->md->blocks[t->block].offset
                    : own->page->body < own->text.len ? own->page->body
                                                      : 0;
        diag_add(d, D_NUMBER_DIFFERS, DIAG_AT(source->file, source->text, t->offset),
                 "%.*s is not in %.*s:%u", STR_ARG(t->text), STR_ARG(own->file), line_of(own, at));
    }
}

void parity_check(const struct parity_text *source, const struct parity_text *own, struct diag *d,
                  arena *a)
{
    struct tokens in_source = collect(source, a), in_own = collect(own, a);
    bool by_block = same_structure(source->md, own->md);
    if (!by_block)
        report_structure(source, own, d);
    cross_out(&in_source, &in_own, by_block);
    report_numbers(source, &in_source, own, &in_own, by_block, d);
}
