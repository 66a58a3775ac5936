// Hides what stands between < and >, and the expressions of MDX: components, elements of HTML that
// hold Markdown or have it behind them, import and export.
#include <string.h>

#include "gen/text/markdown_foreign_hide.h"

static bool is_word(char c)
{
    return ascii_is_alnum(c) || c == '_';
}

static bool begins_line(str s, size_t at)
{
    while (at && (s.ptr[at - 1] == ' ' || s.ptr[at - 1] == '\t'))
        at--;
    return !at || s.ptr[at - 1] == '\n';
}

// An expression on lines of its own is a program's, whatever it holds: {() => { ... }}.
static size_t lines_end(struct hiding *h, size_t at)
{
    bool mdx = h->mdx || h->foreign & MD_FOREIGN_MDX;
    size_t end = mdx && begins_line(h->body, at) ? md_jsx_braces_end(h->body, at, MD_MAX_TAG) : 0;
    str inside = str_slice(h->body, at, end);
    bool alone = end && !str_trim(md_rest_of_line(h->body, end)).len;
    return alone && str_find(inside, '\n') < inside.len ? end : 0;
}

// {' '}: a string of MDX, which formatters write for a blank at a line's end.
static size_t string_end(const struct hiding *h, size_t at)
{
    str rest = md_rest_of_line(h->body, at);
    char quote = rest.len > 2 ? rest.ptr[1] : 0;
    if ((quote != '\'' && quote != '"') || !(h->mdx || h->foreign & MD_FOREIGN_MDX))
        return 0;
    size_t close = 2;
    while (close < rest.len && rest.ptr[close] != quote)
        close += 1 + (rest.ptr[close] == '\\');
    return close + 1 < rest.len && rest.ptr[close + 1] == '}' ? at + close + 2 : 0;
}

// {/* a comment */}, {an.expression} and {NAME} of MDX. A name alone may be text in a page that is
// not MDX, unless the page gives it a value.
static size_t expression_end(struct hiding *h, size_t at)
{
    str s = h->body, value;
    str rest = str_slice(s, at, s.len);
    size_t string = string_end(h, at);
    if (string)
        return string;
    if (str_starts(rest, STR("{/*"))) {
        rest = str_slice(rest, 0, MD_MAX_TAG + 2);
        size_t end = str_search(rest, STR("*/}"));
        return end < rest.len ? at + end + 3 : 0;
    }
    size_t n = 1;
    while (n < rest.len && (is_word(rest.ptr[n]) || strchr(".()'[]", rest.ptr[n])))
        n++;
    bool dotted = n > 1 && ascii_is_letter(rest.ptr[1]) && str_find(str_slice(rest, 0, n), '.') < n;
    str name = str_slice(rest, 1, n);
    bool bare = !dotted && n > 1 && (ascii_is_letter(name.ptr[0]) || name.ptr[0] == '_') &&
                !strpbrk(arena_c(h->a, name), ".()'[]");
    if (n >= rest.len || rest.ptr[n] != '}')
        return lines_end(h, at);
    return dotted || (bare && (h->mdx || md_exported_text(&h->exports, s, name, &value, h->a)))
               ? at + n + 1
               : 0;
}

// import and export are for the program that a page is there; up to the next empty line.
size_t md_hide_import(struct hiding *h, size_t at)
{
    str line = md_rest_of_line(h->body, at);
    bool import = str_starts(line, STR("import ")), export = str_starts(line, STR("export "));
    bool type = str_starts(line, STR("import type"));
    if (import)
        import = type || str_has(line, STR(" from ")) || strchr("{'\"", line.ptr[7]);
    static const char *const exports[] = {"export const ",    "export let ", "export default ",
                                          "export function ", "export {",    "export *"};
    bool declares = false;
    for (size_t i = 0; export && i < sizeof exports / sizeof *exports; i++)
        declares = declares || str_starts(line, str_c(exports[i]));
    if (!import && !declares)
        return 0;
    size_t end = md_end_of_line(h->body, at);
    while (end < h->body.len && str_trim(md_rest_of_line(h->body, end + 1)).len &&
           !str_starts(md_rest_of_line(h->body, end + 1), STR("</")))
        end = md_end_of_line(h->body, end + 1);  // a script's end is one, too
    md_hide_blank(h->text, at, end);
    h->changed = true;
    return end;
}

