// One page: hooks for Markdown, then the values that its template may ask for.
#include "gen/site/page/page.h"

#include <string.h>

#include "gen/text/address.h"
#include "gen/text/attributes.h"
#include "gen/text/policy.h"
#include "gen/text/slugs.h"
#include "gen/site/documents/assets.h"
#include "gen/site/source/scan.h"
#include "gen/site/documents/contents.h"
#include "gen/site/documents/nav.h"
#include "gen/site/translation/parity.h"
#include "gen/site/source/read.h"
#include "gen/site/source/settings.h"
#include "gen/site/translation/staleness.h"
#include "gen/site/page/page_markdown.h"

enum { WORDS_A_MINUTE = 200, SIGNS_A_MINUTE = 500 };

struct hooks {
    struct page_renderer *r;
    const struct page *page;
    const struct language *language;
    struct page_output *out;
    str url;
    str first_id;  // of the heading that is the title, as links of trees of others name it
    const struct staleness *staleness;
    struct anchor_link *here;
    size_t here_count, here_cap;  // links to anchors of the same page
};

static void keep_anchor(struct hooks *h, struct anchor_link **items, size_t *count, size_t *cap,
                        struct anchor_link l)
{
    *items = arena_grow(h->r->arena, *items, *count, cap, *count + 1, sizeof **items);
    (*items)[(*count)++] = l;
}

static str relative(struct hooks *h, str target, str tail)
{
    buf b = BUF_INIT;
    address_relative(h->url, target, &b);
    buf_str(&b, tail);
    str out = arena_str(h->r->arena, buf_view(&b));
    buf_free(&b);
    return out;
}

static void keep_use(struct hooks *h, struct asset *x)
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
static void keep_host(struct hooks *h, str address)
{
    struct page_output *o = h->out;
    str host = h->r->site->settings.remote_media ? policy_host(address) : STR_NONE;
    if (!host.len || policy_has(o->hosts, host))
        return;
    o->hosts = o->hosts.len ? arena_join(h->r->arena, o->hosts, STR(" "), host)
                            : arena_str(h->r->arena, host);
}

static bool is_word(str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (strchr("/.#:?", s.ptr[i]))
            return false;
    return s.len > 0;
}

static str on_link(void *ctx, str destination, bool is_image, struct diag_pos at)
{
    struct hooks *h = ctx;
    if (str_find(destination, '#') < destination.len)
        destination = arena_str(h->r->arena, destination);
    struct link l =
        link_resolve(h->r->site, h->page, h->language, destination, h->r->arena, h->r->diag);
    if (l.other_case)
        diag_add(h->r->diag, D_LINK_CASE, at, "%.*s", STR_ARG(destination));
    switch (l.kind) {
    case LINK_OUTSIDE:
        if (is_image)
            keep_host(h, destination);
        return destination;
    case LINK_HERE:
        if (l.anchor.len)
            keep_anchor(h, &h->here, &h->here_count, &h->here_cap,
                        (struct anchor_link){STR_NONE, l.anchor, at.offset});
        return destination;
    case LINK_PAGE:
        if (l.anchor.len)
            keep_anchor(h, &h->out->links, &h->out->link_count, &h->out->link_cap,
                        (struct anchor_link){l.target, l.anchor, at.offset});
        return relative(h, l.target, l.tail);
    case LINK_ASSET: keep_use(h, l.asset); return relative(h, l.target, l.tail);
    case LINK_MADE: return relative(h, l.target, l.tail);
    case LINK_HIDDEN: diag_add(h->r->diag, D_LINK_HIDDEN, at, "%.*s", STR_ARG(destination)); break;
    case LINK_PRIVATE:
        diag_add(h->r->diag, D_LINK_PRIVATE, at, "%.*s: %s", STR_ARG(destination), l.why);
        break;
    case LINK_UNREAD: return destination;
    case LINK_OUT_OF_SITE:
        diag_add(h->r->diag, D_LINK_ESCAPES, at, "%.*s", STR_ARG(destination));
        break;
    case LINK_MISSING:
        if (h->r->site->tree->link_words && is_word(destination))
            return STR("#");
        diag_add(h->r->diag, D_LINK_BROKEN, at, "%s%.*s", is_image ? "image " : "",
                 STR_ARG(destination));
        break;
    }
    return destination;
}

