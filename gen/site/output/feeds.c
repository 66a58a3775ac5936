// Lists of all pages for programs: the sitemap with alternates, an Atom feed a language, llms.txt.
#include "gen/site/output/feeds.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gen/text/address.h"
#include "gen/site/output/rendered.h"
#include "gen/site/source/each.h"
#include "gen/site/source/settings.h"
#include "gen/site/page/page_markdown.h"
#include "gen/base/escape.h"

enum { SITEMAP_URLS = 50000, FEED_ENTRIES = 50 };  // sitemaps.org: at most 50,000 addresses a file

static void put_time(buf *out, int64_t seconds)
{
    struct tm t;
    time_t when = (time_t)seconds;
    gmtime_r(&when, &t);
    buf_printf(out, "%04d-%02d-%02dT%02d:%02d:%02dZ", t.tm_year + 1900, t.tm_mon + 1, t.tm_mday,
               t.tm_hour, t.tm_min, t.tm_sec);
}

static void put_address(struct build *b, buf *out, str url)
{
    arena a = ARENA_INIT;
    buf encoded = BUF_INIT;
    escape_url(&encoded, page_address(&b->site, url, &a));
    buf_str(out, buf_view(&encoded));  // escaped for an attribute: that is good for XML's text, too
    buf_free(&encoded);
    arena_free(&a);
}

static int64_t changed(const struct page *p)
{
    return p->updated != INT64_MIN ? p->updated : p->published;
}

// One file of the sitemap: the pages of a language, from a document on.
struct sitemap {
    const struct language *language;
    size_t from, count;
};

static void make_sitemap(struct build *b, const struct sitemap *m, buf *out)
{
    const struct site *site = &b->site;
    size_t left = m->count;
    buf_lit(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset "
                 "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" "
                 "xmlns:xhtml=\"http://www.w3.org/1999/xhtml\">\n");
    for (size_t i = m->from; i < site->document_count && left; i++) {
        const struct document *doc = site->documents[i];
        const struct page *p = doc->pages[m->language->index];
        if (!p)
            continue;
        left--;
        if (p->robots.len)
            continue;
        buf_lit(out, "<url><loc>");
        put_address(b, out, p->url);
        buf_lit(out, "</loc>");
        if (changed(p) != INT64_MIN)
            buf_lit(out, "<lastmod>"), put_time(out, changed(p)), buf_lit(out, "</lastmod>");
        for (size_t l = 0; l < site->language_count && doc->page_count > 1; l++) {
            if (!doc->pages[l])
                continue;
            buf_printf(out, "\n<xhtml:link rel=\"alternate\" hreflang=\"%.*s\" href=\"",
                       STR_ARG(site->languages[l]->tag));
            put_address(b, out, doc->pages[l]->url);
            buf_lit(out, "\"/>");
        }
        if (doc->page_count > 1) {
            buf_lit(out, "\n<xhtml:link rel=\"alternate\" hreflang=\"x-default\" href=\"");
            put_address(b, out, doc->source->url);
            buf_lit(out, "\"/>");
        }
        buf_lit(out, "</url>\n");
    }
    buf_lit(out, "</urlset>\n");
}

struct sitemap_list {
    str *urls;
    size_t count, cap;
};

static void make_sitemap_index(struct build *b, const struct sitemap_list *list, buf *out)
{
    buf_lit(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<sitemapindex "
                 "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n");
    for (size_t i = 0; i < list->count; i++) {
        buf_lit(out, "<sitemap><loc>");
        put_address(b, out, list->urls[i]);
        buf_lit(out, "</loc></sitemap>\n");
    }
    buf_lit(out, "</sitemapindex>\n");
}

// The description that a page's render found.
static str description_of(const struct build *b, const struct page *p)
{
    const struct rendered_page *r = rendered_of(b, p->document->index, p->language->index);
    return r ? r->description : STR_NONE;
}

// What a language's lists show of its pages: addresses, titles, times and descriptions, which may
// hold figures.
static uint64_t pages_digest(struct build *b, const struct language *l)
{
    buf parts = BUF_INIT;
    if (!b->lists)
        b->lists = arena_new(&b->site.arena, uint64_t, b->site.language_count);
    if (b->lists[l->index])
        return b->lists[l->index];
    uint64_t h = b->shown ^ b->addresses;
    for (size_t i = 0; i < b->site.document_count; i++) {
        const struct page *p = b->site.documents[i]->pages[l->index];
        if (!p)
            continue;
        uint64_t numbers[6] = {h,
                               (uint64_t)p->updated,
                               (uint64_t)p->published,
                               p->content_hash,
                               str_hash(description_of(b, p)),
                               p->robots.len};
        buf_clear(&parts);
        buf_put(&parts, numbers, sizeof numbers);
        buf_str(&parts, p->url);
        h = str_hash(buf_view(&parts));
    }
    buf_free(&parts);
    return b->lists[l->index] = h | 1;
}

