// Divides a text into terms: one pass over its letters, each of a class that is looked up in a
// table.
#include "gen/text/terms.h"

#include <stdlib.h>
#include <string.h>
#include <unicode/uchar.h>

// A number's separators are between digits and are left out there; elsewhere they end a word, as
// everything that is no letter does. Signs without a width (soft hyphen, joiners) are as if they
// were not there.
enum letter_class { SEPARATOR, WORD, DIGIT, DENSE, HYPHEN, IN_NUMBER, NOTHING };

enum { BLOCK = 256, BLOCKS = 0x110000 / BLOCK, MAX_LETTERS = 40, MAX_BYTES = MAX_LETTERS * 4 };

struct letter {
    uint32_t lower;
    uint8_t class;
    bool same;  // it is its own lower case
};

struct part {
    char bytes[2 * MAX_BYTES];
    size_t len, letters;
};

struct terms {
    struct letter *blocks[BLOCKS];  // NULL until a letter of it is met
    struct part word, before;       // before: the word that a hyphen has ended
    bool joined, has_digit;
    uint32_t last_dense, dense_run;
    void (*visit)(void *ctx, str term);
    void *ctx;
};

bool terms_is_dense(uint32_t c)
{
    static const uint32_t ranges[][2] = {
        {0x0E00, 0x0EFF}, {0x1000, 0x109F}, {0x1780, 0x17FF}, {0x3005, 0x3007},   {0x3041, 0x309F},
        {0x30A1, 0x30FA}, {0x30FC, 0x30FF}, {0x31F0, 0x31FF}, {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},
        {0xA9E0, 0xA9FF}, {0xAA60, 0xAA7F}, {0xF900, 0xFAFF}, {0x20000, 0x3FFFF},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges && c >= ranges[i][0]; i++)
        if (c <= ranges[i][1])
            return true;
    return false;
}

bool terms_is_pair(str term)
{
    size_t n;
    return term.len && terms_is_dense(utf8_next(term, &n));
}

bool terms_is_letter(str folded)
{
    size_t n = 0;
    if (folded.len)
        utf8_next(folded, &n);
    bool digit = folded.len && ascii_is_digit(folded.ptr[0]);
    return n == folded.len && !digit && !terms_is_pair(folded);
}

// Digits that terms_fold() makes ASCII's.
static bool is_digit(uint32_t c)
{
    static const uint32_t zeros[] = {'0', 0x660, 0x6F0, 0x966, 0x9E6, 0xFF10};
    for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++)
        if (c >= zeros[i] && c < zeros[i] + 10)
            return true;
    return false;
}

static enum letter_class class_of(uint32_t c)
{
    static const uint32_t hyphens[] = {'-', '_', 0x2010, 0x2011},
                          in_number[] = {'.', ',', '\'', 0x2019, 0xA0, 0x202F};
    for (size_t i = 0; i < sizeof hyphens / sizeof *hyphens; i++)
        if (c == hyphens[i])
            return HYPHEN;
    for (size_t i = 0; i < sizeof in_number / sizeof *in_number; i++)
        if (c == in_number[i])
            return IN_NUMBER;
    if (c == 0xAD || (c >= 0x200B && c <= 0x200D) || c == 0x2060 || c == 0xFEFF)
        return NOTHING;
    if (is_digit(c))
        return DIGIT;
    if (!(U_MASK(u_charType((UChar32)c)) & (U_GC_L_MASK | U_GC_M_MASK | U_GC_N_MASK)))
        return SEPARATOR;
    return terms_is_dense(c) ? DENSE : WORD;
}

static struct letter *new_block(uint32_t first)
{
    struct letter *block = calloc(BLOCK, sizeof *block);
    if (!block)
        buf_no_memory();
    for (uint32_t i = 0; i < BLOCK; i++) {
        uint32_t c = first + i, lower = (uint32_t)u_tolower((UChar32)c);
        block[i] = (struct letter){lower, (uint8_t)class_of(c), lower == c};
    }
    return block;
}

