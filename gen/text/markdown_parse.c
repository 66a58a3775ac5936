// Parses Markdown with cmark-gfm and walks the tree, by a table of functions: the renderer's entry.
#include "gen/text/markdown.h"

#include <cmark-gfm-core-extensions.h>
#include <limits.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "gen/text/markdown_extension.h"
#include "gen/text/markdown_foreign.h"

enum { DEFAULT_TABLE_CELLS = 50000 };

void md_init(void)
{
    cmark_gfm_core_extensions_ensure_registered();
}

enum md_kind md_kind_learn(struct md *r, cmark_node *n, size_t slot)
{
    static const struct {
        str name;
        enum md_kind kind;
    } names[] = {
        {STR("table"), K_TABLE},     {STR("table_header"), K_ROW},     {STR("table_row"), K_ROW},
        {STR("table_cell"), K_CELL}, {STR("strikethrough"), K_STRIKE},
    };
    str name = str_c(cmark_node_get_type_string(n));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!str_eq(name, names[i].name))
            continue;
        if (slot < MD_SLOTS)
            r->kinds[slot] = (uint8_t)names[i].kind;
        return names[i].kind;
    }
    return K_NONE;
}

// The types that are not of an extension.
static const uint8_t own_kinds[MD_SLOTS] = {
    [MD_SLOT(CMARK_NODE_DOCUMENT)] = K_DOCUMENT,
    [MD_SLOT(CMARK_NODE_BLOCK_QUOTE)] = K_QUOTE,
    [MD_SLOT(CMARK_NODE_LIST)] = K_LIST,
    [MD_SLOT(CMARK_NODE_ITEM)] = K_ITEM,
    [MD_SLOT(CMARK_NODE_CODE_BLOCK)] = K_CODE_BLOCK,
    [MD_SLOT(CMARK_NODE_HTML_BLOCK)] = K_HTML_BLOCK,
    [MD_SLOT(CMARK_NODE_CUSTOM_BLOCK)] = K_CUSTOM_BLOCK,
    [MD_SLOT(CMARK_NODE_PARAGRAPH)] = K_PARAGRAPH,
    [MD_SLOT(CMARK_NODE_HEADING)] = K_HEADING,
    [MD_SLOT(CMARK_NODE_THEMATIC_BREAK)] = K_RULE,
    [MD_SLOT(CMARK_NODE_FOOTNOTE_DEFINITION)] = K_FOOTNOTE,
    [MD_SLOT(CMARK_NODE_TEXT)] = K_TEXT,
    [MD_SLOT(CMARK_NODE_SOFTBREAK)] = K_SOFTBREAK,
    [MD_SLOT(CMARK_NODE_LINEBREAK)] = K_LINEBREAK,
    [MD_SLOT(CMARK_NODE_CODE)] = K_CODE,
    [MD_SLOT(CMARK_NODE_HTML_INLINE)] = K_HTML_INLINE,
    [MD_SLOT(CMARK_NODE_CUSTOM_INLINE)] = K_CUSTOM_INLINE,
    [MD_SLOT(CMARK_NODE_EMPH)] = K_EMPH,
    [MD_SLOT(CMARK_NODE_STRONG)] = K_STRONG,
    [MD_SLOT(CMARK_NODE_LINK)] = K_LINK,
    [MD_SLOT(CMARK_NODE_IMAGE)] = K_IMAGE,
    [MD_SLOT(CMARK_NODE_FOOTNOTE_REFERENCE)] = K_FOOTNOTE_REF,
};

static void walk(struct md *r, cmark_node *root, const struct md_handler *handlers)
{
    cmark_node *n = root;
    for (;;) {
        const struct md_handler *h = &handlers[md_kind(r, n)];
        r->skip_children = false;
        if (h->enter)
            h->enter(r, n);
        cmark_node *next = r->skip_children ? NULL : cmark_node_first_child(n);
        for (; !next; h = next ? h : &handlers[md_kind(r, n)]) {
            if (r->tag_count)
                md_tags_close(r, n);
            if (h->leave)
                h->leave(r, n);
            if (n == root)
                return;
            next = cmark_node_next(n);
            if (!next)
                n = cmark_node_parent(n);
        }
        n = next;
    }
}

void md_cr(struct md *r)
{
    if (r->out->len > r->base && r->out->ptr[r->out->len - 1] != '\n')
        buf_char(r->out, '\n');
}

str md_word(const struct md *r, enum md_word word)
{
#define ENGLISH(name, key, english) [name] = STR(english),
    static const str english[] = {MD_WORDS(ENGLISH)};
#undef ENGLISH
    return r->o->words && r->o->words[word].len ? r->o->words[word] : english[word];
}

// Memory of trees: nothing in it is freed before the tree is, and then all at once. Against malloc
// and cmark_node_free() that saves 7 % of the instructions of a full build of 1,630 pages of 7 kB,
// more than the 5 % that cmark-gfm's public getters cost. Its allocator is three functions without
// a context, so the arena is the thread's. depth: renders that are under way.
static _Thread_local struct {
    arena arena;
    unsigned depth;
} trees;

