// Bytes made safe for where they stand: finds the few that need it sixteen at a time, copies the
// rest whole.
#include "gen/base/escape.h"

#include <string.h>

#include "gen/base/bytes16.h"

enum { TEXT = 1, QUOTE = 2, APOSTROPHE = 4, SCRIPT = 8, JSON = 16, XML = 32, HREF = 64 };

// Which places a byte must be replaced in; built from ranges, read only.
static const uint8_t needs[256] = {
    [0 ... 0x1f] = SCRIPT | JSON | XML | HREF,
    [' '] = HREF,
    ['"'] = QUOTE | SCRIPT | JSON | XML | HREF,
    ['&'] = TEXT | SCRIPT | JSON | XML | HREF,
    ['\''] = APOSTROPHE | SCRIPT | XML | HREF,
    ['<'] = TEXT | SCRIPT | JSON | XML | HREF,
    ['>'] = TEXT | SCRIPT | JSON | XML | HREF,
    ['['] = HREF,
    [']'] = HREF,
    ['^'] = HREF,
    ['`'] = HREF,
    ['{'] = HREF,
    ['|'] = HREF,
    ['}'] = HREF,
    ['\\'] = SCRIPT | JSON | HREF,
    [0x7f] = HREF,
    [0x80 ... 0xe1] = HREF,
    [0xe2] = SCRIPT | JSON | HREF,
    [0xe3 ... 0xee] = HREF,
    [0xef] = XML | HREF,
    [0xf0 ... 0xff] = HREF,
};

// What text and quoted attributes replace; the quotes of mask, or '&'.
static inline bytes16 markup_at(const char *p, uint8_t mask)
{
    bytes16 v = bytes16_at(p), quote = bytes16_of(mask & QUOTE ? '"' : '&'),
            apostrophe = bytes16_of(mask & APOSTROPHE ? '\'' : '&');
    return (bytes16)(v == '&') | (bytes16)(v == '<') | (bytes16)(v == '>') | (bytes16)(v == quote) |
           (bytes16)(v == apostrophe);
}

// What JSON in a page replaces; of letters, those that begin with E2 are looked at one by one.
static inline bytes16 json_at(const char *p)
{
    bytes16 v = bytes16_at(p);
    return (bytes16)(v == '&') | (bytes16)(v == '<') | (bytes16)(v == '>') | (bytes16)(v == '"') |
           (bytes16)(v == '\\') | (bytes16)(v == 0xe2) | (bytes16)(v < 0x20);
}

static inline unsigned first_at(const char *p, uint8_t mask)
{
    return bytes16_first(mask == JSON ? json_at(p) : markup_at(p, mask));
}

// Offset of the first byte at or behind i that mask concerns.
static size_t skip_plain(str s, size_t i, uint8_t mask)
{
    size_t from = i;
    unsigned plain = 16;
    if (mask == JSON || !(mask & ~(TEXT | QUOTE | APOSTROPHE))) {
        for (; plain == 16 && i + 16 <= s.len; i += plain)
            plain = first_at(s.ptr + i, mask);
        // The rest, with bytes before it that are plain.
        if (plain == 16 && i < s.len && s.len - from >= 16)
            i = s.len - 16 + first_at(s.ptr + s.len - 16, mask);
    }
    while (i < s.len && !(needs[(uint8_t)s.ptr[i]] & mask))
        i++;
    return i;
}

static void put_entity(buf *out, char c)
{
    switch (c) {
    case '&': buf_lit(out, "&amp;"); break;
    case '<': buf_lit(out, "&lt;"); break;
    case '>': buf_lit(out, "&gt;"); break;
    case '"': buf_lit(out, "&quot;"); break;
    case '\'': buf_lit(out, "&#39;"); break;
    default: buf_char(out, c);
    }
}

static void escape_entities(buf *out, str s, uint8_t mask)
{
    size_t i = 0;
    while (i < s.len) {
        size_t end = skip_plain(s, i, mask);
        buf_put(out, s.ptr + i, end - i);
        if (end < s.len)
            put_entity(out, s.ptr[end++]);
        i = end;
    }
}

void escape_text(buf *out, str s)
{
    escape_entities(out, s, TEXT);
}

void escape_quoted(buf *out, str s)
{
    escape_entities(out, s, TEXT | QUOTE);
}

void escape_attribute(buf *out, str s)
{
    escape_entities(out, s, TEXT | QUOTE | APOSTROPHE);
}

void escape_percent(buf *out, uint8_t c)
{
    static const char hex[] = "0123456789ABCDEF";
    char code[3] = {'%', hex[c >> 4], hex[c & 15]};
    buf_put(out, code, sizeof code);
}

