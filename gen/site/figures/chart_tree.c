// chart_tree{...}: questions in boxes, their answers below, and at the end of each way a link to a
// section. Texts are broken into lines here, by widths that no usual font exceeds.
#include "gen/site/figures/chart.h"
#include "gen/base/escape.h"

enum {
    NODES = 32,
    LINES = 6,
    INDENT = 18,
    PITCH = 16,  // from line to line
    PAD = 6,
    GAP = 7
};

static const double FONT = 12;  // as style.css has it

struct tree_node {
    str answer, text, target;  // the root has no answer, a question no target
    size_t depth, end;         // end: behind the last node below this one
    str lines[LINES];
    size_t answer_lines, line_count;
    double y, height;
};

struct tree_chart {
    str title;
    bool is_mirrored;
    struct tree_node nodes[NODES];
    size_t count;
};

static bool is_wide(uint32_t c)
{
    return (c >= 0x2e80 && c < 0xd800) || (c >= 0xf900 && c < 0xfe00) ||
           (c >= 0xff00 && c < 0xff61);
}

static bool is_mark(uint32_t c)
{
    return (c >= 0x300 && c < 0x370) || (c >= 0x64b && c < 0x660) || c == 0x94d ||
           (c >= 0x941 && c < 0x949) || (c >= 0x200b && c < 0x2010);
}

// Widths in parts of the font's size, of the widest font that systems set texts in: as DejaVu Sans
// has them (its hmtx table), rounded up by groups; its bold is up to 1.14 times as wide. Capitals
// that are in no group are 0.79, other signs 0.64.
static const struct {
    const char *signs;
    double width;
} latin[] = {{" .,:;|/\\'ijlIJ", 0.34}, {"!()[]-tfr", 0.42}, {"cksvxyz?*_FL", 0.60}, {"mwMW%@", 1}};
static const double BOLD = 1.14;

static double width_of(uint32_t c)
{
    if (is_wide(c))
        return 1;
    if (is_mark(c))
        return 0;
    if (c == 0x2019)
        return 0.34;
    for (size_t i = 0; c && c < 0x80 && i < sizeof latin / sizeof *latin; i++)
        if (strchr(latin[i].signs, (int)c))
            return latin[i].width;
    return (c >= 'A' && c <= 'Z') || (c >= 0x900 && c < 0x980) ? 0.79 : 0.64;
}

// What may not begin a line in Chinese and Japanese.
static bool is_closing(uint32_t c)
{
    static const uint32_t all[] = {',',    '.',    ':',    ';',    '?',    '!',    ')',
                                   0x3001, 0x3002, 0x300d, 0x3041, 0x3043, 0x3063, 0x3083,
                                   0x3085, 0x3087, 0x30c3, 0x30e3, 0x30e5, 0x30e7, 0x30fc,
                                   0xff01, 0xff09, 0xff0c, 0xff1a, 0xff1b, 0xff1f};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (c == all[i])
            return true;
    return false;
}

// Where the line that begins s ends: at a space, or between two characters of which one is wide.
static size_t break_line(str s, double room)
{
    double width = 0;
    size_t best = 0;
    uint32_t before = 0;
    for (size_t at = 0, n; at < s.len; at += n) {
        uint32_t c = utf8_next(str_slice(s, at, s.len), &n);
        if (at &&
            (c == ' ' || ((is_wide(c) || is_wide(before)) && !is_closing(c) && before != ' ')))
            best = at;
        width += width_of(c) * FONT;
        if (width > room && best)
            return best;
        before = c;
    }
    return s.len;
}

static void take_lines(lua_State *L, struct tree_node *n, str text, double room)
{
    for (text = str_trim(text); text.len; n->line_count++) {
        size_t end = break_line(text, room);
        if (n->line_count == LINES)
            luaL_error(L, "chart_tree: a node of more than %d lines", LINES);
        n->lines[n->line_count] = str_trim(str_slice(text, 0, end));
        text = str_trim(str_slice(text, end, text.len));
    }
}

// The table at the top of the stack, {answer, text, to = "#section"} or {answer, question, {...},
// ...}; pops it.
static void take_node(lua_State *L, struct tree_chart *t, size_t depth)
{
    int index = lua_gettop(L);
    if (t->count == NODES || depth > 6)
        luaL_error(L, "chart_tree: at most %d nodes, 6 deep", NODES);
    struct tree_node *n = &t->nodes[t->count++];
    luaL_checktype(L, index, LUA_TTABLE);
    luaL_checkstack(L, 8, "chart_tree");
    double room = CHART_WIDTH - (double)INDENT * (double)depth - 2 * PAD;
    n->depth = depth;
    if (depth) {
        lua_rawgeti(L, index, 1);
        n->answer = chart_words(L);
        take_lines(L, n, n->answer, room / BOLD);
    }
    n->answer_lines = n->line_count;
    lua_rawgeti(L, index, 2);
    n->text = chart_words(L);
    take_lines(L, n, n->text, room);
    n->target = chart_words_field(L, index, "to");
    size_t children = lua_rawlen(L, index) > 2 ? lua_rawlen(L, index) - 2 : 0;
    if (!n->text.len || (depth && !n->answer.len) || !children != (n->target.len > 0) ||
        (n->target.len && n->target.ptr[0] != '#'))
        luaL_error(L, "chart_tree: a node is {answer, text, to = \"#section\"} or {answer, "
                      "question, {...}, ...}");
    for (size_t i = 0; i < children; i++) {
        lua_rawgeti(L, index, (lua_Integer)i + 3);
        take_node(L, t, depth + 1);
    }
    n->end = t->count;
    lua_settop(L, index - 1);
}