static bool on_cell(void *ctx, str code, struct diag_pos at, buf *out)
{
    struct hooks *h = ctx;
    struct page_output *o = h->out;
    size_t start = out->len;
    bool ok = figures_cell(h->r->figures, h->page, code, at, out);
    o->cells = arena_grow(h->r->arena, o->cells, o->cell_count, &o->cell_cap, o->cell_count + 1,
                          sizeof *o->cells);
    o->cells[o->cell_count++] =
        (struct cell_value){arena_str(h->r->arena, str_trim(code)),
                            arena_str(h->r->arena, str_slice(buf_view(out), start, out->len))};
    return ok;
}

static bool on_example(void *ctx, str code, str wanted, struct diag_pos at, buf *out)
{
    struct hooks *h = ctx;
    return figures_example(h->r->figures, h->page, code, wanted, at, out);
}

static str on_word(void *ctx, str key)
{
    struct hooks *h = ctx;
    buf b = BUF_INIT;
    catalog_format(h->page->language->catalog, key, NULL, 0, &b, NULL);
    str out = arena_str(h->r->arena, buf_view(&b));
    buf_free(&b);
    return out;
}

static bool on_stale(void *ctx, size_t block)
{
    return staleness_at(((struct hooks *)ctx)->staleness, block);
}

// What is known of the translation against its source, before it is rendered with marks where it
// has fallen behind.
static void compare_with_source(struct hooks *h, str text, str file, const struct md_options *o)
{
    struct page_renderer *r = h->r;
    struct md_result *own = arena_new(r->arena, struct md_result, 1);
    if (!h->page->sidecar || !md_scan(text, h->page->body, file, o, r->arena, r->diag, own))
        return;
    h->staleness = staleness_read(r->site, h->page, r->source, own, r->diag, r->arena);
    if (!h->staleness)
        return;
    staleness_report(h->staleness, file, text, own, r->diag);
    h->out->stale_count = h->staleness->stale_count;
}

static bool on_image_size(void *ctx, str destination, uint32_t *width, uint32_t *height)
{
    const struct hooks *h = ctx;
    struct link l = link_resolve(h->r->site, h->page, h->language, destination, h->r->arena, NULL);
    if (l.kind != LINK_ASSET || !l.asset->width)
        return false;
    *width = l.asset->width, *height = l.asset->height;
    return true;
}

static bool has_anchor(const struct md_result *md, str anchor)
{
    for (size_t i = 0; i < md->anchor_count; i++)
        if (str_eq(md->anchors[i], anchor))
            return true;
    return false;
}

static void check_here(struct hooks *h, str text, str file)
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
static str title_id(struct hooks *h, str text, size_t from)
{
    str rest = str_trim(str_slice(text, from, h->page->body)), line = STR_NONE, id = STR_NONE,
        classes;
    if (!h->r->site->tree_index || from > h->page->body || !str_line(&rest, &line))
        return STR_NONE;
    md_attributes_at_end(line, &id, &classes);
    if (id.len)
        return id;
    buf b = BUF_INIT;
    slug_text(h->r->site->tree->kind->slugs, h->page->title, &b);
    id = arena_str(h->r->arena, buf_view(&b));
    buf_free(&b);
    return id;
}

// Anchors of what is not read are not known: links to any are taken for right.
static bool may_have_more(const struct hooks *h, str text)
{
    return h->out->md.unread ||
           (h->r->site->tree->hooks && str_search(text, STR("<!--")) < text.len);
}

static bool render_body(struct hooks *h, const struct document *doc, str text, buf *out)
{
    struct page_renderer *r = h->r;
    bool translation = h->page != doc->source;
    struct md_options o = {
        .extensions = settings_markdown(&r->site->settings),
        .top_heading = 2,
        .math = r->math,
        .foreign = r->site->tree->kind->syntax,
        .slugs = r->site->tree->kind->slugs,
        .open_html = !r->site->settings.file.len || r->site->tree->kind->flags & KIND_FOREIGN,
        .first_id = h->first_id,
        .title = r->site->tree_index ? h->page->title : STR_NONE,
        .source_title_id =
            translation && r->source && r->site->tree_index ? r->source->title_id : STR_NONE,
        .ids = translation ? r->ids : NULL,
        .id_count = translation ? r->id_count : 0,
        .hooks = {.ctx = h,
                  .link = on_link,
                  .cell = on_cell,
                  .example = on_example,
                  .word = on_word,
                  .stale = on_stale,
                  .image_size = on_image_size},
    };
    str file = site_path(r->site, h->page->source, r->arena);
    figures_begin_page(r->figures);
    if (translation && r->source)
        compare_with_source(h, text, file, &o);
    bool ok = md_render(text, h->page->body, file, &o, r->arena, r->diag, out, &h->out->md);
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

// The signs of a script without spaces in a text, and the Latin words between them. What stands
// between backticks is no prose.
static void count_signs(str text, size_t *signs, size_t *words)
{
    bool code = false, in_word = false;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c == '`')
            code = !code;
        bool letter = !code && ((c | 32) >= 'a' && (c | 32) <= 'z');
        *words += letter && !in_word;
        *signs += !code && c >= 0xC0;
        in_word = letter;
    }
}

