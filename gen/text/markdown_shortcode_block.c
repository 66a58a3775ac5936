// Blocks of GitBook, Hugo's themes and Jekyll's as alerts, boxes and code: a block extension of
// cmark-gfm. The tags are hidden (markdown_foreign_hide.c); where each ends is known before the
// parse (markdown_shortcode.c).
#include <string.h>

#include "gen/text/markdown_admonition.h"
#include "gen/text/markdown_shortcode.h"

struct box {
    struct md_admonition base;  // mark '{': no admonition takes it for its own
    struct md_shortcode_place place;
    bool has_code;  // its tabs hold code
    bool hidden;    // it is not shown
    size_t in_tag;  // lines of the tag that come
};

static struct box *box_of(cmark_node *n)
{
    struct md_admonition *m =
        n && cmark_node_get_type(n) == CMARK_NODE_CUSTOM_BLOCK ? cmark_node_get_user_data(n) : NULL;
    bool title = (const char *)m == md_tag_mark || (const char *)m == md_title_mark;
    return m && !title && m->mark == '{' ? (struct box *)(void *)m : NULL;
}

// Each line goes through all that are open: more than these in each other are none.
static bool is_deep(cmark_node *n)
{
    enum { DEEPEST = 40 };
    int depth = 0;
    for (; n && depth < DEEPEST; n = cmark_node_parent(n))
        depth += box_of(n) != NULL;
    return depth == DEEPEST;
}

// Where the line that is being read begins, below r->from.
static size_t line_start(const struct md *r, cmark_parser *parser)
{
    size_t number = (size_t)cmark_parser_get_line_number(parser);
    return number && number <= r->line_count ? r->lines[number - 1] : SIZE_MAX;
}

