// Maps letters and digits of an element with a mathvariant to their code points.
#include "gen/text/math_letters.h"

static const struct alphabet {
    str variant;
    uint32_t upper, lower, digit, greek_upper, greek_lower;
} alphabets[] = {
#define ALPHABET(variant, upper, lower, digit, greek_upper, greek_lower) \
    {STR(variant), upper, lower, digit, greek_upper, greek_lower},
#include "gen/text/math_letters.def"
};

static const struct {
    str variant;
    char letter;
    uint32_t code_point;
} letters[] = {
#define LETTER(variant, letter, code_point) {STR(variant), letter, code_point},
#include "gen/text/math_letters.def"
};

static const struct alphabet *find_alphabet(str variant)
{
    for (size_t i = 0; i < sizeof alphabets / sizeof *alphabets; i++)
        if (str_eq(alphabets[i].variant, variant))
            return &alphabets[i];
    return NULL;
}

static uint32_t in_range(uint32_t c, uint32_t first, uint32_t last, uint32_t base)
{
    return base && c >= first && c <= last ? base + (c - first) : 0;
}

// The letter of an alphabet; 0 when it has none.
static uint32_t letter_of(const struct alphabet *a, uint32_t c)
{
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (c == (uint32_t)letters[i].letter && str_eq(letters[i].variant, a->variant))
            return letters[i].code_point;
    uint32_t found = in_range(c, 'A', 'Z', a->upper);
    if (!found)
        found = in_range(c, 'a', 'z', a->lower);
    if (!found)
        found = in_range(c, '0', '9', a->digit);
    if (!found)
        found = in_range(c, 0x391, 0x3a9, a->greek_upper);
    return found ? found : in_range(c, 0x3b1, 0x3c9, a->greek_lower);
}

static bool put_letters(const struct alphabet *a, str text, buf *out)
{
    size_t start = out->len;
    for (size_t i = 0, n; i < text.len; i += n) {
        uint32_t c = letter_of(a, utf8_next(str_slice(text, i, text.len), &n));
        if (!c) {
            out->ptr[out->len = start] = 0;
            return false;
        }
        buf_utf8(out, c);
    }
    return true;
}

// Takes an attribute that begins *rest, its element's text after the tag; true when both have been
// written.
static bool put_element(str *rest, size_t name_length, buf *out)
{
    str after = str_slice(*rest, name_length, rest->len);
    size_t quote = str_find(after, '"'), close = str_find(after, '>');
    const struct alphabet *a = find_alphabet(str_slice(after, 0, quote));
    str text = str_slice(after, close + 1, after.len);
    text = str_slice(text, 0, str_find(text, '<'));
    if (!a || close == after.len || !text.len)
        return false;
    size_t start = out->len;
    buf_str(out, str_slice(after, quote + 1, close + 1));
    if (!put_letters(a, text, out)) {
        out->ptr[out->len = start] = 0;
        return false;
    }
    *rest = str_slice(after, close + 1 + text.len, after.len);
    return true;
}

void math_letters(str markup, buf *out)
{
    static const str name = STR(" mathvariant=\"");
    while (markup.len) {
        size_t n = str_search(markup, name);
        buf_str(out, str_slice(markup, 0, n));
        markup = str_slice(markup, n, markup.len);
        if (markup.len && !put_element(&markup, name.len, out)) {
            buf_str(out, name);
            markup = str_slice(markup, name.len, markup.len);
        }
    }
}
