// What kind of tree a folder of Markdown is: for which generator it was written, and what follows
// from that generator's conventions and from the tree's own configuration. Configurations that are
// programs are not run: named literals are read.
#ifndef GEN_SITE_KIND_H
#define GEN_SITE_KIND_H

#include "gen/base/buf.h"
#include "gen/base/map.h"
#include "gen/text/markdown.h"

// What a kind's addresses are like, and what its pages may hold.
enum kind_flag {
    KIND_MDX = 1,          // .mdx files are pages
    KIND_LOWER = 2,        // addresses are in lower case
    KIND_BUNDLES = 4,      // beside an index.md lie files of its page, no pages
    KIND_STATIC_ALL = 8,   // files beside the pages are reached by their path, too
    KIND_FOREIGN = 16,     // of a generator with conventions of its own
    KIND_UNDERSCORE = 32,  // names that begin with an underscore are pages
    KIND_POSTS =
        64,  // posts with dates in their names, whose language front matter says in several ways
    KIND_REFERENCES = 128,    // front matter says which pages are translations of each other
    KIND_ALIAS_BESIDE = 256,  // an alias without a slash in front is beside the page
    KIND_README_INDEX = 512,  // a link to index.md means README.md, where that is the folder's page
    KIND_IDS = 1024,          // "id:" of front matter is the last part of an address
    KIND_BASE_WRITTEN = 4096,  // links are written with the base path: others leave the site
    KIND_OWN_HEADING = 16384,  // a page shows its own heading rather than the title of front matter
    KIND_HERO = 8192,          // the words of a start page are in its front matter
    KIND_VAULT = 32768,        // aliases are other names of a note, no addresses
    KIND_FRONT_OPEN = 65536,   // front matter that is all of a file may lack its last line
    KIND_SLUG_WHOLE = 2048,    // "slug:" of front matter is a whole address, without a slash, too
};

struct tree;

// A row of kinds.def.
struct tree_kind {
    const char *name;
    const char *marks;   // names of the files that a tree of this kind has, separated by spaces
    unsigned flags;      // enum kind_flag
    unsigned syntax;     // enum md_foreign: what its pages may hold that is not read
    enum md_slug slugs;  // how ids of headings are made, unless a tree says otherwise
    unsigned math,
        admonitions;  // MD_MATH_*, where the tree turns formulas on; MD_ADMONITIONS, MD_CONTAINERS
    void (*read)(struct tree *t);
};

// A folder whose Markdown files are pages.
struct tree_root {
    str folder;       // below the content folder, without a slash at its end; "" for itself
    str language;     // of all its pages, as the tree writes it; "" where names may say it
    str prefix;       // in front of their addresses and keys: "blog"
    str address;      // of the language in the tree's own addresses: "fr"; "" at the root
    bool numbers;     // "01-intro" is intro
    bool blog;        // names may begin with a date
    bool listed;      // its own contents say which of its files are pages
    bool collection;  // of Jekyll's: its documents are no pages to defaults and patterns
    str title;        // what its first page is called where others name it; "" for the page's own
    str permalink;    // pattern of addresses, "/news/:year/:title/"; "" without one
};

// What a configuration says of pages that do not say it themselves: Jekyll's defaults.
struct tree_default {
    str path;                 // a folder, a file or a pattern below the content folder; "" for all
    str type;                 // "posts", "pages" or a collection; "" for all
    str language, permalink;  // "" where it says none
};

// An older address that the tree leads on.
struct tree_redirect {
    str from, to;  // addresses below the site, as they are written
    bool by_host;  // the server reads them from a file: no page is made
};

// What a server leads on by a pattern, or to another site.
struct tree_pattern {
    str from;  // "/old/*", "/:year/:name"; a star is at its end
    str to;    // "/new/:splat", "https://example.org/:name"
};

// A line of the tree's own contents. A section has no file.
struct tree_entry {
    str title;       // "" for the page's own
    str file;        // below the content folder; "" for a section or an address
    str url;         // of another site; "" without
    str address;     // that a page without such a file has by its front matter; "" without
    uint32_t depth;  // 0 at the top
};

// What the beginning of a destination stands for: "~/" for "src/".
struct tree_alias {
    str from, to;  // to: below the content folder
};

// What a title of the contents is in another language.
struct tree_word {
    str language, title, words;
};

// How pages name files whose lines are to stand in their place; MDX and kramdown are no lines of
// files, but shapes that are put in.
enum tree_includes {
    INCLUDE_NOTHING,
    INCLUDE_SNIPPETS,
    INCLUDE_MDBOOK,
    INCLUDE_VITEPRESS,
    INCLUDE_GITBOOK,
    INCLUDE_MDX,
    INCLUDE_KRAMDOWN,
    INCLUDE_HUGO,
};

// How pages name values that are written elsewhere in the tree.
enum tree_values {
    VALUES_NOTHING,
    VALUES_LIQUID,  // {{ site.title }}, {{ page.version }}, {{ site.data.links.home }}
    VALUES_MACROS,  // {{ version }}: of the settings, or of the page
    VALUES_BOOK,    // {{ book.version }}: of the settings alone
    VALUES_PARAM,   // {{< param "version" >}}
};