void escape_part(buf *out, str s, const char *kept)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (ascii_is_alnum(c) || (c && (strchr("-._~", c) || strchr(kept, c))))
            buf_char(out, c);
        else
            escape_percent(out, (uint8_t)c);
    }
}

void escape_href(buf *out, str s)
{
    size_t i = 0;
    while (i < s.len) {
        size_t end = skip_plain(s, i, HREF);
        buf_put(out, s.ptr + i, end - i);
        if (end == s.len)
            return;
        char c = s.ptr[end];
        if (c == '&')
            buf_lit(out, "&amp;");
        else if (c == '\'')
            buf_lit(out, "&#x27;");
        else
            escape_percent(out, (uint8_t)c);
        i = end + 1;
    }
}

static bool starts_nocase(str s, str prefix)
{
    return s.len >= prefix.len && str_eq_nocase(str_slice(s, 0, prefix.len), prefix);
}

bool url_is_safe(str s)
{
    static const str images[] = {STR("data:image/png"), STR("data:image/gif"),
                                 STR("data:image/jpeg"), STR("data:image/webp")};
    static const str schemes[] = {STR("javascript:"), STR("vbscript:"), STR("file:"), STR("data:")};
    if (!s.len || !strchr("dDjJvVfF", s.ptr[0]))
        return true;
    for (size_t i = 0; i < sizeof images / sizeof *images; i++)
        if (starts_nocase(s, images[i]))
            return true;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (starts_nocase(s, schemes[i]))
            return false;
    return true;
}

void escape_url(buf *out, str s)
{
    if (url_is_safe(s))
        escape_href(out, s);
    else
        buf_char(out, '#');
}

// U+2028 and U+2029 end a line in older JavaScript; their UTF-8 begins with E2 80.
static bool line_separator(str s, size_t i)
{
    return i + 2 < s.len && (uint8_t)s.ptr[i + 1] == 0x80 && ((uint8_t)s.ptr[i + 2] & 0xfe) == 0xa8;
}

static void put_u(buf *out, unsigned code)
{
    static const char hex[] = "0123456789abcdef";
    char text[6] = {
        '\\', 'u', hex[code >> 12 & 15], hex[code >> 8 & 15], hex[code >> 4 & 15], hex[code & 15]};
    buf_put(out, text, sizeof text);
}

// One byte, or a line separator, of a JavaScript or JSON string. Returns how many bytes it took.
static size_t put_script(buf *out, str s, size_t i, bool json)
{
    uint8_t c = (uint8_t)s.ptr[i];
    if (c == 0xe2) {
        if (!line_separator(s, i)) {
            buf_char(out, (char)c);
            return 1;
        }
        put_u(out, 0x2000u | ((uint8_t)s.ptr[i + 2] & 0x3fu));
        return 3;
    }
    if (c == '\n')
        buf_lit(out, "\\n");
    else if (c == '\t')
        buf_lit(out, "\\t");
    else if (c == '\\')
        buf_lit(out, "\\\\");
    else if (c == '"' && json)
        buf_lit(out, "\\\"");
    else
        put_u(out, c);
    return 1;
}

static void escape_script(buf *out, str s, uint8_t mask)
{
    size_t i = 0;
    while (i < s.len) {
        size_t end = skip_plain(s, i, mask);
        buf_put(out, s.ptr + i, end - i);
        i = end;
        if (i < s.len)
            i += put_script(out, s, i, mask == JSON);
    }
}

void escape_js(buf *out, str s)
{
    escape_script(out, s, SCRIPT);
}

void escape_json(buf *out, str s)
{
    escape_script(out, s, JSON);
}

// XML 1.0, production 2: no control characters but tab, LF and CR, and neither U+FFFE nor U+FFFF.
static size_t put_xml(buf *out, str s, size_t i)
{
    uint8_t c = (uint8_t)s.ptr[i];
    if (c == 0xef) {
        bool forbidden =
            i + 2 < s.len && (uint8_t)s.ptr[i + 1] == 0xbf && (uint8_t)s.ptr[i + 2] >= 0xbe;
        if (forbidden)
            return 3;
        buf_char(out, (char)c);
    } else if (c >= 0x20 || c == '\t' || c == '\n' || c == '\r') {
        put_entity(out, (char)c);
    }
    return 1;
}

void escape_xml(buf *out, str s)
{
    size_t i = 0;
    while (i < s.len) {
        size_t end = skip_plain(s, i, XML);
        buf_put(out, s.ptr + i, end - i);
        i = end;
        if (i < s.len)
            i += put_xml(out, s, i);
    }
}
