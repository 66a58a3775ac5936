// Puts the files in that a page includes: --8<-- "file" of MkDocs, {{#include file}} of mdBook,
// <!--@include: file--> and <<< file of VitePress, @[code](file) of VuePress, listings of MDX.
#include "gen/site/source/include.h"

#include <fcntl.h>
#include <unistd.h>

#include "gen/base/path.h"
#include "gen/site/source/hero.h"
#include "gen/site/source/include_body.h"
#include "gen/site/source/include_mark.h"
#include "gen/site/source/include_shortcode.h"
#include "gen/site/source/include_value.h"
#include "gen/site/source/scan.h"

enum { DEEPEST = 8, LONGEST_RULE = 120, MOST_PUT = 20000 };

// Text that stands for the source's at offset.
void include_put_made(struct including *g, const struct include_source *s, size_t offset, str made)
{
    const struct diag_piece *last = g->count ? &g->pieces[g->count - 1] : NULL;
    if (!made.len)
        return;
    bool follows =
        last && last->text.ptr == s->text.ptr && last->offset + (g->out.len - last->at) == offset;
    if (!follows) {
        g->pieces = arena_grow(g->a, g->pieces, g->count, &g->cap, g->count + 1, sizeof *g->pieces);
        g->pieces[g->count++] = (struct diag_piece){g->out.len, s->file, s->text, offset};
    }
    buf_str(&g->out, made);
}

void include_put(struct including *g, const struct include_source *s, size_t from, size_t to)
{
    bool front = s->text.ptr == g->page.text.ptr && from < g->body;
    if (from < to && g->tree->values_are != VALUES_NOTHING && !front)
        include_put_values(g, s, from, to);
    else if (from < to)
        include_put_made(g, s, from, str_slice(s->text, from, to));
}

static void refuse(struct including *g, const struct include_source *s, size_t at, str path,
                   const char *why)
{
    if (g->d)
        diag_add(g->d, D_INCLUDE_NONE, DIAG_AT(s->file, s->text, at), "%.*s, %s", STR_ARG(path),
                 why);
}

size_t include_line_end(str s, size_t at)
{
    size_t end = at + str_find(str_slice(s, at, s.len), '\n');
    return end < s.len ? end + 1 : end;
}

str include_line_at(str s, size_t at)
{
    return str_slice(s, at, include_line_end(s, at));
}

size_t include_behind_front(str text)
{
    size_t end = str_starts(text, STR("---\n"))   ? str_search(text, STR("\n---\n"))
                 : str_starts(text, STR("+++\n")) ? str_search(text, STR("\n+++\n"))
                                                  : text.len;
    return end < text.len ? end + 5 : 0;
}

// Where lines end that are to be shown: their last line feed, and marks behind them, are not.
static size_t shown_end(const struct including *g, str text, size_t from, size_t to)
{
    bool begins, mark = true;
    str name;
    while (to > from && mark) {
        to -= text.ptr[to - 1] == '\n';
        size_t start = str_rfind(str_slice(text, from, to), '\n');
        start = start == to - from ? from : from + start + 1;
        mark = include_section(g->tree->includes, str_slice(text, start, to), &begins, &name);
        if (mark)
            to = start;
    }
    return to;
}

// The lines that a mark asks for: by number, or between the marks of a name. False without any.
static bool find_lines(const struct including *g, str text, const struct include_mark *m,
                       size_t *from, size_t *to)
{
    bool found = !m->name.len, open = false, begins;
    str name;
    bool page = g->tree->includes == INCLUDE_VITEPRESS || g->tree->includes == INCLUDE_HUGO;
    size_t at = page && !m->fenced ? include_behind_front(text) : 0;
    *from = *to = text.len;
    for (size_t number = 1; at < text.len; at = include_line_end(text, at), number++) {
        bool mark = m->name.len &&
                    include_section(g->tree->includes, include_line_at(text, at), &begins, &name);
        bool own = mark && (str_eq(name, m->name) || (!begins && !name.len));
        if (own && open && !begins)
            break;
        bool wanted = m->name.len ? open : number >= m->first && number <= m->last;
        if (wanted && *from == text.len)
            *from = at;
        if (wanted)
            *to = include_line_end(text, at);
        if (own && begins)
            found = open = true;
    }
    *to = shown_end(g, text, *from, *to);
    return found;
}

