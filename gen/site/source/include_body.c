// Bodies of pages whose generator reads them in a way of its own: listings of MDX, tables of
// kramdown.
#include "gen/site/source/include_body.h"

#include <string.h>

#include "gen/site/source/include_mdx.h"
#include "gen/site/source/include_value.h"

enum { MOST_COLUMNS = 100, DEEPEST_PART = 8 };

// What is left without empty lines at either end; the first line keeps its indentation.
static str without_empty_lines(str s)
{
    size_t from = 0;
    while (from < s.len && !str_trim(include_line_at(s, from)).len)
        from = include_line_end(s, from);
    while (s.len > from && strchr(" \t\r\n", s.ptr[s.len - 1]))
        s.len--;
    return str_slice(s, from, s.len);
}

// Words of a program, of which \` and \$ are signs.
static str unescaped(str s, arena *a)
{
    buf b = BUF_INIT;
    for (size_t i = 0; i < s.len; i++) {
        i += s.ptr[i] == '\\' && i + 1 < s.len;
        buf_char(&b, s.ptr[i]);
    }
    str out = arena_str(a, buf_view(&b));
    buf_free(&b);
    return out;
}

// Puts a listing in as a fence, behind an indentation. in: where its words stand, or its own file.
static void put_code(struct including *g, const struct include_source *s, size_t at,
                     const struct include_listing *l, struct include_source in, str indent)
{
    if (l->escaped)
        in.text = unescaped(l->words, g->a);
    str shown = without_empty_lines(l->path.len || l->escaped ? in.text : l->words);
    size_t from = (size_t)(shown.ptr - in.text.ptr);
    size_t ticks = include_longest_ticks(shown) < 3 ? 3 : include_longest_ticks(shown) + 1;
    include_put_fence(g, s, at, l->language.len ? l->language : include_extension_of(in.path),
                      ticks, indent);
    include_put_made(g, s, at, STR("\n"));
    g->depth++;
    include_put_lines(g, &in, from, from + shown.len, indent);
    g->depth--;
    include_put_made(g, s, at, STR("\n"));
    include_put_fence(g, s, at, STR_NONE, ticks, indent);
    include_put_made(g, s, at, STR("\n"));
}

// A listing of MDX whose component stands alone on its lines becomes a fence. Where the next line
// is; at when there is none, or its file cannot be read: the component is shown as others are.
static size_t put_listing(struct including *g, const struct include_source *s, size_t at)
{
    size_t head = at;
    struct include_listing l;
    struct include_source in = *s;
    while (head < s->text.len && strchr(" \t", s->text.ptr[head]))
        head++;
    if (!include_listing(s->text, head, &g->searched, &l, g->a) ||
        str_trim(str_slice(s->text, l.end, include_line_end(s->text, l.end))).len ||
        (l.path.len && include_find_file(g, s, l.path, &in)))
        return at;
    put_code(g, s, at, &l, in, str_slice(s->text, at, head));
    return include_line_end(s->text, l.end);
}

// A component of Astro that shows nothing but a listing; false for any other.
static bool put_component(struct including *g, const struct include_source *s, size_t at,
                          struct include_source in, str indent)
{
    struct include_listing l;
    struct include_source component = in;
    if (!include_component(in.text, &g->searched, &l, g->a) ||
        (l.path.len && include_find_file(g, &component, l.path, &in)))
        return false;
    put_code(g, s, at, &l, in, indent);
    return true;
}

// Where a part's text begins, behind its front matter and the imports at its head.
static size_t behind_imports(str text)
{
    size_t at = include_behind_front(text), from = at;
    bool open = false;
    for (; at < text.len; at = include_line_end(text, at)) {
        str line = str_trim(include_line_at(text, at));
        bool begins = str_starts(line, STR("import "));
        if (!open && !begins && line.len)
            break;
        open =
            (open || begins) && str_find(line, '\'') == line.len && str_find(line, '"') == line.len;
        from = open ? from : include_line_end(text, at);
    }
    return from;
}

// A component that stands alone on its lines and is a file of MDX becomes that file's text. The
// same.
static size_t put_part(struct including *g, const struct include_source *s, size_t at)
{
    size_t head = at, end;
    str path;
    struct include_source in;
    while (head < s->text.len && strchr(" \t", s->text.ptr[head]))
        head++;
    if (g->depth >= DEEPEST_PART || g->out.len > g->site->settings.max_page_bytes ||
        !include_partial(s->text, head, &g->searched, &path, &end, g->a) ||
        str_trim(str_slice(s->text, end, include_line_end(s->text, end))).len ||
        include_find_file(g, s, path, &in))
        return at;
    str indent = str_slice(s->text, at, head);
    if (str_ends(path, STR(".astro")))
        return put_component(g, s, at, in, indent) ? include_line_end(s->text, end) : at;
    g->depth++;
    include_put_made(g, s, at, STR("\n"));
    if (head == at)
        include_put_mdx(g, &in, include_behind_front(in.text));
    else
        include_put_lines(g, &in, behind_imports(in.text), in.text.len, indent);
    include_put_made(g, s, at, STR("\n\n"));
    g->depth--;
    return include_line_end(s->text, end);
}

