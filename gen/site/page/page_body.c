// A page's text becomes HTML: its cells are run, its Markdown is printed, its links are resolved.
#include "gen/site/page/page_work.h"

#include <string.h>

#include "gen/site/documents/assets.h"
#include "gen/site/source/read.h"
#include "gen/site/source/scan.h"
#include "gen/site/translation/parity.h"
#include "gen/site/translation/staleness.h"
#include "gen/text/address.h"
#include "gen/text/attributes.h"
#include "gen/text/policy.h"
#include "gen/text/slugs.h"

static void keep_anchor(struct page_work *h, struct anchor_link **items, size_t *count, size_t *cap,
                        struct anchor_link l)
{
    *items = arena_grow(h->r->arena, *items, *count, cap, *count + 1, sizeof **items);
    (*items)[(*count)++] = l;
}

static str relative(struct page_work *h, str target, str tail)
{
    buf b = BUF_INIT;
    address_relative(h->url, target, &b);
    buf_str(&b, tail);
    str out = arena_str(h->r->arena, buf_view(&b));
    buf_free(&b);
    return out;
}

void page_keep_use(struct page_work *h, struct asset *x)
{
    struct page_output *o = h->out;
    for (size_t i = 0; i < o->use_count; i++)
        if (o->uses[i].asset == x)
            return;
    o->uses = arena_grow(h->r->arena, o->uses, o->use_count, &o->use_cap, o->use_count + 1,
                         sizeof *o->uses);
    o->uses[o->use_count++] = (struct asset_use){x, assets_stamp(h->r->site, x)};
}

// A picture of another site is shown when the settings want that, and its host then is in the
// page's policy.
static void keep_host(struct page_work *h, str address)
{
    struct page_output *o = h->out;
    str host = h->r->site->settings.remote_media ? policy_host(address) : STR_NONE;
    if (!host.len || policy_has(o->hosts, host))
        return;
    o->hosts = o->hosts.len ? arena_join(h->r->arena, o->hosts, STR(" "), host)
                            : arena_str(h->r->arena, host);
}

static bool has_anchor(const struct md_result *md, str anchor)
{
    for (size_t i = 0; i < md->anchor_count; i++)
        if (str_eq(md->anchors[i], anchor))
            return true;
    return false;
}

// "#content-name" in a table of contributors, whose signs are links that lead nowhere by intention.
// Source: allcontributors.org/docs/en/emoji-key.
static bool is_contribution(const struct page_work *h, str anchor)
{
    static const char types[] =
        " a11y audio blog bug business code content data design doc eventOrganizing example "
        "financial fundingFinding ideas infra maintenance mentoring platform plugin "
        "projectManagement promotion question research review security talk test tool "
        "translation tutorial userTesting video ";
    size_t dash = str_find(anchor, '-');
    str type = str_slice(anchor, 0, dash), padded;
    if (!h->r->site->tree_index || !type.len || dash + 1 >= anchor.len)
        return false;
    padded = arena_printf(h->r->arena, " %.*s ", STR_ARG(type));
    return str_search(str_c(types), padded) < sizeof types - 1 && !has_anchor(&h->out->md, anchor);
}

static bool is_word(str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (strchr("/.#:?", s.ptr[i]))
            return false;
    return s.len > 0;
}

// "#Start" on GitHub leads to the heading whose id is start, where nothing is called Start: its
// script looks for user-content- and the fragment in lower case. SRC: rsc/markdown issue 19 (any
// casing leads there); derekr/drk.wtf app/scripts/hashchange.js, which does as GitHub's.
static str in_lower_case(const struct page_work *h, str anchor)
{
    const struct site *site = h->r->site;
    buf lower = BUF_INIT;
    if (!site->tree_index || site->tree->kind->flags & KIND_FOREIGN ||
        has_anchor(&h->out->md, anchor))
        return anchor;
    slug_lower(anchor, &lower);
    if (has_anchor(&h->out->md, buf_view(&lower)))
        anchor = arena_str(h->r->arena, buf_view(&lower));
    buf_free(&lower);
    return anchor;
}

// The link within the page, which is kept to be looked for.
static str resolve_here(struct page_work *h, str written, const struct link *l, size_t offset)
{
    str anchor = l->anchor.len ? in_lower_case(h, l->anchor) : STR_NONE;
    if (anchor.len)
        keep_anchor(h, &h->here, &h->here_count, &h->here_cap,
                    (struct anchor_link){STR_NONE, anchor, offset});
    if (anchor.ptr != l->anchor.ptr)
        return arena_join(h->r->arena, STR("#"), anchor, STR_NONE);
    return l->tail.len ? l->tail : written;
}

