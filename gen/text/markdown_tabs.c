// Ids of tabs, === "Title", to which links lead: by number, or out of their titles. Source:
// pymdownx.tabbed 10, tabbed.py, TabbedProcessor.run and TabbedTreeprocessor.run.
#include "gen/base/escape.h"
#include "gen/text/markdown_admonition.h"
#include "gen/text/slugs.h"

void md_tab_number(struct md *r, cmark_node *tab, struct md_admonition *m)
{
    cmark_node *before = cmark_node_previous(tab);
    const struct md_admonition *other =
        before && cmark_node_get_type(before) == CMARK_NODE_CUSTOM_BLOCK
            ? cmark_node_get_user_data(before)
            : NULL;
    bool title = (const char *)other == md_title_mark || (const char *)other == md_tag_mark;
    bool first = !other || title || other->mark != '=' || !other->tab;
    m->set = first ? ++r->tab_sets : other->set;
    m->tab = first ? 1 : other->tab + 1;
}

// Ids of headings go before those of tabs.
static void note_headings(struct md *r, cmark_node *n)
{
    while (cmark_node_parent(n))
        n = cmark_node_parent(n);
    for (cmark_node *x = n; x; x = md_next_node(x, n)) {
        if (!md_is(x, CMARK_NODE_HEADING))
            continue;
        buf b = BUF_INIT;
        md_heading_slug(r, &b, x);
        map_put(&r->tab_taken, r->a, buf_view(&b), NULL);
        buf_free(&b);
    }
    r->tabs_looked = true;
}

static str by_title(struct md *r, cmark_node *tab, const struct md_admonition *m)
{
    buf b = BUF_INIT;
    if (r->o->tabs == MD_TABS_BELOW && r->heading_id.len)
        buf_str(&b, r->heading_id), buf_char(&b, '-');
    slug_text(r->o->tab_slugs, str_c(m->title), &b);
    str id = arena_str(r->a, buf_view(&b));
    buf_free(&b);
    if (!r->tabs_looked)
        note_headings(r, tab);
    bool taken = !id.len || map_has(&r->ids, id) || map_has(&r->tab_taken, id);
    return taken ? STR_NONE : id;
}

str md_tab_id(struct md *r, cmark_node *tab, const struct md_admonition *m)
{
    if (m->mark != '=' || !m->tab || !m->title)
        return STR_NONE;
    str id = r->o->tabs == MD_TABS_NUMBERED ? arena_printf(r->a, "__tabbed_%zu_%zu", m->set, m->tab)
                                            : by_title(r, tab, m);
    if (!id.len || map_has(&r->ids, id))
        return STR_NONE;
    map_put(&r->ids, r->a, id, NULL);
    md_anchor_add(r, id);
    return id;
}
