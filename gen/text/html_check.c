// Well-formedness of a page: every element closed in order, no attribute twice, every & a character
// reference.
#include <string.h>

#include "gen/text/html_names.h"
#include "gen/text/html_scan.h"

enum { MAX_DEPTH = 512, MAX_REPORTS = 20 };

struct open_element {
    str name;
    size_t offset;
};

struct check {
    str html, file;
    struct diag *d;
    size_t reports;
    size_t depth;
    unsigned foreign;     // open svg and math elements: there every element may close itself
    unsigned paragraphs;  // open p elements
    unsigned links;       // open a elements
    bool raw;             // within script or style
    struct open_element open[MAX_DEPTH];
};

static void report(struct check *c, size_t offset, const char *what, str name)
{
    if (c->reports++ < MAX_REPORTS)
        diag_add(c->d, D_HTML_MALFORMED, DIAG_AT(c->file, c->html, offset), "%s%.*s%s", what,
                 STR_ARG(name), name.len ? ">" : "");
}

static void check_references(struct check *c, str s, size_t offset)
{
    for (size_t i = 0; i < s.len; i++) {
        const char *p = memchr(s.ptr + i, '&', s.len - i);
        uint32_t code_point;
        if (!p)
            return;
        i = (size_t)(p - s.ptr);
        if (!html_entity(str_slice(s, i, s.len), &code_point))
            report(c, offset + i, "& that begins no character reference", STR_NONE);
    }
}

static bool is_odd_name(str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] == '"' || name.ptr[i] == '\'' || name.ptr[i] == '<')
            return true;
    return false;
}

static void check_attributes(struct check *c, const struct html_token *t)
{
    for (size_t i = 0; i < t->attribute_count; i++) {
        const struct html_attribute *a = &t->attributes[i];
        for (size_t k = 0; k < i; k++)
            if (a->name.len == t->attributes[k].name.len &&
                str_eq_nocase(a->name, t->attributes[k].name))
                report(c, a->offset, "attribute given twice in <", t->name);
        if (is_odd_name(a->name))
            report(c, a->offset, "attribute with a quote or < in its name in <", t->name);
        if (a->value.len)
            check_references(c, a->value, (size_t)(a->value.ptr - c->html.ptr));
    }
}

static bool is_foreign(str name)
{
    return str_eq_nocase(name, STR("svg")) || str_eq_nocase(name, STR("math"));
}

static bool is_letter_tag(str name, char letter)
{
    return name.len == 1 && (name.ptr[0] | 32) == letter;
}

static void count(struct check *c, str name, unsigned step)
{
    c->paragraphs += is_letter_tag(name, 'p') ? step : 0;
    c->links += is_letter_tag(name, 'a') ? step : 0;
    c->foreign += is_foreign(name) ? step : 0;
}

static void push(struct check *c, const struct html_token *t)
{
    if (c->depth == MAX_DEPTH) {
        report(c, t->offset, "nested too deeply: <", t->name);
        return;
    }
    c->open[c->depth++] = (struct open_element){t->name, t->offset};
    count(c, t->name, 1);
}

static void open_element(struct check *c, const struct html_token *t)
{
    unsigned flags = html_flags(t->name);
    check_attributes(c, t);
    if (t->self_closing && !c->foreign && !(flags & HTML_VOID) && !is_foreign(t->name))
        report(c, t->offset, "element that cannot close itself: <", t->name);
    if (c->paragraphs && (flags & HTML_BLOCK) && !c->foreign)
        report(c, t->offset, "within a paragraph: <", t->name);
    if (c->links && is_letter_tag(t->name, 'a') && !c->foreign)
        report(c, t->offset, "within another: <", t->name);
    c->raw = (flags & HTML_RAW) != 0;
    if (!t->self_closing && !(flags & HTML_VOID))
        push(c, t);
}

static void pop(struct check *c)
{
    c->depth--;
    count(c, c->open[c->depth].name, (unsigned)-1);
}

// An end tag ends the last element; when it is another's, those between were left open.
static void close_element(struct check *c, const struct html_token *t)
{
    c->raw = false;
    if (c->depth && str_eq_nocase(c->open[c->depth - 1].name, t->name)) {
        pop(c);
        return;
    }
    size_t i = c->depth;
    while (i && !str_eq_nocase(c->open[i - 1].name, t->name))
        i--;
    if (!i)
        report(c, t->offset, "end tag of nothing that is open: </", t->name);
    for (; i && c->depth >= i; pop(c))
        if (c->depth > i)
            report(c, c->open[c->depth - 1].offset, "not closed: <", c->open[c->depth - 1].name);
}

static void check_text(struct check *c, const struct html_token *t)
{
    if (c->raw)
        return;
    check_references(c, t->text, t->offset);
    size_t n = str_find(t->text, '<');
    if (n < t->text.len)
        report(c, t->offset + n, "< that begins no tag", STR_NONE);
}

static bool visit(void *ctx, const struct html_token *t)
{
    struct check *c = ctx;
    switch (t->event) {
    case HTML_OPEN: open_element(c, t); break;
    case HTML_CLOSE: close_element(c, t); break;
    case HTML_TEXT: check_text(c, t); break;
    case HTML_COMMENT:
    case HTML_DOCTYPE: break;
    }
    return true;
}

bool html_check(str html, str file, struct diag *d)
{
    struct check c;
    memset(&c, 0, offsetof(struct check, open));
    c.html = html;
    c.file = file;
    c.d = d;
    html_scan(html, visit, &c);
    while (c.depth) {
        report(&c, c.open[c.depth - 1].offset, "not closed: <", c.open[c.depth - 1].name);
        pop(&c);
    }
    return c.reports == 0;
}
