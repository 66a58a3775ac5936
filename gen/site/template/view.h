// What a template sees of a page: values in C, put into Lua when they are read, and the templates
// compiled once for all pages.
#ifndef GEN_SITE_VIEW_H
#define GEN_SITE_VIEW_H

#include "gen/site/source/site.h"
#include "gen/text/markdown.h"

// Every url is a path below the output folder ("es/rtx-4070.html", the view makes it relative to
// the page), and "" for none. An address goes out as it is. What a page shows of others is a list
// of rows: the structures are made of them, and the digest by which a page is rendered again
// (output/digest.c) goes through the same rows, so that no member can be forgotten there.
#define VIEW_LINK(STR, TIME) STR(title) STR(url)
#define VIEW_CHILD(STR, TIME) \
    STR(title) STR(description) STR(url) TIME(updated) STR(lang) TIME(published)
// lang: of an untranslated child another
#define VIEW_STR(name) str name;
#define VIEW_TIME(name) int64_t name;
struct view_link {
    VIEW_LINK(VIEW_STR, VIEW_TIME)
};
struct view_child {
    VIEW_CHILD(VIEW_STR, VIEW_TIME)
};
#undef VIEW_STR
#undef VIEW_TIME
struct view_translation {
    str tag, name, url;
    bool exists;
};
struct view_alternate {
    str hreflang, address;
};
struct view_pair {
    str key, value;
};
struct view_figure {
    str name, kind;
    str text;         // plain
    str source_html;  // HTML
    str anchor;       // of its row in the table of sources
    str cite;         // where it is first
};

// Lists that cost something: a page fills those that view_lists() wants.
enum view_list {
    VIEW_TRANSLATIONS,
    VIEW_ALTERNATES,
    VIEW_CRUMBS,
    VIEW_CHILDREN,
    VIEW_PROVENANCE,
    VIEW_FIGURES,
    VIEW_JSON_LD,
    VIEW_CONTENTS,
    VIEW_LISTS
};
#define VIEW_BIT(list) (1u << (list))
#define VIEW_ALL (VIEW_BIT(VIEW_LISTS) - 1)

struct view_page {
    // Of the interface; page->language is the text's, and differs on a fallback page.
    const struct language *language;
    const struct document *document;  // NULL on pages of no document (404)
    const struct page *page;          // the text that is shown; NULL on pages without a file
    str url;                          // of this page, below the output folder
    str title, lede, description, kind, layout, robots;
    str body;  // HTML
    bool is_fallback, has_math;
    bool is_lost;  // shown for any address that is not there: urls start at base_url's path, if
                   // known
    str canonical, edit_url, report_url;        // addresses
    str markdown_url, feed_url, image, target;  // urls; target: where a redirect leads
    struct view_link previous, next;            // url "" for none
    uint32_t reading_minutes, stale_count;
    uint32_t unmeasured;         // figures without a record; filled with the figures
    int64_t updated, published;  // Unix seconds; INT64_MIN for unknown
    const struct md_heading *toc;
    size_t toc_count;

    unsigned lists;  // VIEW_BIT of those below that are filled; any other may not be read
    // The same list, in the same order, for every language of a document; translations[i].url and
    // the rest may not depend on the page.
    const struct view_translation *translations;
    size_t translation_count;
    size_t current;  // the page's own place in translations
    const struct view_alternate *alternates;
    size_t alternate_count;  // the same for every language, too
    const struct view_link *crumbs;
    size_t crumb_count;
    const struct view_child *children;
    size_t child_count;
    const struct view_pair *provenance;
    size_t provenance_count;
    const struct view_figure *figures;
    size_t figure_count;
    str csp;      // where it differs from that of the site
    str json_ld;  // JSON that may be in a script element
};

// The menu of every page of a language: words and url of each document, and its key.
struct view_menu {
    const struct view_link *links;
    const str *keys;
    size_t count;
};

// A file of the templates' folder; url: "" for none.
struct view_asset {
    str name, url;
};

// What is the same for all pages. Must outlive the view.
struct view_site {
    str generator, csp;
    const str *homes;               // [site.language_count]: url of the start page
    const struct view_menu *menus;  // [site.language_count]; NULL for none at all
    const str *calculators;         // [site.language_count]: url of the page whose layout is the
                                    // calculator, "" for none
    // [site.language_count]: url of the index, "" for none; NULL for none at all.
    const str *search_index;
    const struct view_asset *assets;  // by name
    size_t asset_count;
};

struct view;

// Reads and compiles every *.html of settings.templates_dir. In the parent, before workers fork.
// NULL after errors were recorded.
struct view *view_open(const struct site *site, const struct view_site *vs, struct diag *d);
void view_free(struct view *v);
// Whether there is a template of this name.
bool view_has(const struct view *v, str layout);
// VIEW_BIT of each list that some template names.
unsigned view_lists(struct view *v);
// Renders layout ("page" when there is no such template) and appends HTML. Pages of one document
// should follow each other. False after errors were recorded.
bool view_render(struct view *v, const struct view_page *p, struct diag *d, buf *out);
// Which files of the templates' folder the last rendered page asked for: bit n & 7 of byte n / 8 is
// that of place n. Valid until the next page is rendered.
str view_assets(const struct view *v);
void view_assets_clear(struct view *v);
// Of all templates' bytes: part of every page's input digest.
uint64_t view_hash(const struct view *v);

#endif