// What a link or picture of the text is in the page.
static str resolve(struct page_work *h, struct md_link *link, const struct link *l,
                   struct diag_pos at)
{
    str written = link->destination;
    switch (l->kind) {
    case LINK_OUTSIDE:
        if (link->is_image)
            keep_host(h, l->target);
        return l->target;
    case LINK_HERE:
        if (is_contribution(h, l->anchor))
            return STR("#");
        return resolve_here(h, written, l, at.offset);
    case LINK_PAGE:
        if (l->anchor.len)
            keep_anchor(h, &h->out->links, &h->out->link_count, &h->out->link_cap,
                        (struct anchor_link){l->target, l->anchor, at.offset});
        return relative(h, l->target, l->tail);
    case LINK_ASSET:
        page_keep_use(h, l->asset);
        link->width = l->asset->width, link->height = l->asset->height;
        return relative(h, l->target, l->tail);
    case LINK_MADE: return relative(h, l->target, l->tail);
    case LINK_HIDDEN: diag_add(h->r->diag, D_LINK_HIDDEN, at, "%.*s", STR_ARG(written)); break;
    case LINK_PRIVATE:
        diag_add(h->r->diag, D_LINK_PRIVATE, at, "%.*s: %s", STR_ARG(written), l->why);
        break;
    case LINK_UNREAD: return written;
    case LINK_UNWRITTEN:
        if (!link->is_image)
            return STR_NONE;
        diag_add(h->r->diag, D_LINK_BROKEN, at, "image %.*s", STR_ARG(written));
        return str_slice(written, 2, written.len - 2);
    case LINK_OUT_OF_SITE:
        diag_add(h->r->diag, D_LINK_ESCAPES, at, "%.*s", STR_ARG(written));
        break;
    case LINK_MISSING:
        if (h->r->site->tree->link_words && is_word(written))
            return STR("#");
        diag_add(h->r->diag, D_LINK_BROKEN, at, "%s%.*s", link->is_image ? "image " : "",
                 STR_ARG(written));
        break;
    }
    return written;
}

static void resolve_links(struct page_work *h, str text, str file)
{
    struct md_result *md = &h->out->md;
    for (size_t i = 0; i < md->link_count; i++) {
        struct md_link *link = &md->links[i];
        struct diag_pos at = DIAG_AT(file, text, link->offset);
        struct link l = link_resolve(h->r->site, h->page, h->language, link->destination,
                                     h->r->arena, h->r->diag);
        if (l.other_case)
            diag_add(h->r->diag, D_LINK_CASE, at, "%.*s", STR_ARG(link->destination));
        link->address = resolve(h, link, &l, at);
    }
}

static void keep_cell(struct page_work *h, const struct md_lua *cell)
{
    struct page_output *o = h->out;
    o->cells = arena_grow(h->r->arena, o->cells, o->cell_count, &o->cell_cap, o->cell_count + 1,
                          sizeof *o->cells);
    o->cells[o->cell_count++] = (struct cell_value){str_trim(cell->code), cell->html};
}

// False after errors were recorded.
static bool run_cells(struct page_work *h, str text, str file, struct md *md)
{
    size_t count;
    struct md_lua *cells = md_cells(md, &count);
    bool ok = true;
    buf html = BUF_INIT;
    for (size_t i = 0; i < count; i++) {
        struct md_lua *c = &cells[i];
        struct diag_pos at = DIAG_AT(file, text, c->offset);
        buf_clear(&html);
        if (c->is_example)
            ok &= figures_example(h->r->figures, h->page, c->code, c->wanted, at, &html);
        else
            ok &= figures_cell(h->r->figures, h->page, c->code, at, &html);
        c->html = arena_str(h->r->arena, buf_view(&html));
        if (!c->is_example)
            keep_cell(h, c);
    }
    buf_free(&html);
    return ok;
}

const str *page_words(const struct site *site, arena *a)
{
#define KEY(name, key, english) [name] = STR(key),
    static const str keys[] = {MD_WORDS(KEY)};
#undef KEY
    str *words = arena_new(a, str, site->language_count * MD_WORD_COUNT);
    buf word = BUF_INIT;
    for (size_t i = 0; i < site->language_count * MD_WORD_COUNT; i++) {
        buf_clear(&word);
        catalog_format(site->languages[i / MD_WORD_COUNT]->catalog, keys[i % MD_WORD_COUNT], NULL,
                       0, &word, NULL);
        words[i] = arena_str(a, buf_view(&word));
    }
    buf_free(&word);
    return words;
}

