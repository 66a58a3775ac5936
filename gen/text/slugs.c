// Ids out of headings: GitHub's way, those of Python-Markdown's toc, of VitePress, kramdown and
// Blackfriday.
#include "gen/text/slugs.h"

#include <stdlib.h>
#include <string.h>
#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/ustring.h>

// Letters, marks, decimal digits and connectors stay: what GitHub's slugs keep beside space and
// hyphen.
static bool is_word(UChar32 c)
{
    return (U_GET_GC_MASK(c) & (U_GC_L_MASK | U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK)) != 0;
}

static void github_ascii(buf *out, char c)
{
    if (ascii_is_alnum(c) || c == '_' || c == '-')
        buf_char(out, ascii_lower(c));
    else if (c == ' ' || c == '\n')
        buf_char(out, '-');
}

static void github(str s, buf *out)
{
    for (size_t i = 0, n; i < s.len; i += n) {
        n = 1;
        if ((uint8_t)s.ptr[i] < 0x80) {
            github_ascii(out, s.ptr[i]);
            continue;
        }
        UChar32 c = (UChar32)utf8_next(str_slice(s, i, s.len), &n);
        if (c != 0xfffd && is_word(c))
            buf_utf8(out, (uint32_t)u_tolower(c));
    }
}

void slug_lower(str text, buf *out)
{
    for (size_t i = 0, n; i < text.len; i += n)
        buf_utf8(out, (uint32_t)u_tolower((UChar32)utf8_next(str_slice(text, i, text.len), &n)));
}

// Letters and their marks apart, what is compatible made alike (NFKD), or together (NFC).
static str normalized(str s, bool apart_too, buf *out)
{
    UErrorCode e = U_ZERO_ERROR;
    const UNormalizer2 *form = apart_too ? unorm2_getNFKDInstance(&e) : unorm2_getNFCInstance(&e);
    int32_t size = (int32_t)s.len + 1, wide_len = 0, len = 0;
    UChar *wide = calloc((size_t)size, sizeof *wide),
          *apart = calloc((size_t)size * 18, sizeof *apart);  // U+FDFA: 1 to 18
    if (!wide || !apart)
        buf_no_memory();
    u_strFromUTF8Lenient(wide, size, &wide_len, s.ptr, (int32_t)s.len, &e);
    len = unorm2_normalize(form, wide, wide_len, apart, size * 18, &e);
    for (int32_t i = 0; U_SUCCESS(e) && i < len;) {
        UChar32 c;
        U16_NEXT(apart, i, len, c);
        buf_utf8(out, U_IS_SURROGATE(c) ? 0xfffd : (uint32_t)c);
    }
    free(wide), free(apart);
    return buf_view(out);
}

// Source: Python-Markdown, markdown/extensions/toc.py, slugify(): ASCII letters, digits, _, and one
// hyphen for blanks and hyphens.
static void python(str s, buf *out)
{
    bool joint = false, any = false;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        bool word = ascii_is_alnum(c) || c == '_';
        if (c == ' ' || c == '-' || c == '\n' || c == '\t')
            joint = any;
        if (!word)
            continue;
        if (joint)
            buf_char(out, '-');
        joint = false, any = true;
        github_ascii(out, c);
    }
}

// Python's \w in text: letters, numbers of every kind and the underscore, no marks.
static bool is_python_word(UChar32 c)
{
    return c == '_' || (U_GET_GC_MASK(c) & (U_GC_L_MASK | U_GC_N_MASK)) != 0;
}

// The same for every script. Source: markdown/extensions/toc.py, slugify_unicode().
static void python_unicode(str s, buf *out)
{
    bool joint = false, any = false;
    for (size_t i = 0, n; i < s.len; i += n) {
        UChar32 c = (UChar32)utf8_next(str_slice(s, i, s.len), &n);
        if (c == '-' || u_isUWhiteSpace(c))
            joint = any;
        if (!is_python_word(c))
            continue;
        if (joint)
            buf_char(out, '-');
        joint = false, any = true;
        buf_utf8(out, (uint32_t)u_tolower(c));
    }
}