static double place_nodes(struct tree_chart *t)
{
    double y = 0.5;
    for (size_t i = 0; i < t->count; i++) {
        struct tree_node *n = &t->nodes[i];
        n->y = y;
        n->height = (double)PITCH * (double)n->line_count + PAD;
        y += n->height + GAP;
    }
    return y - GAP + 0.5;
}

static double left_of(const struct tree_node *n)
{
    return (double)INDENT * (double)n->depth + 0.5;
}

// From the left, or in a language that is written from the right, from there.
static double across(const struct tree_chart *t, double x)
{
    return t->is_mirrored ? CHART_WIDTH - x : x;
}

// The line down from a question, and one to each of its answers.
static void put_branches(const struct tree_chart *t, size_t index, buf *out)
{
    const struct tree_node *n = &t->nodes[index];
    double x = across(t, left_of(n) + 9);
    for (size_t i = index + 1; i < n->end; i = t->nodes[i].end) {
        const struct tree_node *child = &t->nodes[i];
        buf_printf(out, "<path class=\"grid\" d=\"M%.1f %.1fV%.1fH%.1f\"/>\n", x, n->y + n->height,
                   child->y + 13, across(t, left_of(child)));
    }
}

static void put_lines(const struct tree_chart *t, const struct tree_node *n, size_t from, size_t to,
                      const char *class, buf *out)
{
    for (size_t i = from; i < to; i++) {
        buf_printf(out, "<text%s x=\"%.1f\" y=\"%.1f\">", class, across(t, left_of(n) + PAD),
                   n->y + (double)PITCH * (double)(i + 1) - 1);
        escape_text(out, n->lines[i]);
        buf_lit(out, "</text>\n");
    }
}

static void put_node(const struct tree_chart *t, const struct tree_node *n, buf *out)
{
    double width = CHART_WIDTH - left_of(n) - 0.5;
    buf_printf(
        out,
        "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"%d\"/>\n",
        n->target.len ? "hollow" : "nest", t->is_mirrored ? 0.5 : left_of(n), n->y, width,
        n->height, n->target.len ? 2 : 8);
    put_lines(t, n, 0, n->answer_lines, " class=\"answer\"", out);
    if (n->target.len) {
        buf_lit(out, "<a href=\"");
        escape_url(out, n->target);
        buf_lit(out, "\">\n");
    }
    put_lines(t, n, n->answer_lines, n->line_count, "", out);
    if (n->target.len)
        buf_lit(out, "</a>\n");
}

static void put_tree(struct tree_chart *t, buf *out)
{
    double height = place_nodes(t);
    buf_lit(out, "<figure class=\"chart\">\n<figcaption>");
    escape_text(out, t->title);
    buf_printf(out,
               "</figcaption>\n<svg class=\"tree%s\" viewBox=\"0 0 %d %.0f\" role=\"group\">\n",
               t->is_mirrored ? " mirrored" : "", CHART_WIDTH, height);
    buf_lit(out, "<title>");
    escape_text(out, t->title);
    buf_lit(out, "</title>\n");
    for (size_t i = 0; i < t->count; i++)
        put_branches(t, i, out);
    for (size_t i = 0; i < t->count; i++)
        put_node(t, &t->nodes[i], out);
    buf_lit(out, "</svg>\n</figure>\n");
}

static int make_tree(lua_State *L)
{
    struct figures *f = figures_of(L);
    buf html = BUF_INIT;
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    if (f->in_page_lua || !f->page)
        return luaL_error(L, "chart_tree belongs into a cell; page.lua returns its table");
    struct tree_chart *t = arena_new(&f->arena, struct tree_chart, 1);
    *t = (struct tree_chart){.is_mirrored = locale_rtl(f->page->language->locale)};
    t->title = chart_words_field(L, 1, "title");
    lua_getfield(L, 1, "root");
    if (!t->title.len || !lua_istable(L, -1))
        return luaL_error(L, "chart_tree{title = ..., root = {\"\", question, {...}, ...}}");
    take_node(L, t, 0);
    sandbox_charge(L, 2000);
    put_tree(t, &html);
    str kept = arena_str(&f->arena, buf_view(&html));
    buf_free(&html);
    return chart_push(L, kept);
}

void chart_open_tree(lua_State *L)
{
    lua_pushcfunction(L, make_tree);
    lua_setfield(L, -2, "chart_tree");
}
