// What the parts of a build share: the site, the last build's cache, and each document with what
// its render left.
#ifndef GEN_SITE_BUILD_STATE_H
#define GEN_SITE_BUILD_STATE_H

#include "gen/site/output/build.h"
#include "gen/site/incremental/cache.h"
#include "gen/site/incremental/texts.h"
#include "gen/site/output/emit.h"
#include "gen/site/page/page.h"
#include "gen/text/math.h"

struct built_document {
    struct document *document;
    uint64_t digest;  // of everything that its pages show
    str rendered;     // see rendered.h; in the site's arena or in the old cache
    bool dirty;
};

struct rendered_page;

struct build {
    str hosts;       // of other sites, whose pictures pages show
    bool has_media;  // a page has a video
    const struct build_options *options;
    struct build_summary *summary;
    struct site site;
    struct diag *diag;
    struct cache *old;   // NULL: everything is new
    struct texts texts;  // of this build's pages, for search
    bool same_paths;     // old has the very files that are there now, changed or not
    struct emit emit;
    struct view *view;
    struct view_site view_site;
    struct math *math;
    bool *feeds;  // [language_count]
    uint64_t program, outside, addresses, shown;
    struct built_document *documents;  // [site.document_count], in the site's order
    uint32_t *dirty;
    size_t dirty_count;  // places in documents
    struct rendered_page
        *rendered;  // [document_count * language_count], url "" where there is no page; rendered.h
    struct cache_output *outputs;
    size_t output_count, output_cap;  // of this build, beside pages and Markdown copies
    struct emit_file *written;
    size_t written_count, written_cap;  // to emit.work
    str *removed;
    size_t removed_count;
    struct map redirects;  // their urls
    uint64_t *lists;  // [language_count] digests of what lists of a language's pages show; 0: not
                      // known yet
};

// digest.c: what documents show, as numbers; which of them are dirty.
uint64_t digest_outside(const struct build *b);
void digest_site(struct build *b);
uint64_t digest_document(const struct build *b, const struct document *doc);
// Of one language.
uint64_t digest_page(const struct build *b, const struct document *doc, const struct language *l);
// page_texts.c: opens the last build's texts of pages, for search. False where they are missing or
// damaged.
bool page_texts_reopen(struct build *b);
// Begins a new file of them where none is open. False with a message.
bool page_texts_begin(struct build *b);
// Where most of it is of pages that have changed, another one takes its place.
void page_texts_tidy(struct build *b);
// render.c: renders the dirty documents in workers, and takes what they left.
void render_documents(struct build *b);
// site_files.c: pages that no document has, and then everything that is no page.
void site_files_pages(struct build *b);
void site_files_write(struct build *b);
// changed_files.c: one output of the site; digest is of its inputs. False when there is nothing to
// make: they are as they were, or a file of the source has that address. Else its bytes must be
// made, and be given to output_end, which frees them.
bool output_begin(struct build *b, str url, uint64_t digest);
void output_end(struct build *b, str url, uint64_t digest, buf *bytes);
void menu_open(struct build *b);  // menu.c: fills view_site.menus and .calculators
// preview.c: pictures for previews, once the pages are rendered.
void preview_write(struct build *b);
void status_page_write(struct build *b);  // status_page.c
// Notes that an output is as o says, whoever wrote it.
void build_keep(struct build *b, struct cache_output o);
// is_new: the last build left no such file.
void build_written(struct build *b, str url, bool is_new);
// changed_files.c: assets (of the templates' those that a page asks for), and what the last build
// wrote that is no longer there.
void changed_files_copy(struct build *b);
void changed_files_find_removed(struct build *b);
// save_cache.c: tells the cache what this build read and wrote, once that is in place.
void save_cache(struct build *b);
// anchors.c: anchors of other pages.
void anchors_check(struct build *b);

#endif
