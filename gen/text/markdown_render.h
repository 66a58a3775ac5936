// What the files of the Markdown renderer share: the state of one render, and the tables of small
// functions that walk the tree.
#ifndef GEN_TEXT_MARKDOWN_RENDER_H
#define GEN_TEXT_MARKDOWN_RENDER_H

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm-extension_api.h>

#include "gen/base/map.h"
#include "gen/text/markdown.h"

// What a node is, as handlers are found by.
enum md_kind {
    K_NONE,
    K_DOCUMENT,
    K_QUOTE,
    K_LIST,
    K_ITEM,
    K_CODE_BLOCK,
    K_HTML_BLOCK,
    K_CUSTOM_BLOCK,
    K_PARAGRAPH,
    K_HEADING,
    K_RULE,
    K_FOOTNOTE,
    K_TABLE,
    K_ROW,
    K_CELL,
    K_TEXT,
    K_SOFTBREAK,
    K_LINEBREAK,
    K_CODE,
    K_HTML_INLINE,
    K_CUSTOM_INLINE,
    K_EMPH,
    K_STRONG,
    K_LINK,
    K_IMAGE,
    K_FOOTNOTE_REF,
    K_STRIKE,
    K_COUNT
};

// cmark-gfm's types as small numbers: those of blocks even, those of inlines odd.
#define MD_SLOT(type) \
    (((unsigned)(type)&CMARK_NODE_VALUE_MASK) * 2 + \
     (((unsigned)(type)&CMARK_NODE_TYPE_MASK) == CMARK_NODE_TYPE_INLINE))
enum { MD_SLOTS = 64 };  // a type beyond them is looked up by its name each time

// A raw HTML element that is open: it is closed no later than the node that it was opened in.
struct md_open_tag {
    cmark_node *parent;
    str name, written;  // as it was put, and as its end tag is written
};

// A line of a leaf's content, and the source line that it is on.
struct md_map {
    cmark_node *leaf;
    size_t number;      // of the source line, from 1
    size_t start, end;  // of the content's line; end is known when it is behind start
    bool placed;        // the rest is known
    str line;
    size_t place;  // where the content begins in line
    size_t into;   // how much of the content's head was trimmed
};

// A footnote, and how often the text refers to it.
struct md_note {
    cmark_node *definition;
    unsigned uses;
};

struct md_cell {
    size_t start, end;  // in the output
    unsigned column;
    bool header;
};

struct md_table_state {
    const uint8_t *alignments;  // 'l' 'c' 'r' or 0, a column
    unsigned columns, column;
    bool header, body, row_headers;
    struct md_cell *cells;
    size_t cell_count, cell_cap;
};

enum { MD_FORMULA_BLOCKS = 15 };  // ways to write one

enum { MD_OWN_EXTENSIONS = 4 };

// One render, from md_open to md_print; everything in it lives in the caller's arena, the tree in
// that of markdown_parse.c.
// A tag of a block that is whole in the text, and its end. Offsets are below from.
struct md_shortcode_place {
    size_t at, behind;
    size_t close, close_behind;  // 0: it has none
};

struct md {
    const struct md_options *o;
    str text, file;  // text[from..] is what cmark-gfm got
    size_t from;
    arena *a;
    cmark_mem memory, *mem;  // of the tree's nodes
    cmark_parser *parser;    // NULL: there is no tree
    cmark_node *root;
    cmark_syntax_extension *own[MD_OWN_EXTENSIONS];
    struct diag *d;
    buf *out;
    size_t base;  // length of out at the start
    struct md_result *result;
    bool ok;
    bool scan;    // only result is wanted: formulas and colours are left out
    bool hidden;  // the parser got a copy in which foreign syntax is hidden

    bool skip_children;       // set by an enter function
    uint8_t kinds[MD_SLOTS];  // enum md_kind of each type; K_NONE: not met yet
    cmark_node *leaf;         // block whose inlines are being walked
    str leaf_content;         // its Markdown
    size_t cursor;            // in leaf's content: where the next link is looked for
    size_t code_cursor;       // the same for the next cell or formula
    cmark_node *trim_node;    // text node whose first trim_bytes are not shown
    size_t trim_bytes;
    cmark_node *math_node;    // code span that is a formula
    cmark_node *passed_over;  // fence of output that belongs to a worked example
    struct md_lua *cells;     // of md_cells
    cmark_node **cell_nodes;
    size_t cell_count, next_cell;  // the first that was not printed