static void write_sitemaps(struct build *b)
{
    const struct site *site = &b->site;
    struct sitemap_list list = {0};
    arena *a = &b->site.arena;
    if (!site->settings.base_url.len)
        return;
    for (size_t l = 0; l < site->language_count; l++) {
        uint64_t digest = pages_digest(b, site->languages[l]);
        for (size_t from = 0, part = 1; from < site->document_count; part++) {
            struct sitemap m = {site->languages[l], from, 0};
            for (; from < site->document_count && m.count < SITEMAP_URLS; from++)
                m.count += site->documents[from]->pages[l] != NULL;
            if (!m.count)
                continue;
            str url = part == 1
                          ? arena_printf(a, "sitemap-%.*s.xml", STR_ARG(site->languages[l]->tag))
                          : arena_printf(a, "sitemap-%.*s-%zu.xml",
                                         STR_ARG(site->languages[l]->tag), part);
            if (output_begin(b, url, digest)) {
                buf bytes = BUF_INIT;
                make_sitemap(b, &m, &bytes);
                output_end(b, url, digest, &bytes);
            }
            list.urls =
                arena_grow(a, list.urls, list.count, &list.cap, list.count + 1, sizeof(str));
            list.urls[list.count++] = url;
        }
    }
    uint64_t digest = b->shown ^ b->addresses;
    if (output_begin(b, STR("sitemap.xml"), digest)) {
        buf bytes = BUF_INIT;
        make_sitemap_index(b, &list, &bytes);
        output_end(b, STR("sitemap.xml"), digest, &bytes);
    }
}

static int newest_first(const void *x, const void *y)
{
    const struct page *a = *(const struct page *const *)x, *b = *(const struct page *const *)y;
    if (changed(a) != changed(b))
        return changed(a) > changed(b) ? -1 : 1;
    return str_cmp(a->url, b->url);
}

static void put_element(buf *out, const char *name, str text)
{
    buf_printf(out, "<%s>", name);
    escape_xml(out, text);
    buf_printf(out, "</%s>\n", name);
}

// A name that two builds of the same site agree on: a UUID of version 8 (RFC 9562, 5.8) from the
// site's title and the address.
static void put_uuid(struct build *b, str url, buf *out)
{
    uint64_t high = str_hash(b->site.settings.title) ^ str_hash(url);
    uint64_t low = str_hash((str){(const char *)&high, sizeof high}) + str_hash(url);
    buf_printf(out, "urn:uuid:%08x-%04x-8%03x-%04x-%012llx", (unsigned)(high >> 32),
               (unsigned)(high >> 16 & 0xffff), (unsigned)(high & 0xfff),
               (unsigned)(0x8000 | (low >> 48 & 0x3fff)),
               (unsigned long long)(low & 0xffffffffffff));
}

// Without base_url an entry's name is a UUID, and links are relative.
static void put_id(struct build *b, buf *out, str url)
{
    buf_lit(out, "<id>");
    if (b->site.settings.base_url.len)
        put_address(b, out, url);
    else
        put_uuid(b, url, out);
    buf_lit(out, "</id>\n");
}

static void put_link(struct build *b, buf *out, str feed, str url, const char *rel)
{
    buf_printf(out, "<link rel=\"%s\" href=\"", rel);
    buf relative = BUF_INIT;
    if (b->site.settings.base_url.len)
        put_address(b, out, url);
    else
        address_relative(feed, url, &relative), escape_url(out, buf_view(&relative));
    buf_lit(out, "\"/>\n");
    buf_free(&relative);
}

struct feed {
    const struct language *language;
    str url;
};

static void put_entry(struct build *b, const struct feed *f, const struct page *p, buf *out)
{
    buf_lit(out, "<entry>\n");
    put_element(out, "title", p->title);
    put_id(b, out, p->url);
    put_link(b, out, f->url, p->url, "alternate");
    buf_lit(out, "<updated>");
    put_time(out, changed(p));
    buf_lit(out, "</updated>\n");
    if (p->published != INT64_MIN)
        buf_lit(out, "<published>"), put_time(out, p->published), buf_lit(out, "</published>\n");
    str description = description_of(b, p);
    if (description.len)
        put_element(out, "summary", description);
    buf_lit(out, "</entry>\n");
}

