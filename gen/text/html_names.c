// Looks elements and entities up in sorted tables; decodes character references.
#include "gen/text/html_names.h"

enum { MAX_NAME = 10 };

static const struct {
    str name;
    unsigned flags;
} elements[] = {
#define X(name, flags) {STR(#name), flags},
#include "gen/text/html_names.def"
#undef X
};

static const struct {
    str name;
    uint32_t code_point;
} entities[] = {
#define X(name, code_point) {STR(#name), code_point},
#include "gen/text/html_entities.def"
#undef X
};

// Order of a, in any case, and b in the table.
static int compare(str a, str b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    for (size_t i = 0; i < n; i++) {
        int order = ascii_lower(a.ptr[i]) - b.ptr[i];
        if (order)
            return order;
    }
    return a.len < b.len ? -1 : a.len > b.len;
}

unsigned html_flags(str name)
{
    size_t low = 0, high = sizeof elements / sizeof *elements;
    while (low < high && name.len <= MAX_NAME) {
        size_t middle = (low + high) / 2;
        int order = compare(name, elements[middle].name);
        if (!order)
            return elements[middle].flags;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return 0;
}

static int digit(char c, unsigned base)
{
    int v = ascii_hex(c);
    return v < (int)base ? v : -1;
}

// "#123;" or "#x7b;": its length, 0 when it is none. What is no character gives U+FFFD.
static size_t numeric(str s, uint32_t *code_point)
{
    size_t i = 1;
    unsigned base = i < s.len && (s.ptr[i] == 'x' || s.ptr[i] == 'X') ? 16 : 10;
    i += base == 16;
    size_t first = i;
    uint32_t v = 0;
    for (; i < s.len && digit(s.ptr[i], base) >= 0; i++)
        v = v > 0x10ffff ? v : v * base + (uint32_t)digit(s.ptr[i], base);
    if (i == first || i == s.len || s.ptr[i] != ';')
        return 0;
    *code_point = !v || v > 0x10ffff || (v >= 0xd800 && v < 0xe000) ? 0xfffd : v;
    return i + 1;
}

static size_t named(str s, uint32_t *code_point)
{
    str name = str_slice(s, 0, str_find(str_slice(s, 0, 32), ';'));
    size_t low = 0, high = sizeof entities / sizeof *entities;
    while (low < high && name.len < s.len) {
        size_t middle = (low + high) / 2;
        int order = str_cmp(name, entities[middle].name);
        if (!order) {
            *code_point = entities[middle].code_point;
            return name.len + 1;
        }
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return 0;
}

size_t html_entity(str s, uint32_t *code_point)
{
    str rest = str_slice(s, 1, s.len);
    if (!rest.len)
        return 0;
    size_t n = rest.ptr[0] == '#' ? numeric(rest, code_point) : named(rest, code_point);
    return n ? n + 1 : 0;
}

void html_unescape(str s, buf *out)
{
    while (s.len) {
        size_t n = str_find(s, '&');
        buf_str(out, str_slice(s, 0, n));
        s = str_slice(s, n, s.len);
        uint32_t code_point = '&';
        size_t length = s.len ? html_entity(s, &code_point) : 0;
        if (s.len)
            buf_utf8(out, code_point);
        s = str_slice(s, length ? length : 1, s.len);
    }
}
