// What a template sees of a page: values in C, made when asked for, and the templates compiled once for all pages.
#ifndef GEN_SITE_VIEW_H
#define GEN_SITE_VIEW_H

#include "gen/site/site.h"
#include "gen/text/markdown.h"

struct view_link { str title, url; };                      // every url here is relative to the page, unless said otherwise
struct view_child { str title, description, url; int64_t updated; str lang; };  // lang differs on an untranslated child
struct view_translation { str tag, name, url; bool current, exists; };
struct view_alternate { str hreflang, url; };              // absolute
struct view_pair { str key, value; };
struct view_figure { str name, text, kind, source_html, anchor; };

// Lists that cost something: filled by need() when a template asks for them the first time.
enum view_list { VIEW_TRANSLATIONS, VIEW_ALTERNATES, VIEW_CRUMBS, VIEW_CHILDREN, VIEW_PROVENANCE, VIEW_FIGURES,
                 VIEW_JSON_LD, VIEW_LISTS };

struct view_page {
    const struct language *language;       // of the interface; page->language is the text's, and differs on a fallback page
    const struct document *document;
    const struct page *page;               // the text that is shown; NULL on pages that no file stands for (404, redirects)
    str url;                               // of this page below the site, "es/rtx-4070.html"
    str title, description, kind, layout, body;
    bool is_fallback, has_math;
    str canonical, edit_url, report_url, markdown_url, feed_url, search_index, image;   // "" for none
    struct view_link previous, next;       // url "" for none
    uint32_t reading_minutes, stale_count;
    int64_t updated, published;            // Unix seconds; INT64_MIN for unknown
    const struct md_heading *toc; size_t toc_count;

    void (*need)(struct view_page *p, enum view_list list);   // once a list and page; NULL when all are filled
    const struct view_translation *translations; size_t translation_count;
    const struct view_alternate *alternates;     size_t alternate_count;
    const struct view_link *crumbs;              size_t crumb_count;
    const struct view_child *children;           size_t child_count;
    const struct view_pair *provenance;          size_t provenance_count;
    const struct view_figure *figures;           size_t figure_count;
    str json_ld;
    void *ctx;                             // of need()
};

struct view;

// Reads and compiles every *.html of settings.templates_dir. In the parent, before workers fork. NULL after errors were recorded.
struct view *view_open(const struct site *site, struct diag *d);
void view_free(struct view *v);
// Forgets what {% once "document" %} kept; the worker calls it before a document's first page.
void view_begin_document(struct view *v);
// Renders layout ("page" when there is no such template) and appends HTML. False after errors were recorded.
bool view_render(struct view *v, const struct site *site, struct view_page *p, struct diag *d, buf *out);
// Of all templates' bytes: part of every page's input digest.
uint64_t view_hash(const struct view *v);

#endif
