// What is around the pages: error pages, redirects, the start page of all languages, headers for
// the server, robots.
#include <string.h>

#include "gen/base/path.h"
#include "gen/text/policy.h"
#include "gen/site/output/build_state.h"
#include "gen/site/output/feeds.h"
#include "gen/text/address.h"
#include "gen/site/documents/assets.h"
#include "gen/site/source/scan.h"
#include "gen/site/output/manifest.h"
#include "gen/site/output/search.h"
#include "gen/site/source/settings.h"

struct error_page {
    const struct language *language;
    str url;
};

static void make_404(struct build *b, const struct error_page *e, buf *out)
{
    const struct language *l = e->language;
    struct site *site = &b->site;
    const struct document *home = map_get(&site->document_by_key, STR_NONE);
    arena scratch = ARENA_INIT;
    struct page_output nothing = {0};
    struct page_renderer r = {
        .site = site, .view = b->view, .feeds = b->feeds, .diag = b->diag, .arena = &scratch};
    struct front none = {0};
    struct page_context c = {&r, &nothing, &none};
    struct view_page v = {.language = l,
                          .document = home,
                          .page = NULL,
                          .kind = STR("404"),
                          .layout = STR("404"),
                          .updated = INT64_MIN,
                          .published = INT64_MIN,
                          .current = l->index};
    v.url = e->url;
    v.is_lost = true;
    buf title = BUF_INIT;
    catalog_format(l->catalog, STR("404.title"), NULL, 0, &title, NULL);
    v.title = buf_view(&title);
    page_fill_lists(&v, &c);
    view_render(b->view, &v, b->diag, out);
    buf_free(&title);
    arena_free(&scratch);
}

struct redirect {
    str url, target;
    const struct page *page;
};

static void make_redirect(struct build *b, const struct redirect *to, buf *out)
{
    arena scratch = ARENA_INIT;
    const struct page *p = to->page;
    struct view_page v = {.language = p->language,
                          .page = p,
                          .url = to->url,
                          .title = p->title,
                          .kind = STR("redirect"),
                          .layout = STR("redirect"),
                          .lists = VIEW_ALL,  // all empty
                          .updated = INT64_MIN,
                          .published = INT64_MIN,
                          .canonical = page_address(&b->site, p->url, &scratch),
                          .target = to->target};
    view_render(b->view, &v, b->diag, out);
    arena_free(&scratch);
}

static void write_redirect(struct build *b, str url, const struct page *p)
{
    struct redirect to = {url, p->url, p};
    bool is_new;
    void **at = map_put(&b->redirects, &b->site.arena, url, &is_new);
    const struct page *other = *at;
    // In trees of others translations begin as copies, front matter included.
    if (other && other != p && other->document == p->document &&
        b->site.tree->kind->flags & KIND_FOREIGN)
        return;
    if (is_new)
        *at = (void *)(uintptr_t)p;
    if (!is_new || map_has(&b->site.page_by_url, url) || assets_static(&b->site, url)) {
        buf what = BUF_INIT;
        buf_printf(&what, "%.*s, an alias", STR_ARG(url));
        site_diag(&b->site, D_URL_DUPLICATE, p, 0, what.ptr);
        buf_free(&what);
        return;
    }
    buf parts = BUF_INIT;
    buf_printf(&parts, "%llu %.*s %.*s", (unsigned long long)b->shown, STR_ARG(p->url),
               STR_ARG(p->title));
    uint64_t digest = str_hash(buf_view(&parts));
    buf_free(&parts);
    if (output_begin(b, url, digest)) {
        buf bytes = BUF_INIT;
        make_redirect(b, &to, &bytes);
        output_end(b, url, digest, &bytes);
    }
}

// Hugo's "old" and "../older" count from the folder that the page's address is in, and that of
// x/index.html is x itself.
static str from_top(struct build *b, const struct page *p, str alias)
{
    bool relative = b->site.tree->kind->flags & KIND_ALIAS_BESIDE && !str_starts(alias, STR("/"));
    bool index = str_ends(p->url, STR("/index.html"));
    str folder = path_folder(index ? path_folder(p->url) : p->url);
    buf whole = BUF_INIT, path = BUF_INIT;
    buf_printf(&whole, "%.*s/%.*s", STR_ARG(folder), STR_ARG(alias));
    bool inside = relative && fs_normalize(buf_view(&whole), &path);
    str out = inside ? arena_join(&b->site.arena, STR("/"), buf_view(&path), STR_NONE) : alias;
    buf_free(&whole), buf_free(&path);
    return out;
}