static inline const struct letter *letter_of(struct terms *t, uint32_t c)
{
    struct letter **block = &t->blocks[c / BLOCK];
    if (!*block)
        *block = new_block(c / BLOCK * BLOCK);
    return &(*block)[c % BLOCK];
}

struct terms *terms_new(void)
{
    struct terms *t = calloc(1, sizeof *t);
    if (!t)
        buf_no_memory();
    return t;
}

// l was read from bytes: nearly all letters are in lower case, and go on as they are.
static void word_add(struct part *w, const struct letter *l, str bytes)
{
    if (w->letters == MAX_LETTERS)
        return;
    w->letters++;
    char *to = w->bytes + w->len;
    if (!l->same) {
        w->len += utf8_put(to, l->lower);
        return;
    }
    for (size_t i = 0; i < bytes.len; i++)
        to[i] = bytes.ptr[i];
    w->len += bytes.len;
}

static void word_end(struct terms *t, bool hyphen)
{
    struct part *w = &t->word, *b = &t->before;
    if (w->letters > 1 || t->has_digit)
        t->visit(t->ctx, (str){w->bytes, w->len});
    if (t->joined) {
        memcpy(b->bytes + b->len, w->bytes, w->len);
        t->visit(t->ctx, (str){b->bytes, b->len + w->len});
    }
    t->joined = hyphen;
    if (hyphen) {
        memcpy(b->bytes, w->bytes, w->len);
        b->len = w->len;
    }
    w->len = w->letters = 0;
    t->has_digit = false;
}

static void dense_end(struct terms *t)
{
    char alone[4];
    if (t->dense_run == 1)
        t->visit(t->ctx, (str){alone, utf8_put(alone, t->last_dense)});
    t->dense_run = 0;
}

static void dense_add(struct terms *t, uint32_t c)
{
    char pair[8];
    if (t->dense_run++) {
        size_t n = utf8_put(pair, t->last_dense);
        t->visit(t->ctx, (str){pair, n + utf8_put(pair + n, c)});
    }
    t->last_dense = c;
}

// What an ASCII letter or digit is in a word; 0 of everything else.
static const char word_byte[256] = {
    ['0'] = '0', ['1'] = '1', ['2'] = '2', ['3'] = '3', ['4'] = '4', ['5'] = '5', ['6'] = '6',
    ['7'] = '7', ['8'] = '8', ['9'] = '9', ['a'] = 'a', ['b'] = 'b', ['c'] = 'c', ['d'] = 'd',
    ['e'] = 'e', ['f'] = 'f', ['g'] = 'g', ['h'] = 'h', ['i'] = 'i', ['j'] = 'j', ['k'] = 'k',
    ['l'] = 'l', ['m'] = 'm', ['n'] = 'n', ['o'] = 'o', ['p'] = 'p', ['q'] = 'q', ['r'] = 'r',
    ['s'] = 's', ['t'] = 't', ['u'] = 'u', ['v'] = 'v', ['w'] = 'w', ['x'] = 'x', ['y'] = 'y',
    ['z'] = 'z', ['A'] = 'a', ['B'] = 'b', ['C'] = 'c', ['D'] = 'd', ['E'] = 'e', ['F'] = 'f',
    ['G'] = 'g', ['H'] = 'h', ['I'] = 'i', ['J'] = 'j', ['K'] = 'k', ['L'] = 'l', ['M'] = 'm',
    ['N'] = 'n', ['O'] = 'o', ['P'] = 'p', ['Q'] = 'q', ['R'] = 'r', ['S'] = 's', ['T'] = 't',
    ['U'] = 'u', ['V'] = 'v', ['W'] = 'w', ['X'] = 'x', ['Y'] = 'y', ['Z'] = 'z',
};