// The backticks or tildes at the head of a line that begins or ends a fence; empty for none.
static str fence_of(str line)
{
    str s = str_trim(line);
    size_t n = 0;
    while (n < s.len && (s.ptr[0] == '`' || s.ptr[0] == '~') && s.ptr[n] == s.ptr[0])
        n++;
    return n < 3 ? STR_NONE : str_slice(s, 0, n);
}

bool include_is_code(str line, str *open)
{
    str mark = fence_of(line);
    bool inside = open->len > 0;
    if (!inside)
        *open = mark;
    else if (mark.len && str_starts(mark, *open))
        *open = STR_NONE;
    return inside || mark.len;
}

// The body of a page of MDX, whose code is left as it is.
void include_put_mdx(struct including *g, const struct include_source *s, size_t at)
{
    str open = STR_NONE;
    while (at < s->text.len) {
        bool code = include_is_code(include_line_at(s->text, at), &open);
        size_t next = code ? at : put_listing(g, s, at);
        if (next == at && !code)
            next = put_part(g, s, at);
        if (next == at) {
            next = include_line_end(s->text, at);
            include_put(g, s, at, next);
        }
        at = next;
    }
}

// Cells of a line that may be a row of a table; 0 for none.
static size_t cells_of(str line)
{
    size_t pipes = 0;
    str s = str_trim(line);
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] == '\\')
            i++;
        else
            pipes += s.ptr[i] == '|';
    bool first = str_starts(s, STR("|")),
         last = s.len > 1 && str_ends(s, STR("|")) && s.ptr[s.len - 2] != '\\';
    return pipes ? pipes + 1 - first - last : 0;
}

// |---|:-:|, |===|, |---+---|
static bool is_separator(str line)
{
    bool drawn = false;
    str s = str_trim(line);
    for (size_t i = 0; i < s.len; i++) {
        drawn = drawn || s.ptr[i] == '-' || s.ptr[i] == '=';
        if (!strchr("|-=:+ \t", s.ptr[i]))
            return false;
    }
    return drawn;
}

static size_t indent_of(str s, size_t at)
{
    size_t n = 0;
    while (at + n < s.len && s.ptr[at + n] == ' ')
        n++;
    return n;
}

struct rows {
    size_t end, columns;
    str separator;  // the first; ""
};

// The rows of a table without a head that begins with the line at s[at]: up to an empty line, each
// with a bar, the first one with a bar in front. Source: kramdown.gettalong.org/syntax#tables.
static bool find_rows(str s, size_t at, struct rows *out)
{
    *out = (struct rows){.end = at};
    size_t count = 0;
    for (; out->end < s.len; out->end = include_line_end(s, out->end), count++) {
        str line = include_line_at(s, out->end), words = str_trim(line);
        bool separator = is_separator(line);
        size_t cells = separator ? 0 : cells_of(line);
        if (!words.len || str_starts(words, STR("{:")))
            break;
        if ((!separator && !cells) || (!count && words.ptr[0] != '|') ||
            (separator && count == 1 && !out->separator.len))
            return false;  // the second line makes a head of the first
        if (separator && !out->separator.len)
            out->separator = words;
        out->columns = cells > out->columns ? cells : out->columns;
    }
    return count && out->columns && out->columns <= MOST_COLUMNS;
}

static void put_head(struct including *g, const struct include_source *s, size_t at,
                     const struct rows *t)
{
    buf b = BUF_INIT;
    str rest = t->separator, cell, indent = str_slice(s->text, at, at + indent_of(s->text, at));
    buf_str(&b, indent);
    if (str_starts(rest, STR("|")))
        rest = str_slice(rest, 1, rest.len);
    for (size_t i = 0; i < t->columns; i++)
        buf_lit(&b, "| ");
    buf_lit(&b, "|\n");
    buf_str(&b, indent);
    for (size_t i = 0; i < t->columns; i++) {
        cell = STR_NONE;
        str_cut(&rest, '|', &cell);
        cell = str_trim(cell);
        buf_printf(&b, "|%s---%s", str_starts(cell, STR(":")) ? ":" : "",
                   cell.len && str_ends(cell, STR(":")) ? ":" : "");
    }
    buf_lit(&b, "|\n");
    include_put_made(g, s, at, buf_view(&b));
    buf_free(&b);
}

// Whether a line begins a listing of Liquid; *end: or ends one.
static bool is_highlight(str line, bool *end)
{
    str s = str_trim(line);
    *end = str_starts(s, STR("{% endhighlight")) || str_starts(s, STR("</pre"));
    return str_starts(s, STR("{% highlight")) || str_starts(s, STR("<pre"));
}

