// A heading as plain words: what is left of a line of Markdown without its marks, for titles.
#include <string.h>

#include "gen/text/attributes.h"
#include "gen/text/html_names.h"
#include "gen/text/html_scan.h"
#include "gen/text/markdown_render.h"

enum { FARTHEST = 2048 };  // bytes of a line in which what belongs together is looked for

// The words of a heading on their way: of a tag alone what it is is not to be seen, but of the line
// that it stands in.
struct words {
    struct md *r;
    str line;  // as written
    buf out;
};

static void add_char(buf *out, char c)
{
    if (c != ' ' || (out->len && out->ptr[out->len - 1] != ' '))
        buf_char(out, c);
}

static void add(buf *out, str s)
{
    for (size_t i = 0; i < s.len; i++)
        add_char(out, md_is_space(s.ptr[i]) ? ' ' : s.ptr[i]);
}

static bool take_alt(void *ctx, const struct html_token *t)
{
    for (size_t i = 0; i < t->attribute_count && str_eq_nocase(t->name, STR("img")); i++)
        if (str_eq_nocase(t->attributes[i].name, STR("alt")))
            html_unescape(t->attributes[i].value, ctx);
    return false;
}

// The length of the tag that s begins with, of HTML or of a component, with attributes or one that
// the line closes; 0 for a type such as Vec<T>.
static size_t tag_at(str s, str line)
{
    size_t end = str_find(s, '>'), from = 1, to = from;
    if (s.len > 1 && strchr("/!?", s.ptr[1]))
        return end < s.len ? end + 1 : 0;
    while (to < s.len && !strchr(" \t/>", s.ptr[to]))
        to++;
    str name = str_slice(s, from, to), rest = line;
    bool tag = html_flags(name) & HTML_VOID || s.ptr[end - 1] == '/' || str_find(s, '=') < end;
    while (!tag && rest.len) {
        rest = str_slice(rest, str_search(rest, STR("</")) + 2, rest.len);
        tag = str_starts(rest, name);
    }
    return tag && end < s.len && ascii_is_letter(s.ptr[from]) ? end + 1 : 0;
}

static void add_html(struct words *w, str html)
{
    if (!tag_at(html, w->line)) {
        add(&w->out, html);
        return;
    }
    buf alt = BUF_INIT;
    html_scan(html, take_alt, &alt);
    if (str_starts(html, STR("<br")))
        buf_char(&alt, ' ');
    add(&w->out, buf_view(&alt));
    buf_free(&alt);
}

// Text may hold components whose attributes are no HTML: <Since version={1} />.
static void add_text(struct words *w, str s)
{
    while (s.len) {
        size_t n = str_find(s, '<'), tag = 0;
        add(&w->out, str_slice(s, 0, n));
        s = str_slice(s, n, s.len);
        str here = str_slice(s, 0, FARTHEST);
        if (s.len && str_search(here, STR("={")) < str_find(here, '>'))
            tag = tag_at(here, w->line);
        if (s.len && !tag)
            buf_char(&w->out, s.ptr[0]), tag = 1;
        s = str_slice(s, tag, s.len);
    }
}

static bool is_badge(struct md *r, cmark_node *n)
{
    return md_kind(r, n) == K_IMAGE && md_kind(r, cmark_node_parent(n)) == K_LINK;
}

static void add_node(struct words *w, cmark_node *n)
{
    switch (md_kind(w->r, n)) {
    case K_TEXT: add_text(w, md_literal(n)); break;
    case K_CODE: add(&w->out, md_literal(n)); break;
    case K_HTML_INLINE: add_html(w, md_literal(n)); break;
    case K_LINEBREAK:
    case K_SOFTBREAK: add_char(&w->out, ' '); break;
    default: break;
    }
}

str md_heading_words(struct md *r, cmark_node *heading, str line)
{
    struct words w = {.r = r, .line = str_slice(line, 0, FARTHEST), .out = BUF_INIT};
    for (int badges = 0; badges < 2 && !str_trim(buf_view(&w.out)).len; badges++)
        for (cmark_node *n = md_next_node(heading, heading), *next; n; n = next) {
            bool passed = !badges && is_badge(r, n);
            next = passed ? md_behind_node(n, heading) : md_next_node(n, heading);
            if (!passed)
                add_node(&w, n);
        }
    str words = arena_str(r->a, str_trim(buf_view(&w.out)));
    buf_free(&w.out);
    return words;
}

// Whether nothing in a line can be a mark.
static bool is_plain(str line)
{
    for (size_t i = 0; i < line.len; i++)
        if (strchr("*_`~[<&\\\t", line.ptr[i]) || (line.ptr[i] == ' ' && line.ptr[i + 1] == ' '))
            return false;
    return !str_ends(line, STR("#"));
}

// The lines of text that may say where a link by name leads.
static void add_definitions(buf *out, str text)
{
    str line;
    while (str_line(&text, &line))
        if (str_starts(str_trim(line), STR("[")) && str_has(line, STR("]:"))) {
            buf_char(out, '\n');
            buf_str(out, line);
            buf_char(out, '\n');
        }
}

str md_words(str line, str text, arena *a)
{
    str id, classes;
    line = str_trim(line);
    line = str_trim(str_slice(line, 0, md_attributes_at_end(line, &id, &classes)));
    if (is_plain(line))
        return arena_str(a, line);
    buf source = BUF_INIT, out = BUF_INIT;
    buf_lit(&source, "# ");
    buf_str(&source, line);
    buf_char(&source, '\n');
    if (str_find(line, '[') < line.len)
        add_definitions(&source, text);
    struct diag *d = diag_new((struct diag_options){.quiet = true});
    struct md_options o = {.extensions = MD_STRIKETHROUGH | MD_FOOTNOTES};
    struct md *r = md_open(buf_view(&source), 0, STR_NONE, &o, a, d, &out);
    str words = md_heading_words(r, cmark_node_first_child(r->root), line);
    md_close(r);
    diag_free(d);
    buf_free(&out), buf_free(&source);
    return words;
}
