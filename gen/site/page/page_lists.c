// Lists that a template may read: translations, alternates, crumbs, children, provenance,
// figures, JSON-LD.
#include <string.h>

#include "gen/site/documents/nav.h"
#include "gen/site/page/page.h"
#include "gen/site/source/settings.h"
#include "gen/base/escape.h"

str page_address(const struct site *site, str url, arena *a)
{
    if (!site->settings.base_url.len)
        return STR_NONE;
    if (str_ends(url, STR("/index.html")))
        url.len -= 10;
    else if (str_eq(url, STR("index.html")))
        url.len = 0;
    return arena_join(a, site->settings.base_url, STR("/"), url);
}

// The same for every page of the document.
static void fill_translations(struct view_page *p, struct page_renderer *r)
{
    const struct site *site = r->site;
    const struct document *doc = p->document, *home = map_get(&site->document_by_key, STR_NONE);
    p->translation_count = site->language_count;
    p->translations = r->translations;
    if (p->translations)
        return;
    struct view_translation *list =
        arena_new(r->arena, struct view_translation, site->language_count);
    for (size_t i = 0; i < site->language_count; i++) {
        const struct language *l = site->languages[i];
        str url = nav_url(site, doc, l, r->arena);
        list[i] = (struct view_translation){l->tag, locale_native_name(l->locale),
                                            url.len ? url : nav_url(site, home, l, r->arena),
                                            doc->pages[i] != NULL};
    }
    p->translations = r->translations = list;
}

static void fill_alternates(struct view_page *p, struct page_renderer *r)
{
    const struct site *site = r->site;
    const struct document *doc = p->document;
    if (!p->page || p->is_fallback || !site->settings.base_url.len || doc->page_count < 2)
        return;
    struct view_alternate *list =
        arena_new(r->arena, struct view_alternate, site->language_count + 1);
    size_t n = 0;
    for (size_t i = 0; i < site->language_count; i++)
        if (doc->pages[i])
            list[n++] = (struct view_alternate){site->languages[i]->tag,
                                                page_address(site, doc->pages[i]->url, r->arena)};
    list[n++] =
        (struct view_alternate){STR("x-default"), page_address(site, doc->source->url, r->arena)};
    p->alternates = list;
    p->alternate_count = n;
}

struct view_link page_link(const struct site *site, const struct document *doc,
                           const struct language *l, arena *a)
{
    return (struct view_link){.title = nav_title(site, doc, l), .url = nav_url(site, doc, l, a)};
}

bool page_child(const struct site *site, const struct document *child, const struct language *l,
                arena *a, struct view_child *out)
{
    const struct page *shown = nav_page(site, child, l);
    *out = (struct view_child){0};
    if (!shown)
        return false;
    *out = (struct view_child){.title = nav_title(site, child, l),
                               .description = shown->description,
                               .url = nav_url(site, child, l, a),
                               .updated = shown->updated,
                               .lang = shown->language->tag,
                               .published = shown->published};
    return true;
}

static void fill_crumbs(struct view_page *p, struct page_renderer *r)
{
    struct view_link *list = NULL;
    size_t n = 0, depth = 0;
    for (const struct document *up = p->document->parent; up; up = up->parent)
        depth++;
    list = arena_new(r->arena, struct view_link, depth);
    for (const struct document *up = p->document->parent; up; up = up->parent) {
        struct view_link link = page_link(r->site, up, p->language, r->arena);
        if (!link.url.len)
            continue;
        memmove(list + 1, list, n * sizeof *list);
        list[0] = link;
        n++;
    }
    p->crumbs = list;
    p->crumb_count = n;
}

static void fill_children(struct view_page *p, struct page_renderer *r)
{
    const struct site *site = r->site;
    const struct document *doc = p->document;
    struct view_child *list = arena_new(r->arena, struct view_child, doc->child_count);
    size_t n = 0;
    for (uint32_t i = 0; i < doc->child_count; i++)
        n += page_child(site, site->documents[doc->first_child + i], p->language, r->arena,
                        &list[n]);
    p->children = list;
    p->child_count = n;
}

// Front matter that is used up where a reader sees it, or that only the generator needs.
static bool is_used(str key)
{
    static const char *const used[] = {
        "title",     "description", "lang", "key",     "slug", "aliases", "order", "draft",
        "published", "publishDate", "date", "updated", "toc",  "each",    "schema"};
    for (size_t i = 0; i < sizeof used / sizeof used[0]; i++)
        if (str_eq(key, str_c(used[i])))
            return true;
    return false;
}