// In front of each block: its size, for alloc_again.
struct tree_block {
    size_t size;
    alignas(max_align_t) char bytes[];
};

static void *alloc_zeroed(size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes) || bytes > SIZE_MAX / 8)
        buf_no_memory();
    struct tree_block *b = arena_alloc(&trees.arena, 1, sizeof *b + bytes);
    b->size = bytes;
    return b->bytes;
}

// A new buffer begins as an empty string: cmark-gfm gives the content of an empty block out as it
// found it.
static void *alloc_again(void *p, size_t size)
{
    const struct tree_block *old = p ? (struct tree_block *)((char *)p - sizeof *old) : NULL;
    if (old && size <= old->size)
        return p;
    char *q = alloc_zeroed(1, size);
    return old ? memcpy(q, p, old->size) : q;
}

static void free_nothing(void *p)
{
    (void)p;
}

static const struct {
    unsigned bit;
    const char *name;
} extension_names[] = {
    {MD_TABLE, "table"},         {MD_STRIKETHROUGH, "strikethrough"}, {MD_AUTOLINK, "autolink"},
    {MD_TAGFILTER, "tagfilter"}, {MD_TASKLIST, "tasklist"},
};

// Ours come first: a row of a table would take any line.
static cmark_parser *new_parser(unsigned extensions, bool hidden, struct md *r)
{
    int options = CMARK_OPT_DEFAULT | (extensions & MD_FOOTNOTES ? CMARK_OPT_FOOTNOTES : 0);
    cmark_parser *p = cmark_parser_new_with_mem(options, r->mem);
    r->own[0] = extensions & (MD_ADMONITIONS | MD_CONTAINERS) ? md_admonition_extension(r) : NULL;
    r->own[3] = r->shortcode_count ? md_shortcode_extension(r) : NULL;
    r->own[2] = hidden ? md_elements_extension(r) : NULL;
    r->own[1] = extensions & MD_MATH ? md_math_extension(r, p) : NULL;
    for (size_t i = 0; i < MD_OWN_EXTENSIONS; i++)
        if (r->own[i])
            cmark_parser_attach_syntax_extension(p, r->own[i]);
    for (size_t i = 0; i < sizeof extension_names / sizeof *extension_names; i++)
        if (extensions & extension_names[i].bit)
            cmark_parser_attach_syntax_extension(
                p, cmark_find_syntax_extension(extension_names[i].name));
    return p;
}

// Whether part is in s, found by one of its bytes, one that text has seldom: memmem's two-byte
// tables cost a page 5 us more.
static bool holds(str s, str part, size_t seldom)
{
    for (size_t i = seldom; i < s.len; i++) {
        i += str_find(str_slice(s, i, s.len), part.ptr[seldom]);
        if (str_starts(str_slice(s, i - seldom, s.len), part))
            return true;
    }
    return false;
}

static bool holds_byte(str s, char c)
{
    return str_find(s, c) < s.len;
}

// Whether a table can begin: its delimiter row has one of these. Dashes alone make a heading.
static bool may_have_table(str s)
{
    return holds_byte(s, '|') || holds(s, STR(":-"), 0) || holds(s, STR("-:"), 1) ||
           holds_byte(s, '\v') || holds_byte(s, '\f');
}

// Extensions without what they look for in the text cost time all the same: all of them in every
// page are 13 % of a full build of 1,600 pages of 7 kB.
static unsigned useful_extensions(unsigned wanted, str body)
{
    unsigned useless = 0;
    if (!may_have_table(body))
        useless |= MD_TABLE;
    if (!holds_byte(body, '~'))
        useless |= MD_STRIKETHROUGH;
    if (!holds(body, STR("://"), 0) && !holds(body, STR("www."), 3) && !holds_byte(body, '@'))
        useless |= MD_AUTOLINK;
    if (!holds(body, STR("[^"), 1))
        useless |= MD_FOOTNOTES;
    if (!holds_byte(body, '$') && !holds(body, STR("\\("), 0) && !holds(body, STR("\\["), 0) &&
        !holds(body, STR("\\begin{"), 0))
        useless |= MD_MATH;
    if (!holds(body, STR("!!!"), 0) && !holds(body, STR("???"), 0) && !holds(body, STR("///"), 0) &&
        !holds(body, STR("==="), 0) && !holds(body, STR(":::"), 0))
        useless |= MD_ADMONITIONS;
    if (!holds(body, STR(":::"), 0))
        useless |= MD_CONTAINERS;
    return wanted & ~useless;
}

// The extensions that this text is parsed with: without tables where one would take too much
// memory.
static unsigned safe_extensions(struct md *r, str body)
{
    size_t limit = r->o->max_table_cells ? r->o->max_table_cells : DEFAULT_TABLE_CELLS;
    size_t offset;
    unsigned useful = useful_extensions(r->o->extensions, body);
    if (!(useful & MD_TABLE) || md_tables_fit(body, limit, &offset))
        return useful;
    diag_add(r->d, D_TABLE_TOO_LARGE, md_at(r, r->from + offset), "more than %zu cells", limit);
    r->ok = false;
    return useful & ~(unsigned)MD_TABLE;
}