// An alias is an address below the site: "/old/path/", "old.html".
static void write_alias(struct build *b, const struct page *p, str alias)
{
    buf path = BUF_INIT;
    arena *a = &b->site.arena;
    alias = from_top(b, p, alias);
    if (!address_normalize(alias, &path) || !path.len) {
        buf what = BUF_INIT;
        buf_printf(&what, "alias %.*s", STR_ARG(alias));
        site_diag(&b->site, D_ADDRESS_ESCAPES, p, 0, what.ptr);
        buf_free(&what);
        buf_free(&path);
        return;
    }
    str url = arena_str(a, buf_view(&path));
    buf_free(&path);
    str name = path_name(url);
    bool folder = alias.ptr[alias.len - 1] == '/' || str_find(name, '.') == name.len;
    if (folder)
        url = arena_printf(a, "%.*s/index.html", STR_ARG(url));
    else if (!str_ends(url, STR(".html")))
        url = arena_printf(a, "%.*s.html", STR_ARG(url));
    write_redirect(b, url, p);
}

static void write_redirects(struct build *b)
{
    const struct site *site = &b->site;
    // Of a document's pages with the same alias, the source has it.
    for (int of_source = 1; of_source >= 0; of_source--)
        for (size_t i = 0; i < site->page_count; i++) {
            const struct page *p = site->pages[i];
            for (uint32_t k = 0; k < p->alias_count && (p == p->document->source) == of_source; k++)
                write_alias(b, p, p->aliases[k]);
        }
    const struct document *home = map_get(&site->document_by_key, STR_NONE);
    struct page *start = home->pages[site->source_language->index];
    if (site->by_folder && !map_has(&b->redirects, STR("index.html")))
        write_redirect(b, STR("index.html"), start ? start : home->source);
}

static void write_one_404(struct build *b, const struct language *l, str url)
{
    const struct document *home = map_get(&b->site.document_by_key, STR_NONE);
    struct error_page e = {l, url};
    if (map_has(&b->site.page_by_url, url))
        return;
    uint64_t digest = digest_page(b, home, l);  // it lists what the start page lists
    if (output_begin(b, url, digest)) {
        buf bytes = BUF_INIT;
        make_404(b, &e, &bytes);
        output_end(b, url, digest, &bytes);
    }
}

static void write_404(struct build *b)
{
    struct site *site = &b->site;
    for (size_t i = 0; i < site->language_count && site->by_folder; i++)
        write_one_404(
            b, site->languages[i],
            arena_printf(&site->arena, "%.*s/404.html", STR_ARG(site->languages[i]->tag)));
    write_one_404(b, site->source_language, STR("404.html"));
}

static void make_headers(struct build *b, buf *out)
{
    buf policy = BUF_INIT;
    policy_write(b->hosts, b->has_media, &policy);
    buf_printf(out,
               "/*\n  Content-Security-Policy: %.*s\n  X-Content-Type-Options: nosniff\n"
               "  Referrer-Policy: strict-origin-when-cross-origin\n  Cache-Control: no-cache\n",
               STR_ARG(buf_view(&policy)));
    buf_free(&policy);
    buf_lit(out, "/assets/*\n  Cache-Control: public, max-age=31536000, immutable\n");
}

static void make_robots(struct build *b, buf *out)
{
    buf_lit(out, "User-agent: *\nAllow: /\n");
    if (b->site.settings.base_url.len)
        buf_printf(out, "Sitemap: %.*s/sitemap.xml\n", STR_ARG(b->site.settings.base_url));
}

void site_files_pages(struct build *b)
{
    write_404(b);
    status_page_write(b);
    write_redirects(b);
}

void site_files_write(struct build *b)
{
    uint64_t headers = b->shown ^ str_hash(b->hosts) ^ b->has_media;
    if (output_begin(b, STR("_headers"), headers)) {
        buf bytes = BUF_INIT;
        make_headers(b, &bytes);
        output_end(b, STR("_headers"), headers, &bytes);
    }
    if (output_begin(b, STR("robots.txt"), b->shown)) {
        buf bytes = BUF_INIT;
        make_robots(b, &bytes);
        output_end(b, STR("robots.txt"), b->shown, &bytes);
    }
    preview_write(b);
    search_write(b);
    feeds_write(b);
    manifest_write(b);
}
