// The tree of contents: planned once for the site, cut down for each page.
#include "gen/site/documents/contents.h"

#include <string.h>

#include "gen/site/documents/nav.h"
#include "gen/site/source/settings.h"
#include "gen/site/documents/tree_index.h"

enum { NONE = UINT32_MAX, DOZEN = 12, LEAST = 5 };

// A line of the contents. Its children follow it in the list.
struct contents_item {
    struct document *document;  // or a heading, or an address of another site
    str title, address;         // title: "" for the document's own
    uint32_t parent, depth;
    uint32_t first, child_count;  // direct ones, in contents.children
    uint32_t rank;                // among those of its parent
    bool is_own;  // the title is the configuration's: shown in the source language only
};

struct contents {
    struct contents_item *items;
    size_t count, cap;
    uint32_t *children;  // of each item, one behind the other; those of the top first
    uint32_t top_count;
    bool configured;
    struct map words;  // language and title -> what the title is there
    bool shown;        // on pages; of a few documents only the order counts
};

static uint32_t add(struct site *site, uint32_t parent, struct contents_item item)
{
    struct contents *c = site->contents;
    item.parent = parent;
    item.depth = parent == NONE ? 0 : c->items[parent].depth + 1;
    c->items =
        arena_grow(&site->arena, c->items, c->count, &c->cap, c->count + 1, sizeof *c->items);
    uint32_t own = (uint32_t)c->count++;
    c->items[own] = item;
    if (parent != NONE)
        c->items[parent].child_count++;
    if (item.document && !item.document->contents)
        item.document->contents = own + 1;
    return own;
}

static void add_section(struct site *site, const struct document *doc, uint32_t parent, int depth)
{
    for (uint32_t i = 0; i < doc->child_count && depth < 8; i++) {
        struct document *child = site->documents[doc->first_child + i];
        if (child->contents)
            continue;
        uint32_t own = add(site, parent, (struct contents_item){.document = child});
        if (child->child_count)
            add_section(site, child, own, depth + 1);
    }
}

// A folder in the contents, "dir/": its documents in their own order.
static void add_folder(struct site *site, str folder, str title, uint32_t parent)
{
    uint32_t under = title.len
                         ? add(site, parent, (struct contents_item){.title = title, .is_own = true})
                         : parent;
    for (size_t i = 0; i < site->document_count; i++) {
        struct document *doc = site->documents[i];
        if (doc->source && !doc->source->made && str_starts(doc->source->source, folder) &&
            !doc->contents)
            add(site, under, (struct contents_item){.document = doc});
    }
}

static void add_entry(struct site *site, const struct tree_entry *e, uint32_t parent, uint32_t *own)
{
    const struct page *p = e->file.len      ? map_get(&site->page_by_source, e->file)
                           : e->address.len ? tree_page_at(site, e->address)
                                            : NULL;
    *own = NONE;
    if (str_ends(e->file, STR("/")))
        add_folder(site, e->file, e->title, parent);
    else if (p && p->document)
        *own = add(site, parent,
                   (struct contents_item){
                       .document = p->document, .title = e->title, .is_own = e->title.len > 0});
    else if (e->url.len)
        *own = add(site, parent,
                   (struct contents_item){.title = e->title, .address = e->url, .is_own = true});
    else if (e->title.len)
        *own = add(site, parent, (struct contents_item){.title = e->title, .is_own = true});
}

static void add_configured(struct site *site)
{
    enum { DEEP = 16 };
    uint32_t at[DEEP];
    const struct tree *t = site->tree;
    for (size_t i = 0; i < DEEP; i++)
        at[i] = NONE;
    for (size_t i = 0; i < t->nav_count; i++) {
        uint32_t depth = t->nav[i].depth < DEEP ? t->nav[i].depth : DEEP - 1, parent = NONE, own;
        for (uint32_t d = depth; d-- > 0 && parent == NONE;)
            parent = at[d];
        add_entry(site, &t->nav[i], parent, &own);
        for (uint32_t d = depth; d < DEEP; d++)
            at[d] = d == depth ? own : NONE;
    }
}

// Documents that the configuration does not list, by their sections behind it: blogs, say.
static void add_rest(struct site *site, const struct document *home)
{
    for (uint32_t i = 0; i < home->child_count; i++) {
        struct document *child = site->documents[home->first_child + i];
        if (!child->contents && child->is_section && child->source && child->source->made) {
            bool listed = false;
            for (uint32_t k = 0; k < child->child_count; k++)
                listed = listed || site->documents[child->first_child + k]->contents;
            if (listed)
                continue;
            add_section(site, child, add(site, NONE, (struct contents_item){.document = child}), 1);
        }
    }
}

// Lists the children of each item, so that a page reaches its own without looking at all others.
static void list_children(struct site *site)
{
    struct contents *c = site->contents;
    uint32_t at = 0;
    c->children = arena_new(&site->arena, uint32_t, c->count);
    for (size_t i = 0; i < c->count; i++)
        if (c->items[i].parent == NONE)
            c->items[i].rank = at, c->children[at++] = (uint32_t)i;
    c->top_count = at;
    for (size_t i = 0; i < c->count; i++) {
        c->items[i].first = at;
        at += c->items[i].child_count;
        c->items[i].child_count = 0;
    }
    for (size_t i = 0; i < c->count; i++) {
        if (c->items[i].parent == NONE)
            continue;
        struct contents_item *up = &c->items[c->items[i].parent];
        c->items[i].rank = up->child_count;
        c->children[up->first + up->child_count++] = (uint32_t)i;
    }
}

static str word_key(str language, str title, arena *a)
{
    return arena_join(a, language, STR("\n"), title);
}

