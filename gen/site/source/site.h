// The site as a whole: the only structures that the files of gen/site share.
#ifndef GEN_SITE_SITE_H
#define GEN_SITE_SITE_H

#include "gen/base/diag.h"
#include "gen/base/fs.h"
#include "gen/base/map.h"
#include "gen/site/kinds/kind.h"
#include "gen/text/catalog.h"
#include "gen/text/front.h"
#include "gen/text/locale.h"

struct language {
    str tag;  // "es"
    struct locale *locale;
    struct catalog *catalog;
    uint32_t index;  // in site.languages, settings' order, then by tag
};

// What a page shows of its file. The digest by which it is rendered again goes through the same
// rows.
//   source        path below the content folder
//   layout        "" for the usual one
//   subject       what it is about, where a file makes several pages: "NVIDIA H200"; see each.h
//   robots        "noindex": not for search engines; "" for all others
//   content_hash  of the file's bytes
//   sidecar       changes with the record of its source, see staleness.h; 0 without one
//   updated, published   Unix seconds; INT64_MIN unknown
#define PAGE_SHOWN(STR, HASH, TIME) \
    STR(source) \
    STR(title) \
    STR(description) \
    STR(layout) \
    STR(subject) STR(robots) HASH(content_hash) HASH(sidecar) TIME(updated) TIME(published)
#define PAGE_STR(name) str name;
#define PAGE_HASH(name) uint64_t name;
#define PAGE_TIME(name) int64_t name;

// One file of one language. Kept small: a site has 100,000 of them.
struct page {
    PAGE_SHOWN(PAGE_STR, PAGE_HASH, PAGE_TIME)
    struct document *document;
    struct language *language;
    str url;              // path below the output folder, "es/rtx-4070.html"
    struct front *front;  // NULL for pages without any
    struct fs_stat stat;
    int64_t order;                 // INT64_MIN not given
    size_t body;                   // offset of the Markdown
    str slug;                      // "" for the usual one
    const struct tree_root *root;  // the folder of pages that it lies in
    str address;  // where its own generator would have it, without the language; "" unless it says
                  // so
    str categories;  // of a post, as its address has them: "linux/shell"
    str label;       // its name in lists of contents; "" for the title
    str each;        // the word of `each`, where its file makes several pages
    str *aliases;    // older addresses that lead here
    uint32_t alias_count;
    str text;              // of its file; "" where it is read again to be rendered
    str meta;              // packed front matter, see read.h
    str tag, date;         // what its path says: language and date of a post, "" for neither
    str key;               // what its path says of its document
    uint32_t index;        // in site.pages; pages without a file come last
    bool unchanged;        // its file is as the last build read it
    bool rendered_always;  // whatever a folder above it says
    bool broken;           // it could not be read, its errors are recorded
    bool made;             // it has no file: a home or section page that lists what is there
    uint8_t left_out;      // enum publish: why it is no part of the site
};
#undef PAGE_STR
#undef PAGE_HASH
#undef PAGE_TIME

// A group of translations of one text.
struct document {
    str key;      // "rtx-4070"
    str section;  // folder of the key, "" at the top
    int64_t order;
    uint32_t index;           // in site.documents
    struct page **pages;      // [site.language_count]: NULL where there is no translation
    struct document *parent;  // of its section; NULL for the start page
    struct page *source;      // in the site's source language, or the first that exists
    bool is_section;  // the page of a folder: what has this key as its section are its children
    str page_lua;     // path of its page.lua; "" without
    str path;  // of its address behind the language, "rtx-4070.html"; translations may have another
               // name
    uint32_t first_child, child_count;  // its children in site.documents, when it is a section
    uint32_t page_count;                // translations that exist
    uint32_t contents;                  // its place in site->contents and 1; 0 for none
};

// The words of settings_value.c's search choices.
enum search_kind { SEARCH_AUTO, SEARCH_FULL, SEARCH_TITLES, SEARCH_NONE };

