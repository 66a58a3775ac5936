// Markdown to HTML by cmark-gfm, rendered from its AST, with hooks for what only the site knows.
// gen/text/markdown*.c are the only files that know cmark-gfm. What the output looks like:
// tests/spec/markdown-*.md.
#ifndef GEN_TEXT_MARKDOWN_H
#define GEN_TEXT_MARKDOWN_H

#include "gen/base/diag.h"

enum {
    MD_TABLE = 1,
    MD_FOOTNOTES = 2,
    MD_TASKLIST = 4,
    MD_STRIKETHROUGH = 8,
    MD_AUTOLINK = 16,
    MD_TAGFILTER = 32,
    MD_GFM = 31,
    MD_MATH_DOLLARS = 64,    // $x$ and $$x$$
    MD_MATH_BRACKETS = 128,  // \(x\) and \[x\]
    MD_MATH_KRAMDOWN = 256,  // $$x$$, \\(x\\) and \\[x\\]
    MD_MATH = 448,
    MD_ADMONITIONS = 512,  // !!! and ??? of MkDocs, with indented lines, and its ///
    MD_CONTAINERS = 1024,  // ::: of Docusaurus, VitePress and Starlight
    MD_DEFINITIONS = 2048
};  // a term, and ": what it is" on the next line

// What a cell writes where there is no value yet; a column of a table that has nothing else is left
// out.
#define MD_ABSENT "<span class=\"missing\""

// How ids are made of headings: as the tree's own generator makes them, so that its links lead to
// them.
enum md_slug { MD_SLUG_GITHUB, MD_SLUG_PYTHON, MD_SLUG_VUE };

// Syntax of other generators: what of it is read, and what is shown as code.
enum md_foreign {
    MD_FOREIGN_BRACES = 1,      // {{ ... }} and {% ... %}
    MD_FOREIGN_LIQUID = 2,      // {% highlight %}, {% raw %}
    MD_FOREIGN_JSX = 4,         // <Tabs>, import, export
    MD_FOREIGN_ATTRIBUTES = 8,  // {: .class #id} behind a block, { .class } behind a word
    MD_FOREIGN_INCLUDES = 16,   // --8<-- "file", <!--@include: file-->
};

struct md_heading {
    int level;  // 1..6 as rendered
    str id;
    str html;  // inline HTML without links
    str text;  // plain text
};

struct md_link {
    str destination;  // as written
    size_t offset;    // in the source
    bool is_image;
};

// One block that a translation follows.
struct md_block {
    uint64_t hash;      // of its source; wrapping lines again changes nothing
    size_t offset;      // in the source
    uint8_t kind;       // 'p' paragraph, 'i' list item's paragraph, 'q' quoted one, 'h' heading,
                        // 'r' table row, 'c' code, 'x' worked example, 'm' formula block
    str text;           // only with keep_text, as md_block_text says
    size_t start, end;  // the same: where its text is in the source, what begins its lines included
};

struct md_result {
    struct md_heading *headings;
    size_t heading_count;
    struct md_link *links;
    size_t link_count;
    struct md_block *blocks;
    size_t block_count;
    str *anchors;
    size_t anchor_count;  // every id= in the output
    bool unread;   // it holds syntax that is not read: other anchors may be in what that makes
    str title_id;  // the anchor of the page's title; ""
    size_t words;  // of running text, by white space
    str first_paragraph;                                          // plain text, for descriptions
    bool has_math, has_code, has_figures, has_tables, has_media;  // media: a video
};

// Hooks may be NULL. All strings handed back must live until md_render returns.
struct md_hooks {
    void *ctx;
    // A link's or image's destination as it shall be in the output; what it got when it has
    // nothing to change.
    str (*link)(void *ctx, str destination, bool is_image, struct diag_pos at);
    // An inline `{lua} code` cell: HTML into out. False after recording an error.
    bool (*cell)(void *ctx, str code, struct diag_pos at, buf *out);
    // A fenced {lua} cell: code, and the wanted output that is in the file (see cells.h).
    bool (*example)(void *ctx, str code, str wanted, struct diag_pos at, buf *out);
    // A word of the interface in the page's language; empty: English. Keys: alert.note alert.tip
    // alert.important alert.warning alert.caution footnotes.title footnotes.ref ("Note {n}")
    // footnotes.back (+ " 1") table.label (+ " 1") task.done task.open stale.mark
    str (*word)(void *ctx, str key);
    // Width and height of a local image in pixels, so that nothing moves when it has loaded. False:
    // not known.
    bool (*image_size)(void *ctx, str destination, uint32_t *width, uint32_t *height);
    // Whether the i-th block (md_result.blocks) of this translation is older than its source.
    bool (*stale)(void *ctx, size_t block);
};

struct math;

struct md_options {
    unsigned extensions;  // MD_*
    bool unsafe;          // raw HTML and unsafe URLs pass as they are
    bool plain;           // as cmark-gfm itself prints it: no ids, alerts, colours, formulas
    int top_heading;      // the level that the highest heading is moved to; 0: as written
    str title;            // a first heading that says the same is not shown again; ""
    str first_id;         // of the page's title, which stood in the text: an anchor before it; ""
    str source_title_id;  // the same of the source, for a translation; ""
    const str *ids;       // of the source's headings, in order, for a translation
    size_t id_count;
    bool keep_text;    // md_block has text, start and end
    unsigned foreign;  // enum md_foreign
    enum md_slug slugs;
    bool open_html;  // tags and addresses as READMEs of others have them; unknown ones are code
    size_t max_table_cells;  // 0: default (50,000)
    struct math *math;       // formulas that are known; NULL: each is converted again
    struct md_hooks hooks;
};

// Once per process, before any fork.
void md_init(void);
// Renders body (text[from..]) and appends HTML to out. *result lives in a. False after errors were
// recorded in d; what could be rendered is in out.
bool md_render(str text, size_t from, str file, const struct md_options *o, arena *a,
               struct diag *d, buf *out, struct md_result *result);
// The same without output: blocks, headings and links only.
bool md_scan(str text, size_t from, str file, const struct md_options *o, arena *a, struct diag *d,
             struct md_result *result);

// Whether a block of this kind is running text, whose lines may be wrapped again.
bool md_block_is_prose(uint8_t kind);
// The hash of a block (md_block.hash) from its text.
uint64_t md_block_hash(uint8_t kind, str text);
// A block's content as it is shown and kept: running text in one line but for hard breaks, a
// table's row with " |" behind each cell and \| in them, code as it is. Lives in a.
str md_block_text(uint8_t kind, str content, arena *a);

#endif