// What is known of the translation against its source, before it is rendered with marks where it
// has fallen behind.
static void compare_with_source(struct page_work *h, str text, str file, struct md_options *o)
{
    struct page_renderer *r = h->r;
    struct md_result *own = arena_new(r->arena, struct md_result, 1);
    if (!h->page->sidecar || !md_scan(text, h->page->body, file, o, r->arena, r->diag, own))
        return;
    struct staleness *s = staleness_read(r->site, h->page, r->source, own, r->diag, r->arena);
    if (!s)
        return;
    staleness_report(s, file, text, own, r->diag);
    h->out->stale_count = s->stale_count;
    o->stale = s->behind;
    o->stale_count = s->count;
}

static void check_here(struct page_work *h, str text, str file)
{
    for (size_t i = 0; i < h->here_count; i++) {
        const struct anchor_link *l = &h->here[i];
        bool known = h->out->any_anchor || has_anchor(&h->out->md, l->anchor) ||
                     str_starts(l->anchor, STR("source-")) || str_eq(l->anchor, STR("top")) ||
                     str_eq(l->anchor, STR("main")) || str_eq(l->anchor, STR("page-sources"));
        if (!known)
            diag_add(h->r->diag, D_LINK_ANCHOR, DIAG_AT(file, text, l->offset), "#%.*s",
                     STR_ARG(l->anchor));
    }
}

// The id that the heading had which is the page's title: its own, or that of its words. In trees of
// others, whose links name it.
static str title_id(struct page_work *h, str text, size_t from)
{
    str rest = str_trim(str_slice(text, from, h->page->body)), line = STR_NONE, id = STR_NONE,
        classes;
    if (!h->r->site->tree_index || from > h->page->body || !str_line(&rest, &line))
        return STR_NONE;
    md_attributes_at_end(line, &id, &classes);
    if (id.len)
        return id;
    buf b = BUF_INIT;
    slug_text(h->r->site->tree->slugs, h->page->title, &b);
    if (!b.len && h->r->site->tree->slugs >= MD_SLUG_PYTHON)
        buf_lit(&b, "_1");  // the first of those without letters
    id = arena_str(h->r->arena, buf_view(&b));
    buf_free(&b);
    return id;
}

// Anchors of what is not read are not known: links to any are taken for right.
static bool may_have_more(const struct page_work *h, str text)
{
    return h->out->md.unread || (h->r->site->tree->hooks && str_has(text, STR("<!--")));
}

// Whether this page's blocks are compared with those of another.
static bool has_partner(const struct page_work *h, const struct document *doc,
                        const struct md_options *o)
{
    const struct page_renderer *r = h->r;
    if (r->parity || o->stale_count)
        return true;
    for (size_t i = 0; i < r->site->language_count && h->page == doc->source; i++)
        if (doc->pages[i] && doc->pages[i]->sidecar)
            return true;
    return false;
}

bool page_body(struct page_work *h, const struct document *doc, str text, size_t front_end,
               buf *out)
{
    struct page_renderer *r = h->r;
    bool translation = h->page != doc->source;
    struct md_options o = site_markdown(r->site, h->page);
    o.math = r->math;
    o.first_id = title_id(h, text, front_end);
    o.words = r->words + h->page->language->index * MD_WORD_COUNT;
    o.gaps = true;
    if (translation) {
        o.ids = r->ids;
        o.id_count = r->id_count;
        o.source_title_id = r->source && r->site->tree_index ? r->source->title_id : STR_NONE;
    }
    str file = site_path(r->site, h->page->source, r->arena);
    figures_begin_page(r->figures);
    if (translation && r->source)
        compare_with_source(h, text, file, &o);
    o.no_blocks = !has_partner(h, doc, &o);
    buf printed = BUF_INIT;
    buf_reserve(&printed, text.len);
    struct md *md = md_open(text, h->page->body, file, &o, r->arena, r->diag, &printed);
    bool ok = run_cells(h, text, file, md);
    ok &= md_print(md, &h->out->md);
    resolve_links(h, text, file);
    md_fill(buf_view(&printed), &h->out->md, r->arena, out);
    buf_free(&printed);
    h->out->any_anchor = may_have_more(h, text);
    check_here(h, text, file);
    if (translation && r->source && r->parity) {
        struct parity_text source = {doc->source, site_path(r->site, doc->source->source, r->arena),
                                     r->source_text, r->source};
        struct parity_text own = {h->page, file, text, &h->out->md};
        parity_check(&source, &own, r->diag, r->arena);
    }
    return ok;
}
