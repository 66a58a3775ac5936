// Elements of HTML whose content is Markdown: markdown="1" (kramdown) or markdown (md_in_html).
#include <string.h>

#include "gen/text/markdown_foreign.h"

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Blocks of these names may hold other blocks.
static bool holds_markdown(str tag)
{
    static const str names[] = {STR("div"),    STR("section"),    STR("article"),
                                STR("aside"),  STR("blockquote"), STR("details"),
                                STR("figure"), STR("figcaption"), STR("center")};
    str rest = str_slice(tag, 1, tag.len);
    size_t n = 0;
    while (n < rest.len && is_word(rest.ptr[n]))
        n++;
    bool block = false;
    for (size_t i = 0; i < sizeof names / sizeof *names && !block; i++)
        block = str_eq(str_slice(rest, 0, n), names[i]);
    size_t at = str_search(rest, STR(" markdown")), behind = at + 9;
    if (!block || at == rest.len || behind >= rest.len || !strchr("=> \t\n", rest.ptr[behind]))
        return false;
    str value = str_slice(rest, behind, rest.len);
    return !str_starts(value, STR("=\"0\""));
}

// The end tag that belongs to the element at from; 0 for none.
static size_t element_close(str s, size_t from, str name)
{
    int depth = 0;
    for (size_t i = from; i + name.len + 2 < s.len; i++) {
        i += str_find(str_slice(s, i, s.len), '<');
        str rest = str_slice(s, i + 1, s.len);
        bool end = str_starts(rest, STR("/"));
        rest = str_slice(rest, end, rest.len);
        if (!str_starts(rest, name) || (rest.len > name.len && is_word(rest.ptr[name.len])))
            continue;
        depth += end ? -1 : 1;
        if (!depth)
            return i;
    }
    return 0;
}

bool md_markdown_element(str s, size_t at, size_t *searched, size_t *end, size_t *close,
                         size_t *behind)
{
    enum { MAX_SEARCHED = 16 << 20 };
    size_t n = 1;
    *end = at + str_find(str_slice(s, at, s.len), '>') + 1;
    if (*end > s.len || !holds_markdown(str_slice(s, at, *end)))
        return false;
    while (is_word(s.ptr[at + n]))
        n++;
    str name = str_slice(s, at + 1, at + n);
    *close = *searched < MAX_SEARCHED ? element_close(s, at, name) : 0;
    *searched += (*close ? *close : s.len) - at;
    *behind = *close + 3 + name.len;
    return *close && s.ptr[*behind - 1] == '>';
}
