// One page: its text as HTML, then the values that its template may ask for.
#include "gen/site/page/page_work.h"

#include <string.h>

#include "gen/base/bytes16.h"
#include "gen/base/escape.h"
#include "gen/site/documents/assets.h"
#include "gen/site/documents/contents.h"
#include "gen/site/documents/nav.h"
#include "gen/site/page/page_markdown.h"
#include "gen/site/source/read.h"
#include "gen/site/source/scan.h"
#include "gen/site/source/settings.h"
#include "gen/text/policy.h"

enum { WORDS_A_MINUTE = 200, SIGNS_A_MINUTE = 500 };

// Of one byte, or of each of 16.
#define IS_LATIN(v) ((((v) | 32) >= 'a') & (((v) | 32) <= 'z'))

// The signs of a script without spaces in a text, and the Latin words between them: they end where
// a letter is before what is none.
static void count_prose(str text, size_t *signs, size_t *words)
{
    size_t i = 0;
    for (; i + 17 <= text.len; i += 16) {
        bytes16 v = bytes16_at(text.ptr + i), next = bytes16_at(text.ptr + i + 1);
        *words += bytes16_count((bytes16)IS_LATIN(v) & ~(bytes16)IS_LATIN(next));
        *signs += bytes16_count((bytes16)(v >= 0xC0));
    }
    for (; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        bool ends = i + 1 == text.len || !IS_LATIN((unsigned char)text.ptr[i + 1]);
        *words += IS_LATIN(c) && ends;
        *signs += c >= 0xC0;
    }
}

// What stands between backticks is no prose.
static void count_signs(str text, size_t *signs, size_t *words)
{
    str part;
    for (bool code = false; str_cut(&text, '`', &part); code = !code)
        if (!code)
            count_prose(part, signs, words);
}

// Languages written without spaces are read by signs.
static uint32_t reading_minutes(const struct page_work *h, str text)
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
    escape_part(&b, s, "/");
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

static void fill_addresses(struct view_page *v, const struct page_renderer *r)
{
    const struct settings *s = &r->site->settings;
    const struct page *p = v->page;
    v->canonical = page_address(r->site, p->url, r->arena);
    if (r->feeds[v->language->index]) {
        v->feed_url = r->site->by_folder
                          ? arena_printf(r->arena, "%.*s/feed.xml", STR_ARG(v->language->tag))
                          : STR("feed.xml");
    }
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
static str file_address(struct page_work *h, str file)
{
    if (!file.len)
        return STR_NONE;
    struct link link =
        link_resolve(h->r->site, h->page, h->language, file, h->r->arena, h->r->diag);
    if (link.kind == LINK_ASSET)
        page_keep_use(h, link.asset);
    if (link.kind == LINK_PRIVATE)
        diag_add(h->r->diag, D_LINK_PRIVATE,
                 DIAG_FILE(site_path(h->r->site, h->page->source, h->r->arena)), "%.*s: %s",
                 STR_ARG(file), link.why);
    return link.kind == LINK_OUTSIDE ? file : link.kind == LINK_ASSET ? link.target : STR_NONE;
}

static void fill_view(struct view_page *v, struct page_work *h, const struct document *doc,
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
    if (h->out->hosts.len || h->out->md.has_media) {
        buf policy = BUF_INIT;
        policy_write(h->out->hosts, h->out->md.has_media, &policy);
        v->csp = arena_str(r->arena, buf_view(&policy));
        buf_free(&policy);
    }
    fill_addresses(v, r);
    fill_near(v, r, doc);
}

bool page_render(struct page_renderer *r, const struct document *doc, const struct language *l,
                 str text, struct page_output *out)
{
    struct page_work h = {.r = r, .page = nav_page(r->site, doc, l), .language = l, .out = out};
    struct page_meta meta = {.front.toc = -1};
    struct view_page v;
    bool ok = true;
    h.url = nav_url(r->site, doc, l, r->arena);
    if (!h.page->made) {
        page_meta_unpack(h.page->meta, r->arena, &meta);
        ok = page_body(&h, doc, text, meta.front.body, &out->body);
    }
    fill_view(&v, &h, doc, &meta.front);
    v.body = buf_view(&out->body);
    if (!h.page->made)
        v.reading_minutes = reading_minutes(&h, text);
    struct page_context c = {r, out, &meta.front};
    page_fill_lists(&v, &c);
    ok = view_render(r->view, &v, r->diag, &out->html) && ok;
    page_markdown_write(r, h.out, h.page, l, h.url, text, &out->markdown);
    return ok;
}