    unsigned links_open;      // of Markdown or of raw HTML: a link holds no other
    cmark_node *no_link_end;  // the node in which no further raw HTML ends a link
    uint64_t bare_links;  // a bit for each link that is entered, the last lowest: without its tag
    size_t *lines;        // offsets of line starts below from
    size_t line_count;
    struct md_map map;
    size_t no_formula[MD_FORMULA_BLOCKS];  // lines before this number end no formula

    size_t block_cap, heading_cap, link_cap, anchor_cap;
    struct map ids;
    size_t tab_sets;       // of the page, as far as it was read
    struct map tab_taken;  // ids of headings, once tabs are called after their titles
    bool tabs_looked;
    struct map own_ids, source_ids;  // of a translation's own words; of the source
    size_t heading_index;
    int heading_shift;
    size_t heading_html;  // offset in out of the heading's inner HTML
    str heading_id;
    bool heading_named;  // by itself, {#id}
    bool first_paragraph_open;
    size_t first_paragraph_html;
    bool stale;                              // the block that is open
    struct md_abbreviations *abbreviations;  // that the page explains; NULL for none
    str unread;  // the first tag whose lines were hidden as a fence, "" for none; unread_at: where
    size_t unread_at;

    struct md_shortcode_place *shortcodes;  // tags of blocks, in order
    size_t shortcode_count;
    struct map shortcode_ends;  // names of those that the page ends
    bool shortcodes_hide;       // one of them is not to be shown

    struct md_open_tag *tags;
    size_t tag_count, tag_cap;
    struct md_table_state table;
    size_t table_count;
    bool caption_open;      // a caption has been written, its table follows
    struct md_note *notes;  // by number
    size_t note_count;
    unsigned footnote, backlinks_written;
    buf scratch, row;
};

typedef void (*md_visit)(struct md *r, cmark_node *n);

struct md_handler {
    md_visit enter, leave;
};

static inline bool md_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

// The getters copy what they give; the copy is the node's.
static inline str md_literal(cmark_node *n)
{
    return str_c(cmark_node_get_literal(n));
}

static inline str md_url(cmark_node *n)
{
    return str_c(cmark_node_get_url(n));
}

static inline str md_title(cmark_node *n)
{
    return str_c(cmark_node_get_title(n));
}

// The Markdown that a leaf's inlines were parsed from. Its length is counted each time: of the leaf
// that is walked it is in struct md.
static inline str md_content(cmark_node *n)
{
    return str_c(cmark_node_get_string_content(n));
}

// Of a node that md_kind has not met before, by the name that an extension gives it.
enum md_kind md_kind_learn(struct md *r, cmark_node *n, size_t slot);

static inline enum md_kind md_kind(struct md *r, cmark_node *n)
{
    size_t slot = MD_SLOT(cmark_node_get_type(n));
    return slot < MD_SLOTS && r->kinds[slot] ? (enum md_kind)r->kinds[slot]
                                             : md_kind_learn(r, n, slot);
}

static inline bool md_is(cmark_node *n, cmark_node_type type)
{
    return n && cmark_node_get_type(n) == type;
}

static inline bool md_is_task(cmark_node *item)
{
    return md_is(item, CMARK_NODE_ITEM) && cmark_node_get_syntax_extension(item);
}

extern const struct md_handler md_plain_handlers[K_COUNT];
extern const struct md_handler md_site_handlers[K_COUNT];

// markdown_words.c: the plain words of a heading that was written as line.
str md_heading_words(struct md *r, cmark_node *heading, str line);
// Ends a page that is not printed.
void md_close(struct md *r);
// Ends the line in out unless it is ended.
void md_cr(struct md *r);
str md_word(const struct md *r, enum md_word word);
bool md_in_tight_list(cmark_node *paragraph);
// markdown_site.c, for both tables
void md_list_leave(struct md *r, cmark_node *n);
void md_item_leave(struct md *r, cmark_node *n);

