// Owns the matching of regular expressions. What a part of an expression does is a function from
// the places of a name where it may begin to those where it may end, each a set of bits: no part is
// ever tried twice from one place. SRC: Python's re, Regular Expression Syntax.

#include "calc/parse/pattern.h"

#include "calc/base/text.h"

enum {
    NAME_MAX = 63,  // places are bits
    ASCII_MAX = 127,
    DEPTH_MAX = 16,
    TIMES_MAX = 255,
    STEPS_MAX = 5000,  // expressions whose repetitions are in each other end here
    EVERY = 65535
};

// Characters.
struct set {
    uint64_t bits[2];
};

struct reader {
    struct span pattern, name;
    size_t at;  // in the pattern
    unsigned depth;
    uint32_t steps;
    bool unread;
};

static uint64_t read_choice(struct reader *r, uint64_t from);

static uint64_t only(size_t place, uint64_t from)
{
    return from & UINT64_C(1) << place;
}

static bool has(const struct set *s, char c)
{
    unsigned char i = (unsigned char)c;
    return i <= ASCII_MAX && (s->bits[i / 64] >> i % 64 & 1);
}

static void put(struct set *s, char c)
{
    unsigned char i = (unsigned char)c;
    s->bits[i / 64] |= UINT64_C(1) << i % 64;
}

static bool is_ascii(char c)
{
    return c != 0 && (unsigned char)c <= ASCII_MAX;
}

static char peek(const struct reader *r)
{
    return r->at < r->pattern.len ? r->pattern.at[r->at] : 0;
}

static bool take(struct reader *r, const char *word)
{
    bool there = span_starts(span_skip(r->pattern, r->at), word);
    r->at += there ? text_len(word) : 0;
    return there;
}

static uint64_t refuse(struct reader *r)
{
    r->unread = true;
    r->at = r->pattern.len;
    return 0;
}

// ---- one character ---------------------------------------------------------------------------

static void put_range(struct set *s, unsigned first, unsigned last)
{
    for (; first <= last && first <= ASCII_MAX; first++)
        put(s, (char)first);
}

// What stands behind a backslash; false for what is no character.
static bool put_escaped(struct set *s, char c)
{
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'), digit = c >= '0' && c <= '9';
    if (c == 'd' || c == 'w')
        put_range(s, '0', '9');
    if (c == 'w') {
        put_range(s, 'a', 'z');
        put_range(s, 'A', 'Z');
        put(s, '_');
    }
    bool itself = !letter && !digit && is_ascii(c);
    if (itself)
        put(s, c);
    return c == 'd' || c == 'w' || itself;
}

// One member of a class, of which the character is given back: 0 for \d and \w.
static char read_member(struct reader *r, struct set *s)
{
    char c = peek(r);
    r->at++;
    if (!is_ascii(c)) {
        refuse(r);
        return 0;
    }
    if (c != '\\') {
        put(s, c);
        return c;
    }
    c = peek(r);
    r->at++;
    if (!put_escaped(s, c))
        refuse(r);
    return c == 'd' || c == 'w' ? 0 : c;
}

// [a-z0-9_], [^.]
static struct set read_class(struct reader *r)
{
    struct set s = {{0}};
    bool other = take(r, "^"), first = true;
    while (!r->unread && (first || peek(r) != ']')) {
        char begin = read_member(r, &s);
        first = false;
        if (peek(r) != '-' || r->at + 1 >= r->pattern.len || r->pattern.at[r->at + 1] == ']')
            continue;
        r->at++;
        char end = read_member(r, &s);
        if (!begin || !end)
            refuse(r);
        else
            put_range(&s, (unsigned char)begin, (unsigned char)end);
    }
    r->at += !r->unread;
    return other ? (struct set){{~s.bits[0], ~s.bits[1]}} : s;
}

static bool is_word(const struct reader *r, size_t i)
{
    struct set word = {{0}};
    put_escaped(&word, 'w');
    return i < r->name.len && has(&word, r->name.at[i]);
}

// \b: the places where a word begins or ends.
static uint64_t at_bounds(const struct reader *r, uint64_t from)
{
    uint64_t out = 0;
    for (size_t i = 0; i <= r->name.len; i++)
        if (is_word(r, i) != (i > 0 && is_word(r, i - 1)))
            out |= only(i, from);
    return out;
}

static uint64_t step(const struct reader *r, uint64_t from, const struct set *characters)
{
    uint64_t out = 0;
    for (size_t i = 0; i < r->name.len; i++)
        if (has(characters, r->name.at[i]))
            out |= only(i, from) << 1;
    return out;
}

// ---- parts -----------------------------------------------------------------------------------

