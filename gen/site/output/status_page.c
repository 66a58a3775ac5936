// The page that shows how far each translation is, where the settings ask for it.
#include "gen/site/output/build_state.h"
#include "gen/site/page/page.h"
#include "gen/site/page/page_status.h"

#define STATUS_URL "status.html"

static void make_status(struct build *b, buf *out)
{
    const struct language *l = b->site.source_language;
    arena scratch = ARENA_INIT;
    struct page_output nothing = {0};
    struct page_renderer r = {
        .site = &b->site, .view = b->view, .feeds = b->feeds, .diag = b->diag, .arena = &scratch};
    struct front none = {0};
    struct page_context c = {&r, &nothing, &none};
    struct view_page v = {.language = l,
                          .document = map_get(&b->site.document_by_key, STR_NONE),
                          .kind = STR("status"),
                          .layout = STR("status"),
                          .url = STR(STATUS_URL),
                          .updated = INT64_MIN,
                          .published = INT64_MIN,
                          .current = l->index};
    buf title = BUF_INIT, body = BUF_INIT;
    catalog_format(l->catalog, STR("status.title"), NULL, 0, &title, NULL);
    page_status(&b->site, l, v.url, &body);
    v.title = buf_view(&title);
    v.body = buf_view(&body);
    page_fill_lists(&v, &c);
    view_render(b->view, &v, b->diag, out);
    buf_free(&title);
    buf_free(&body);
    arena_free(&scratch);
}

// A document of that address comes before it.
void status_page_write(struct build *b)
{
    const struct document *home = map_get(&b->site.document_by_key, STR_NONE);
    bool wanted =
        b->site.settings.status && b->site.language_count > 1 && view_has(b->view, STR("status"));
    if (!wanted || map_has(&b->site.page_by_url, STR(STATUS_URL)))
        return;
    uint64_t both[] = {digest_page(b, home, b->site.source_language), page_status_digest(&b->site)};
    uint64_t digest = str_hash((str){(const char *)both, sizeof both});
    if (output_begin(b, STR(STATUS_URL), digest)) {
        buf bytes = BUF_INIT;
        make_status(b, &bytes);
        output_end(b, STR(STATUS_URL), digest, &bytes);
    }
}
