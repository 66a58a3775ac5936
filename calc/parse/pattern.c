// Owns the matching of regular expressions. What a part of an expression does is a function from
// the places of a name where it may begin to those where it may end, each a set of bits: no part is
// ever tried twice from one place. SRC: Python's re, Regular Expression Syntax.

#include "calc/parse/pattern.h"

#include "calc/base/text.h"

enum {
    NAME_MAX = 127,  // places are bits
    DEPTH_MAX = 16,
    TIMES_MAX = 255,
    STEPS_MAX = 5000,  // expressions whose repetitions are in each other end here
    WORDS = 2,
    EVERY = 65535
};

struct set {
    uint64_t bits[WORDS];
};

struct reader {
    struct span pattern, name;
    size_t at;  // in the pattern
    unsigned depth;
    uint32_t steps;
    bool unread;
};

static struct set read_choice(struct reader *r, struct set from);

static const struct set NONE;

static bool has(const struct set *s, size_t i)
{
    return i <= NAME_MAX && (s->bits[i / 64] >> i % 64 & 1);
}

static void put(struct set *s, size_t i)
{
    s->bits[i / 64] |= UINT64_C(1) << i % 64;
}

static bool is_empty(const struct set *s)
{
    return !s->bits[0] && !s->bits[1];
}

static struct set joined(struct set a, struct set b)
{
    return (struct set){{a.bits[0] | b.bits[0], a.bits[1] | b.bits[1]}};
}

static struct set without(struct set a, struct set b)
{
    return (struct set){{a.bits[0] & ~b.bits[0], a.bits[1] & ~b.bits[1]}};
}

static struct set only(size_t place, struct set from)
{
    struct set out = NONE;
    if (has(&from, place))
        put(&out, place);
    return out;
}

static bool is_ascii(char c)
{
    return c != 0 && (unsigned char)c <= NAME_MAX;
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

static struct set refuse(struct reader *r)
{
    r->unread = true;
    r->at = r->pattern.len;
    return NONE;
}

// ---- one character ---------------------------------------------------------------------------

static void put_range(struct set *s, unsigned first, unsigned last)
{
    for (; first <= last && first <= NAME_MAX; first++)
        put(s, first);
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
        put(s, (unsigned char)c);
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
        put(s, (unsigned char)c);
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
    struct set s = NONE, all = NONE;
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
    put_range(&all, 0, NAME_MAX);
    return other ? without(all, s) : s;
}

static bool is_word(const struct reader *r, size_t i)
{
    struct set word = NONE;
    put_escaped(&word, 'w');
    return i < r->name.len && has(&word, (unsigned char)r->name.at[i]);
}

// \b: the places where a word begins or ends.
static struct set at_bounds(const struct reader *r, struct set from)
{
    struct set out = NONE;
    for (size_t i = 0; i <= r->name.len; i++)
        if (has(&from, i) && is_word(r, i) != (i > 0 && is_word(r, i - 1)))
            put(&out, i);
    return out;
}

static struct set step(const struct reader *r, struct set from, const struct set *characters)
{
    struct set out = NONE;
    for (size_t i = 0; i < r->name.len; i++)
        if (has(&from, i) && has(characters, (unsigned char)r->name.at[i]))
            put(&out, i + 1);
    return out;
}

// ---- parts -----------------------------------------------------------------------------------

// (?=...) and (?!...): the places from which it matches, or does not.
static struct set read_ahead(struct reader *r, struct set from, bool matches)
{
    struct set out = NONE;
    size_t begin = r->at;
    read_choice(r, NONE);
    size_t end = r->at;
    for (size_t i = 0; i <= r->name.len && !r->unread; i++) {
        struct set one = only(i, from);
        if (is_empty(&one))
            continue;
        r->at = begin;
        struct set ends = read_choice(r, one);
        if (!is_empty(&ends) == matches)
            put(&out, i);
        r->at = end;
    }
    return out;
}

static struct set read_group(struct reader *r, struct set from)
{
    struct set out;
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

static struct set read_atom(struct reader *r, struct set from)
{
    struct set characters = NONE;
    char c = peek(r);
    if (++r->steps > STEPS_MAX || !is_ascii(c) || span_find(span_of("*+?{}"), (char[2]){c, 0}) < 5)
        return refuse(r);
    r->at++;
    switch (c) {
    case '(': return read_group(r, from);
    case '^': return only(0, from);
    case '$': return only(r->name.len, from);
    case '[': characters = read_class(r); break;
    case '.': put_range(&characters, 0, NAME_MAX); break;
    case '\\':
        if (take(r, "b"))
            return at_bounds(r, from);
        if (!put_escaped(&characters, peek(r)))
            return refuse(r);
        r->at++;
        break;
    default: put(&characters, (unsigned char)c);
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

static struct set read_piece(struct reader *r, struct set from)
{
    unsigned least, most;
    size_t begin = r->at;
    read_atom(r, NONE);
    read_times(r, &least, &most);
    size_t end = r->at;
    struct set out = least ? NONE : from;
    for (unsigned n = 1; n <= most && !r->unread && !is_empty(&from); n++) {
        r->at = begin;
        from = read_atom(r, from);
        if (n < least)
            continue;
        from = without(from, out);
        out = joined(out, from);
    }
    r->at = r->unread ? r->pattern.len : end;
    return out;
}

static struct set read_row(struct reader *r, struct set from)
{
    while (r->at < r->pattern.len && peek(r) != '|' && peek(r) != ')')
        from = read_piece(r, from);
    return from;
}

static struct set read_choice(struct reader *r, struct set from)
{
    struct set out = read_row(r, from);
    while (take(r, "|"))
        out = joined(out, read_row(r, from));
    return out;
}

enum pattern_found pattern_match(struct span pattern, struct span name)
{
    struct reader r = {.pattern = pattern, .name = name};
    struct set from = NONE;
    if (name.len >= NAME_MAX)
        return PATTERN_UNREAD;
    put(&from, 0);
    struct set ends = read_choice(&r, from);
    if (r.unread || r.at < pattern.len)
        return PATTERN_UNREAD;
    return has(&ends, name.len) ? PATTERN_YES : PATTERN_NO;
}

bool pattern_is_one(struct span value)
{
    for (size_t i = 0; i < value.len; i++)
        if (span_find(span_of("*+?()[]{}|^$\\"), (char[2]){value.at[i], 0}) < 13)
            return true;
    return false;
}
