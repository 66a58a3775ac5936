// What is wrong with the figures of a document as a whole: some that no page cites, numbers in
// prose that are none.
#include <errno.h>
#include <string.h>

#include "gen/site/figures/figures_lib.h"
#include "gen/text/cells.h"
#include "gen/text/code_span.h"
#include "gen/text/template_lua.h"

static void names_in(str text, str code, void (*note)(void *ctx, str name, size_t offset),
                     void *ctx)
{
    size_t at = 0, start;
    enum lua_token kind;
    while ((kind = template_token(code, &at, &start)) != LUA_TOKEN_END &&
           kind != LUA_TOKEN_UNFINISHED)
        if (kind == LUA_TOKEN_NAME)
            note(ctx, str_slice(code, start, at), (size_t)(code.ptr - text.ptr) + start);
}

// The worked examples' code.
static void names_in_examples(str text, size_t from,
                              void (*note)(void *ctx, str name, size_t offset), void *ctx)
{
    str rest = str_slice(text, from, text.len), line;
    bool inside = false;
    while (str_line(&rest, &line)) {
        str s = str_trim(line);
        if (str_starts(s, STR("```")) || str_starts(s, STR("~~~")))
            inside = !inside && cell_fence(str_trim(str_slice(s, 3, s.len)));
        else if (inside)
            names_in(text, line, note, ctx);
    }
}

void figures_names(str text, size_t from, void (*note)(void *ctx, str name, size_t offset),
                   void *ctx)
{
    size_t at = from, end;
    str code;
    while ((at = cell_next(text, at, &code, &end)) < text.len) {
        names_in(text, code, note, ctx);
        at = end;
    }
    names_in_examples(text, from, note, ctx);
}

static bool is_word(char c)
{
    return ascii_is_alnum(c) || c == '_' || (c & 0x80);
}

// Length of a byte unit at the beginning of s that ends there; 0 when there is none.
static size_t unit_length(str s)
{
    static const str units[] = {STR("kB"),  STR("KB"),  STR("MB"),  STR("GB"),  STR("TB"),
                                STR("KiB"), STR("MiB"), STR("GiB"), STR("TiB"), STR("ko"),
                                STR("Mo"),  STR("Go"),  STR("To"),  STR("Kio"), STR("Mio"),
                                STR("Gio"), STR("Tio")};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t n = units[i].len;
        if (str_starts(s, units[i]) && (s.len == n || !is_word(s.ptr[n])))
            return n;
    }
    return 0;
}

// Blanks and hyphens that may be between a number and its unit.
static size_t gap_length(str s)
{
    static const str gaps[] = {STR(" "), STR("\xc2\xa0"), STR("\xe2\x80\xaf"), STR("-"),
                               STR("&nbsp;")};
    for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++)
        if (str_starts(s, gaps[i]))
            return gaps[i].len;
    return 0;
}

// Offset behind a link's destination "](...)" or an address <...> at i; i when there is none.
static size_t address_end(str s, size_t i)
{
    str rest = str_slice(s, i, s.len);
    if (str_starts(rest, STR("](")))
        return i + str_find(rest, ')');
    if (str_starts(rest, STR("http://")) || str_starts(rest, STR("https://")))
        return i + str_find(rest, ' ');
    return i;
}

static void bare_in_line(struct figures *f, str file, str text, str line)
{
    for (size_t i = 0; i < line.len;) {
        size_t skipped = line.ptr[i] == '`' ? code_span_at(line, i).end : address_end(line, i);
        if (skipped > i) {
            i = skipped;
            continue;
        }
        if (!ascii_is_digit(line.ptr[i]) || (i && is_word(line.ptr[i - 1]))) {
            i++;
            continue;
        }
        size_t start = i;
        while (i < line.len && (ascii_is_digit(line.ptr[i]) ||
                                ((line.ptr[i] == '.' || line.ptr[i] == ',') && i + 1 < line.len &&
                                 ascii_is_digit(line.ptr[i + 1]))))
            i++;
        size_t gap = gap_length(str_slice(line, i, line.len));
        size_t unit = unit_length(str_slice(line, i + gap, line.len));
        if (unit)
            diag_add(f->d, D_FIGURE_BARE,
                     DIAG_AT(file, text, (size_t)(line.ptr - text.ptr) + start), "%.*s",
                     STR_ARG(str_slice(line, start, i + gap + unit)));
    }
}

// Prose only: no fenced code, no indented code behind a blank line.
static void bare_check(struct figures *f, str file, str text, size_t from)
{
    str rest = str_slice(text, from, text.len), line;
    bool fenced = false;
    while (str_line(&rest, &line)) {
        str s = str_trim(line);
        if (str_starts(s, STR("```")) || str_starts(s, STR("~~~")))
            fenced = !fenced;
        else if (!fenced && !str_starts(line, STR("    ")))
            bare_in_line(f, file, text, line);
    }
}

struct citations {
    const struct figures *f;
    bool *cited;
};

static void note_citation(void *ctx, str name, size_t offset)
{
    struct citations *c = ctx;
    (void)offset;
    for (size_t i = 0; i < c->f->defined_count; i++)
        if (str_eq(c->f->defined[i]->name, name))
            c->cited[i] = true;
}

static void check_page(struct figures *f, const struct page *p, struct citations *c)
{
    str file = arena_printf(&f->arena, "%.*s/%.*s", STR_ARG(f->site->settings.content_dir),
                            STR_ARG(p->source));
    buf bytes = BUF_INIT;
    if (fs_read(file.ptr, f->site->settings.max_page_bytes, &bytes) == 0) {
        str text = arena_str(&f->arena, buf_view(&bytes));
        figures_names(text, p->body, note_citation, c);
        bare_check(f, file, text, p->body < text.len ? p->body : text.len);
    }
    buf_free(&bytes);
}

void figures_check(struct figures *f, struct diag *d)
{
    struct citations c = {f, arena_new(&f->arena, bool, f->defined_count + 1)};
    if (!f->doc->page_lua.len)
        return;
    f->d = d;
    for (size_t i = 0; i < f->site->language_count; i++)
        if (f->doc->pages[i])
            check_page(f, f->doc->pages[i], &c);
    for (size_t i = 0; i < f->defined_count; i++) {
        struct diag_pos pos = DIAG_FILE(f->doc->page_lua);
        pos.line = f->defined[i]->line;
        if (!c.cited[i])
            diag_add(d, D_FIGURE_UNCITED, pos, "%.*s", STR_ARG(f->defined[i]->name));
    }
}
