// Elements of HTML whose content is Markdown: markdown="1" (kramdown), markdown (md_in_html), and
// all on lines of their own in MDX; and elements behind whose end a line of Markdown may follow.
#include <string.h>

#include "gen/text/markdown_foreign.h"

static bool is_word(char c)
{
    return ascii_is_alnum(c) || c == '_';
}

// The name of the tag that s begins with, a '<'.
static str name_of(str s)
{
    size_t n = 1;
    while (n < s.len && is_word(s.ptr[n]))
        n++;
    return str_slice(s, 1, n);
}

static bool is_one_of(str name, const str *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(name, names[i]))
            return true;
    return false;
}

// Blocks of these names may hold other blocks.
static bool is_container(str name)
{
    static const str names[] = {STR("div"),    STR("section"),    STR("article"),
                                STR("aside"),  STR("blockquote"), STR("details"),
                                STR("figure"), STR("figcaption"), STR("center")};
    return is_one_of(name, names, sizeof names / sizeof *names);
}

static bool is_block(str name)
{
    static const str names[] = {STR("p"),  STR("table"),  STR("ul"),    STR("ol"),     STR("dl"),
                                STR("h1"), STR("h2"),     STR("h3"),    STR("h4"),     STR("h5"),
                                STR("h6"), STR("iframe"), STR("video"), STR("summary")};
    return is_container(name) || is_one_of(name, names, sizeof names / sizeof *names);
}

static bool holds_markdown(str tag)
{
    str rest = str_slice(tag, 1, tag.len);
    size_t at = str_search(rest, STR(" markdown")), behind = at + 9;
    bool words = str_eq(name_of(tag), STR("p"));
    if ((!is_container(name_of(tag)) && !words) || at == rest.len || behind >= rest.len ||
        !strchr("=> \t\n", rest.ptr[behind]))
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

// Where the end tag of the element at s[at] is, whose opening tag ends at end, and what is behind
// it; false without one.
static bool find_close(str s, size_t at, size_t *searched, size_t end, size_t *close,
                       size_t *behind)
{
    enum { MAX_SEARCHED = 16 << 20 };
    str name = name_of(str_slice(s, at, s.len));
    *close = *searched < MAX_SEARCHED ? element_close(s, at, name) : 0;
    *searched += (*close ? *close : s.len) - at;
    *behind = *close + 3 + name.len;
    return *close >= end && *behind <= s.len && s.ptr[*behind - 1] == '>';
}

bool md_markdown_element(str s, size_t at, size_t *searched, size_t *end, size_t *close,
                         size_t *behind)
{
    *end = at + str_find(str_slice(s, at, at + MD_MAX_TAG), '>') + 1;
    return *end <= s.len && *end <= at + MD_MAX_TAG && holds_markdown(str_slice(s, at, *end)) &&
           find_close(s, at, searched, *end, close, behind);
}

// What is on the line of s[at] from there on.
static str rest_of_line(str s, size_t at)
{
    str rest = str_slice(s, at, s.len);
    return str_trim(str_slice(rest, 0, str_find(rest, '\n')));
}

bool md_mdx_element(str s, size_t at, size_t *searched, size_t *end, size_t *close, size_t *behind)
{
    if (!is_container(name_of(str_slice(s, at, s.len))) ||
        !(*end = md_jsx_end(s, at, MD_MAX_TAG)) || rest_of_line(s, *end).len ||
        !find_close(s, at, searched, *end, close, behind))
        return false;
    str before = str_slice(s, 0, *close);
    size_t start = str_rfind(before, '\n');
    return start < *close && !str_trim(str_slice(before, start, *close)).len &&
           !rest_of_line(s, *behind).len;
}

bool md_is_void_in_line(str name)
{
    static const str names[] = {STR("img"), STR("br")};
    return is_one_of(name, names, sizeof names / sizeof *names);
}

size_t md_void_before_line(str s, size_t at)
{
    size_t end = at + str_find(str_slice(s, at, at + MD_MAX_TAG), '>') + 1, next;
    if (!md_is_void_in_line(name_of(str_slice(s, at, s.len))) || end > s.len ||
        end > at + MD_MAX_TAG || rest_of_line(s, end).len)
        return 0;
    next = end + str_find(str_slice(s, end, s.len), '\n') + 1;
    return next < s.len && rest_of_line(s, next).len ? end : 0;
}

// Behind an element, or an end tag, at s[at]; 0 for none of those that are blocks.
static size_t behind_element(str s, size_t at, size_t *searched)
{
    bool closes = at + 1 < s.len && s.ptr[at + 1] == '/';
    str name = name_of(str_slice(s, at + closes, s.len));
    size_t close, behind, end = at + str_find(str_slice(s, at, at + MD_MAX_RAW), '>') + 1;
    if (end > s.len || end > at + MD_MAX_RAW || !is_block(name) ||
        (closes && end != at + name.len + 3))
        return 0;
    return closes ? end : find_close(s, at, searched, end, &close, &behind) ? behind : 0;
}

bool md_whole_element(str s, size_t at, size_t *searched, size_t *behind)
{
    size_t next = behind_element(s, at, searched);
    for (*behind = next; next && next < s.len && s.ptr[next] == '<';
         *behind = next ? next : *behind)
        next = behind_element(s, next, searched);  // </p><p> in the middle of a line
    if (!*behind || rest_of_line(s, *behind).len)
        return false;
    next = *behind + str_find(str_slice(s, *behind, s.len), '\n') + 1;
    return next < s.len && rest_of_line(s, next).len;
}