// The word behind the name of a tag, "{% t home.title %}" or "{% tf pages/about.md %}"; *end is
// behind the tag. Source: github.com/kurtsson/jekyll-multiple-languages-plugin.
static str translated(str s, const char *short_name, const char *name, size_t *end)
{
    *end = str_search(s, STR("%}")) + 2;
    if (!str_starts(s, STR("{%")) || *end > s.len)
        return STR_NONE;
    str rest = str_trim(str_slice(s, 2, *end - 2)), tag;
    if (!str_cut(&rest, ' ', &tag) ||
        (!str_eq(tag, str_c(short_name)) && !str_eq(tag, str_c(name))))
        return STR_NONE;
    return str_trim(rest);
}

// A line with words or a file of the source's language in it, which a plugin keeps apart from the
// page. False when there are none.
static bool put_translated(struct including *g, const struct include_source *s, size_t at)
{
    struct include_source in;
    str line = include_line_at(s->text, at);
    size_t end, done = 0;
    str file = include_expand(g, s, translated(str_trim(line), "tf", "translate_file", &end));
    if (file.len && g->depth < DEEPEST_PART && !include_find_file(g, s, file, &in)) {
        g->depth++;
        include_put_kramdown(g, &in, include_behind_front(in.text));
        g->depth--;
        include_put_made(g, s, at, STR("\n"));
        return true;
    }
    for (size_t i = 0; i < line.len && g->tree->texts.count; i++) {
        i += str_search(str_slice(line, i, line.len), STR("{%"));
        str key = translated(str_slice(line, i, line.len), "t", "translate", &end);
        const str *words = map_get(&g->tree->texts, include_expand(g, s, key));
        if (!words || i >= line.len)
            continue;
        include_put(g, s, at + done, at + i);
        include_put_made(g, s, at + i, *words);
        done = i + end, i = done - 1;
    }
    if (done)
        include_put(g, s, at + done, at + line.len);
    return done > 0;
}

// A tag of Liquid whose arguments go over empty lines is put on one: to Markdown its lines would be
// blocks. Where the text goes on behind it; at when there is none.
static size_t put_long_tag(struct including *g, const struct include_source *s, size_t at)
{
    enum { LONGEST = 2000 };
    str line = include_line_at(s->text, at);
    size_t start = at + str_search(line, STR("{% include")), from = start;
    size_t end = start + str_search(str_slice(s->text, start, start + LONGEST), STR("%}")) + 2;
    bool empty = false;
    for (; from < end && end <= s->text.len; from = include_line_end(s->text, from))
        empty = empty || !str_trim(include_line_at(s->text, from)).len;
    if (start == at + line.len || !empty ||
        str_search(str_slice(s->text, start, end), STR("%}")) + 2 != end - start)
        return at;
    buf b = BUF_INIT;
    for (size_t i = start; i < end; i++) {
        bool blank = strchr(" \t\r\n", s->text.ptr[i]) != NULL;
        if (!blank)
            buf_char(&b, s->text.ptr[i]);
        else if (b.len && b.ptr[b.len - 1] != ' ')
            buf_char(&b, ' ');
    }
    include_put(g, s, at, start);
    include_put_made(g, s, start, buf_view(&b));
    buf_free(&b);
    return end;
}

void include_put_kramdown(struct including *g, const struct include_source *s, size_t at)
{
    str open = STR_NONE;
    bool listing = false, blank = true, ends;
    struct rows t;
    while (at < s->text.len) {
        str line = include_line_at(s->text, at), mark = fence_of(line);
        bool begins = is_highlight(line, &ends);
        listing = (listing || begins) && !ends;
        if (!open.len && !listing && blank && indent_of(s->text, at) < 4 &&
            str_starts(str_trim(line), STR("|")) && find_rows(s->text, at, &t)) {
            put_head(g, s, at, &t);
            for (; at < t.end; at = include_line_end(s->text, at))
                if (!is_separator(include_line_at(s->text, at)))
                    include_put(g, s, at, include_line_end(s->text, at));
            include_put_made(g, s, at, STR("\n"));  // a line of attributes would be a row
            blank = true;
            continue;
        }
        if (!open.len)
            open = mark;
        else if (mark.len && str_starts(mark, open))
            open = STR_NONE;
        size_t behind = open.len || listing ? at : put_long_tag(g, s, at);
        if (behind != at) {
            at = behind;
            continue;
        }
        if (!open.len && !listing && put_translated(g, s, at)) {
            at = include_line_end(s->text, at);
            continue;
        }
        blank = !str_trim(line).len || str_eq(str_trim(line), STR("---"));
        include_put(g, s, at, include_line_end(s->text, at));
        at = include_line_end(s->text, at);
    }
}
