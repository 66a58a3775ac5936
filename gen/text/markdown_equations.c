// References to formulas: \ref{x} and \eqref{x} become the tag of the row that has \label{x}. Where
// one names a row without a tag, the rows of the page are numbered, as MathJax does then.
// Source: docs.mathjax.org/en/latest/input/tex/eqnumbers.html ("tags: 'ams'").
#include <string.h>

#include "gen/text/markdown_render.h"

enum { MAX_TAG = 80 };  // bytes of a tag that references repeat

// Environments whose rows are numbered; the last two have one number.
static const str environments[] = {STR("align}"),    STR("gather}"),   STR("alignat}"),
                                   STR("eqnarray}"), STR("multline}"), STR("equation}")};
enum { NUMBERED = sizeof environments / sizeof *environments, OF_ROWS = NUMBERED - 2 };

struct equations {
    struct map tags;      // label -> str *
    struct map untagged;  // labels of rows that could have a number
    arena *a;
    buf *out;       // gets the TeX with numbers; NULL while there are none
    size_t number;  // of the last row
};

// The words in the braces at s[at]; STR_NONE without, or where they hold braces themselves.
static str group_at(str s, size_t at)
{
    str rest = str_slice(s, at, s.len);
    size_t end = str_find(rest, '}');
    str inside = str_slice(rest, 1, end);
    bool whole = rest.len && rest.ptr[0] == '{' && end < rest.len;
    return whole && str_find(inside, '{') == inside.len ? inside : STR_NONE;
}

// The group behind the next command of that name in s; STR_NONE without.
static str group_of(str s, str command)
{
    size_t at = str_search(s, command);
    return at < s.len ? group_at(s, at + command.len) : STR_NONE;
}

static void note_label(struct equations *q, str label, str tag)
{
    bool is_new;
    if (!label.len || !tag.len || tag.len > MAX_TAG)
        return;
    void **slot = map_put(&q->tags, q->a, label, &is_new);
    str *words = arena_new(q->a, str, 1);
    *words = arena_str(q->a, tag);
    if (is_new)
        *slot = words;
}

static bool holds(str s, str word)
{
    return str_has(s, word);
}

// A row; counted: of a numbered environment.
static void end_row(struct equations *q, str row, bool counted)
{
    bool written = holds(row, STR("\\tag")), silent = holds(row, STR("\\n"));
    silent = silent && (holds(row, STR("\\notag")) || holds(row, STR("\\nonumber")));
    str words = str_trim(str_slice(row, str_starts(row, STR("\\\\")) ? 2 : 0, row.len));
    str label = group_of(row, STR("\\label"));
    if (written)
        note_label(q, label, group_of(row, STR("\\tag")));
    else if (label.len && counted)
        map_put(&q->untagged, q->a, label, NULL);
    if (q->out)
        buf_str(q->out, row);
    if (!q->out || !counted || written || silent || !words.len)
        return;
    str number = arena_printf(q->a, "%zu", ++q->number);
    note_label(q, label, number);
    buf_printf(q->out, "\\tag{%.*s}", STR_ARG(number));
}

// Which numbered environment the command at the head of rest begins; NUMBERED for none.
static size_t begun(str rest)
{
    size_t i = 0;
    str name = str_slice(rest, 7, rest.len);
    while (i < NUMBERED &&
           !(str_starts(rest, STR("\\begin{")) && str_starts(name, environments[i])))
        i++;
    return i;
}

