// Code blocks of a site's page: coloured code, formula blocks, worked examples with the output that
// they must print.
#include "gen/text/cells.h"
#include "gen/base/escape.h"
#include "gen/text/highlight.h"
#include "gen/text/markdown_render.h"
#include "gen/text/math.h"

#include <string.h>

enum { NARROW_COLUMNS = 34 };  // what a phone shows without scrolling

static str info_word(str info)
{
    size_t n = 0;
    while (n < info.len && !md_is_space(info.ptr[n]))
        n++;
    return str_slice(info, 0, n);
}

// "ts{1,3}", "rust,ignore", "sh:no-line-numbers" and "{.python .wide}" of others are ts, rust, sh
// and python: what is behind the name is for their own highlighters.
static str language_of(const struct md *r, str info)
{
    str word = info_word(info);
    if (!r->o->open_html)
        return word;
    if (str_starts(word, STR("{")))
        word = info_word(str_trim(str_slice(info, 1, info.len)));
    if (str_starts(word, STR(".")))
        word = str_slice(word, 1, word.len);
    size_t n = 0;
    while (n < word.len && !strchr("{},:[", word.ptr[n]))
        n++;
    return str_slice(word, 0, n);
}

// What a listing is called: title="main.js" of Docusaurus, Starlight and Material for MkDocs,
// [main.js] of VitePress.
static str title_of(const struct md *r, str info)
{
    size_t at = str_search(info, STR("title=")), open = str_find(info, '['),
           close = str_rfind(info, ']');
    if (!r->o->open_html)
        return STR_NONE;
    if (at + 7 < info.len && strchr("\"'", info.ptr[at + 6])) {
        str rest = str_slice(info, at + 7, info.len);
        return str_slice(rest, 0, str_find(rest, info.ptr[at + 6]));
    }
    bool named = r->o->extensions & MD_CONTAINERS && open < close && close < info.len;
    return named ? str_trim(str_slice(info, open + 1, close)) : STR_NONE;
}

static void put_title(struct md *r, str title)
{
    if (!title.len)
        return;
    md_cr(r);
    buf_lit(r->out, "<p><strong>");
    escape_text(r->out, title);
    buf_lit(r->out, "</strong></p>\n");
}

bool md_is_math_fence(cmark_node *block)
{
    return str_eq(info_word(str_c(cmark_node_get_fence_info(block))), STR("math"));
}

// Code that may be wider than the page must be reachable by the keyboard, to be scrolled.
static bool may_scroll(str code)
{
    str rest = code, line;
    while (str_line(&rest, &line))
        if (line.len > NARROW_COLUMNS)
            return true;
    return false;
}

static void put_pre(struct md *r, str language, str code)
{
    md_cr(r);
    buf_lit(r->out, "<pre");
    if (r->stale)
        buf_lit(r->out, " class=\"stale\"");
    if (may_scroll(code))
        buf_lit(r->out, " tabindex=\"0\"");
    buf_lit(r->out, "><code");
    if (language.len) {
        buf_lit(r->out, " class=\"language-");
        escape_attribute(r->out, language);
        buf_char(r->out, '"');
    }
    buf_char(r->out, '>');
    if (r->scan || !language.len)
        escape_text(r->out, code);
    else
        highlight(language, code, r->out);
    buf_lit(r->out, "</code></pre>\n");
    r->stale = false;
}

size_t md_code_offset(struct md *r, cmark_node *n)
{
    size_t at = md_block_offset(r, n);
    str rest = str_slice(r->text, at, r->text.len);
    size_t line = str_find(rest, '\n');
    int length, column;
    char mark;
    bool fenced = cmark_node_get_fenced(n, &length, &column, &mark);
    return fenced && line < rest.len ? at + line + 1 : at;
}

void md_formula_block(struct md *r, cmark_node *n, str tex, size_t at)
{
    r->result->has_math = true;
    md_block_add(r, n, 'm', tex, false);
    md_cr(r);
    if (r->stale)
        buf_lit(r->out, "<div class=\"math stale\" tabindex=\"0\">");
    else
        buf_lit(r->out, "<div class=\"math\" tabindex=\"0\">");
    if (r->scan)
        escape_text(r->out, tex);
    else
        math_render(r->o->math, str_trim(tex), true, md_at(r, at), r->d, r->out);
    buf_lit(r->out, "</div>\n");
    r->stale = false;
}

cmark_node *md_wanted_of(cmark_node *example)
{
    cmark_node *n = cmark_node_next(example);
    bool is_code = md_is(n, CMARK_NODE_CODE_BLOCK);
    return is_code && cell_output(str_c(cmark_node_get_fence_info(n))) ? n : NULL;
}

// A worked example and its output are one: the output's own node is passed over when the walk comes
// to it.
static void example(struct md *r, cmark_node *n, str code)
{
    const struct md_lua *given = md_cell_of(r, n);
    md_block_add(r, n, 'x', code, false);
    r->result->has_figures = true;
    r->passed_over = md_wanted_of(n);
    if (!given) {
        put_pre(r, STR("lua"), code);
        return;
    }
    md_cr(r);
    buf_str(r->out, given->html);
    md_cr(r);
    r->stale = false;
}

void md_code_block(struct md *r, cmark_node *n)
{
    str info = str_c(cmark_node_get_fence_info(n)), code = md_literal(n);
    str language = language_of(r, info);
    if (r->passed_over == n) {
        if (!r->cell_count)
            put_pre(r, language, code);
        return;
    }
    if (cell_fence(info)) {
        example(r, n, code);
    } else if (md_is_math_fence(n)) {
        md_formula_block(r, n, md_formula_tex(r, n, code), md_code_offset(r, n));
    } else {
        r->result->has_code = true;
        md_block_add(r, n, 'c', code, false);
        put_title(r, title_of(r, info));
        put_pre(r, language, code);
    }
}