// Titles in the languages of the site, as the tree's own configuration says them.
static void list_words(struct site *site)
{
    const struct tree *t = site->tree;
    for (size_t i = 0; i < t->word_count; i++) {
        const struct tree_word *w = &t->words[i];
        str tag = language_tag(w->language, &site->arena);
        *map_put(&site->contents->words, &site->arena, word_key(tag, w->title, &site->arena),
                 NULL) = (void *)(uintptr_t)&w->words;
    }
}

static void plan(struct site *site, const struct document *home)
{
    site->contents = arena_new(&site->arena, struct contents, 1);
    add_configured(site);
    site->contents->configured = site->contents->count > 1;
    if (site->contents->configured) {
        if (!site->tree->only_nav)
            add_rest(site, home);
        return;
    }
    *site->contents = (struct contents){0};
    for (size_t i = 0; i < site->document_count; i++)
        site->documents[i]->contents = 0;
    add_section(site, home, NONE, 0);
}

void contents_plan(struct site *site)
{
    const struct document *home = map_get(&site->document_by_key, STR_NONE);
    bool few = site->document_count <= DOZEN + 1;
    if (!home || (few && !site->tree->nav_count))
        return;
    plan(site, home);
    list_children(site);
    list_words(site);
    site->contents->shown = !few;
}

uint64_t contents_hash(const struct site *site)
{
    uint64_t h = 0;
    for (size_t i = 0; site->contents && i < site->contents->count; i++) {
        const struct contents_item *x = &site->contents->items[i];
        uint64_t part[4] = {h, str_hash(x->title), x->parent,
                            x->document ? str_hash(x->document->key) : 0};
        for (size_t l = 0; x->document && l < site->language_count; l++) {
            const struct page *p = x->document->pages[l];
            if (p)
                part[1] = part[1] * 31 + str_hash(p->title) + str_hash(p->label);
        }
        h = str_hash((str){(const char *)part, sizeof part});
    }
    return h;
}

struct showing {
    const struct contents_item *items;
    const uint32_t *children;
    uint32_t current;
    size_t count, group;  // group: entries of one level at most
    contents_show *show;
    void *ctx;
};

static bool is_above(const struct showing *s, uint32_t item)
{
    for (uint32_t up = s->current; up != NONE; up = s->items[up].parent)
        if (up == item)
            return true;
    return false;
}

static str title_of(const struct site *site, const struct language *l,
                    const struct contents_item *x, arena *a)
{
    const struct page *p = x->document ? nav_page(site, x->document, l) : NULL;
    const str *words = x->is_own && site->contents->words.count
                           ? map_get(&site->contents->words, word_key(l->tag, x->title, a))
                           : NULL;
    if (words)
        return *words;
    if (x->is_own && (!p || l == site->source_language))
        return x->title;
    return p ? p->label.len ? p->label : p->title : x->title;
}

bool contents_entry(const struct site *site, const struct language *l, uint32_t item, arena *a,
                    struct contents_entry *out)
{
    const struct contents_item *x = &site->contents->items[item];
    *out = (struct contents_entry){.title = title_of(site, l, x, a), .address = x->address};
    if (x->document && nav_page(site, x->document, l))
        out->url = nav_url(site, x->document, l, a);
    if (x->document && !out->url.len)
        return false;  // the language has no page of it
    return out->title.len > 0;
}

static void put(struct showing *s, uint32_t i, bool more)
{
    struct contents_place place = {.item = i,
                                   .depth = s->items[i].depth + more,
                                   .more = more,
                                   .current = i == s->current && !more,
                                   .above = i != s->current && is_above(s, i)};
    s->count += s->show(s->ctx, &place);
}

// The items below parent, as many as a level may show: those around the one that the page is in.
static void show_level(struct showing *s, const uint32_t *children, size_t total, uint32_t parent)
{
    size_t place = 0;
    for (uint32_t up = s->current; up != NONE; up = s->items[up].parent)
        if (s->items[up].parent == parent)
            place = s->items[up].rank;
    size_t first = place > s->group / 2 ? place - s->group / 2 : 0;
    if (first + s->group > total)
        first = total > s->group ? total - s->group : 0;
    for (size_t i = first; i < total && i < first + s->group && s->count < CONTENTS_SHOWN; i++) {
        const struct contents_item *x = &s->items[children[i]];
        put(s, children[i], false);
        if (x->child_count && is_above(s, children[i]))
            show_level(s, s->children + x->first, x->child_count, children[i]);
    }
    if (total > s->group && parent != NONE && s->count < CONTENTS_SHOWN)
        put(s, parent, true);
}

void contents_walk(const struct site *site, const struct document *doc, contents_show *show,
                   void *ctx)
{
    const struct contents *c = site->contents;
    if (!c || !c->shown || !c->count || !doc)
        return;
    struct showing s = {.items = c->items,
                        .children = c->children,
                        .current = doc->contents ? doc->contents - 1 : NONE,
                        .show = show,
                        .ctx = ctx};
    size_t levels = 1;
    for (uint32_t up = s.current; up != NONE; up = c->items[up].parent)
        levels += c->items[up].child_count > 0 || up != s.current;
    s.group = CONTENTS_SHOWN / levels - 1;
    if (s.group < LEAST)
        s.group = LEAST;
    show_level(&s, c->children, c->top_count, NONE);
}

struct document *contents_near(const struct site *site, const struct document *doc,
                               const struct language *l, int step)
{
    const struct contents *c = site->contents;
    if (!c || !c->configured || !doc->contents)
        return NULL;
    for (int64_t i = (int64_t)doc->contents - 1 + step; i >= 0 && i < (int64_t)c->count;
         i += step) {
        struct document *other = c->items[i].document;
        if (other && other != doc && nav_page(site, other, l))
            return other;
    }
    return NULL;
}