// markdown_inline.c; the first group serves both tables
void md_emph_enter(struct md *r, cmark_node *n);
void md_emph_leave(struct md *r, cmark_node *n);
void md_strong_enter(struct md *r, cmark_node *n);
void md_strong_leave(struct md *r, cmark_node *n);
void md_strike_enter(struct md *r, cmark_node *n);
void md_strike_leave(struct md *r, cmark_node *n);
void md_softbreak(struct md *r, cmark_node *n);
void md_link_leave(struct md *r, cmark_node *n);
void md_alt_text(struct md *r, cmark_node *image);
// The title attribute of a link or picture that has one.
void md_put_title(struct md *r, cmark_node *n);
// Whether n is a code span between two dollar signs, as GitHub writes formulas: $`x^2`$.
bool md_is_formula_span(cmark_node *n);
void md_text(struct md *r, cmark_node *n);
void md_linebreak(struct md *r, cmark_node *n);
void md_code(struct md *r, cmark_node *n);
// Notes a link or a picture, whose address lives in r->a.
void md_link_note(struct md *r, str url, size_t offset, bool is_image);
void md_link_enter(struct md *r, cmark_node *n);
void md_site_link_leave(struct md *r, cmark_node *n);
void md_image(struct md *r, cmark_node *n);

// markdown_given.c
// What the caller gave for the cell that n is; NULL when cells were not asked for.
const struct md_lua *md_cell_of(struct md *r, cmark_node *n);
// Writes a place for the address, or the size, of the link that was noted last.
void md_gap_address(struct md *r);
void md_gap_size(struct md *r);
void md_gap_href(struct md *r);  // ' href="..."' where the link has an address

// markdown_source.c: where things are in the source, and what a block's hash is.
void md_lines(struct md *r);
// A line by its number from 1; empty outside.
str md_line_at(const struct md *r, size_t number);
str md_line_behind(const struct md *r, size_t at);  // trimmed; at: below from
size_t md_block_offset(struct md *r, cmark_node *n);
// Offset in the source of a place in the leaf's content.
size_t md_content_offset(struct md *r, size_t at);
// The label of a footnote's definition.
str md_footnote_label(struct md *r, cmark_node *definition);
size_t md_link_offset(struct md *r, cmark_node *link);
size_t md_cell_offset(struct md *r, str code);
size_t md_literal_offset(struct md *r, str literal);
struct diag_pos md_at(const struct md *r, size_t offset);
// Notes a block, counts its words when it is running text, and sets r->stale.
void md_block_add(struct md *r, cmark_node *n, uint8_t kind, str content, bool prose);

// markdown_block.c: a block's content as its author wrote it. What was hidden from the parser is
// put back, a leaf's from the source itself, since the attributes of tags were changed. Lives in
// r->a.
str md_block_as_written(struct md *r, str content);
// Fills text, start and end.
void md_block_keep(struct md *r, cmark_node *n, str content, struct md_block *block);

// The node behind n in the tree below root, its children first; NULL at the end. Trees may be
// deeper than the stack.
cmark_node *md_next_node(cmark_node *n, const cmark_node *root);
// The same without its children.
cmark_node *md_behind_node(cmark_node *n, const cmark_node *root);

// markdown_attributes.c: puts <a id="x"></a> in front of a node: raw HTML that the allow-list lets
// pass.
void md_anchor_put(struct md *r, cmark_node *place, str id);
// markdown_wiki.c: ==marked== words and ^names of blocks.
void md_wiki_apply(struct md *r, cmark_node *root);
// markdown_rules.c: makes anchors of the lines r[name].
void md_rules_make(struct md *r, cmark_node *root);

// markdown_definitions.c: makes lists of terms and definitions below root. The element that stands
// for a part of one, "dl", "dt" or "dd"; NULL for any other node.
void md_definitions_make(struct md *r, cmark_node *root);
const char *md_definition_element(cmark_node *n);
// Whether n is the empty paragraph in front of the parts that it held.
bool md_definition_source(cmark_node *n);

// markdown_strong.c: makes "**" bold that CommonMark leaves as text beside letters of Chinese,
// Japanese and Korean.
void md_strong_repair(struct md *r, cmark_node *root);

// markdown_heading.c
void md_headings_prepare(struct md *r, cmark_node *root);
void md_heading_enter(struct md *r, cmark_node *n);
void md_heading_leave(struct md *r, cmark_node *n);
void md_anchor_add(struct md *r, str id);
// Appends the id that a heading's words give, as they are.
void md_heading_slug(struct md *r, buf *out, cmark_node *heading);
// The id of a term of a list of definitions, among those of the headings; "" for none.
str md_term_id(struct md *r, cmark_node *n);
// Takes the first heading away when it is md_options.title.
void md_title_drop(struct md *r, cmark_node *root);
// Writes the anchors that md_options.first_id and source_title_id name.
void md_first_anchor(struct md *r);
// Rendered HTML without links and footnote marks.
str md_html_unlinked(struct md *r, str html);
// Rendered HTML as plain text.
str md_html_plain(struct md *r, str html);

