// Addresses that authors write: taken apart, refused where they could leave the site or hide in it,
// put together again.
#include "gen/text/address.h"

#include <string.h>

bool address_is_hidden(str part, bool first)
{
    return part.len && part.ptr[0] == '.' && !(first && str_eq(part, STR(".well-known")));
}

bool address_normalize(str address, buf *out)
{
    size_t start = out->len;
    str part;
    for (size_t i = 0; i < address.len; i++)
        if ((unsigned char)address.ptr[i] < ' ' || address.ptr[i] == 0x7F)
            return false;
    while (str_cut(&address, '/', &part)) {
        if (!part.len || str_eq(part, STR(".")))
            continue;
        if (address_is_hidden(part, out->len == start))
            return false;
        if (out->len > start)
            buf_char(out, '/');
        buf_str(out, part);
    }
    return true;
}

str address_harmless(str path, arena *a)
{
    char *text = arena_c(a, path);
    for (char *c = text; c < text + path.len; c++)
        if ((unsigned char)*c <= ' ' || *c == 0x7F || strchr("#?%\"<>\\:|*", *c))
            *c = '-';
    return (str){text, path.len};
}

void address_relative(str from, str to, buf *out)
{
    size_t same = 0, most = from.len < to.len ? from.len : to.len;
    while (same + 8 <= most && !memcmp(from.ptr + same, to.ptr + same, 8))
        same += 8;
    while (same < most && from.ptr[same] == to.ptr[same])
        same++;
    while (same && from.ptr[same - 1] != '/')
        same--;
    for (size_t i = same; i < from.len; i++)
        if (from.ptr[i] == '/')
            buf_lit(out, "../");
    buf_put(out, to.ptr + same, to.len - same);
}

str address_decode(str s, arena *a)
{
    if (str_find(s, '%') == s.len)
        return s;
    char *out = arena_new(a, char, s.len + 1);
    size_t n = 0;
    for (size_t i = 0; i < s.len; i++) {
        int hi = s.ptr[i] == '%' && i + 2 < s.len ? ascii_hex(s.ptr[i + 1]) : -1;
        int lo = hi >= 0 ? ascii_hex(s.ptr[i + 2]) : -1;
        out[n++] = lo >= 0 ? (char)(hi * 16 + lo) : s.ptr[i];
        if (lo >= 0)
            i += 2;
    }
    return (str){out, n};
}

// "https:", "mailto:": letters, then a colon, before any slash.
static bool has_scheme(str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = (char)(s.ptr[i] | 32);
        if (s.ptr[i] == ':')
            return i > 1;
        bool part = ascii_is_lower(c) || (i && strchr("0123456789+-.", s.ptr[i]));
        if (!part)
            return false;
    }
    return false;
}

bool address_is_outside(str address)
{
    return has_scheme(address) || str_starts(address, STR("//"));
}

str address_base_path(str base_url)
{
    size_t host = str_search(base_url, STR("://"));
    if (host == base_url.len)
        return STR_NONE;
    str rest = str_slice(base_url, host + 3, base_url.len);
    return str_slice(rest, str_find(rest, '/'), rest.len);
}