static void make_feed(struct build *b, const struct feed *f, buf *out)
{
    const struct site *site = &b->site;
    arena scratch = ARENA_INIT;
    const struct page **list = arena_new(&scratch, const struct page *, site->page_count);
    size_t n = 0;
    for (size_t i = 0; i < site->page_count; i++) {
        const struct page *p = site->pages[i];
        if (p->language == f->language && !p->made && !each_listed(p) && p->document->key.len &&
            changed(p) != INT64_MIN)
            list[n++] = p;
    }
    qsort(list, n, sizeof *list, newest_first);
    buf_printf(out,
               "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<feed "
               "xmlns=\"http://www.w3.org/2005/Atom\" xml:lang=\"%.*s\">\n",
               STR_ARG(f->language->tag));
    str title = settings_title(&site->settings, f->language->tag);
    put_element(out, "title", title.len ? title : STR("vramdoc"));
    put_id(b, out, f->url);
    put_link(b, out, f->url, f->url, "self");
    put_link(b, out, f->url, b->view_site.homes[f->language->index], "alternate");
    buf_lit(out, "<updated>");
    put_time(out, n ? changed(list[0]) : 0);
    buf_lit(out, "</updated>\n");
    buf_lit(out, "<author>");
    put_element(out, "name",
                site->settings.author.len ? site->settings.author
                : title.len               ? title
                                          : STR("vramdoc"));
    buf_lit(out, "</author>\n");
    for (size_t i = 0; i < n && i < FEED_ENTRIES; i++)
        put_entry(b, f, list[i], out);
    buf_lit(out, "</feed>\n");
    arena_free(&scratch);
}

static void write_feeds(struct build *b)
{
    struct site *site = &b->site;
    for (size_t i = 0; i < site->language_count; i++) {
        if (!b->feeds[i])
            continue;
        struct feed f = {site->languages[i], STR("feed.xml")};
        if (site->by_folder)
            f.url = arena_printf(&site->arena, "%.*s/feed.xml", STR_ARG(f.language->tag));
        uint64_t digest = pages_digest(b, f.language);
        if (output_begin(b, f.url, digest)) {
            buf bytes = BUF_INIT;
            make_feed(b, &f, &bytes);
            output_end(b, f.url, digest, &bytes);
        }
    }
}

static void put_llms_page(struct build *b, const struct page *p, str from, buf *out)
{
    arena a = ARENA_INIT;
    str description = description_of(b, p), url = page_markdown_url(p->url, &a);
    buf_lit(out, "- [");
    buf_str(out, p->title);
    buf_lit(out, "](");
    if (b->site.settings.base_url.len)
        buf_str(out, b->site.settings.base_url), buf_char(out, '/'), buf_str(out, url);
    else
        address_relative(from, url, out);
    buf_str(out, description.len ? STR("): ") : STR(")"));
    buf_str(out, description);
    buf_char(out, '\n');
    arena_free(&a);
}

struct llms {
    const struct language *language;
    str url;
};

// The pages of one language; in the source language's list, the lists of the others, too.
static void make_llms(struct build *b, const struct llms *m, buf *out)
{
    const struct site *site = &b->site;
    str title = settings_title(&site->settings, m->language->tag),
        about = settings_description(&site->settings, m->language->tag);
    buf_printf(out, "# %.*s\n\n", STR_ARG(title.len ? title : STR("Documents")));
    if (about.len)
        buf_printf(out, "> %.*s\n\n", STR_ARG(about));
    buf_printf(out, "## %.*s\n\n", STR_ARG(locale_native_name(m->language->locale)));
    for (size_t i = 0; i < site->document_count; i++) {
        const struct page *p = site->documents[i]->pages[m->language->index];
        if (p && !p->made && !p->robots.len)
            put_llms_page(b, p, m->url, out);
    }
    if (m->language != site->source_language || site->language_count < 2)
        return;
    buf_lit(out, "\n## Optional\n\n");
    for (size_t l = 0; l < site->language_count; l++) {
        const struct language *other = site->languages[l];
        if (other == m->language)
            continue;
        buf_printf(out, "- [%.*s](", STR_ARG(locale_native_name(other->locale)));
        if (site->settings.base_url.len)
            buf_printf(out, "%.*s/", STR_ARG(site->settings.base_url));
        buf_printf(out, "%.*s/llms.txt)\n", STR_ARG(other->tag));
    }
}

static void write_llms(struct build *b)
{
    struct site *site = &b->site;
    for (size_t l = 0; l < site->language_count; l++) {
        struct llms m = {site->languages[l], STR("llms.txt")};
        if (m.language != site->source_language)
            m.url = arena_printf(&site->arena, "%.*s/llms.txt", STR_ARG(m.language->tag));
        uint64_t digest = pages_digest(b, m.language);
        if (output_begin(b, m.url, digest)) {
            buf bytes = BUF_INIT;
            make_llms(b, &m, &bytes);
            output_end(b, m.url, digest, &bytes);
        }
    }
}

void feeds_write(struct build *b)
{
    write_sitemaps(b);
    write_feeds(b);
    write_llms(b);
}