// One hyphen for each blank, nothing for a sign. Source: pymdownx/slugs.py, _uslugify().
static void pymdown(str s, enum md_slug style, buf *out)
{
    s = str_trim(s);
    for (size_t i = 0, n; i < s.len; i += n) {
        UChar32 c = (UChar32)utf8_next(str_slice(s, i, s.len), &n);
        bool lower = style == MD_SLUG_PYMDOWN || (style == MD_SLUG_PYMDOWN_ASCII && c < 0x80);
        if (c == ' ' || c == '-')
            buf_char(out, '-');
        else if (is_python_word(c))
            buf_utf8(out, (uint32_t)(lower ? u_tolower(c) : c));
    }
}

// Source: mdit-vue, packages/shared/src/slugify.ts: marks dropped, signs and blanks one hyphen, _
// in front of a digit.
static void vue(str s, buf *out)
{
    static const char signs[] = " \t\n~`!@#$%^&*()-_+=[]{}|\\;:\"'<>,.?/";
    static const char quotes[] = "\xE2\x80\x9C\xE2\x80\x9D\xE2\x80\x98\xE2\x80\x99";
    bool joint = false;
    size_t start = out->len;
    for (size_t i = 0, n; i < s.len; i += n) {
        UChar32 c = (UChar32)utf8_next(str_slice(s, i, s.len), &n);
        bool quote =
            n == 3 && str_search(str_c(quotes), str_slice(s, i, i + 3)) < sizeof quotes - 1;
        if (c >= 0x300 && c <= 0x36F)
            continue;
        if (c < ' ' || (c < 0x80 && strchr(signs, (int)c)) || quote) {
            joint = true;
            continue;
        }
        if (joint && out->len > start)
            buf_char(out, '-');
        joint = false;
        if (out->len == start && c >= '0' && c <= '9')
            buf_char(out, '_');
        buf_utf8(out, (uint32_t)u_tolower(c));
    }
}

// Source: kramdown, lib/kramdown/converter/base.rb, basic_generate_id: from the first letter of
// ASCII on, letters and digits of ASCII, one hyphen for each blank.
static void kramdown(str s, buf *out)
{
    bool any = false;
    for (size_t i = 0; i < s.len; i++) {
        any = any || ascii_is_letter(s.ptr[i]);
        if (any && s.ptr[i] != '_')
            github_ascii(out, s.ptr[i]);
    }
}

// Source: russross/blackfriday v2, block.go, SanitizedAnchorName: letters and numbers, one hyphen
// between them for whatever else.
static void blackfriday(str s, buf *out)
{
    bool joint = false;
    size_t start = out->len;
    for (size_t i = 0, n; i < s.len; i += n) {
        UChar32 c = (UChar32)utf8_next(str_slice(s, i, s.len), &n);
        if (!(U_GET_GC_MASK(c) & (U_GC_L_MASK | U_GC_N_MASK))) {
            joint = out->len > start;
            continue;
        }
        if (joint)
            buf_char(out, '-');
        joint = false;
        buf_utf8(out, (uint32_t)u_tolower(c));
    }
}

void slug_text(enum md_slug style, str text, buf *out)
{
    buf apart = BUF_INIT;
    if (style == MD_SLUG_PYTHON)
        python(normalized(text, true, &apart), out);
    else if (style == MD_SLUG_UNICODE)
        python_unicode(text, out);
    else if (style > MD_SLUG_UNICODE)
        pymdown(normalized(text, false, &apart), style, out);
    else if (style == MD_SLUG_VUE)
        vue(normalized(text, true, &apart), out);
    else if (style == MD_SLUG_KRAMDOWN)
        kramdown(text, out);
    else if (style == MD_SLUG_BLACKFRIDAY)
        blackfriday(text, out);
    else
        github(text, out);
    buf_free(&apart);
}