static const struct md_shortcode_place *place_at(const struct md *r, size_t at)
{
    size_t low = 0, high = r->shortcode_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (r->shortcodes[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < r->shortcode_count && r->shortcodes[low].at == at;
    return found ? &r->shortcodes[low] : NULL;
}

static str line_of(unsigned char *input, int len, size_t at)
{
    return str_trim(str_slice((str){(const char *)input, (size_t)len}, at, (size_t)len));
}

// Takes the line up to byte to of it.
static void take_to(cmark_parser *parser, unsigned char *input, size_t to)
{
    int left = (int)to - cmark_parser_get_offset(parser);
    if (left > 0)
        cmark_parser_advance_offset(parser, (const char *)input, left, 0);
}

static bool is_true(str word)
{
    return str_eq_nocase(word, STR("true"));
}

// What the arguments say of an alert or of what can be opened.
static void read_arguments(struct md *r, const struct md_shortcode *s, struct md_admonition *m)
{
    str words = md_shortcode_argument(s, s->row->words),
        open = md_shortcode_argument(s, STR("open")),
        closed = md_shortcode_argument(s, STR("closed"));
    m->bare = s->row->how >= SHORTCODE_BOX;
    m->folds = s->row->how == SHORTCODE_FOLD || (open.len && s->row->how == SHORTCODE_ALERT);
    m->open = is_true(open) || (closed.len && !is_true(closed));
    if (s->row->how == SHORTCODE_ALERT &&
        !md_admonition_alert(m, md_shortcode_argument(s, STR("type style color context level"))) &&
        !md_admonition_alert(m, md_shortcode_argument(s, STR("0"))))
        md_admonition_alert(m, s->row->kind);
    if (words.len && s->row->how != SHORTCODE_CODE)
        m->title = arena_c(r->a, words);
}

// The words of an alert that has no end: its paragraph.
static void put_content(struct md *r, cmark_parser *parser, cmark_node *n, str content)
{
    str unread = r->unread;
    size_t unread_at = r->unread_at;
    cmark_node *p = cmark_parser_add_child(parser, n, CMARK_NODE_PARAGRAPH, 1);
    str hidden = md_foreign_hide(r, arena_str(r->a, content));
    cmark_node_set_string_content(p, arena_c(r->a, hidden));
    r->unread = unread, r->unread_at = unread_at;
}

// Lines of code, up to the end of the tag. What a fence says of its language is the rest of its
// line: it takes the place of the tag's last bytes.
static cmark_node *open_code(cmark_parser *parser, cmark_node *n, unsigned char *input,
                             size_t behind, str language)
{
    cmark_node *code = cmark_parser_add_child(parser, n, CMARK_NODE_CODE_BLOCK, 1);
    cmark_node_set_fenced(code, 1, UINT8_MAX, 0, '`');
    size_t from = behind - language.len;
    memcpy(input + from, language.ptr, language.len);
    take_to(parser, input, from);
    return code;
}

static bool holds_code(cmark_node *n, const struct md_shortcode *s)
{
    const struct box *around = box_of(cmark_node_parent(n));
    return s->row->how == SHORTCODE_CODE ||
           (around && around->has_code && !s->markdown && str_eq(s->row->name, STR("tab")) &&
            !is_true(md_shortcode_argument(s, STR("text"))));
}

// The end that is the last of a line is left out of it.
static void cut_end(struct box *b, unsigned char *input, int len, size_t start)
{
    size_t from = b->place.close - start, to = b->place.close_behind - start;
    b->base.ended = true;
    if (to <= (size_t)len && !line_of(input, len, to).len)
        memset(input + from, ' ', to - from);
}

static bool is_in_line(const struct box *b, size_t from, size_t start, int len)
{
    return b->place.close >= start + from && b->place.close < start + (size_t)len;
}

static str language_of(const struct md_shortcode *s)
{
    bool fixed = s->row->how == SHORTCODE_CODE && s->row->kind.len;
    str names = s->row->how == SHORTCODE_CODE ? s->row->words : STR("lang codelang");
    return fixed ? s->row->kind : md_shortcode_argument(s, names);
}

static cmark_node *open_box(cmark_parser *parser, struct box *b, const struct md_shortcode *s,
                            cmark_node *n, unsigned char *input, int len, size_t start)
{
    if (b->in_tag) {
        md_line_take(parser, input, len);
        return n;
    }
    size_t behind = b->place.behind - start;
    bool same_line = is_in_line(b, behind, start, len);
    if (same_line)
        cut_end(b, input, len, start);
    b->has_code =
        str_eq(s->row->name, STR("tabpane")) && !is_true(md_shortcode_argument(s, STR("text")));
    if (!same_line && holds_code(n, s) && !line_of(input, len, behind).len)
        return open_code(parser, n, input, behind, language_of(s));
    take_to(parser, input, behind);
    return n;
}

void md_shortcodes_drop(cmark_node *parent)
{
    for (cmark_node *n = cmark_node_first_child(parent), *next; n; n = next) {
        const struct box *b = box_of(n);
        next = cmark_node_next(n);
        md_shortcodes_drop(n);
        if (b && b->hidden) {
            cmark_node_unlink(n);
            cmark_node_free(n);
        }
    }
}

static size_t lines_in(str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.len; i++)
        n += s.ptr[i] == '\n';
    return n;
}

static cmark_node *open_block(cmark_syntax_extension *ext, int indented, cmark_parser *parser,
                              cmark_node *parent, unsigned char *input, int len)
{
    struct md *r = cmark_syntax_extension_get_private(ext);
    size_t at = (size_t)cmark_parser_get_first_nonspace(parser), start = line_start(r, parser);
    bool title = cmark_node_get_user_data(parent) == md_title_mark;
    if (indented || title || at >= (size_t)len || input[at] != MD_HIDDEN_BRACE ||
        start == SIZE_MAX || is_deep(parent))
        return NULL;
    const struct md_shortcode_place *place = place_at(r, start + at);
    if (!place)
        return NULL;
    struct md_shortcode s;
    str tag = str_slice(r->text, r->from + place->at, r->from + place->behind);
    if (!md_shortcode_read(r, tag, &s))
        return NULL;
    str behind = md_line_behind(r, place->behind),
        content = s.row->how == SHORTCODE_ALERT ? md_shortcode_argument(&s, STR("content text"))
                                                : STR_NONE;
    size_t lines = lines_in(tag);
    if ((!content.len && !place->close) || ((content.len || lines) && behind.len))
        return NULL;
    struct box *b = arena_new(r->a, struct box, 1);
    *b = (struct box){.base = {.mark = '{', .ended = content.len && !lines},
                      .place = *place,
                      .in_tag = lines,
                      .hidden = s.row->how == SHORTCODE_HIDDEN};
    read_arguments(r, &s, &b->base);
    cmark_node *n = md_block_open(ext, parser, parent, b);
    cmark_node *head = md_block_open(ext, parser, n, (void *)md_title_mark);
    cmark_node_set_string_content(head, b->base.title ? b->base.title : "");
    if (content.len) {
        b->place.close = 0;
        put_content(r, parser, n, content);
    }
    return open_box(parser, b, &s, n, input, len, start);
}

static int match_block(cmark_syntax_extension *ext, cmark_parser *parser, unsigned char *input,
                       int len, cmark_node *n)
{
    struct box *b = box_of(n);
    struct md *r = cmark_syntax_extension_get_private(ext);
    size_t at = (size_t)cmark_parser_get_first_nonspace(parser), start = line_start(r, parser);
    if (!b || b->base.ended || start == SIZE_MAX)
        return 0;
    if (b->in_tag) {
        b->base.ended = !--b->in_tag && !b->place.close;
        md_line_take(parser, input, len);
        return 1;
    }
    if (b->place.close == start + at) {
        b->base.ended = true;
        take_to(parser, input, b->place.close_behind - start);
        return 0;
    }
    if (is_in_line(b, at, start, len))
        cut_end(b, input, len, start);
    return 1;
}

cmark_syntax_extension *md_shortcode_extension(struct md *r)
{
    return md_block_extension(r, "vramdoc-shortcodes", open_block, match_block);
}