static void prepare(struct md *r)
{
    md_footnotes_prepare(r, r->root);
    if (r->o->plain)
        return;
    if (r->o->title.len)
        md_title_drop(r, r->root);
    md_headings_prepare(r, r->root);
    if (r->o->math && !r->scan && (r->own[1] || holds_byte(r->text, '$'))) {
        md_equations_prepare(r, r->root);
        md_formulas_prepare(r, r->root);
    }
}

static void parse(struct md *r)
{
    str body = str_slice(r->text, r->from, r->text.len);
    if (body.len > INT_MAX / 4) {
        diag_add(r->d, D_FILE_TOO_LARGE, DIAG_FILE(r->file), "%zu bytes of Markdown", body.len);
        r->ok = false;
        return;
    }
    r->memory = (cmark_mem){alloc_zeroed, alloc_again, free_nothing};
    r->mem = &r->memory;
    trees.depth++;
    md_lines(r);
    str read = md_foreign_hide(r, body);
    r->hidden = read.ptr != body.ptr;
    if (r->hidden)
        md_shortcodes_find(r, read);
    r->parser = new_parser(safe_extensions(r, read), r->hidden, r);
    cmark_parser_feed(r->parser, read.ptr ? read.ptr : "", read.len);
    r->root = cmark_parser_finish(r->parser);
    memcpy(r->kinds, own_kinds, sizeof r->kinds);
    if (r->shortcodes_hide)
        md_shortcodes_drop(r->root);
    if (r->own[2])
        md_elements_unwrap(r, r->root);
    if (r->hidden || r->o->foreign & MD_FOREIGN_LIQUID || r->own[0] ||
        (r->o->foreign & MD_FOREIGN_SHORTCODES && str_has(body, STR("{{"))))
        md_foreign_show(r, r->root);
    unsigned kind = r->o->foreign & (MD_FOREIGN_BRACES | MD_FOREIGN_JSX);
    bool colons = r->o->open_html && !kind && str_has(body, STR("{:"));
    if (colons || (r->o->foreign & MD_FOREIGN_ATTRIBUTES && str_find(body, '{') < body.len))
        md_attributes_apply(r, r->root);
    md_strong_repair(r, r->root);
    if (r->o->extensions & MD_DEFINITIONS && !r->o->plain && str_has(body, STR("\n:")))
        md_definitions_make(r, r->root);
    if (r->o->foreign & MD_FOREIGN_RULES)
        md_rules_make(r, r->root);
    if (r->o->foreign & MD_FOREIGN_WIKI)
        md_wiki_apply(r, r->root);
    if (r->o->open_html && str_has(body, STR("> [!")))
        md_callouts_make(r, r->root);
    md_abbreviations_apply(r, r->root);
    prepare(r);
}

void md_close(struct md *r)
{
    buf_free(&r->scratch);
    buf_free(&r->row);
    if (!r->parser)
        return;
    cmark_parser_free(r->parser);
    if (!--trees.depth)
        arena_reset(&trees.arena);
    for (size_t i = 0; i < MD_OWN_EXTENSIONS; i++)
        if (r->own[i])
            cmark_syntax_extension_free(cmark_get_default_mem_allocator(), r->own[i]);
}

static struct md *open_as(struct md as)
{
    struct md *r = arena_new(as.a, struct md, 1);
    *r = as;
    r->result = arena_new(r->a, struct md_result, 1);
    *r->result = (struct md_result){0};
    r->ok = true;
    r->base = r->out->len;
    r->scratch = BUF_INIT;
    r->row = BUF_INIT;
    if (r->o->first_id.len || r->o->source_title_id.len)
        md_first_anchor(r);
    parse(r);
    return r;
}

struct md *md_open(str text, size_t from, str file, const struct md_options *o, arena *a,
                   struct diag *d, buf *out)
{
    return open_as(
        (struct md){.o = o, .text = text, .from = from, .file = file, .a = a, .d = d, .out = out});
}

bool md_print(struct md *r, struct md_result *result)
{
    if (r->root)
        walk(r, r->root, r->o->plain ? md_plain_handlers : md_site_handlers);
    if (result)
        *result = *r->result;
    md_close(r);
    return r->ok;
}

bool md_render(str text, size_t from, str file, const struct md_options *o, arena *a,
               struct diag *d, buf *out, struct md_result *result)
{
    return md_print(md_open(text, from, file, o, a, d, out), result);
}

bool md_scan(str text, size_t from, str file, const struct md_options *o, arena *a, struct diag *d,
             struct md_result *result)
{
    struct md_options quiet = *o;
    quiet.words = NULL, quiet.stale = NULL, quiet.stale_count = 0, quiet.gaps = false;
    buf out = BUF_INIT;
    bool ok = md_print(open_as((struct md){.o = &quiet,
                                           .text = text,
                                           .from = from,
                                           .file = file,
                                           .a = a,
                                           .d = d,
                                           .out = &out,
                                           .scan = true}),
                       result);
    buf_free(&out);
    return ok;
}