// Languages written without spaces are read by signs.
static uint32_t reading_minutes(const struct hooks *h, str text)
{
    static const char *const unspaced[] = {"Hans", "Hant", "Jpan", "Thai",
                                           "Khmr", "Laoo", "Mymr", "Tibt"};
    str script = locale_script(h->page->language->locale);
    size_t signs = 0, words = h->out->md.words;
    for (size_t i = 0; i < sizeof unspaced / sizeof unspaced[0]; i++) {
        if (!str_eq(script, str_c(unspaced[i])))
            continue;
        words = 0;
        count_signs(str_slice(text, h->page->body, text.len), &signs, &words);
    }
    size_t minutes =
        (words * SIGNS_A_MINUTE + signs * WORDS_A_MINUTE + WORDS_A_MINUTE * SIGNS_A_MINUTE - 1) /
        (WORDS_A_MINUTE * SIGNS_A_MINUTE);
    return minutes ? (uint32_t)minutes : 1;
}

static str put_in(str pattern, const char *mark, str value, arena *a)
{
    size_t at = str_search(pattern, str_c(mark));
    if (at == pattern.len)
        return pattern;
    return arena_printf(a, "%.*s%.*s%.*s", (int)at, pattern.ptr, STR_ARG(value),
                        STR_ARG(str_slice(pattern, at + strlen(mark), pattern.len)));
}

static str percent_encoded(str s, arena *a)
{
    buf b = BUF_INIT;
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        bool plain = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') ||
                     (c && strchr("-._~/", c));
        char code[3] = {'%', "0123456789ABCDEF"[c >> 4], "0123456789ABCDEF"[c & 15]};
        if (plain)
            buf_char(&b, (char)c);
        else
            buf_put(&b, code, sizeof code);
    }
    str out = arena_str(a, buf_view(&b));
    buf_free(&b);
    return out;
}

// One sentence or so of a paragraph: cut between words.
static str shortened(str s, arena *a)
{
    enum { SHORT = 160 };
    if (s.len <= SHORT)
        return s;
    size_t end = str_rfind(str_slice(s, 0, SHORT), ' ');
    if (end == SHORT)
        while (end && ((unsigned char)s.ptr[end] & 0xC0) == 0x80)
            end--;
    return arena_printf(a, "%.*s…", (int)end, s.ptr);
}

static void fill_addresses(struct view_page *v, const struct page_renderer *r,
                           const struct document *doc)
{
    const struct settings *s = &r->site->settings;
    const struct page *p = v->page;
    v->canonical = page_address(r->site, p->url, r->arena);
    if (r->feeds[v->language->index]) {
        v->feed_url = r->site->by_folder
                          ? arena_printf(r->arena, "%.*s/feed.xml", STR_ARG(v->language->tag))
                          : STR("feed.xml");
    }
    (void)doc;
    if (p->made || (!s->edit_url.len && !s->report_url.len && !s->repository.len))
        return;
    str path = percent_encoded(site_path(r->site, p->source, r->arena), r->arena);
    if (s->edit_url.len)
        v->edit_url = put_in(s->edit_url, "{path}", percent_encoded(p->source, r->arena), r->arena);
    else if (s->repository.len)
        v->edit_url = arena_printf(r->arena, "%.*s/edit/%.*s/%.*s", STR_ARG(s->repository),
                                   STR_ARG(s->branch), STR_ARG(path));
    str report = s->report_url;
    if (!report.len && s->repository.len)
        report = arena_printf(r->arena, "%.*s/issues/new?title={title}&body={path}",
                              STR_ARG(s->repository));
    report = put_in(report, "{title}", percent_encoded(p->title, r->arena), r->arena);
    report = put_in(report, "{path}", path, r->arena);
    v->report_url =
        put_in(report, "{url}", percent_encoded(v->canonical.len ? v->canonical : p->url, r->arena),
               r->arena);
}

