// Renders documents in workers: one job is one document with all its languages, so that what they
// share is made once.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gen/base/workers.h"
#include "gen/site/output/build_state.h"
#include "gen/site/source/include.h"
#include "gen/site/source/scan.h"
#include "gen/site/documents/nav.h"
#include "gen/site/source/read.h"
#include "gen/site/output/rendered.h"
#include "gen/site/output/search.h"
#include "gen/site/page/page_markdown.h"
#include "gen/text/math.h"

// What a worker keeps from job to job.
struct rendering {
    struct build *build;
    const str *words;  // of page_words()
    arena arena;       // of a document
    buf text, source_text, html, markdown, body, search, pages;
    buf texts;                         // of the document's pages, for search
    struct unit_maker units;           // for search
    struct page_output source_output;  // for translations
    size_t done;
};

static bool read_text(struct rendering *w, const struct page *p, struct diag *d, buf *memory,
                      str *out)
{
    const struct site *site = &w->build->site;
    struct included page;
    *out = p->text;
    if (p->made || p->text.len)
        return true;
    if (include_page(site, p->source, memory, &w->arena, d, &page) == 0) {
        *out = page.text;
        if (page.may)
            diag_pieces(d, page.text, page.pieces, page.count);
        return true;
    }
    diag_add(d, errno == EFBIG ? D_FILE_TOO_LARGE : D_IO_READ,
             DIAG_FILE(site_path(site, p->source, &w->arena)), "%s", strerror(errno));
    return false;
}

// What the last build wrote for url: nothing has to be written where the bytes are the same.
static bool find_old(const struct build *b, const struct document *doc, str url,
                     struct rendered_page *old)
{
    const struct cache_document *c =
        b->old && !b->emit.fresh ? cache_document_find(b->old, doc->key) : NULL;
    if (!c)
        return false;
    struct rendered_reader r = rendered_open(c->rendered);
    while (rendered_next(&r, old))
        if (str_eq(old->url, url))
            return true;
    return false;
}

static void write_page(struct rendering *w, const struct document *doc, const struct language *l,
                       str url, struct page_output *o, buf *rendered)
{
    struct build *b = w->build;
    struct rendered_page p = {.language = l->tag,
                              .url = url,
                              .description = o->description,
                              .size = o->html.len,
                              .markdown_size = o->markdown.len,
                              .search = buf_view(&w->search),
                              .text_at = w->texts.len,
                              .assets = view_assets(b->view)};
    struct rendered_page old;
    bool known = find_old(b, doc, url, &old);
    p.hash = str_hash(buf_view(&o->html));
    p.search_hash = search_hash(&p);
    p.markdown_hash = str_hash(buf_view(&o->markdown));
    p.written = !known || old.hash != p.hash;
    p.markdown_written = !known || old.markdown_hash != p.markdown_hash;
    p.is_new = !known;
    if (p.written)
        emit_write(&b->emit, url, buf_view(&o->html));
    if (p.markdown_written)
        emit_write(&b->emit, page_markdown_url(url, &w->arena), buf_view(&o->markdown));
    rendered_page(rendered, &p, o);
    buf_str(&w->texts, p.search);
}

static void render_language(struct rendering *w, struct page_renderer *r,
                            const struct document *doc, const struct language *l, buf *rendered)
{
    const struct page *p = nav_page(r->site, doc, l);
    bool is_source = p == doc->source && l == p->language;
    str text = r->source_text;
    struct page_output o = {.html = w->html, .markdown = w->markdown, .body = w->body};
    buf_clear(&o.html);
    buf_clear(&o.body);
    buf_clear(&o.markdown);
    if (p != doc->source && !read_text(w, p, r->diag, &w->text, &text))
        return;
    page_render(r, doc, l, text, &o);
    buf_clear(&w->search);
    search_page(&w->units, r->site, p, &o, &w->search);
    write_page(w, doc, l, nav_url(r->site, doc, l, &w->arena), &o, rendered);
    w->html = o.html;
    w->markdown = o.markdown;
    w->body = o.body;
    if (!is_source)
        return;
    str *ids = arena_new(&w->arena, str, o.md.heading_count);
    for (size_t i = 0; i < o.md.heading_count; i++)
        ids[i] = o.md.headings[i].id;
    r->ids = ids;
    r->id_count = o.md.heading_count;
    w->source_output = o;
    r->source = &w->source_output.md;
}

static size_t count_pages(const struct site *site, const struct document *doc)
{
    size_t n = 0;
    for (size_t i = 0; i < site->language_count; i++)
        n += nav_page(site, doc, site->languages[i]) != NULL;
    return n;
}

