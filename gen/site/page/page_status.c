// The table of translations: each page's blocks against its original's, by the records beside them.
#include "gen/site/page/page_status.h"

#include "gen/site/documents/nav.h"
#include "gen/site/source/include.h"
#include "gen/site/source/scan.h"
#include "gen/site/translation/staleness.h"
#include "gen/text/address.h"
#include "gen/base/escape.h"

struct table {
    const struct site *site;
    const struct language *language;  // of its words
    str url;
    arena page;          // of one document
    struct diag *quiet;  // what is wrong in pages is said where they are rendered
    buf *out;
};

static bool scan(struct table *t, const struct page *p, struct md_result *md)
{
    struct md_options o = site_markdown(t->site, p);
    buf bytes = BUF_INIT;
    struct included page = {0};
    bool ok = include_page(t->site, p->source, &bytes, &t->page, t->quiet, &page) == 0;
    str text = arena_str(&t->page, page.text);
    buf_free(&bytes);
    return ok && md_scan(text, p->body < text.len ? p->body : text.len,
                         site_path(t->site, p->source, &t->page), &o, &t->page, t->quiet, md);
}

static void put_word(struct table *t, const char *key)
{
    buf word = BUF_INIT;
    catalog_format(t->language->catalog, str_c(key), NULL, 0, &word, NULL);
    escape_text(t->out, buf_view(&word));
    buf_free(&word);
}

static void put_link(struct table *t, const struct document *doc, const struct language *l)
{
    buf address = BUF_INIT;
    address_relative(t->url, nav_url(t->site, doc, l, &t->page), &address);
    buf_lit(t->out, "<a href=\"");
    escape_url(t->out, buf_view(&address));
    buf_lit(t->out, "\" hreflang=\"");
    escape_attribute(t->out, l->tag);
    buf_lit(t->out, "\">");
    buf_free(&address);
}

// "12 / 14": blocks that are fresh, of the original's.
static void put_count(struct table *t, const struct page *p, const struct md_result *source)
{
    struct md_result own;
    struct staleness *s =
        scan(t, p, &own) ? staleness_read(t->site, p, source, &own, t->quiet, &t->page) : NULL;
    size_t fresh = 0;
    if (!s) {
        put_word(t, "status.unknown");
        return;
    }
    for (size_t i = 0; i < s->count; i++)
        fresh += s->blocks[i].state == BLOCK_FRESH;
    locale_integer(t->language->locale, (int64_t)fresh, t->out);
    buf_lit(t->out, " / ");
    locale_integer(t->language->locale, (int64_t)source->block_count, t->out);
}

static void put_cell(struct table *t, const struct document *doc, const struct language *l,
                     const struct md_result *source)
{
    const struct page *p = doc->pages[l->index];
    buf_lit(t->out, "<td>");
    if (p == doc->source) {
        put_link(t, doc, l);
        buf_lit(t->out, "✓</a>");
    } else if (p && source) {
        put_link(t, doc, l);
        put_count(t, p, source);
        buf_lit(t->out, "</a>");
    } else {
        put_word(t, "status.missing");
    }
    buf_lit(t->out, "</td>");
}

static void put_row(struct table *t, const struct document *doc)
{
    struct md_result source;
    bool read = scan(t, doc->source, &source);
    buf_lit(t->out, "<tr><th scope=\"row\">");
    escape_text(t->out, nav_title(t->site, doc, t->language));
    buf_lit(t->out, "</th>");
    for (size_t i = 0; i < t->site->language_count; i++)
        put_cell(t, doc, t->site->languages[i], read ? &source : NULL);
    buf_lit(t->out, "</tr>\n");
    arena_reset(&t->page);
}

void page_status(const struct site *site, const struct language *l, str url, buf *out)
{
    struct table t = {.site = site,
                      .language = l,
                      .url = url,
                      .page = ARENA_INIT,
                      .out = out,
                      .quiet = diag_new((struct diag_options){.quiet = true})};
    buf_lit(out, "<p>");
    put_word(&t, "status.text");
    buf_lit(out, "</p>\n<div class=\"table\" role=\"region\" tabindex=\"0\" "
                 "aria-labelledby=\"status-title\">\n<table>\n");
    buf_lit(out, "<thead>\n<tr><td></td>");
    for (size_t i = 0; i < site->language_count; i++) {
        buf_lit(out, "<th scope=\"col\" lang=\"");
        escape_attribute(out, site->languages[i]->tag);
        buf_lit(out, "\">");
        escape_text(out, locale_native_name(site->languages[i]->locale));
        buf_lit(out, "</th>");
    }
    buf_lit(out, "</tr>\n</thead>\n<tbody>\n");
    for (size_t i = 0; i < site->document_count; i++)
        if (!site->documents[i]->source->made)
            put_row(&t, site->documents[i]);
    buf_lit(out, "</tbody>\n</table>\n</div>\n");
    arena_free(&t.page);
    diag_free(t.quiet);
}

uint64_t page_status_digest(const struct site *site)
{
    uint64_t h = 0;
    for (size_t i = 0; i < site->page_count; i++) {
        const struct page *p = site->pages[i];
        uint64_t both[] = {h, p->content_hash, p->sidecar, str_hash(p->url)};
        h = str_hash((str){(const char *)both, sizeof both});
    }
    return h;
}