static void fill_near(struct view_page *v, const struct page_renderer *r,
                      const struct document *doc)
{
    const struct document *before = contents_near(r->site, doc, v->language, -1),
                          *after = contents_near(r->site, doc, v->language, 1);
    if (!before && !after)
        before = nav_near(r->site, doc, v->language, -1),
        after = nav_near(r->site, doc, v->language, 1);
    if (before)
        v->previous = page_link(r->site, before, v->language, r->arena);
    if (after)
        v->next = page_link(r->site, after, v->language, r->arena);
}

// The address of a file that the front matter or the settings name; "" for "" and for one that is
// not there.
static str file_address(struct hooks *h, str file)
{
    if (!file.len)
        return STR_NONE;
    struct link link =
        link_resolve(h->r->site, h->page, h->language, file, h->r->arena, h->r->diag);
    if (link.kind == LINK_ASSET)
        keep_use(h, link.asset);
    if (link.kind == LINK_PRIVATE)
        diag_add(h->r->diag, D_LINK_PRIVATE,
                 DIAG_FILE(site_path(h->r->site, h->page->source, h->r->arena)), "%.*s: %s",
                 STR_ARG(file), link.why);
    return link.kind == LINK_OUTSIDE ? file : link.kind == LINK_ASSET ? link.target : STR_NONE;
}

static void fill_view(struct view_page *v, struct hooks *h, const struct document *doc,
                      const struct front *f)
{
    struct page_renderer *r = h->r;
    const struct page *p = h->page;
    static const struct view_page nothing = {.updated = INT64_MIN};
    *v = nothing;
    v->language = h->language;
    v->document = doc;
    v->page = p;
    v->url = h->url;
    v->title = p->title;
    v->lede = p->description;
    v->robots = p->robots;
    v->description = h->out->description =
        p->description.len ? p->description : shortened(h->out->md.first_paragraph, r->arena);
    v->kind = !doc->key.len ? STR("home") : doc->is_section ? STR("section") : STR("article");
    v->layout = p->layout.len && view_has(r->view, p->layout) ? p->layout
                : str_eq(v->kind, STR("article"))             ? STR("page")
                                                              : v->kind;
    v->is_fallback = p->language != h->language;
    v->stale_count = (uint32_t)h->out->stale_count;
    v->has_math = h->out->md.has_math;
    v->updated = p->updated;
    v->published = p->published;
    v->markdown_url = page_markdown_url(h->url, r->arena);
    v->image = file_address(h, f->image.len ? f->image : r->site->settings.image);
    if (!v->image.len && r->site->settings.base_url.len && figures_preview(r->figures).len) {
        h->out->preview = arena_str(r->arena, figures_preview(r->figures));
        v->image = figures_preview_url(h->out->preview, r->arena);
    }
    file_address(h, f->audio);
    if (f->toc != 0)
        v->toc = h->out->md.headings, v->toc_count = h->out->md.heading_count;
    v->current = h->language->index;
    v->need = page_need;
    if (h->out->hosts.len || h->out->md.has_media) {
        buf policy = BUF_INIT;
        policy_write(h->out->hosts, h->out->md.has_media, &policy);
        v->csp = arena_str(r->arena, buf_view(&policy));
        buf_free(&policy);
    }
    fill_addresses(v, r, doc);
    fill_near(v, r, doc);
}

bool page_render(struct page_renderer *r, const struct document *doc, const struct language *l,
                 str text, struct page_output *out)
{
    struct hooks h = {.r = r, .page = nav_page(r->site, doc, l), .language = l, .out = out};
    struct page_meta meta = {.front.toc = -1};
    struct view_page v;
    bool ok = true;
    h.url = nav_url(r->site, doc, l, r->arena);
    if (!h.page->made) {
        page_meta_unpack(h.page->meta, r->arena, &meta);
        h.first_id = title_id(&h, text, meta.front.body);
        ok = render_body(&h, doc, text, &out->body);
    }
    fill_view(&v, &h, doc, &meta.front);
    v.body = buf_view(&out->body);
    if (!h.page->made)
        v.reading_minutes = reading_minutes(&h, text);
    struct page_context c = {r, out, &meta.front};
    v.ctx = &c;
    ok = view_render(r->view, &v, r->diag, &out->html) && ok;
    page_markdown_write(r, h.out, h.page, l, h.url, text, &out->markdown);
    return ok;
}