// Rows end with two backslashes and with their environment; what is in another one inside of it is
// a part of a row.
static void read_rows(struct equations *q, str tex)
{
    size_t from = 0, open = NUMBERED, depth = 0;
    for (size_t i = 0; i + 1 < tex.len; i++) {
        str rest = str_slice(tex, i, tex.len);
        if (tex.ptr[i] != '\\')
            continue;
        bool begins = str_starts(rest, STR("\\begin{")), ends = str_starts(rest, STR("\\end{"));
        size_t next = open == NUMBERED ? begun(rest) : NUMBERED;
        bool closes = ends && open < NUMBERED && !depth,
             row = tex.ptr[i + 1] == '\\' && !depth && (open == NUMBERED || open < OF_ROWS);
        if (next < NUMBERED || closes || row) {
            end_row(q, str_slice(tex, from, i), open < NUMBERED);
            from = i;
        }
        if (next < NUMBERED || closes)
            open = next;
        else if (open < NUMBERED)
            depth = begins ? depth + 1 : ends && depth ? depth - 1 : depth;
        i++;
    }
    end_row(q, str_slice(tex, from, tex.len), false);
}

// The label that the command at tex[at] refers to, and the length of the command's name; STR_NONE
// for no such command.
static str reference_at(str tex, size_t at, size_t *word)
{
    str rest = str_slice(tex, at, tex.len);
    *word = str_starts(rest, STR("\\eqref{")) ? 6 : str_starts(rest, STR("\\ref{")) ? 4 : 0;
    return *word ? group_at(rest, *word) : STR_NONE;
}

static void put_references(const struct equations *q, str tex, buf *out)
{
    size_t word;
    for (size_t i = 0; i < tex.len;) {
        str label = reference_at(tex, i, &word);
        const str *tag = label.len ? map_get(&q->tags, label) : NULL;
        if (!tag) {
            buf_char(out, tex.ptr[i++]);
            continue;
        }
        bool text = !strpbrk(tag->ptr, "\\$_^"), brackets = word == 6;
        buf_printf(out, "%s{%s%.*s%s}", text ? "\\text" : "", brackets ? "(" : "", STR_ARG(*tag),
                   brackets ? ")" : "");
        i += word + label.len + 2;
    }
}

static bool refers(str tex)
{
    return holds(tex, STR("ref{"));
}

// Whether a reference of a formula names a row that has no tag.
static bool wants_number(const struct equations *q, str tex)
{
    size_t word;
    for (size_t i = 0; i < tex.len; i++) {
        str label = tex.ptr[i] == '\\' ? reference_at(tex, i, &word) : STR_NONE;
        if (label.len && !map_has(&q->tags, label) && map_has(&q->untagged, label))
            return true;
    }
    return false;
}

static bool is_formula(cmark_node *n)
{
    return md_formula_of(n) || (md_is(n, CMARK_NODE_CODE_BLOCK) && md_is_math_fence(n)) ||
           (md_is(n, CMARK_NODE_CODE) && md_is_formula_span(n));
}

static cmark_node *next_formula(cmark_node *n, cmark_node *root)
{
    while (n && !is_formula(n))
        n = md_next_node(n, root);
    return n;
}

static void set_tex(struct equations *q, cmark_node *n, buf *tex)
{
    cmark_node_set_literal(n, arena_c(q->a, buf_view(tex)));
    buf_clear(tex);
}

void md_equations_prepare(struct md *r, cmark_node *root)
{
    struct equations q = {.a = r->a};
    bool numbers = false;
    if (!refers(r->text))
        return;
    cmark_node *first = next_formula(root, root);
    for (cmark_node *n = first; n; n = next_formula(md_next_node(n, root), root))
        read_rows(&q, md_literal(n));
    for (cmark_node *n = first; n && !numbers; n = next_formula(md_next_node(n, root), root))
        numbers = wants_number(&q, md_literal(n));
    buf out = BUF_INIT;
    q.out = &out;
    for (cmark_node *n = first; n && numbers; n = next_formula(md_next_node(n, root), root)) {
        read_rows(&q, md_literal(n));
        set_tex(&q, n, &out);
    }
    for (cmark_node *n = first; n && q.tags.count; n = next_formula(md_next_node(n, root), root))
        if (refers(md_literal(n))) {
            put_references(&q, md_literal(n), &out);
            set_tex(&q, n, &out);
        }
    buf_free(&out);
}
