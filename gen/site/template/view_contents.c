// The tree of contents at the side of a page, as a list and as HTML.
#include <string.h>

#include "gen/base/escape.h"
#include "gen/site/documents/contents.h"
#include "gen/site/template/view_lib.h"

struct listing {
    struct view *v;
    lua_Integer count;
};

// One table for each entry, in the table on top of the stack.
static bool push_entry(void *ctx, const struct contents_place *place)
{
    struct listing *list = ctx;
    struct view *v = list->v;
    lua_State *L = v->L;
    struct contents_entry e;
    if (!contents_entry(v->site, v->page->language, place->item, &v->walk_arena, &e))
        return false;
    lua_createtable(L, 0, 6);
    view_set_str(L, "title", e.title);
    if (e.url.len)
        view_set_url(v, "url", e.url);
    else
        view_set_str(L, "url", e.address);
    lua_pushinteger(L, place->depth);
    lua_setfield(L, -2, "depth");
    lua_pushboolean(L, place->current);
    lua_setfield(L, -2, "current");
    lua_pushboolean(L, place->above);
    lua_setfield(L, -2, "above");
    lua_pushboolean(L, place->more);
    lua_setfield(L, -2, "more");
    lua_rawseti(L, -2, ++list->count);
    return true;
}

void view_push_contents(struct view *v, const struct view_field *f)
{
    struct listing list = {.v = v};
    (void)f;
    arena_reset(&v->walk_arena);
    lua_newtable(v->L);
    contents_walk(v->site, v->page->document, push_entry, &list);
}

static void put_link(struct view *v, const struct contents_place *place,
                     const struct contents_entry *e, buf *out)
{
    buf_lit(out, "<a href=\"");
    escape_url(out, e->url.len ? view_url(v, e->url) : e->address);
    if (place->more) {
        buf_lit(out, "\" aria-label=\"");
        escape_attribute(out, e->title);
        buf_lit(out, " …");
    }
    buf_str(out, place->current ? STR("\" aria-current=\"page\">") : STR("\">"));
    if (place->more)
        buf_lit(out, "…");
    else
        escape_text(out, e->title);
    buf_lit(out, "</a></li>\n");
}

static void put_entry(struct view *v, const struct contents_place *place, buf *out)
{
    struct contents_entry e;
    if (!contents_entry(v->site, v->page->language, place->item, &v->walk_arena, &e))
        return;
    buf_lit(out, "<li class=\"d");
    buf_char(out, (char)('0' + (place->depth < 3 ? place->depth : 3)));
    buf_str(out, place->above ? STR(" above\">") : STR("\">"));
    if (e.url.len || e.address.len) {
        put_link(v, place, &e, out);
        return;
    }
    buf_lit(out, "<span>");
    escape_text(out, e.title);
    buf_lit(out, "</span></li>\n");
}

// Neighbours in a folder show mostly the same entries: what is written of an entry on the pages of
// a language's folder is kept until the language comes to another folder.
enum { SLOTS = 256, ITEMS_MAX = 1 << 16 };  // entries; bytes

struct view_kept_contents {
    uint64_t stay;
    buf html;
    struct {
        uint32_t item;  // and 1
        uint32_t from, len;
    } slots[SLOTS];
};

static struct view_kept_contents *kept_of(struct view *v)
{
    size_t languages = v->site->language_count, index = v->page->language->index;
    if (!v->kept_contents)
        v->kept_contents = arena_new(&v->arena, struct view_kept_contents *, languages);
    struct view_kept_contents **slot = &v->kept_contents[index], *k = *slot;
    if (!k) {
        k = *slot = arena_new(&v->arena, struct view_kept_contents, 1);
        k->html = BUF_INIT;
    }
    if (k->stay != v->stay || k->html.len > ITEMS_MAX) {
        memset(k->slots, 0, sizeof k->slots);
        buf_clear(&k->html);
        k->stay = v->stay;
    }
    return k;
}

void view_contents_free(struct view *v)
{
    for (size_t i = 0; v->kept_contents && i < v->site->language_count; i++)
        if (v->kept_contents[i])
            buf_free(&v->kept_contents[i]->html);
}

struct writing {
    struct view *v;
    struct view_kept_contents *kept;  // NULL on a page that may be shown anywhere
};

static bool put_item(void *ctx, const struct contents_place *place)
{
    const struct writing *w = ctx;
    struct view_kept_contents *k = w->kept;
    buf *out = &w->v->html;
    size_t before = out->len, slot = place->item % SLOTS;
    if (!k || place->current || place->above || place->more) {
        put_entry(w->v, place, out);
        return out->len > before;
    }
    if (k->slots[slot].item != place->item + 1) {
        size_t from = k->html.len;
        put_entry(w->v, place, &k->html);
        k->slots[slot].item = place->item + 1;
        k->slots[slot].from = (uint32_t)from;
        k->slots[slot].len = (uint32_t)(k->html.len - from);
    }
    buf_put(out, k->html.ptr + k->slots[slot].from, k->slots[slot].len);
    return k->slots[slot].len > 0;
}

// The items of the list that page.contents has. Sixty of them made in Lua were a fifth of a full
// build of 1,630 pages.
struct view_value view_contents_html(struct view *v, const struct view_field *f)
{
    if (view_is_made(v, f))
        return view_made(v);
    struct writing w = {.v = v, .kept = v->stay ? kept_of(v) : NULL};
    arena_reset(&v->walk_arena);
    contents_walk(v->site, v->page->document, put_item, &w);
    return view_made(v);
}
