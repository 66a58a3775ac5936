// The marks of files to be included, as pymdownx.snippets, mdBook and VitePress define them.
#include "gen/site/source/include_mark.h"

#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

// The length of "--8<--" at the head of s, with one dash or more at each side; 0 for none.
static size_t scissors(str s)
{
    size_t n = 0, behind;
    while (n < s.len && s.ptr[n] == '-')
        n++;
    if (!n || !str_starts(str_slice(s, n, s.len), STR("8<-")))
        return 0;
    for (behind = n + 2; behind < s.len && s.ptr[behind] == '-';)
        behind++;
    return behind;
}

bool include_ends_block(str line)
{
    line = str_trim(line);
    return line.len && scissors(line) == line.len;
}

static bool read_number(str s, size_t *n)
{
    size_t value = 0;
    for (size_t i = 0; i < s.len; i++) {
        if (!ascii_is_digit(s.ptr[i]) || i > 8)
            return false;
        value = value * 10 + (size_t)(s.ptr[i] - '0');
    }
    if (s.len)
        *n = value;
    return true;
}

// "{3,5}" of VitePress.
static void read_braces(str range, struct include_mark *m)
{
    size_t comma = str_find(range, ',');
    if (!read_number(str_trim(str_slice(range, 0, comma)), &m->first))
        return;
    m->last = comma < range.len ? m->last : m->first;
    read_number(str_trim(str_slice(range, comma + 1, range.len)), &m->last);
}

void include_spec(enum tree_includes how, str words, struct include_mark *m)
{
    const char *ends = how == INCLUDE_VITEPRESS ? "{#" : ":";
    size_t n = 0;
    *m = (struct include_mark){.first = 1, .last = SIZE_MAX, .end = words.len};
    words = str_trim(words);
    while (n < words.len && !strchr(ends, words.ptr[n]))
        n++;
    bool address = str_starts(str_slice(words, n, words.len), STR("://"));
    m->path = address ? words : str_trim(str_slice(words, 0, n));
    if (n == words.len || address)
        return;
    str rest = str_slice(words, n + 1, words.len);
    if (how == INCLUDE_VITEPRESS) {
        size_t brace = str_find(rest, '{');
        if (words.ptr[n] == '#')
            m->name = str_trim(str_slice(rest, 0, brace));
        else
            read_braces(str_slice(rest, 0, str_find(rest, '}')), m);
        return;
    }
    size_t colon = str_find(rest, ':');
    str first = str_trim(str_slice(rest, 0, colon)),
        last = str_trim(str_slice(rest, colon + 1, rest.len));
    if (!read_number(first, &m->first))
        m->name = first;
    else if (colon == rest.len && how == INCLUDE_MDBOOK)
        m->last = m->first;
    else
        read_number(last, &m->last);
}

// --8<-- "file", or --8<-- alone before a list; ";" in front keeps the mark as text.
static bool next_snippet(str line, struct include_mark *m)
{
    size_t at = 0;
    while (at < line.len && is_blank(line.ptr[at]))
        at++;
    str rest = str_trim(str_slice(line, at, line.len));
    size_t kept = str_starts(rest, STR(";")) ? scissors(str_slice(rest, 1, rest.len)) : 0,
           mark = scissors(rest);
    if (kept) {
        *m = (struct include_mark){.start = at, .end = at + 1, .escaped = true};
        return true;
    }
    str file = str_trim(str_slice(rest, mark, rest.len));
    bool quoted = file.len > 2 && strchr("\"'", file.ptr[0]) &&
                  file.ptr[file.len - 1] == file.ptr[0] && is_blank(rest.ptr[mark]);
    if (!mark || (file.len && !quoted))
        return false;
    include_spec(INCLUDE_SNIPPETS, quoted ? str_slice(file, 1, file.len - 1) : file, m);
    m->start = at;
    m->end = at + rest.len;
    m->indents = true;
    m->block = !file.len;
    return true;
}

// {{#include file}}, {{#rustdoc_include file}}, {{#playground file words}}, {{#title words}}.
static bool next_mdbook(str line, struct include_mark *m)
{
    static const struct {
        str name;
        bool fenced, title;
    } marks[] = {{STR("{{#include "), false, false},
                 {STR("{{#rustdoc_include "), false, false},
                 {STR("{{#playground "), true, false},
                 {STR("{{#playpen "), true, false},
                 {STR("{{#title "), false, true}};
    for (size_t at = 0; at < line.len; at++) {
        at += str_search(str_slice(line, at, line.len), STR("{{#"));
        str rest = str_slice(line, at, line.len);
        size_t end = str_search(rest, STR("}}"));
        for (size_t i = 0; i < sizeof marks / sizeof *marks && end < rest.len; i++) {
            if (!str_starts(rest, marks[i].name) || (at && line.ptr[at - 1] == '\\'))
                continue;
            str words = str_trim(str_slice(rest, marks[i].name.len, end));
            if (marks[i].fenced)
                words = str_slice(words, 0, str_find(words, ' '));
            include_spec(INCLUDE_MDBOOK, words, m);
            m->start = at, m->end = at + end + 2, m->fenced = marks[i].fenced;
            if (marks[i].title)
                m->path = STR_NONE;
            return true;
        }
    }
    return false;
}

// "{3-10}", "{5}", "{3-}" and "{-10}" of VuePress.
static void read_lines(str range, struct include_mark *m)
{
    size_t dash = str_find(range, '-');
    if (!read_number(str_slice(range, 0, dash), &m->first))
        return;
    m->last = dash < range.len ? m->last : m->first;
    read_number(str_slice(range, dash + 1, range.len), &m->last);
}

