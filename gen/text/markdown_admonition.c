// Admonitions of MkDocs (!!!, ???, ///; === of tabs) and of Docusaurus, VitePress and Starlight
// (:::) as alerts: a block extension of cmark-gfm.
//
// An admonition is a custom block whose first child, another, is its title. Which lines belong to
// it is said by indentation (!!!, ???, ===), or by a fence that ends it (///, :::).
#include <string.h>

#include "gen/base/escape.h"
#include "gen/text/markdown_admonition.h"

enum { ALERT_NOTE, ALERT_TIP, ALERT_IMPORTANT, ALERT_WARNING, ALERT_CAUTION };

// Words that name an admonition, and the alert that it becomes.
static const struct {
    str name;
    uint8_t alert;
} types[] = {
#define X(name, alert) {STR(name), ALERT_##alert},
#include "gen/text/markdown_admonition.def"
#undef X
};
enum { TYPE_COUNT = sizeof types / sizeof *types };

const char md_title_mark[] = "title";

static struct md_admonition *admonition_of(cmark_node *n)
{
    void *data =
        n && cmark_node_get_type(n) == CMARK_NODE_CUSTOM_BLOCK ? cmark_node_get_user_data(n) : NULL;
    return data == md_title_mark ? NULL : data;
}

bool md_is_admonition_title(cmark_node *n)
{
    return md_is(n, CMARK_NODE_CUSTOM_BLOCK) && cmark_node_get_user_data(n) == md_title_mark;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_word_byte(char c)
{
    return ascii_is_alnum(c) || c == '-' || c == '_' || (c & 0x80);
}

static str take_word(str *s)
{
    *s = str_trim(*s);
    size_t n = 0;
    while (n < s->len && is_word_byte(s->ptr[n]))
        n++;
    str word = str_slice(*s, 0, n);
    *s = str_slice(*s, n, s->len);
    return word;
}

bool md_admonition_alert(struct md_admonition *m, str word)
{
    for (size_t i = 0; i < TYPE_COUNT; i++)
        if (str_eq_nocase(word, types[i].name)) {
            m->alert = types[i].alert;
            return true;
        }
    return false;
}

// A type of the tree's own: it is the title where there is no other.
static void set_word(struct md *r, struct md_admonition *m, str type)
{
    m->word = arena_c(r->a, type);
    if (ascii_is_lower(m->word[0]))
        m->word[0] = (char)(m->word[0] - 'a' + 'A');
}

void md_admonition_type(struct md *r, struct md_admonition *m, str word)
{
    if (!md_admonition_alert(m, word))
        set_word(r, m, word);
}

static bool is_details(str word)
{
    return str_eq_nocase(word, STR("details"));
}

// !!! type words "Title"; the same with ??? (it folds) and ???+ (it is open); === "Title" of a tab.
static bool read_indented(struct md *r, str s, struct md_admonition *m)
{
    m->mark = s.ptr[0];
    m->folds = m->mark == '?';
    m->bare = m->mark == '=';
    s = str_slice(s, 3, s.len);
    m->open = m->folds && str_starts(s, STR("+"));
    s = str_trim(str_slice(s, m->open || (m->bare && s.len && strchr("!+", s.ptr[0])), s.len));
    str type = take_word(&s), title;
    while (take_word(&s).len)
        ;
    bool titled = s.len > 1 && s.ptr[0] == '"' && s.ptr[s.len - 1] == '"';
    if ((!type.len && !(m->mark != '!' && titled)) || (s.len && !titled) || (m->bare && type.len))
        return false;
    if (type.len)
        md_admonition_type(r, m, type);
    if (!titled)
        return true;
    title = str_trim(str_slice(s, 1, s.len - 1));
    m->untitled = !title.len;
    m->title = title.len ? arena_c(r->a, title) : NULL;
    return true;
}

static int fence_length(str s)
{
    size_t n = 0;
    while (n < s.len && s.ptr[n] == s.ptr[0])
        n++;
    return (int)n;
}

// "[Title]", "Title", either with "{attributes}" behind it.
static str container_title(str s)
{
    s = str_trim(s);
    if (s.len && s.ptr[s.len - 1] == '}') {
        size_t open = str_rfind(s, '{');
        s = str_trim(str_slice(s, 0, open));
    }
    size_t close = str_rfind(s, ']');
    return s.len && s.ptr[0] == '[' && close + 1 == s.len ? str_slice(s, 1, close) : s;
}

// :::type Title. A type that is not known is a container: what is in it is shown, its fences
// are not.
static bool read_container(struct md *r, str s, struct md_admonition *m)
{
    m->mark = ':';
    m->length = fence_length(s);
    s = str_slice(s, (size_t)m->length, s.len);
    if (!s.len)  // an end of nothing that is open is not shown
        return m->bare = m->ended = true;
    str type = take_word(&s), title;
    m->folds = is_details(type);
    if (!type.len || (s.len && !is_space(s.ptr[0]) && s.ptr[0] != '[' && s.ptr[0] != '{'))
        return false;
    m->bare = !md_admonition_alert(m, type) && !m->folds;
    m->open = m->folds && str_has(s, STR("open}"));
    title = container_title(s);
    m->title = title.len ? arena_c(r->a, title) : NULL;
    return true;
}

// /// type | Title, and lines of options below.
static bool read_slashes(struct md *r, str s, struct md_admonition *m)
{
    m->mark = '/';
    m->length = fence_length(s);
    s = str_slice(s, (size_t)m->length, s.len);
    if (!s.len || !is_space(s.ptr[0]))
        return false;
    str type = take_word(&s), title = str_trim(s);
    m->folds = is_details(type);
    bool known = md_admonition_alert(m, type) || m->folds || str_eq(type, STR("admonition"));
    m->bare = str_eq(type, STR("html")) || str_eq(type, STR("tab")) || str_eq(type, STR("caption"));
    if (!type.len || (title.len && title.ptr[0] != '|'))
        return false;
    if (!known && !m->bare)
        set_word(r, m, type);
    m->head = true;
    title = str_trim(str_slice(title, 1, title.len));
    m->title = title.len && !str_eq(type, STR("html")) ? arena_c(r->a, title) : NULL;
    return true;
}

static bool read_opening(struct md *r, str s, struct md_admonition *m)
{
    unsigned on = r->o->extensions;
    bool indented =
        str_starts(s, STR("!!!")) || str_starts(s, STR("???")) || str_starts(s, STR("==="));
    if (on & MD_ADMONITIONS && indented)
        return read_indented(r, s, m);
    if (on & MD_ADMONITIONS && str_starts(s, STR("///")))
        return read_slashes(r, s, m);
    return on & MD_CONTAINERS && str_starts(s, STR(":::")) && read_container(r, s, m);
}

void md_line_take(cmark_parser *parser, const unsigned char *input, int len)
{
    int left = len - 1 - cmark_parser_get_offset(parser);
    if (left > 0)
        cmark_parser_advance_offset(parser, (const char *)input, left, 0);
}

cmark_node *md_block_open(cmark_syntax_extension *ext, cmark_parser *parser, cmark_node *parent,
                          void *data)
{
    int column = cmark_parser_get_first_nonspace(parser) + 1;
    cmark_node *n = cmark_parser_add_child(parser, parent, CMARK_NODE_CUSTOM_BLOCK, column);
    cmark_node_set_syntax_extension(n, ext);
    cmark_node_set_user_data(n, data);
    return n;
}

const char md_unread_mark[] = "unread";

// ::: name.of.an.object, with indented lines of options: mkdocstrings puts there what it reads from
// a program. The parser itself adds the lines to the block.
static bool is_object(struct md *r, str s)
{
    if (!(r->o->extensions & MD_ADMONITIONS) || !str_starts(s, STR("::: ")))
        return false;
    str name = str_trim(str_slice(s, 4, s.len));
    for (size_t i = 0; i < name.len; i++)
        if (!is_word_byte(name.ptr[i]) && name.ptr[i] != '.')
            return false;
    return name.len > 0;
}

static cmark_node *open_object(cmark_parser *parser, cmark_node *parent)
{
    int column = cmark_parser_get_first_nonspace(parser) + 1;
    cmark_node *n = cmark_parser_add_child(parser, parent, CMARK_NODE_CODE_BLOCK, column);
    cmark_node_set_user_data(n, (void *)md_unread_mark);
    return n;
}

// Each line goes through all that are open: one more than these in each other is code.
static bool is_deep(cmark_node *n)
{
    enum { DEEPEST = 40 };
    int depth = 0;
    for (; n && depth < DEEPEST; n = cmark_node_parent(n))
        depth += admonition_of(n) != NULL;
    return depth == DEEPEST;
}

static cmark_node *open_block(cmark_syntax_extension *ext, int indented, cmark_parser *parser,
                              cmark_node *parent, unsigned char *input, int len)
{
    struct md *r = cmark_syntax_extension_get_private(ext);
    size_t at = (size_t)cmark_parser_get_first_nonspace(parser);
    str s = str_trim(str_slice((str){(const char *)input, (size_t)len}, at, (size_t)len));
    struct md_admonition m = {0};
    if (!indented && is_object(r, s))
        return open_object(parser, parent);
    if (indented || cmark_node_get_user_data(parent) == md_title_mark || !read_opening(r, s, &m))
        return NULL;
    if (is_deep(parent))
        return open_object(parser, parent);
    struct md_admonition *kept = arena_new(r->a, struct md_admonition, 1);
    *kept = m;
    cmark_node *n = md_block_open(ext, parser, parent, kept);
    if (kept->mark == '=')
        md_tab_number(r, n, kept);
    cmark_node *title = md_block_open(ext, parser, n, (void *)md_title_mark);
    const char *text = m.title ? m.title : m.word ? m.word : "";
    cmark_node_set_string_content(title, text);
    md_line_take(parser, input, len);
    return title;
}

// Whether another admonition is open in n that this fence ends.
static bool inner_ends(cmark_node *n, char mark, int length)
{
    for (cmark_node *in = cmark_node_last_child(n); in; in = cmark_node_last_child(in)) {
        const struct md_admonition *m = admonition_of(in);
        if (m && m->mark == mark && !m->ended && m->length <= length)
            return true;
    }
    return false;
}

static bool is_end(const struct md_admonition *m, str s, cmark_node *n)
{
    if (!s.len || s.ptr[0] != m->mark || fence_length(s) != (int)s.len)
        return false;
    int length = (int)s.len;
    return (m->mark == '/' ? length == m->length : length >= m->length) &&
           !inner_ends(n, m->mark, length);
}

// A line of options behind ///: "    type: warning", "    open: True".
static bool take_option(struct md_admonition *m, str s)
{
    size_t colon = str_find(s, ':');
    str key = str_trim(str_slice(s, 0, colon)), value = str_trim(str_slice(s, colon + 1, s.len));
    if (colon == s.len)
        return false;
    if (str_eq(key, STR("type")))
        md_admonition_alert(m, value);
    if (str_eq(key, STR("open")))
        m->open = str_eq_nocase(value, STR("true"));
    return true;
}

static int match_fenced(struct md_admonition *m, cmark_parser *parser, unsigned char *input,
                        int len, cmark_node *n, str s)
{
    bool indented = cmark_parser_get_indent(parser) >= 4;
    bool option = m->head && indented && take_option(m, s);
    m->head = option;
    m->ended = !option && !indented && is_end(m, s, n);
    if (option || m->ended)
        md_line_take(parser, input, len);
    return 1;
}

static int match_indented(cmark_parser *parser, unsigned char *input, bool blank)
{
    if (!blank && cmark_parser_get_indent(parser) < 4)
        return 0;
    if (!blank)
        cmark_parser_advance_offset(parser, (const char *)input, 4, 1);
    return 1;
}

static int match_block(cmark_syntax_extension *ext, cmark_parser *parser, unsigned char *input,
                       int len, cmark_node *n)
{
    struct md_admonition *m = admonition_of(n);
    size_t at = (size_t)cmark_parser_get_first_nonspace(parser);
    str s = str_trim(str_slice((str){(const char *)input, (size_t)len}, at, (size_t)len));
    (void)ext;
    if (!m || m->ended)
        return 0;
    bool fenced = m->mark == '/' || m->mark == ':';
    return fenced ? match_fenced(m, parser, input, len, n, s)
                  : match_indented(parser, input, !s.len);
}

static int contains_inlines(cmark_syntax_extension *ext, cmark_node *n)
{
    const void *mark = cmark_node_get_user_data(n);
    (void)ext;
    return mark == md_title_mark || mark == md_tag_mark;
}

static int can_contain(cmark_syntax_extension *ext, cmark_node *n, cmark_node_type child)
{
    bool block = (child & CMARK_NODE_TYPE_MASK) == CMARK_NODE_TYPE_BLOCK;
    return contains_inlines(ext, n) ? !block : block && child != CMARK_NODE_ITEM;
}

cmark_syntax_extension *md_block_extension(struct md *r, const char *name,
                                           cmark_open_block_func open, cmark_match_block_func match)
{
    cmark_syntax_extension *ext = cmark_syntax_extension_new(name);
    cmark_syntax_extension_set_private(ext, r, NULL);
    cmark_syntax_extension_set_open_block_func(ext, open);
    cmark_syntax_extension_set_match_block_func(ext, match);
    cmark_syntax_extension_set_contains_inlines_func(ext, contains_inlines);
    cmark_syntax_extension_set_can_contain_func(ext, can_contain);
    return ext;
}

cmark_syntax_extension *md_admonition_extension(struct md *r)
{
    return md_block_extension(r, "vramdoc-admonitions", open_block, match_block);
}

cmark_node *md_admonition_put(struct md *r, cmark_node *block, const struct md_admonition *m)
{
    struct md_admonition *kept = arena_new(r->a, struct md_admonition, 1);
    *kept = *m;
    kept->mark = ':', kept->ended = true;
    cmark_node *alert = cmark_node_new_with_mem(CMARK_NODE_CUSTOM_BLOCK, r->mem);
    cmark_node *title = cmark_node_new_with_mem(CMARK_NODE_CUSTOM_BLOCK, r->mem);
    cmark_node_set_user_data(alert, kept);
    cmark_node_set_user_data(title, (void *)md_title_mark);
    bool placed = cmark_node_append_child(alert, title) && cmark_node_insert_before(block, alert);
    if (!placed) {
        cmark_node_free(alert);
        return NULL;
    }
    cmark_node *in = md_is(block, CMARK_NODE_BLOCK_QUOTE) ? cmark_node_first_child(block) : block;
    for (cmark_node *next; in; in = next) {
        next = in == block ? NULL : cmark_node_next(in);
        cmark_node_append_child(alert, in);
    }
    if (cmark_node_parent(block) != alert) {  // a quote, whose blocks are in the alert now
        cmark_node_unlink(block);
        cmark_node_free(block);
    }
    return title;
}

bool md_admonition_wrap(struct md *r, cmark_node *block, str class)
{
    struct md_admonition m = {0};
    return md_admonition_alert(&m, class) && md_admonition_put(r, block, &m);
}

static void title_enter(struct md *r, cmark_node *n, const struct md_admonition *m)
{
    bool shown = !m->bare || m->title;
    bool own_words = m->title || m->word;
    md_leaf_enter(r, n);
    if (m->title)
        md_block_add(r, n, 'q', str_c(m->title), true);
    if (!shown || (m->untitled && !m->folds)) {
        r->skip_children = true;
        return;
    }
    md_cr(r);
    str id = md_tab_id(r, cmark_node_parent(n), m);
    if (id.len) {
        buf_lit(r->out, "<p id=\"");
        escape_attribute(r->out, id);
        buf_lit(r->out, "\"><strong>");
    } else if (m->bare)
        buf_lit(r->out, "<p><strong>");
    else if (m->folds)
        buf_lit(r->out, "<summary class=\"alert-title\">");
    else
        buf_lit(r->out, "<p class=\"alert-title\">");
    if (!own_words && !m->bare)
        escape_text(r->out, md_alert_word(r, m->alert));
}

static void title_leave(struct md *r, const struct md_admonition *m)
{
    if ((m->bare && !m->title) || (m->untitled && !m->folds))
        return;
    md_stale_mark(r);
    if (m->bare)
        buf_lit(r->out, "</strong></p>\n");
    else if (m->folds)
        buf_lit(r->out, "</summary>\n");
    else
        buf_lit(r->out, "</p>\n");
}

void md_admonition_enter(struct md *r, cmark_node *n)
{
    const struct md_admonition *m = admonition_of(n);
    if (!m) {
        title_enter(r, n, admonition_of(cmark_node_parent(n)));
        return;
    }
    if (m->bare)
        return;
    md_cr(r);
    buf_printf(r->out, "<%s class=\"alert ", m->folds ? "details" : "div");
    buf_str(r->out, md_alert_class(m->alert));
    buf_printf(r->out, "\"%s%s>\n", m->folds ? "" : " role=\"note\"", m->open ? " open" : "");
}

void md_admonition_leave(struct md *r, cmark_node *n)
{
    const struct md_admonition *m = admonition_of(n);
    if (!m) {
        title_leave(r, admonition_of(cmark_node_parent(n)));
        return;
    }
    md_cr(r);
    if (!m->bare)
        buf_printf(r->out, "</%s>\n", m->folds ? "details" : "div");
}
