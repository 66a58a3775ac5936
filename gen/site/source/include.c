// Puts the files in that a page includes: --8<-- "file" of MkDocs, {{#include file}} of mdBook,
// <!--@include: file--> and <<< file of VitePress, @[code](file) of VuePress, listings of MDX.
#include "gen/site/source/include.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gen/base/beneath.h"
#include "gen/base/path.h"
#include "gen/site/source/hero.h"
#include "gen/site/source/include_body.h"
#include "gen/site/source/include_mark.h"
#include "gen/site/source/include_shortcode.h"
#include "gen/site/source/include_value.h"
#include "gen/site/source/scan.h"

enum { DEEPEST = 8, LONGEST_RULE = 120, MOST_FILES = 10000, MOST_PUT = 20000 };

static const char missing[] = "which is not there";

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

// A path below the content folder; "" when it is none.
str include_join(struct including *g, str folder, str path)
{
    buf joined = BUF_INIT, out = BUF_INIT;
    buf_printf(&joined, "%.*s/%.*s", STR_ARG(folder), STR_ARG(path));
    bool within = fs_normalize(buf_view(&joined), &out);
    str normal = within ? arena_str(g->a, buf_view(&out)) : STR_NONE;
    buf_free(&joined), buf_free(&out);
    return normal;
}

// But for the one folder that the tree's settings name.
static bool is_hidden(const struct tree *t, str path)
{
    str open = t->open_folder;
    if (open.len && str_starts(path, open) && path.len > open.len && path.ptr[open.len] == '/')
        path = str_slice(path, open.len + 1, path.len);
    return path.len && (path.ptr[0] == '.' || str_has(path, STR("/.")));
}

static const char *read_now(struct including *g, str path, struct include_source *out)
{
    struct beneath b;
    struct stat st;
    buf bytes = BUF_INIT;
    if (!beneath_place(g->root, path, false, &b))
        return errno == ELOOP || errno == ENOTDIR ? "which is behind a symbolic link" : missing;
    int fd = openat(b.folder, b.name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    beneath_leave(&b, 0);
    const char *why = fd < 0 && errno == ELOOP ? "which is a symbolic link" : missing;
    if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)))
        why = "which is no file";
    else if (fd >= 0 && fs_read_fd(fd, g->site->settings.max_page_bytes, &bytes) < 0)
        why = "which is too large or cannot be read";
    else if (fd >= 0)
        why = utf8_invalid(buf_view(&bytes)) < bytes.len ? "which is not text in UTF-8" : NULL;
    if (fd >= 0)
        close(fd);
    if (!why)
        *out = (struct include_source){path, site_path(g->site, path, g->a),
                                       arena_str(g->a, buf_view(&bytes))};
    buf_free(&bytes);
    return why;
}

// What a page asked for once, and why it is none.
struct asked {
    struct include_source in;
    const char *why;
};

// Reads a file below the content folder. NULL, or why it is none.
const char *include_read_file(struct including *g, str path, struct include_source *out)
{
    bool is_new;
    if (!path.len)
        return "which is outside of the tree";
    if (is_hidden(g->tree, path))
        return "which is hidden";
    void **kept = map_put(&g->files, g->a, path, &is_new);
    struct asked *x = *kept;
    if (is_new) {
        *kept = x = arena_new(g->a, struct asked, 1);
        x->why = g->files.count > MOST_FILES ? "since the page has too many"
                                             : read_now(g, arena_str(g->a, path), &x->in);
    }
    if (!x->why)
        *out = x->in;
    return x->why;
}

// The file of a path in the tree's own folders for it, or beside the file that names it.
const char *include_find_file(struct including *g, const struct include_source *s, str path,
                              struct include_source *out)
{
    const struct tree *t = g->tree;
    const char *why = missing;
    if (str_has(path, STR("://")))
        return "which is an address: nothing is fetched";
    if (t->includes == INCLUDE_HUGO)
        return include_read_file(g, path, out);
    for (size_t i = 0; i < t->include_count; i++) {
        str folder = t->include_folders[i];
        const char *own = include_read_file(g, include_join(g, folder, path), out);
        if (own &&
            (str_eq(folder, path) || str_ends(folder, arena_join(g->a, STR("/"), path, STR_NONE))))
            own = include_read_file(g, folder, out);  // base_path may name a file
        if (!own)
            return NULL;
        why = why == missing ? own : why;
    }
    if (t->include_count)
        return why;
    if (t->includes == INCLUDE_MDX && str_starts(path, STR("@site/")))
        return include_read_file(g, include_join(g, t->folder, str_slice(path, 6, path.len)), out);
    const struct tree_root *book = t->includes == INCLUDE_GITBOOK && str_starts(path, STR("/"))
                                       ? tree_root_of(t, s->path)
                                       : NULL;
    if (book && book->folder.len)  // of a language
        return include_read_file(g, include_join(g, book->folder, path), out);
    if (t->includes == INCLUDE_MDX && str_starts(path, STR("/")))
        return include_read_file(g, include_join(g, t->folder, path), out);
    for (size_t i = 0; i < t->alias_count; i++)
        if (str_starts(path, t->aliases[i].from))
            return include_read_file(
                g,
                include_join(g, t->aliases[i].to,
                             str_slice(path, t->aliases[i].from.len, path.len)),
                out);
    if (str_starts(path, STR("@/")) || str_starts(path, STR("~/")))
        return include_read_file(g, include_join(g, t->include_root, str_slice(path, 2, path.len)),
                                 out);
    if (str_starts(path, STR("@")))  // a folder of VuePress's configuration, by its own name
        return include_read_file(g, include_join(g, t->include_root, str_slice(path, 1, path.len)),
                                 out);
    return include_read_file(g, include_join(g, path_folder(s->path), path), out);
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
