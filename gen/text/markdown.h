// Markdown to HTML by cmark-gfm, rendered from its AST. It asks for nothing: what only the site
// knows is put into tables. A page is parsed (md_open), the HTML of its Lua cells is put into the
// list of them (md_cells), it is printed (md_print) with a gap for each address, and the gaps are
// filled (md_fill) from the list of its links.
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
    MD_ADMONITIONS = 512,     // !!! and ??? of MkDocs, with indented lines, and its ///
    MD_CONTAINERS = 1024,     // ::: of Docusaurus, VitePress and Starlight
    MD_DEFINITIONS = 2048,    // a term, and ": what it is" on the next line
    MD_ABBREVIATIONS = 4096,  // *[HTML]: what it means
    MD_TERM_IDS = 8192,       // terms of definitions have ids, as headings do
};

// What a cell writes where there is no value yet; a column of a table that has nothing else is left
// out.
#define MD_ABSENT "<span class=\"missing\""

// How ids are made of headings: as the tree's own generator makes them, so that its links lead to
// them.
enum md_slug {
    MD_SLUG_GITHUB,
    MD_SLUG_VUE,
    MD_SLUG_KRAMDOWN,       // kramdown's own, without GitHub's input
    MD_SLUG_BLACKFRIDAY,    // of Hugo's former parser
    MD_SLUG_PYTHON,         // Python-Markdown's toc; so are those behind it
    MD_SLUG_UNICODE,        // its slugify_unicode
    MD_SLUG_PYMDOWN,        // pymdownx.slugs in lower case
    MD_SLUG_PYMDOWN_ASCII,  // with lower case for the letters of ASCII alone
    MD_SLUG_PYMDOWN_CASED,  // as written
};

// Syntax of other generators: what of it is read, and what is shown as code.
enum md_foreign {
    MD_FOREIGN_BRACES = 1,         // {{ ... }} and {% ... %}
    MD_FOREIGN_LIQUID = 2,         // {% highlight %}, {% raw %}
    MD_FOREIGN_JSX = 4,            // <Tabs>, import, export
    MD_FOREIGN_ATTRIBUTES = 8,     // {: .class #id} behind a block, { .class } behind a word
    MD_FOREIGN_EMOJI = 16,         // :rocket:, :material-rocket:
    MD_FOREIGN_MDX = 32,           // every file is MDX, whatever its name
    MD_FOREIGN_HTML = 64,          // a block of HTML ends with its element
    MD_FOREIGN_RULES = 128,        // r[name] in front of a rule of a specification
    MD_FOREIGN_GITBOOK = 256,      // {% hint style="info" %} and its kin
    MD_FOREIGN_WIKI = 512,         // [[Note]], %%comment%%, ==marked==, ^name of a block
    MD_FOREIGN_BREAKS = 1024,      // a line's end is a break
    MD_FOREIGN_SHORTCODES = 2048,  // {{< alert >}} and its kin
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
    // Filled by the caller, for md_fill: the address as it is in the page, and a picture's size in
    // pixels, so that nothing moves when it has loaded; 0: not known.
    str address;
    uint32_t width, height;
};

// An inline `{lua} code` cell, or a fenced {lua} cell, which is a worked example.
struct md_lua {
    str code;
    str wanted;  // the output of an example that is in the file (see cells.h)
    bool is_example;
    size_t offset;  // of the code in the source
    str html;       // filled by the caller, for md_print
};

// The interface's words in a page: key in the catalogs, and English. A number may follow.
#define MD_WORDS(X) \
    X(MD_NOTE, "alert.note", "Note") \
    X(MD_TIP, "alert.tip", "Tip") \
    X(MD_IMPORTANT, "alert.important", "Important") \
    X(MD_WARNING, "alert.warning", "Warning") \
    X(MD_CAUTION, "alert.caution", "Caution") \
    X(MD_FOOTNOTES_TITLE, "footnotes.title", "Footnotes") \
    X(MD_FOOTNOTES_REF, "footnotes.ref", "Note {n}") \
    X(MD_FOOTNOTES_BACK, "footnotes.back", "Back to reference") \
    X(MD_TABLE_LABEL, "table.label", "Table") \
    X(MD_TASK_DONE, "task.done", "Done") \
    X(MD_TASK_OPEN, "task.open", "To do") \
    X(MD_STALE_MARK, "stale.mark", \
      "The original of this paragraph has changed since it was translated")
#define MD_WORD_NAME(name, key, english) name,
enum md_word { MD_WORDS(MD_WORD_NAME) MD_WORD_COUNT };
#undef MD_WORD_NAME

// One block that a translation follows.
struct md_block {
    uint64_t hash;      // of its source; wrapping lines again changes nothing
    size_t offset;      // in the source
    uint8_t kind;       // 'p' paragraph, 'i' list item's paragraph, 'q' quoted one, 'h' heading,
                        // 'r' table row, 'c' code, 'x' worked example, 'm' formula block
    str text;           // only with keep_text: its content as it is shown, see markdown_block.c
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

struct math;

// What tabs are called in links.
enum md_tabs {
    MD_TABS_NUMBERED,  // __tabbed_1_2
    MD_TABS_TITLED,    // out of the title
    MD_TABS_BELOW,     // the same behind the heading's that it is below
};

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
    enum md_slug slugs, tab_slugs;
    enum md_tabs tabs;
    bool own_images;  // {% include image.html %} is not the one that is known
    bool open_html;   // tags and addresses as READMEs of others have them; unknown ones are code
    size_t max_table_cells;  // 0: default (50,000)
    struct math *math;       // formulas that are known; NULL: each is converted again
    const str *words;        // [MD_WORD_COUNT]; NULL, or "" for one: English
    const bool *stale;       // of a translation's blocks: which are older than their source
    size_t stale_count;
    bool no_blocks;  // md_result.blocks is not wanted
    bool gaps;       // addresses are left out, for md_fill
};

// Once per process, before any fork.
void md_init(void);
struct md;

// Parses body (text[from..]), to be printed to the end of out. All that is given must live until
// md_print, which must follow.
struct md *md_open(str text, size_t from, str file, const struct md_options *o, arena *a,
                   struct diag *d, buf *out);
// The page's cells in the order in which they are shown. Once asked for they are printed as their
// html; else as the code that they are.
struct md_lua *md_cells(struct md *page, size_t *count);
// Appends HTML and ends page. *result (NULL: not wanted) lives in the arena. False after errors
// were recorded; what could be rendered is in out.
bool md_print(struct md *page, struct md_result *result);
// Appends to out what was printed with md_options.gaps, with the addresses and sizes of
// result->links, and completes result's headings. Of the arena of md_open.
void md_fill(str printed, struct md_result *result, arena *a, buf *out);
// md_open and md_print: cells are shown as code, addresses as they are written.
bool md_render(str text, size_t from, str file, const struct md_options *o, arena *a,
               struct diag *d, buf *out, struct md_result *result);
// The same without output: blocks, headings and links only.
bool md_scan(str text, size_t from, str file, const struct md_options *o, arena *a, struct diag *d,
             struct md_result *result);

// The plain words of a heading, a line without its marks of level: those of its links, code and
// pictures; marks, tags, addresses and attributes are left out. text: the page, which may say where
// links by name lead.
str md_words(str line, str text, arena *a);

// Whether a block of this kind is running text, whose lines may be wrapped again.
bool md_block_is_prose(uint8_t kind);
// The hash of a block (md_block.hash) from its text.
uint64_t md_block_hash(uint8_t kind, str text);

#endif