struct tree {
    const struct tree_kind *kind;
    str content;  // the folder that is read, from the current folder
    str folder;   // where the configuration is, below content; "" at its top
    str config;   // the configuration's text, and its name below content; "" without
    str config_name;
    str title, description, base_url, repository, source_language;
    bool assumed;   // source_language is what the generator takes where nothing says one
    str base_path;  // "/docs" of addresses that begin with it; ""
    bool unplaced;  // nothing says where the site lies: links may begin with a folder of its host's
    str *languages;
    size_t language_count, language_cap;  // that names of files may say
    struct tree_root *roots;
    size_t root_count, root_cap;
    struct tree_default *defaults;
    size_t default_count, default_cap;
    str *statics;
    size_t static_count, static_cap;  // folders whose files keep their names
    str *absent;                      // addresses below which there is what is not in the tree
    size_t absent_count, absent_cap;
    str overlay;  // a folder whose files are found as if they lay among the pages; "" without
    str *ignored;
    size_t ignored_count, ignored_cap;  // patterns of paths that are no pages
    struct tree_redirect *redirects;
    size_t redirect_count, redirect_cap;
    struct tree_pattern *patterns;
    size_t pattern_count, pattern_cap;
    struct tree_alias *aliases;
    size_t alias_count, alias_cap;
    struct tree_entry *nav;
    size_t nav_count, nav_cap;
    struct tree_word *words;
    size_t word_count, word_cap;
    enum md_slug slugs;  // how ids of headings are made
    enum md_slug tab_slugs;
    enum md_tabs tabs;
    enum tree_includes includes;
    str *include_folders;  // where included files are looked for; none: beside the page
    size_t include_count, include_cap;
    str open_folder;  // the hidden one that the settings name for that, docs/.snippets; "" for none
    bool open_assets;  // files in it are published where a page refers to them
    str include_root;  // of paths that begin with @/ or ~/
    str *appended;     // files that are included at the end of every page
    size_t appended_count, appended_cap;
    struct map texts;  // key -> str *: words of the source's language that pages name
    enum tree_values values_are;
    struct map values;      // name -> str *: what settings say, as pages name it
    str data_folder;        // of files of data, whose values pages name; "" without
    struct map readers;     // names of shortcodes that put in the file that they name
    str home;               // the file that is the start page; "" for the index of the folder
    bool fallback;          // pages without a translation are shown in the source language
    bool needs_source;      // a translation without its source is no page
    bool only_nav;          // what the contents do not list is no page
    struct map listed;      // files of roots that are listed; the values are not used
    bool definitions;       // "Term" and ": what it is" are a list
    bool term_ids;          // and a term has an id
    bool abbreviations;     // *[HTML]: says what HTML means
    bool rules;             // r[name] is in front of a rule
    struct map rule_files;  // name of a rule -> str *, its page below its root
    bool emoji;             // :rocket: is read
    bool math;              // dollar formulas are on
    bool dollars;           // those between single dollars, too, whatever the kind has
    bool hooks;             // programs of its own put something in place of comments
    bool wiki;              // [[Note]] is a link to the note of that name
    bool breaks;            // a line's end is a break
    str top_anchor;         // of a page's title, which a template of its generator writes; ""
    bool own_images;  // its include of pictures finds them elsewhere than the one that is known
    bool link_words;  // a template of its own reads links: one to a bare word is no address
    uint64_t hash;    // of every configuration that was read
    buf explained;    // what was recognised and why, a line each; while it is read
    str explanation;  // the same behind that
    arena *a;
    struct diag *diag;
};

// The kind that is called name; NULL for none. names: the list of all, for messages.
const struct tree_kind *kind_named(str name);
const char *kind_names(void);
// What the folder content is. forced: a kind by name, or "" to look for marks. own: the tree has
// settings of vramdoc, so that it is plain unless forced says otherwise. Everything lives in a;
// never NULL.
struct tree *tree_read(str content, const struct tree_kind *forced, bool own, arena *a,
                       struct diag *d);
// The root that a path lies in, the deepest; NULL when it is none's, or left out by a pattern.
const struct tree_root *tree_root_of(const struct tree *t, str path);
// Whether a path is a page of the tree by its name and place.
bool tree_is_page(const struct tree *t, str path);
// The language and the pattern of addresses that the tree's defaults give to a path, the most exact
// first; "" for none. named: only of defaults that name a folder, a file or a pattern.
str tree_default_language(const struct tree *t, str path, bool named);
str tree_default_permalink(const struct tree *t, str path);
// Where a server leads an absolute path on by the first pattern that fits: an address below the
// site or of another one; "" for none. Lives in a.
str tree_moved(const struct tree *t, str path, arena *a);
// The path below its root.
str tree_below(const struct tree_root *r, str path);

#endif