// @[code{3-10} words](file) of VuePress.
static bool next_import(str rest, size_t at, struct include_mark *m)
{
    size_t close = str_search(rest, STR("](")), end = str_rfind(rest, ')');
    if (!str_starts(rest, STR("@[code")) || close == rest.len || end != rest.len - 1)
        return false;
    str words = str_slice(rest, 6, close);
    *m = (struct include_mark){.first = 1, .last = SIZE_MAX, .start = at, .end = at + rest.len};
    m->path = str_trim(str_slice(rest, close + 2, end));
    if (str_starts(words, STR("{")))
        read_lines(str_slice(words, 1, str_find(words, '}')), m);
    m->indents = m->fenced = true;
    return m->path.len > 0;
}

// !!!include(file)!!! of the plugin markdown-it-include. Source: its index.js, includeRe; its root
// is the folder that the generator is started in.
static bool next_markdown_it(str line, struct include_mark *m)
{
    size_t at = str_search(line, STR("!!!include(")), from = at + 11;
    size_t to = from + str_search(str_slice(line, from, line.len), STR(")!!!"));
    if (at == line.len || to >= line.len)
        return false;
    *m = (struct include_mark){.first = 1, .last = SIZE_MAX, .start = at, .end = to + 4};
    m->path = str_trim(str_slice(line, from, to));
    m->top = true;
    return m->path.len > 0;
}

// <<< @/file#name{2 js} [words]: its braces name lines that stand out.
static bool next_code(str line, struct include_mark *m)
{
    size_t at = 0;
    while (at < line.len && is_blank(line.ptr[at]))
        at++;
    str rest = str_slice(line, at, line.len);
    if (next_markdown_it(line, m))
        return true;
    if (!str_starts(rest, STR("<<< ")))
        return next_import(str_trim(rest), at, m);
    str words = str_trim(str_slice(rest, 4, rest.len));
    words = str_slice(words, 0, str_find(words, '{'));
    include_spec(INCLUDE_VITEPRESS, str_slice(words, 0, str_find(words, '[')), m);
    m->start = at, m->end = at + str_trim(rest).len;
    m->indents = m->fenced = true;
    return m->path.len > 0;
}

static bool next_vitepress(str line, struct include_mark *m)
{
    size_t at = str_search(line, STR("<!--")), name = str_search(line, STR("@include:"));
    str rest = str_slice(line, name + 9, line.len);
    size_t end = str_search(rest, STR("-->"));
    if (name >= line.len || at > name || end == rest.len ||
        str_trim(str_slice(line, at + 4, name)).len)
        return next_code(line, m);
    include_spec(INCLUDE_VITEPRESS, str_slice(rest, 0, end), m);
    m->start = at, m->end = name + 9 + end + 3;
    return true;
}

// {% include "file" %} of GitBook, but for one between backticks.
static bool next_gitbook(str line, struct include_mark *m)
{
    bool code = false;
    for (size_t at = 0, end; at < line.len; at = end) {
        size_t start = at + str_search(str_slice(line, at, line.len), STR("{%"));
        str rest = str_slice(line, start, line.len);
        end = start + str_search(rest, STR("%}")) + 2;
        if (end > line.len)
            return false;
        str words = str_trim(str_slice(line, start + 2, end - 2)),
            file = str_trim(str_slice(words, 7, words.len));
        bool quoted = file.len > 2 && (file.ptr[0] == '"' || file.ptr[0] == '\'') &&
                      file.ptr[file.len - 1] == file.ptr[0];
        for (; at < start; at++)
            code ^= line.ptr[at] == '`';
        if (code || !quoted || !str_starts(words, STR("include")))
            continue;
        *m = (struct include_mark){.first = 1,
                                   .last = SIZE_MAX,
                                   .start = start,
                                   .end = end,
                                   .path = str_slice(file, 1, file.len - 1)};
        return true;
    }
    return false;
}

bool include_next(enum tree_includes how, str line, struct include_mark *m)
{
    if (how == INCLUDE_SNIPPETS)
        return next_snippet(line, m);
    if (how == INCLUDE_GITBOOK)
        return next_gitbook(line, m);
    if (how >= INCLUDE_MDX || how == INCLUDE_NOTHING)
        return false;  // components may be longer than a line
    return how == INCLUDE_MDBOOK ? next_mdbook(line, m) : next_vitepress(line, m);
}

// The word behind a mark in a line.
static bool name_behind(str line, str mark, str *name)
{
    size_t at = str_search(line, mark), n = 0;
    if (at == line.len)
        return false;
    str rest = str_trim(str_slice(line, at + mark.len, line.len));
    while (n < rest.len && !is_blank(rest.ptr[n]) && rest.ptr[n] != ']')
        n++;
    *name = str_slice(rest, 0, n);
    return true;
}

bool include_section(enum tree_includes how, str line, bool *begins, str *name)
{
    static const struct {
        str begin, end;
    } marks[] = {[INCLUDE_SNIPPETS] = {STR("- [start:"), STR("- [end:")},
                 [INCLUDE_MDBOOK] = {STR("ANCHOR:"), STR("ANCHOR_END:")},
                 [INCLUDE_VITEPRESS] = {STR("#region "), STR("#endregion")}};
    if (how >= INCLUDE_GITBOOK || how == INCLUDE_NOTHING ||
        (how == INCLUDE_SNIPPETS && !str_has(line, STR("8<-"))))
        return false;
    *begins = name_behind(line, marks[how].begin, name);
    if (!*begins && !name_behind(line, marks[how].end, name))
        return false;
    if (how == INCLUDE_VITEPRESS && str_eq(*name, STR("-->")))
        *name = STR_NONE;
    return true;
}