// What says who made a page, and how.
static bool is_known(str key)
{
    static const char *const known[] = {"author", "translator", "generated", "model", "translated"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (str_eq(key, str_c(known[i])))
            return true;
    return false;
}

// A layout that is there has done its work; another program's is kept.
static bool is_layout(const struct page_renderer *r, const struct front_pair *pair)
{
    return str_eq(pair->key, STR("layout")) && view_has(r->view, pair->value);
}

// Of an author in a tree of others the words alone: they may be links of Markdown.
static str shown(const struct front *f, const struct front_pair *pair, bool foreign)
{
    bool plain = foreign && f->author.len && str_eq(pair->key, STR("author"));
    return plain ? f->author : pair->value;
}

static void fill_provenance(struct view_page *p, struct page_renderer *r, const struct front *f)
{
    struct view_pair *list = arena_new(r->arena, struct view_pair, f->pair_count);
    size_t n = 0;
    bool foreign = (r->site->tree->kind->flags & KIND_FOREIGN) !=
                   0;  // whose other keys are for their own templates
    for (size_t i = 0; i < f->pair_count; i++)
        if (!(foreign && !is_known(f->pairs[i].key)) && !is_used(f->pairs[i].key) &&
            !is_layout(r, &f->pairs[i]) && f->pairs[i].value.len)
            list[n++] = (struct view_pair){f->pairs[i].key, shown(f, &f->pairs[i], foreign)};
    p->provenance = list;
    p->provenance_count = n;
}

static void put_member(buf *out, const char *name, str value)
{
    if (!value.len)
        return;
    buf_str(out, out->ptr[out->len - 1] == '{' ? STR("\"") : STR(",\""));
    buf_str(out, str_c(name));
    buf_lit(out, "\":\"");
    escape_json(out, value);
    buf_char(out, '"');
}

static str iso_date(int64_t seconds, arena *a)
{
    // Source: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days.
    int64_t z = (seconds >= 0 ? seconds : seconds - 86399) / 86400 + 719468;
    int64_t era = (z >= 0 ? z : z - 146096) / 146097, doe = z - era * 146097;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
    int64_t d = doy - (153 * mp + 2) / 5 + 1, m = mp < 10 ? mp + 3 : mp - 9;
    return arena_printf(a, "%04d-%02d-%02d", (int)(yoe + era * 400 + (m <= 2)), (int)m, (int)d);
}

// The type of schema.org that the front matter names, or that follows from what the page is.
static str schema_of(const struct view_page *p, const struct front *f)
{
    for (size_t i = 0; i < f->pair_count; i++)
        if (str_eq(f->pairs[i].key, STR("schema")) && f->pairs[i].value.len)
            return f->pairs[i].value;
    if (str_eq(p->layout, STR("calculator")))
        return STR("WebApplication");
    return str_eq(p->kind, STR("article")) ? STR("TechArticle") : STR("WebPage");
}

// The entries of a glossary: its headings of the third level.
static void put_terms(const struct view_page *p, buf *out)
{
    bool any = false;
    for (size_t i = 0; i < p->toc_count; i++) {
        const struct md_heading *h = &p->toc[i];
        if (h->level != 3)
            continue;
        buf_str(out, any ? STR(",{") : STR(",\"hasDefinedTerm\":[{"));
        put_member(out, "@type", STR("DefinedTerm"));
        put_member(out, "name", h->text);
        put_member(out, "termCode", h->id);
        buf_char(out, '}');
        any = true;
    }
    buf_str(out, any ? STR("]") : STR_NONE);
}

static void put_json_ld(const struct view_page *p, const struct page_context *c, buf *out)
{
    const struct page_renderer *r = c->renderer;
    const struct document *doc = p->document;
    str type = schema_of(p, c->front);
    bool article = str_ends(type, STR("Article"));
    buf_lit(out, "{\"@context\":\"https://schema.org\"");
    put_member(out, "@type", type);
    put_member(out, article ? "headline" : "name", p->title);
    put_member(out, "description", p->description);
    put_member(out, "inLanguage", p->page->language->tag);
    put_member(out, "url", p->canonical);
    if (p->published != INT64_MIN)
        put_member(out, "datePublished", iso_date(p->published, r->arena));
    if (p->updated != INT64_MIN)
        put_member(out, "dateModified", iso_date(p->updated, r->arena));
    if (c->front->author.len || r->site->settings.author.len) {
        buf_lit(out, ",\"author\":{\"@type\":\"Person\"");
        put_member(out, "name", c->front->author.len ? c->front->author : r->site->settings.author);
        buf_char(out, '}');
    }
    if (p->page != doc->source) {
        str source = page_address(r->site, doc->source->url, r->arena);
        buf_lit(out, ",\"translationOfWork\":{");
        put_member(out, "@type", type);
        if (source.len)
            put_member(out, "@id", source);
        put_member(out, "inLanguage", doc->source->language->tag);
        put_member(out, "name", doc->source->title);
        buf_char(out, '}');
    }
    if (str_eq(type, STR("DefinedTermSet")))
        put_terms(p, out);
    if (str_eq(type, STR("WebApplication")))
        buf_lit(out, ",\"applicationCategory\":\"DeveloperApplication\",\"operatingSystem\":"
                     "\"Any\",\"isAccessibleForFree\":true");
    buf_char(out, '}');
}

static void fill_figures(struct view_page *p, struct page_renderer *r)
{
    if (!p->page)
        return;
    p->figures = figures_view(r->figures, &p->figure_count);
    p->unmeasured = figures_unmeasured(r->figures);
}

static void fill_json_ld(struct view_page *p, const struct page_context *c)
{
    if (!p->page)
        return;
    buf json = BUF_INIT;
    put_json_ld(p, c, &json);
    p->json_ld = arena_str(c->renderer->arena, buf_view(&json));
    buf_free(&json);
}

void page_fill_lists(struct view_page *p, const struct page_context *c)
{
    p->lists = view_lists(c->renderer->view);
    for (unsigned list = 0; list < VIEW_LISTS; list++) {
        if (!(p->lists & VIEW_BIT(list)))
            continue;
        switch ((enum view_list)list) {
        case VIEW_TRANSLATIONS: fill_translations(p, c->renderer); break;
        case VIEW_ALTERNATES: fill_alternates(p, c->renderer); break;
        case VIEW_CRUMBS: fill_crumbs(p, c->renderer); break;
        case VIEW_CONTENTS: break;  // the view walks through them
        case VIEW_CHILDREN: fill_children(p, c->renderer); break;
        case VIEW_PROVENANCE: fill_provenance(p, c->renderer, c->front); break;
        case VIEW_FIGURES: fill_figures(p, c->renderer); break;
        case VIEW_JSON_LD: fill_json_ld(p, c); break;
        case VIEW_LISTS: break;
        }
    }
}