static void render_document(struct rendering *w, const struct document *doc, struct diag *d,
                            buf *rendered)
{
    struct build *b = w->build;
    const struct site *site = &b->site;
    struct page_renderer r = {.site = site,
                              .view = b->view,
                              .feeds = b->feeds,
                              .words = w->words,
                              .math = b->math,
                              .diag = d,
                              .parity = b->options->strict || doc->page_lua.len,
                              .arena = &w->arena};
    rendered_count(rendered, count_pages(site, doc));
    if (!read_text(w, doc->source, d, &w->source_text, &r.source_text))
        return;
    r.figures = figures_load(site, doc, d);
    const struct language *first = doc->source->language;
    render_language(w, &r, doc, first, rendered);
    for (size_t i = 0; i < site->language_count; i++)
        if (site->languages[i] != first && nav_page(site, doc, site->languages[i]))
            render_language(w, &r, doc, site->languages[i], rendered);
    if (doc->page_lua.len)
        figures_check(r.figures, d);
    figures_free(r.figures);
}

static void job(void *ctx, size_t index, buf *out)
{
    struct rendering *w = ctx;
    struct build *b = w->build;
    struct diag *d = diag_new((struct diag_options){0});
    buf said = BUF_INIT;
    uint64_t texts_from = 0;
    b->emit.diag = d;
    buf_clear(&w->pages), buf_clear(&w->texts);
    render_document(w, b->documents[b->dirty[index]].document, d, &w->pages);
    if (w->texts.len && !texts_add(&b->texts, buf_view(&w->texts), &texts_from))
        diag_add(d, D_IO_WRITE, DIAG_FILE(b->site.settings.output_dir), "%s",
                 strerror(errno));  // the cache lies beside it: one message for a full disk
    if (diag_count(d, DIAG_NOTE))
        diag_pack(d, &said);
    rendered_begin(out, texts_from, buf_view(&said));
    buf_str(out, buf_view(&w->pages));
    buf_free(&said);
    diag_free(d);
    arena_reset(&w->arena);
}

static void end_worker(void *ctx)
{
    const struct rendering *w = ctx;
    math_rest(w->build->math);
}

static void show_progress(struct rendering *w)
{
    const struct build *b = w->build;
    if (!b->options->progress || (++w->done % 16 && w->done != b->dirty_count))
        return;
    buf line = BUF_INIT;
    buf_printf(&line, "\r%zu of %zu documents", w->done, b->dirty_count);
    if (w->done == b->dirty_count)
        buf_lit(&line, "\r\033[K");
    diag_say(buf_view(&line));
    buf_free(&line);
}

static void take_written(struct build *b, str rendered)
{
    struct rendered_reader r = rendered_open(rendered);
    struct rendered_page p;
    while (rendered_next(&r, &p)) {
        b->summary->rendered++;
        if (p.written)
            build_written(b, p.url, p.is_new);
        if (p.markdown_written)
            build_written(b, page_markdown_url(p.url, &b->site.arena), p.is_new);
    }
    if (r.said.len)
        diag_unpack(b->diag, r.said);
}

static void result(void *ctx, size_t index, enum workers_fate fate, int signal, str bytes)
{
    struct rendering *w = ctx;
    struct build *b = w->build;
    struct built_document *doc = &b->documents[b->dirty[index]];
    str file = site_path(&b->site, doc->document->source->source, &b->site.arena);
    if (fate == WORKERS_TIMED_OUT)
        diag_add(b->diag, D_PAGE_TIMEOUT, DIAG_FILE(file), "%u ms",
                 (unsigned)b->site.settings.page_timeout_ms);
    if (fate == WORKERS_CRASHED && signal)
        diag_add(b->diag, D_PAGE_CRASH, DIAG_FILE(file), "signal %d", signal);
    if (fate == WORKERS_CRASHED && !signal)
        diag_add(b->diag, D_PAGE_CRASH, DIAG_FILE(file),
                 "memory ran out; limits.page_memory allows more");
    doc->rendered = arena_str(&b->site.arena, bytes);
    take_written(b, doc->rendered);
    show_progress(w);
}

void render_documents(struct build *b)
{
    struct rendering w = {.build = b,
                          .words = page_words(&b->site, &b->site.arena),
                          .arena = ARENA_INIT,
                          .text = BUF_INIT,
                          .source_text = BUF_INIT,
                          .html = BUF_INIT,
                          .markdown = BUF_INIT,
                          .body = BUF_INIT,
                          .search = BUF_INIT,
                          .pages = BUF_INIT,
                          .texts = BUF_INIT,
                          .units = {.text = BUF_INIT, .units = BUF_INIT}};
    struct workers_plan plan = {
        .job_count = b->dirty_count,
        .workers = b->options->jobs,
        .job_timeout_ms = b->site.settings.page_timeout_ms,
        .memory_bytes = b->site.settings.page_memory_bytes,
        .end = end_worker,
        .job = job,
        .result = result,
        .ctx = &w,
    };
    struct diag *outer = b->emit.diag;
    if (b->dirty_count && workers_run(&plan) < 0)
        diag_add(b->diag, D_IO_READ, DIAG_FILE(b->site.settings.content_dir), "no worker: %s",
                 strerror(errno));
    b->emit.diag = outer;
    unit_maker_free(&w.units);
    arena_free(&w.arena);
    buf_free(&w.text), buf_free(&w.source_text), buf_free(&w.html), buf_free(&w.markdown),
        buf_free(&w.search), buf_free(&w.body);
    buf_free(&w.pages), buf_free(&w.texts);
}