// Adds the letters and digits of ASCII from at on; returns where they end. Bytes are written from
// here on that may be anything's, so what counts them is in variables of its own.
static size_t add_ascii(struct terms *t, str text, size_t at)
{
    struct part *w = &t->word;
    size_t from = at, room = MAX_LETTERS - w->letters;
    char *to = w->bytes + w->len, c;
    bool has_digit = t->has_digit;
    for (; at < text.len && (c = word_byte[(unsigned char)text.ptr[at]]); at++) {
        has_digit |= c <= '9';
        if (at - from < room)
            to[at - from] = c;
    }
    t->has_digit = has_digit;
    size_t added = at - from < room ? at - from : room;
    w->len += added;
    w->letters += added;
    return at;
}

// The letter at *at, which is moved behind it.
static inline const struct letter *next_letter(struct terms *t, str text, size_t *at)
{
    unsigned char first = (unsigned char)text.ptr[*at];
    if (first < 0x80) {
        ++*at;
        return letter_of(t, first);
    }
    size_t n;
    uint32_t c = utf8_next((str){text.ptr + *at, text.len - *at}, &n);
    *at += n;
    return letter_of(t, c);
}

// Adds letters from at on that are no ASCII; returns where they end, at if there is none. Nearly
// all are in lower case, and go on as they are. What counts them is in variables of its own, as
// above.
static size_t add_letters(struct terms *t, str text, size_t at)
{
    struct part *w = &t->word;
    size_t letters = w->letters;
    char *to = w->bytes + w->len;
    for (size_t from = at; at < text.len && (unsigned char)text.ptr[at] >= 0x80; at = from) {
        const struct letter *l = next_letter(t, text, &from);
        if (l->class != WORD)
            break;
        if (letters == MAX_LETTERS)
            continue;
        letters++;
        if (!l->same)
            to += utf8_put(to, l->lower);
        else
            for (size_t i = at; i < from; i++)
                *to++ = text.ptr[i];
    }
    w->letters = letters;
    w->len = (size_t)(to - w->bytes);
    return at;
}

// Visits the pairs of signs from at on, as they stand in the text: before is where the last sign
// begins. Returns where they end.
static size_t add_pairs(struct terms *t, str text, size_t before, size_t at)
{
    for (size_t from = at; at < text.len && (unsigned char)text.ptr[at] >= 0x80;
         before = at, at = from) {
        const struct letter *l = next_letter(t, text, &from);
        if (l->class != DENSE || !l->same)
            break;
        t->visit(t->ctx, str_slice(text, before, from));
        t->dense_run++;
        t->last_dense = l->lower;
    }
    return at;
}

static void add_letter(struct terms *t, const struct letter *l, str bytes)
{
    if (t->dense_run && l->class != DENSE)
        dense_end(t);
    if (l->class == WORD || l->class == DIGIT) {
        word_add(&t->word, l, bytes);
        t->has_digit |= l->class == DIGIT;
        return;
    }
    if (t->word.len)
        word_end(t, l->class == HYPHEN);
    else
        t->joined = false;
    if (l->class == DENSE)
        dense_add(t, l->lower);
}

void terms_scan(struct terms *t, str text, void (*visit)(void *ctx, str term), void *ctx)
{
    enum letter_class last = SEPARATOR;
    t->visit = visit, t->ctx = ctx;
    for (size_t at = 0; at < text.len;) {
        if (word_byte[(unsigned char)text.ptr[at]]) {
            if (t->dense_run)
                dense_end(t);
            at = add_ascii(t, text, at);
            last = text.ptr[at - 1] <= '9' ? DIGIT : WORD;
            continue;
        }
        size_t from = at;
        const struct letter *l = next_letter(t, text, &at);
        if (l->class == NOTHING)
            continue;
        if (l->class == IN_NUMBER && last == DIGIT && at < text.len) {
            size_t behind = at;
            if (next_letter(t, text, &behind)->class == DIGIT)
                continue;
        }
        add_letter(t, l, str_slice(text, from, at));
        if (l->class == WORD)
            at = add_letters(t, text, at);
        else if (l->class == DENSE && l->same)
            at = add_pairs(t, text, from, at);
        last = (enum letter_class)l->class;
    }
    dense_end(t);
    if (t->word.len)
        word_end(t, false);
    t->joined = false;
}