// A tag with an empty line in it is several blocks to the parser: its first line and its last
// become the marks of a fence, and what is between them, mostly a program's text, is shown as code.
// Only the tag's name is shown where the last line has no room for a mark.
static void hide_lines(struct hiding *h, size_t at, size_t end)
{
    size_t first = md_end_of_line(h->body, at),
           last = str_rfind(str_slice(h->body, 0, end), '\n') + 1;
    str behind = str_trim(str_slice(h->body, end, md_end_of_line(h->body, end)));
    if (str_starts(behind, STR("</")))
        end = md_end_of_line(h->body, end);
    if (end - last < 3 || first - at < 3) {
        size_t name = at + 1 + str_find(str_slice(h->body, at, first), ' ');
        md_hide(h->text, at, name < first ? name : first);
        md_hide_blank(h->text, name < first ? name : first, end);
        return;
    }
    if (!h->unread.len)
        h->unread = str_slice(h->body, at, first), h->unread_at = at;
    md_hide_blank(h->text, at, first);
    md_hide_blank(h->text, last, end);
    memcpy(h->text + at, "~~~", 3);
    memcpy(h->text + last, "~~~", 3);
}

// <img width={283} style={{...}} />: an element of HTML whose attributes are JSX's.
static size_t element_end(struct hiding *h, size_t at)
{
    str s = h->body;
    size_t name = at + 1, end;
    if (name >= s.len || !ascii_is_lower(s.ptr[name]))
        return 0;
    while (name < s.len && is_word(s.ptr[name]))
        name++;
    if (name >= s.len || !strchr(" \t\r\n", s.ptr[name]) ||
        !(end = md_jsx_end(s, at, MD_MAX_TAG)) || !md_is_one_piece(s, at, end, true))
        return 0;
    if (str_find(str_slice(s, at, end), '{') == end - at)
        return 0;
    md_jsx_attributes(h->text, name, end - 1);
    return end;
}

// A component's tag. Fragments of Astro hold HTML in a string, as much as a program prints: no more
// of them are read for their length alone than MAX_SEARCHED bytes of a page.
static size_t component_end(struct hiding *h, size_t at)
{
    enum { MAX_SEARCHED = 16 << 20 };
    bool raw = str_starts(str_slice(h->body, at, h->body.len), STR("<Fragment set:html=")) &&
               h->searched < MAX_SEARCHED;
    size_t end = md_jsx_tag_end(h->body, at, raw ? MD_MAX_RAW : MD_MAX_TAG);
    h->searched += raw && !end ? MD_MAX_RAW : 0;
    return end;
}

size_t md_hide_jsx(struct hiding *h, size_t at)
{
    bool is_tag = h->body.ptr[at] == '<';
    size_t end = is_tag ? element_end(h, at) : 0;
    if (end) {
        h->changed = true;
        return end;
    }
    end = is_tag ? component_end(h, at) : expression_end(h, at);
    if (!end)
        return 0;
    bool whole = md_is_one_piece(h->body, at, end, true);
    if (!whole && !begins_line(h->body, at))
        return 0;
    if (whole)
        md_hide(h->text, at, end);
    else
        hide_lines(h, at, end);
    h->changed = true;
    return end;
}

size_t md_hide_element(struct hiding *h, size_t at)
{
    size_t end, close, behind;
    if (!begins_line(h->body, at) ||
        !md_markdown_element(h->body, at, &h->searched, &end, &close, &behind) ||
        !md_is_one_piece(h->body, at, end, false))
        return 0;
    md_hide(h->text, at, end);
    md_hide(h->text, close, behind);
    h->changed = true;
    return end;
}

// Whether other syntax stands in an element, which is to be seen and shown: a component or an
// expression of MDX, a tag in braces.
static bool has_tags(str s, bool mdx)
{
    for (size_t i = 0; i + 1 < s.len; i++) {
        char c = s.ptr[i], next = s.ptr[i + 1];
        if (mdx ? c == '{' || (c == '<' && ascii_is_upper(next))
                : c == '{' && (next == '{' || next == '%'))
            return true;
    }
    return false;
}

// An element of HTML in MDX, or one behind whose end Markdown goes on. What is in braces is MDX's.
size_t md_hide_html(struct hiding *h, size_t at)
{
    size_t end, close, behind;
    bool mdx = h->mdx || h->foreign & MD_FOREIGN_MDX;
    if (!begins_line(h->body, at) || (!mdx && !(h->foreign & MD_FOREIGN_HTML)))
        return 0;
    end = h->foreign & MD_FOREIGN_HTML ? md_void_before_line(h->body, at) : 0;
    if (end && md_is_one_piece(h->body, at, end, true)) {
        md_hide(h->text, at, end);
        h->changed = true;
        return end;
    }
    if (mdx && md_mdx_element(h->body, at, &h->searched, &end, &close, &behind) &&
        md_is_one_piece(h->body, at, end, true)) {
        md_jsx_attributes(h->text, at + 1 + str_find(str_slice(h->body, at, end), ' '), end - 1);
        md_hide(h->text, at, end);
        md_hide(h->text, close, behind);
        h->changed = true;
        return end;
    }
    if (!md_whole_element(h->body, at, &h->searched, &behind) ||
        !md_is_one_piece(h->body, at, behind, true) ||
        has_tags(str_slice(h->body, at, behind), mdx))
        return 0;
    md_hide(h->text, at, behind);
    h->changed = true;
    return behind;
}
