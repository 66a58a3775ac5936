// Short names of emoji and icons, as pymdownx.emoji, jemoji, Hugo and markdown-it-emoji read them.
#include "gen/text/emoji.h"

#include <string.h>

#include "gen/base/buf.h"

static const struct {
    str name, shown;
} names[] = {
#define X(name, shown) {STR(name), STR(shown)},
#include "gen/text/emoji.def"
#undef X
};

// The sets that Material for MkDocs brings along.
static const str icon_sets[] = {STR("material-"), STR("octicons-"), STR("fontawesome-"),
                                STR("simple-")};

static bool is_word(char c)
{
    return ascii_is_alnum(c) || c == '_';
}

static bool is_icon(str name)
{
    for (size_t i = 0; i < sizeof icon_sets / sizeof *icon_sets; i++)
        if (str_starts(name, icon_sets[i]) && name.len > icon_sets[i].len)
            return true;
    return false;
}

bool emoji_at(str s, size_t at, size_t *end, str *shown)
{
    enum { LONGEST = 80 };
    size_t n = at + 1;
    if (at && (is_word(s.ptr[at - 1]) || strchr(":/", s.ptr[at - 1])))
        return false;
    while (n < s.len && n - at < LONGEST && (is_word(s.ptr[n]) || strchr("+-", s.ptr[n])))
        n++;
    bool ends = n < s.len && s.ptr[n] == ':' && (n + 1 == s.len || !is_word(s.ptr[n + 1]));
    if (n == at + 1 || !ends)
        return false;
    str name = str_slice(s, at + 1, n++);
    *end = n;
    *shown = STR_NONE;
    for (size_t i = 0; i < sizeof names / sizeof *names && !shown->len; i++)
        if (str_eq(name, names[i].name))
            *shown = names[i].shown;
    if (!is_icon(name))
        return shown->len > 0;
    str behind = str_slice(s, n, s.len);
    size_t close = str_find(behind, '}');
    if (str_starts(behind, STR("{")) && close < str_find(behind, '\n') && close < behind.len)
        *end = n + close + 1;
    return true;
}

str emoji_text(str s, arena *a)
{
    buf b = BUF_INIT;
    size_t end;
    str shown;
    if (str_find(s, ':') == s.len)
        return s;
    for (size_t at = 0; at < s.len; at = end) {
        if (s.ptr[at] == ':' && emoji_at(s, at, &end, &shown))
            buf_str(&b, shown);
        else
            buf_char(&b, s.ptr[at]), end = at + 1;
    }
    str out = arena_str(a, str_trim(buf_view(&b)));
    buf_free(&b);
    return out;
}