// The longest row of backticks in a text: a fence round it has more.
size_t include_longest_ticks(str text)
{
    size_t longest = 0, run = 0;
    for (size_t i = 0; i < text.len; i++) {
        run = text.ptr[i] == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

void include_put_fence(struct including *g, const struct include_source *s, size_t at, str language,
                       size_t ticks, str indent)
{
    buf b = BUF_INIT;
    buf_str(&b, indent);
    for (size_t i = 0; i < ticks; i++)
        buf_char(&b, '`');
    buf_str(&b, language);
    include_put_made(g, s, at, buf_view(&b));
    buf_free(&b);
}

str include_extension_of(str path)
{
    return str_slice(path, path_ending_at(path) + 1, path.len);
}

static void include(struct including *g, const struct include_source *s, size_t at,
                    const struct include_mark *m, str indent)
{
    struct include_source in;
    size_t from, to, limit = g->site->settings.max_page_bytes;
    const char *why = g->depth >= DEEPEST ? "more than 8 files deep" : NULL;
    if (!why && (g->out.len > limit || g->put++ > MOST_PUT))
        why = "which makes the page too large";
    if (!why)
        why = m->top ? include_read_file(g, include_join(g, STR_NONE, m->path), &in)
                     : include_find_file(g, s, m->path, &in);
    if (!why && !find_lines(g, in.text, m, &from, &to))
        why = "which has no part of that name";
    if (why) {
        refuse(g, s, at, m->path, why);
        return;
    }
    size_t ticks = m->fenced ? include_longest_ticks(str_slice(in.text, from, to)) + 1 : 0;
    ticks = m->fenced && ticks < 3 ? 3 : ticks;
    if (m->fenced) {
        include_put_fence(g, s, at, include_extension_of(in.path), ticks, indent);
        include_put_made(g, s, at, STR("\n"));
    }
    str arguments = g->arguments;
    g->depth++, g->arguments = m->arguments;
    include_put_lines(g, &in, from, to, indent);
    g->depth--, g->arguments = arguments;
    if (m->fenced) {
        include_put_made(g, s, at, STR("\n"));
        include_put_fence(g, s, at, STR_NONE, ticks, indent);
    }
}

// The block between two lines of MkDocs' scissors: a file on each line. Behind the second.
static size_t include_block(struct including *g, const struct include_source *s, size_t at,
                            size_t to, str indent)
{
    for (; at < to; at = include_line_end(s->text, at)) {
        str path = str_trim(include_line_at(s->text, at));
        struct include_mark m;
        if (include_ends_block(path))
            return include_line_end(s->text, at);
        if (path.len && path.ptr[0] == ';')
            continue;
        include_spec(INCLUDE_SNIPPETS, path, &m);
        if (path.len)
            include(g, s, at, &m, indent);
        include_put_made(g, s, at, STR("\n"));
    }
    return to;
}

static bool next_mark(struct including *g, const struct include_source *s, str line,
                      struct include_mark *m)
{
    return g->tree->includes == INCLUDE_HUGO ? include_next_shortcode(g, s, line, m)
                                             : include_next(g->tree->includes, line, m);
}

// A line with the marks of files in it. Where the next line is.
static size_t put_line(struct including *g, const struct include_source *s, size_t at, size_t to,
                       str indent)
{
    size_t end = include_line_end(s->text, at);
    struct include_mark m;
    bool begun = false;
    for (end = end < to ? end : to; next_mark(g, s, str_slice(s->text, at, end), &m); at += m.end) {
        str before = str_slice(s->text, at, at + m.start), deeper = indent;
        if (m.indents)  // blanks in front of the mark are in front of each line
            deeper = arena_join(g->a, indent, before, STR_NONE);
        else
            include_put_made(g, s, at, begun ? STR_NONE : indent),
                include_put(g, s, at, at + m.start);
        begun = true;
        if (m.block)
            return include_block(g, s, end, to, deeper);
        if (m.path.len)
            include(g, s, at + m.start, &m, m.indents ? deeper : STR_NONE);
        if (m.escaped) {
            at += m.end;
            break;
        }
    }
    include_put_made(g, s, at, begun ? STR_NONE : indent);
    include_put(g, s, at, end);
    return end;
}

void include_put_lines(struct including *g, const struct include_source *s, size_t from, size_t to,
                       str indent)
{
    bool begins, fences = g->tree->includes == INCLUDE_GITBOOK;
    str name, open = STR_NONE;
    for (size_t at = from; at < to;) {
        str line = include_line_at(s->text, at);
        if (fences && include_is_code(line, &open)) {
            include_put_made(g, s, at, indent);
            include_put(g, s, at, at + line.len < to ? at + line.len : to);
            at += line.len;
            continue;
        }
        bool mark = g->depth && include_section(g->tree->includes, line, &begins, &name);
        at = mark ? at + line.len : put_line(g, s, at, to, indent);
    }
}

// The head of a start page, and what its front matter says. Where the rest begins.
static size_t put_hero(struct including *g, const struct include_source *s)
{
    struct hero_part *parts;
    size_t body = 0, count = hero_may(g->tree, s->text)
                                 ? hero_parts(g->tree, s->text, g->a, &parts, &body)
                                 : 0;
    if (!count)
        return 0;
    include_put(g, s, 0, body);
    for (size_t i = 0; i < count; i++)
        include_put_made(g, s, parts[i].offset, parts[i].text);
    return body;
}

static void put_appended(struct including *g, const struct include_source *s)
{
    for (size_t i = 0; i < g->tree->appended_count; i++) {
        struct include_mark m;
        include_spec(g->tree->includes, g->tree->appended[i], &m);
        include_put_made(g, s, s->text.len, STR("\n\n"));
        include(g, s, s->text.len, &m, STR_NONE);
    }
}

// Links to rules by their names, [words][items.fn]: each name in brackets gets its definition.
static void put_rules(struct including *g, const struct include_source *s)
{
    struct map seen = {0};
    for (size_t at = 0; g->tree->rules && at < s->text.len; at++) {
        at += str_find(str_slice(s->text, at, s->text.len), '[');
        str rest = str_slice(s->text, at + 1, s->text.len), name = str_slice(rest, 0, LONGEST_RULE);
        name = str_slice(name, 0, str_find(name, ']'));
        const str *page = map_get(&g->tree->rule_files, name);
        if (!page || (at && s->text.ptr[at - 1] == 'r') || map_has(&seen, name))
            continue;
        map_put(&seen, g->a, name, NULL);
        include_put_made(g, s, at,
                         arena_printf(g->a, "\n\n[%.*s]: /%.*s#r-%.*s\n", STR_ARG(name),
                                      STR_ARG(*page), STR_ARG(name)));
    }
}

static bool has_mark(const struct tree *tree, str text)
{
    static const str marks[][4] = {
        [INCLUDE_SNIPPETS] = {STR("8<-")},
        [INCLUDE_MDBOOK] = {STR("{{#")},
        [INCLUDE_VITEPRESS] = {STR("@include:"), STR("<<< "), STR("!!!include("), STR("@[code")},
        [INCLUDE_GITBOOK] = {STR("include")},
        [INCLUDE_MDX] = {STR("<Code")},
        [INCLUDE_KRAMDOWN] = {STR("|"), STR("{% include")},
    };
    size_t count = 0;
    while (count < 4 && marks[tree->includes][count].len)
        count++;
    return str_has_one(text, marks[tree->includes], count);
}

static bool imports(const struct tree *tree, str text)
{
    static const str files[] = {STR(".mdx\""), STR(".mdx'"),    STR(".md\""),
                                STR(".md'"),   STR(".astro\""), STR(".astro'")};
    return tree->includes == INCLUDE_MDX && str_has(text, STR("import ")) &&
           str_has_one(text, files, sizeof files / sizeof *files);
}

// Whether a text may name a file, in the way that the tree includes them.
static bool may_include(const struct tree *tree, str text)
{
    if (hero_may(tree, text))
        return true;
    if (tree->includes == INCLUDE_HUGO)
        return include_may_shortcode(tree, text);
    if (include_may_name(tree, text))
        return true;
    bool by_settings = tree->appended_count || tree->rules || tree->texts.count;
    return tree->includes != INCLUDE_NOTHING &&
           (by_settings || has_mark(tree, text) || imports(tree, text));
}

void include_text(const struct site *site, str source, str own, arena *a, struct diag *d,
                  struct included *out)
{
    *out = (struct included){.own = own, .text = own, .may = may_include(site->tree, own)};
    if (!out->may)
        return;
    struct include_source s = {source, site_path(site, source, a), arena_str(a, own)};
    out->file = s.file;
    struct including g = {
        .site = site,
        .tree = site->tree,
        .page = s,
        .body = include_behind_front(s.text),
        .root = open(site->settings.content_dir.ptr, O_PATH | O_DIRECTORY | O_CLOEXEC),
        .out = BUF_INIT,
        .a = a,
        .d = d};
    size_t body = put_hero(&g, &s);
    if (site->tree->includes == INCLUDE_MDX)
        include_put_mdx(&g, &s, body);
    else if (site->tree->includes == INCLUDE_KRAMDOWN)
        include_put_kramdown(&g, &s, body);
    else
        include_put_lines(&g, &s, body, s.text.len, STR_NONE);
    put_appended(&g, &s);
    put_rules(&g, &s);
    if (g.root >= 0)
        close(g.root);
    out->text = arena_str(a, buf_view(&g.out));
    out->pieces = g.pieces, out->count = g.count;
    buf_free(&g.out);
}

int include_page(const struct site *site, str source, buf *memory, arena *a, struct diag *d,
                 struct included *out)
{
    buf_clear(memory);
    if (fs_read(site_path(site, source, a).ptr, site->settings.max_page_bytes, memory) < 0)
        return -1;
    include_text(site, source, buf_view(memory), a, d, out);
    return 0;
}
