// The lists of `page` that templates walk through, as Lua tables: translations, crumbs, headings,
// figures and the like.
#include "gen/base/escape.h"
#include "gen/site/template/view_lib.h"

void view_push_translations(struct view *v, const struct view_field *f)
{
    lua_State *L = v->L;
    (void)f;
    lua_createtable(L, (int)v->page->translation_count, 0);
    for (size_t i = 0; i < v->page->translation_count; i++) {
        const struct view_translation *t = &v->page->translations[i];
        lua_createtable(L, 1, 4);
        lua_pushinteger(L, (lua_Integer)i);
        lua_rawseti(L, -2, 1);  // for view_translation_index
        view_set_str(L, "tag", t->tag);
        view_set_str(L, "name", t->name);
        view_set_url(v, "url", t->url);
        lua_pushboolean(L, t->exists);
        lua_setfield(L, -2, "exists");
        luaL_setmetatable(L, VIEW_TRANSLATION_META);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

void view_push_alternates(struct view *v, const struct view_field *f)
{
    lua_State *L = v->L;
    (void)f;
    lua_createtable(L, (int)v->page->alternate_count, 0);
    for (size_t i = 0; i < v->page->alternate_count; i++) {
        lua_createtable(L, 0, 2);
        view_set_str(L, "hreflang", v->page->alternates[i].hreflang);
        view_set_str(L, "url", v->page->alternates[i].address);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

void view_push_crumbs(struct view *v, const struct view_field *f)
{
    lua_State *L = v->L;
    (void)f;
    lua_createtable(L, (int)v->page->crumb_count, 0);
    for (size_t i = 0; i < v->page->crumb_count; i++) {
        lua_createtable(L, 0, 2);
        view_set_str(L, "title", v->page->crumbs[i].title);
        view_set_url(v, "url", v->page->crumbs[i].url);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

void view_push_contents(struct view *v, const struct view_field *f)
{
    lua_State *L = v->L;
    (void)f;
    lua_createtable(L, (int)v->page->contents_count, 0);
    for (size_t i = 0; i < v->page->contents_count; i++) {
        const struct view_contents *c = &v->page->contents[i];
        lua_createtable(L, 0, 6);
        view_set_str(L, "title", c->title);
        if (c->url.len)
            view_set_url(v, "url", c->url);
        else
            view_set_str(L, "url", c->address);
        lua_pushinteger(L, c->depth);
        lua_setfield(L, -2, "depth");
        lua_pushboolean(L, c->current);
        lua_setfield(L, -2, "current");
        lua_pushboolean(L, c->above);
        lua_setfield(L, -2, "above");
        lua_pushboolean(L, c->more);
        lua_setfield(L, -2, "more");
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

static void put_contents_item(struct view *v, const struct view_contents *c, buf *out)
{
    char depth = (char)('0' + (c->depth < 3 ? c->depth : 3));
    buf_lit(out, "<li class=\"d");
    buf_char(out, depth);
    buf_str(out, c->above ? STR(" above\">") : STR("\">"));
    if (!c->url.len && !c->address.len) {
        buf_lit(out, "<span>");
        escape_text(out, c->title);
        buf_lit(out, "</span></li>\n");
        return;
    }
    buf_lit(out, "<a href=\"");
    escape_url(out, c->url.len ? view_url(v, c->url) : c->address);
    if (c->more) {
        buf_lit(out, "\" aria-label=\"");
        escape_attribute(out, c->title);
        buf_lit(out, " …");
    }
    buf_str(out, c->current && !c->more ? STR("\" aria-current=\"page\">") : STR("\">"));
    if (c->more)
        buf_lit(out, "…");
    else
        escape_text(out, c->title);
    buf_lit(out, "</a></li>\n");
}

enum { USUAL_ITEM = 128 };  // bytes, so that a list seldom grows more than once

// "" is plain, so that a template can compare with it.
static void push_items(struct view *v, str html)
{
    if (html.len)
        view_push_html_copy(v->L, html);
    else
        lua_pushliteral(v->L, "");
}

// The items of the list that page.contents has. Sixty of them made in Lua were a fifth of a full
// build of 1,630 pages.
void view_push_contents_html(struct view *v, const struct view_field *f)
{
    buf html = BUF_INIT;
    (void)f;
    buf_reserve(&html, v->page->contents_count * USUAL_ITEM);
    for (size_t i = 0; i < v->page->contents_count; i++)
        put_contents_item(v, &v->page->contents[i], &html);
    push_items(v, buf_view(&html));
    buf_free(&html);
}

void view_push_children(struct view *v, const struct view_field *f)
{
    lua_State *L = v->L;
    (void)f;
    lua_createtable(L, (int)v->page->child_count, 0);
    for (size_t i = 0; i < v->page->child_count; i++) {
        const struct view_child *c = &v->page->children[i];
        lua_createtable(L, 0, 5);
        view_set_str(L, "title", c->title);
        view_set_str(L, "description", c->description);
        view_set_str(L, "lang", c->lang);
        view_set_url(v, "url", c->url);
        view_push_date(v, c->updated);
        lua_setfield(L, -2, "updated");
        view_push_date(v, c->published);
        lua_setfield(L, -2, "published");
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

void view_push_toc(struct view *v, const struct view_field *f)
{
    lua_State *L = v->L;
    (void)f;
    lua_createtable(L, (int)v->page->toc_count, 0);
    for (size_t i = 0; i < v->page->toc_count; i++) {
        const struct md_heading *h = &v->page->toc[i];
        lua_createtable(L, 0, 4);
        lua_pushinteger(L, h->level);
        lua_setfield(L, -2, "level");
        view_set_str(L, "id", h->id);
        view_set_str(L, "text", h->text);
        view_push_html(L, h->html);
        lua_setfield(L, -2, "html");
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

// The items of a page's own contents, which a short page does without.
void view_push_toc_html(struct view *v, const struct view_field *f)
{
    enum { FEW = 2, DEEPEST = 3 };
    buf html = BUF_INIT;
    (void)f;
    buf_reserve(&html, v->page->toc_count * USUAL_ITEM);
    for (size_t i = 0; i < v->page->toc_count && v->page->toc_count > FEW; i++) {
        const struct md_heading *h = &v->page->toc[i];
        if (h->level > DEEPEST)
            continue;
        buf_lit(&html, "<li class=\"l");
        buf_u64(&html, (uint64_t)h->level);
        buf_lit(&html, "\"><a href=\"#");
        view_put_url_part(&html, h->id);
        buf_lit(&html, "\">");
        buf_str(&html, h->html);
        buf_lit(&html, "</a></li>\n");
    }
    push_items(v, buf_view(&html));
    buf_free(&html);
}

// The words for a key of the front matter are "provenance.KEY" of the catalog, else the key itself.
void view_push_provenance(struct view *v, const struct view_field *f)
{
    lua_State *L = v->L;
    (void)f;
    lua_createtable(L, (int)v->page->provenance_count, 0);
    for (size_t i = 0; i < v->page->provenance_count; i++) {
        const struct view_pair *p = &v->page->provenance[i];
        lua_createtable(L, 0, 3);
        view_set_str(L, "key", p->key);
        view_set_str(L, "value", p->value);
        buf key = BUF_INIT;
        buf_lit(&key, "provenance.");
        buf_str(&key, p->key);
        buf_clear(&v->scratch);
        bool known =
            catalog_format(v->page->language->catalog, buf_view(&key), NULL, 0, &v->scratch, NULL);
        buf_free(&key);
        view_set_str(L, "label", known ? buf_view(&v->scratch) : p->key);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

void view_push_figures(struct view *v, const struct view_field *f)
{
    lua_State *L = v->L;
    (void)f;
    lua_createtable(L, (int)v->page->figure_count, 0);
    for (size_t i = 0; i < v->page->figure_count; i++) {
        const struct view_figure *g = &v->page->figures[i];
        lua_createtable(L, 0, 5);
        view_set_str(L, "name", g->name);
        view_set_str(L, "text", g->text);
        view_set_str(L, "kind", g->kind);
        view_set_str(L, "anchor", g->anchor);
        view_set_str(L, "cite", g->cite);
        view_push_html(L, g->source_html);
        lua_setfield(L, -2, "source_html");
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}