// What site.yaml can say: settings.def lists the keys.
struct settings {
    str title, base_url, source_language, repository, report_url, author;
    str description, edit_url, branch, image;
    struct map titles, descriptions;  // language -> str *, where they differ by language
    struct map navigation;  // language -> str *: the menu of every page, a line each, "KEY = words"
    // Language -> str *: groups for search, a line each, "OOM = out of memory".
    struct map synonyms;
    str *languages;
    size_t language_count;  // as listed; empty: what the pages say
    str *order;
    size_t order_count;  // keys of documents in reading order, before all others
    str *ignore;
    size_t ignore_count;  // patterns of content paths that are left out
    str file;             // of the settings, "" for none
    // As paths from the current folder.
    str content_dir, output_dir, templates_dir, i18n_dir, cache_dir;
    str static_dir;  // the same: of files that keep their names; "" looks for static/ and public/
    str templates_looked;  // where the program looked for its own templates in vain; "" when they
                           // are there or were named
    bool pretty;           // NAME/index.html instead of NAME.html
    bool fallback;         // write untranslated pages in the source language, with a notice
    bool status;           // write a page of all translations
    bool git;              // ask git when a page was last changed
    // As the settings or the command line say; NULL: what the tree's marks say.
    const struct tree_kind *kind;
    enum diag_level link_level;
    bool latin_digits;  // numbers and dates in 0 to 9 in every language
    // Pictures of other sites are shown; given: the settings say so.
    bool remote_media, remote_given;
    bool future;  // pages whose date is to come are published
    enum search_kind search;
    unsigned math;         // MD_MATH_*: how formulas are written
    unsigned admonitions;  // MD_ADMONITIONS, MD_CONTAINERS
    size_t max_page_bytes;
    uint64_t page_timeout_ms, page_memory_bytes;
    // Path or pattern -> str *, key of the document, from the settings' mapping.
    struct map document_of;
    uint64_t hash;  // of everything above that shows in the output
};

// A file that keeps its name: from the static folder, or one of those that belong to a site's root.
struct static_file {
    str name;       // path below the content folder, or below the static folder's parent
    str path, url;  // from the current folder; below the output folder
    struct fs_stat stat;
};

struct site {
    arena arena;  // everything below lives here until the next load
    struct settings settings;
    // The tree at the side of pages, see contents.h; NULL for a small site.
    struct contents *contents;
    struct map wiki_names;          // names in lower case -> what has them, see wiki_links.c
    struct tree_index *tree_index;  // of addresses, see tree_index.h; NULL where links need none
    struct tree *tree;  // what kind of tree the content folder is, and what follows from that
    struct language **languages;
    size_t language_count;
    struct document **documents;
    size_t document_count;  // in reading order
    struct page **pages;
    size_t page_count;  // by path; then those without a file
    struct page **read_pages;
    size_t read_count;          // all that were read, drafts too, by path
    struct fs_list files;       // everything below the content folder
    struct map page_by_source;  // content path -> struct page
    // Address -> struct page; for fallback pages the page whose text they show.
    struct map page_by_url;
    struct map document_by_key;  // key -> struct document
    struct language *source_language;
    bool by_folder;              // addresses start with the language: "es/..."
    struct assets *asset_index;  // see assets.h
    struct measurements {
        struct measurement *items;
        size_t count, cap;
    } measurements;         // newest first; see measurements.h
    struct fs_list assets;  // content files that are no pages: copied when something refers to them
    struct static_file *statics;
    size_t static_count, static_cap;
    str excluded[5];  // folders below the content folder that are no content; "" for none
    // Since the last build nothing but the text of pages has changed; see known.h.
    bool only_bodies;
    bool drafts;  // drafts, and pages whose date is to come, are shown
    // Unix seconds; from since on and before until the same pages are published.
    int64_t now, since, until;
    // Of the words behind all others, when English is no language of the site.
    struct locale *english_locale;
    struct catalog *english;
    str catalogs_said;  // packed messages about all catalogs
    struct diag *diag;
};

#endif
