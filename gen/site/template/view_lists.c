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

// A document's list is the same in every language but for the mark of the one that is shown, which
// goes in behind marks[i].
static void make_switcher(struct view *v)
{
    struct view_switcher *k = &v->switcher;
    size_t count = v->page->translation_count;
    if (count > k->mark_count)
        k->marks = arena_new(&v->arena, size_t, count), k->mark_count = count;
    buf_clear(&k->html);
    for (size_t i = 0; i < count; i++) {
        const struct view_translation *t = &v->page->translations[i];
        buf_clear(&v->scratch);
        view_put_root(v);
        buf_str(&v->scratch, t->url);
        buf_lit(&k->html, "<li><a href=\"");
        escape_url(&k->html, buf_view(&v->scratch));
        buf_lit(&k->html, "\" lang=\"");
        escape_attribute(&k->html, t->tag);
        buf_lit(&k->html, "\" hreflang=\"");
        escape_attribute(&k->html, t->tag);
        buf_char(&k->html, '"');
        k->marks[i] = k->html.len;
        buf_str(&k->html, t->exists ? STR(">") : STR(" class=\"absent\">"));
        escape_text(&k->html, t->name);
        buf_lit(&k->html, "</a></li>\n");
    }
    k->document = v->page->document;
    k->depth = v->variant.depth;
}

struct view_value view_translations_html(struct view *v, const struct view_field *f)
{
    const struct view_switcher *k = &v->switcher;
    if (view_is_made(v, f))
        return view_made(v);
    if (!k->document || k->document != v->page->document || k->depth != v->variant.depth)
        make_switcher(v);
    bool any = v->page->current < v->page->translation_count;
    size_t mark = any ? k->marks[v->page->current] : k->html.len;
    buf_put(&v->html, k->html.ptr, mark);
    if (any)
        buf_lit(&v->html, " aria-current=\"true\"");
    buf_put(&v->html, k->html.ptr + mark, k->html.len - mark);
    return view_made(v);
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

bool view_is_made(struct view *v, const struct view_field *f)
{
    bool made = v->html_field == f;
    v->html_field = f;
    if (!made)
        buf_clear(&v->html);
    return made;
}

struct view_value view_made(const struct view *v)
{
    return (struct view_value){.kind = VALUE_MADE, .text = buf_view(&v->html)};
}

struct view_value view_crumbs_html(struct view *v, const struct view_field *f)
{
    if (view_is_made(v, f))
        return view_made(v);
    for (size_t i = 0; i < v->page->crumb_count; i++) {
        buf_lit(&v->html, "<li><a href=\"");
        escape_url(&v->html, view_url(v, v->page->crumbs[i].url));
        buf_lit(&v->html, "\">");
        escape_text(&v->html, v->page->crumbs[i].title);
        buf_lit(&v->html, "</a></li>\n");
    }
    return view_made(v);
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
struct view_value view_toc_html(struct view *v, const struct view_field *f)
{
    enum { FEW = 2, DEEPEST = 3 };
    buf *html = &v->html;
    if (view_is_made(v, f))
        return view_made(v);
    for (size_t i = 0; i < v->page->toc_count && v->page->toc_count > FEW; i++) {
        const struct md_heading *h = &v->page->toc[i];
        if (h->level > DEEPEST)
            continue;
        buf_lit(html, "<li class=\"l");
        buf_u64(html, (uint64_t)h->level);
        buf_lit(html, "\"><a href=\"#");
        view_put_url_part(html, h->id);
        buf_lit(html, "\">");
        buf_str(html, h->html);
        buf_lit(html, "</a></li>\n");
    }
    return view_made(v);
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
