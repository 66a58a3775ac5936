// The Markdown copy of a page: the title, then the body as it was written, its links and figures
// put in.
#include "gen/site/page/page_markdown.h"

#include <stdlib.h>
#include <string.h>

#include "gen/text/address.h"
#include "gen/site/documents/nav.h"
#include "gen/text/html_names.h"
#include "gen/text/markdown_wiki.h"

str page_markdown_url(str url, arena *a)
{
    size_t stem = str_ends(url, STR(".html")) ? url.len - 5 : url.len;
    char *out = arena_new(a, char, stem + 4);
    memcpy(out, url.ptr, stem);
    memcpy(out + stem, ".md", 3);
    return (str){out, stem + 3};
}

struct copy {
    struct page_renderer *r;
    const struct page_output *render;
    const struct page *page;
    const struct language *language;
    str url, text;
    struct md_link *links;        // in order of their places; a render meets footnotes last
    size_t next_link, next_cell;  // the first that was not passed
    buf *out;
};

// Where a link leads, as it is in the Markdown copy: pages become Markdown copies, the rest is
// relative to the Markdown copy.
static void put_destination(struct copy *t, str destination)
{
    struct link l = link_resolve(t->r->site, t->page, t->language, destination, t->r->arena, NULL);
    if (l.kind == LINK_PAGE)
        address_relative(t->url, page_markdown_url(l.target, t->r->arena), t->out);
    else if (l.kind == LINK_ASSET || l.kind == LINK_MADE)
        address_relative(t->url, l.target, t->out);
    else {
        buf_str(t->out, destination);
        return;
    }
    buf_str(t->out, l.tail);
}

// HTML of a figure as plain text.
static void put_text(buf *out, str html)
{
    buf text = BUF_INIT;
    for (size_t i = 0; i < html.len; i++) {
        if (html.ptr[i] == '<')
            i += str_find(str_slice(html, i, html.len), '>');
        else
            buf_char(&text, html.ptr[i]);
    }
    html_unescape(buf_view(&text), out);
    buf_free(&text);
}

// `{lua} code` at *at: the value that its render found. False when there is no such cell.
static bool put_cell(struct copy *t, size_t *at)
{
    str rest = str_slice(t->text, *at, t->text.len);
    if (!str_starts(rest, STR("`{lua} ")))
        return false;
    size_t end = str_find(str_slice(rest, 1, rest.len), '`') + 1;
    str code = str_trim(str_slice(rest, 7, end));
    for (size_t k = 0; k < t->render->cell_count && end < rest.len; k++) {
        size_t i = (t->next_cell + k) %
                   t->render->cell_count;  // one code gives one text, wherever it was met
        if (!str_eq(t->render->cells[i].code, code))
            continue;
        str html = t->render->cells[i].html;
        if (page_markdown_is_block(html))
            page_markdown_block(html, t->out);
        else
            put_text(t->out, html);
        t->next_cell = i + 1;
        *at += end + 1;
        return true;
    }
    return false;
}

// A wiki link becomes one that others know, or its words.
static void put_wiki(struct copy *t, str destination, size_t *at)
{
    size_t end = wiki_end(t->text, *at);
    bool shows = *at && t->text.ptr[*at - 1] == '!' && (*at < 2 || t->text.ptr[*at - 2] != '\\');
    struct wiki_link w = wiki_parse(str_slice(t->text, *at - shows, end), t->r->arena);
    struct link l = link_resolve(t->r->site, t->page, t->language, destination, t->r->arena, NULL);
    bool linked =
        l.kind == LINK_PAGE || l.kind == LINK_ASSET || l.kind == LINK_HERE || w.is_picture;
    if (shows && !w.is_picture && t->out->len)
        t->out->len--;  // the "!" of a note, which is shown as a link
    if (linked)
        buf_char(t->out, '[');
    buf_str(t->out, w.words);
    if (linked)
        buf_lit(t->out, "](");
    if (l.kind == LINK_UNWRITTEN && w.is_picture)
        buf_str(t->out, w.target);
    else if (linked && l.kind != LINK_HERE)
        put_destination(t, destination);
    else if (linked)
        buf_str(t->out, l.tail);
    if (linked)
        buf_char(t->out, ')');
    *at = end;
}

// At the place of a link's destination: where it leads from the Markdown copy.
static bool put_link(struct copy *t, size_t *at)
{
    size_t count = t->render->md.link_count;
    while (t->next_link < count && t->links[t->next_link].offset < *at)
        t->next_link++;
    if (t->next_link == count || t->links[t->next_link].offset != *at)
        return false;
    str destination = t->links[t->next_link].destination;
    if (str_starts(destination, STR("[[")) && wiki_end(t->text, *at)) {
        put_wiki(t, destination, at);
        return true;
    }
    if (!destination.len || !str_starts(str_slice(t->text, *at, t->text.len), destination))
        return false;
    put_destination(t, destination);
    *at += destination.len;
    return true;
}

static void put_body(struct copy *t, size_t from)
{
    if (!t->render->md.link_count && !t->render->cell_count) {
        buf_str(t->out, str_slice(t->text, from, t->text.len));
        return;
    }
    for (size_t at = from; at < t->text.len;) {
        if (put_link(t, &at) || (t->text.ptr[at] == '`' && put_cell(t, &at)))
            continue;
        size_t next = t->text.len;
        if (t->next_link < t->render->md.link_count)
            next = t->links[t->next_link].offset;
        if (t->render->cell_count)
            next = at + 1 + str_find(str_slice(t->text, at + 1, next > at ? next : at + 1), '`');
        if (next <= at)
            next = at + 1;
        buf_str(t->out, str_slice(t->text, at, next));
        at = next;
    }
}

static int by_place(const void *pa, const void *pb)
{
    const struct md_link *a = pa, *b = pb;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

static struct md_link *links_by_place(const struct md_result *md, arena *a)
{
    struct md_link *links = arena_new(a, struct md_link, md->link_count);
    if (!md->link_count)
        return links;
    memcpy(links, md->links, md->link_count * sizeof *links);
    qsort(links, md->link_count, sizeof *links, by_place);
    return links;
}

static void put_children(struct copy *t)
{
    const struct document *doc = t->page->document;
    for (uint32_t i = 0; i < doc->child_count; i++) {
        const struct document *child = t->r->site->documents[doc->first_child + i];
        str url = nav_url(t->r->site, child, t->language, t->r->arena);
        if (!url.len)
            continue;
        buf_printf(t->out, "- [%.*s](", STR_ARG(nav_title(t->r->site, child, t->language)));
        address_relative(t->url, page_markdown_url(url, t->r->arena), t->out);
        buf_lit(t->out, ")\n");
    }
}

void page_markdown_write(struct page_renderer *r, const struct page_output *o, const struct page *p,
                         const struct language *l, str url, str text, buf *out)
{
    struct copy t = {r, o, p, l, url, text, links_by_place(&o->md, r->arena), 0, 0, out};
    buf_lit(out, "# ");
    buf_str(out, p->title);
    buf_lit(out, "\n\n");
    size_t from = p->body;
    while (from < text.len && (text.ptr[from] == '\n' || text.ptr[from] == '\r'))
        from++;
    if (!p->made)
        put_body(&t, from);
    if (out->ptr[out->len - 1] != '\n')
        buf_char(out, '\n');
    if (p->made || (p->document->child_count && p->document->key.len == 0)) {
        if (!p->made)
            buf_char(out, '\n');
        put_children(&t);
    }
}