// (?=...) and (?!...): the places from which it matches, or does not.
static uint64_t read_ahead(struct reader *r, uint64_t from, bool matches)
{
    uint64_t out = 0;
    size_t begin = r->at;
    read_choice(r, 0);
    size_t end = r->at;
    for (size_t i = 0; i <= r->name.len && !r->unread; i++) {
        uint64_t one = only(i, from);
        if (!one)
            continue;
        r->at = begin;
        if ((read_choice(r, one) != 0) == matches)
            out |= one;
        r->at = end;
    }
    return out;
}

static uint64_t read_group(struct reader *r, uint64_t from)
{
    uint64_t out;
    if (++r->depth > DEPTH_MAX)
        return refuse(r);
    if (take(r, "?=") || take(r, "?!")) {
        out = read_ahead(r, from, r->pattern.at[r->at - 1] == '=');
    } else {
        if (take(r, "?P<"))
            r->at += span_find(span_skip(r->pattern, r->at), ">") + 1;
        else if (!take(r, "?:") && peek(r) == '?')
            return refuse(r);
        out = read_choice(r, from);
    }
    r->depth--;
    return take(r, ")") ? out : refuse(r);
}

static uint64_t read_atom(struct reader *r, uint64_t from)
{
    struct set characters = {{0}};
    char c = peek(r);
    if (++r->steps > STEPS_MAX || !is_ascii(c) || span_find(span_of("*+?{}"), (char[2]){c, 0}) < 5)
        return refuse(r);
    r->at++;
    switch (c) {
    case '(': return read_group(r, from);
    case '^': return only(0, from);
    case '$': return only(r->name.len, from);
    case '[': characters = read_class(r); break;
    case '.': put_range(&characters, 0, ASCII_MAX); break;
    case '\\':
        if (take(r, "b"))
            return at_bounds(r, from);
        if (!put_escaped(&characters, peek(r)))
            return refuse(r);
        r->at++;
        break;
    default: put(&characters, c);
    }
    return step(r, from, &characters);
}

static unsigned read_number(struct reader *r, unsigned absent)
{
    unsigned n = 0;
    size_t begin = r->at;
    for (; peek(r) >= '0' && peek(r) <= '9' && n <= TIMES_MAX; r->at++)
        n = 10 * n + (unsigned)(peek(r) - '0');
    if (n > TIMES_MAX)
        refuse(r);
    return r->at > begin ? n : absent;
}

// How often, once where nothing is said. Whether it takes few or many first changes nothing here.
static void read_times(struct reader *r, unsigned *least, unsigned *most)
{
    *least = *most = 1;
    if (take(r, "*")) {
        *least = 0;
        *most = EVERY;
    } else if (take(r, "+")) {
        *most = EVERY;
    } else if (take(r, "?")) {
        *least = 0;
    } else if (take(r, "{")) {
        *least = read_number(r, 0);
        *most = take(r, ",") ? read_number(r, EVERY) : *least;
        if (!take(r, "}"))
            refuse(r);
    } else {
        return;
    }
    take(r, "?");
}

static uint64_t read_piece(struct reader *r, uint64_t from)
{
    unsigned least, most;
    size_t begin = r->at;
    read_atom(r, 0);
    read_times(r, &least, &most);
    size_t end = r->at;
    uint64_t out = least ? 0 : from;
    for (unsigned n = 1; n <= most && !r->unread && from; n++) {
        r->at = begin;
        from = read_atom(r, from);
        if (n < least)
            continue;
        from &= ~out;
        out |= from;
    }
    r->at = r->unread ? r->pattern.len : end;
    return out;
}

static uint64_t read_row(struct reader *r, uint64_t from)
{
    while (r->at < r->pattern.len && peek(r) != '|' && peek(r) != ')')
        from = read_piece(r, from);
    return from;
}

static uint64_t read_choice(struct reader *r, uint64_t from)
{
    uint64_t out = read_row(r, from);
    while (take(r, "|"))
        out |= read_row(r, from);
    return out;
}

enum pattern_found pattern_match(struct span pattern, struct span name)
{
    struct reader r = {.pattern = pattern, .name = name};
    if (name.len > NAME_MAX)
        return PATTERN_UNREAD;
    uint64_t ends = read_choice(&r, 1);
    if (r.unread || r.at < pattern.len)
        return PATTERN_UNREAD;
    return only(name.len, ends) ? PATTERN_YES : PATTERN_NO;
}

bool pattern_is_one(struct span value)
{
    for (size_t i = 0; i < value.len; i++)
        if (span_find(span_of("*+?()[]{}|^$\\"), (char[2]){value.at[i], 0}) < 13)
            return true;
    return false;
}