// markdown_table.c
// What a table of any origin is in, so that a narrow window scrolls it and not the page.
void md_region_open(struct md *r);
void md_region_close(struct md *r);
bool md_tables_fit(str body, size_t max_cells, size_t *offset);
void md_table_enter(struct md *r, cmark_node *n);
void md_table_leave(struct md *r, cmark_node *n);
void md_row_enter(struct md *r, cmark_node *n);
void md_row_leave(struct md *r, cmark_node *n);
void md_cell_enter(struct md *r, cmark_node *n);
void md_cell_leave(struct md *r, cmark_node *n);
// markdown_columns.c: cells are noted at their start and end; md_columns_end takes columns without
// a value out of the output.
void md_columns_begin(struct md *r);
void md_columns_cell(struct md *r, size_t start);
void md_columns_cell_end(struct md *r);
void md_columns_end(struct md *r);
// A paragraph "Table: ..." directly before a table is its caption.
bool md_caption_enter(struct md *r, cmark_node *paragraph);
bool md_caption_leave(struct md *r, cmark_node *paragraph);

// markdown_math.c: a node's formula, NULL when it is none; the TeX of a block's lines.
struct md_formula;
const struct md_formula *md_formula_of(cmark_node *n);
bool md_formula_displayed(const struct md_formula *f);
str md_formula_tex(struct md *r, cmark_node *block, str literal);
// Converts the formulas below root together, before they are shown one by one.
void md_formulas_prepare(struct md *r, cmark_node *root);

// markdown_equations.c
// Puts the numbers of rows in place of the references to them, in all formulas below root.
void md_equations_prepare(struct md *r, cmark_node *root);

// markdown_footnote.c
// Counts the marks of each note before the walk: links back are written before all marks are met.
void md_footnotes_prepare(struct md *r, cmark_node *root);
// Which of the marks of its note this is, from 1.
unsigned md_footnote_nth(cmark_node *mark);
unsigned md_footnote_uses(const struct md *r);  // of the note that is open
// The label of the note that a mark refers to.
str md_footnote_label_of(struct md *r, cmark_node *mark);
void md_footnote_enter(struct md *r, cmark_node *n);
void md_footnote_leave(struct md *r, cmark_node *n);
void md_footnote_ref(struct md *r, cmark_node *n);
void md_footnote_backlinks(struct md *r);
void md_footnotes_end(struct md *r, cmark_node *document);

// markdown_html.c
void md_html_inline(struct md *r, cmark_node *n);
void md_html_block(struct md *r, cmark_node *n);
// Closes the raw HTML elements that were opened in parent and are still open.
void md_tags_close(struct md *r, cmark_node *parent);

// markdown_site.c
// A block begins whose inlines are walked next: places are looked for in it.
void md_leaf_enter(struct md *r, cmark_node *n);
void md_stale_mark(struct md *r);
// GitHub's alerts by number: note, tip, important, warning, caution.
str md_alert_class(size_t alert);
str md_alert_word(struct md *r, size_t alert);
bool md_is_alert(cmark_node *quote);  // one of them, its mark alone on its first line

// markdown_callout.c: makes alerts of quotes that begin with any other [!TYPE].
void md_callouts_make(struct md *r, cmark_node *root);

// markdown_admonition.c
bool md_is_admonition_title(cmark_node *n);
void md_admonition_enter(struct md *r, cmark_node *n);
void md_admonition_leave(struct md *r, cmark_node *n);

// markdown_code.c
bool md_is_math_fence(cmark_node *block);
// Offset in the source of a fence's first line of code.
size_t md_code_offset(struct md *r, cmark_node *n);
// The fence of output behind a worked example; NULL when there is none.
cmark_node *md_wanted_of(cmark_node *example);
void md_code_block(struct md *r, cmark_node *n);
// A displayed formula as a block of its own; at is where its TeX is in the source.
void md_formula_block(struct md *r, cmark_node *n, str tex, size_t at);

#endif
