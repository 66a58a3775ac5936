// The chapters tests/spec/markdown-*.md: what a site's page looks like, and where things are said
// to stand. Options:
//   plain unsafe       as of md_options          top=N ids=A,B      headings
//   words              the interface in Spanish  cells    Lua cells are run  size     of pictures
//   stale=0,2          blocks that have moved on  cells=N           the limit of a table
//   on=dollars,brackets,kramdown,admonitions,containers   syntax of other generators
//   result             what md_result holds is printed behind the HTML
// Messages are printed last. UPDATE=1 rewrites what is wanted; read the diff.
#include <glob.h>

#include "gen/base/fs.h"
#include "gen/base/escape.h"
#include "gen/text/html_scan.h"
#include "gen/text/markdown.h"
#include "tests/spec/examples.h"

struct setting {
    struct md_options o;
    bool result, cells;
    bool stale[16];
    unsigned width, height;
    str ids[16];
};

static void put_cell(str code, uint32_t line, uint32_t column, buf *out)
{
    bool linked = str_starts(code, STR("linked"));
    if (str_eq(code, STR("absent"))) {
        buf_lit(out, MD_ABSENT ">\xe2\x80\x93</span>");
        return;
    }
    buf_printf(out, "%s<data class=\"at-%u-%u\">", linked ? "<a href=\"#source\">" : "", line,
               column);
    escape_text(out, code);
    buf_printf(out, "</data>%s", linked ? "</a>" : "");
}

static void put_example(str code, str wanted, uint32_t line, buf *out)
{
    buf_printf(out, "<div class=\"example at-%u\"><pre>", line);
    escape_text(out, code);
    buf_lit(out, "</pre><pre>");
    escape_text(out, wanted);
    buf_lit(out, "</pre></div>");
}

static void run_cells(str text, struct md *page, arena *a)
{
    size_t count;
    struct md_lua *cells = md_cells(page, &count);
    for (size_t i = 0; i < count; i++) {
        uint32_t line, column;
        buf html = BUF_INIT;
        diag_line_col(text, cells[i].offset, &line, &column);
        if (cells[i].is_example)
            put_example(cells[i].code, cells[i].wanted, line, &html);
        else
            put_cell(cells[i].code, line, column, &html);
        cells[i].html = arena_str(a, buf_view(&html));
        buf_free(&html);
    }
}

// As a page is made: addresses stay as they are written.
static void render_page(const struct setting *s, str text, arena *a, struct diag *d, buf *out,
                        struct md_result *result)
{
    buf printed = BUF_INIT;
    struct md *page = md_open(text, 0, STR("example.md"), &s->o, a, d, &printed);
    if (s->cells)
        run_cells(text, page, a);
    md_print(page, result);
    for (size_t i = 0; i < result->link_count; i++) {
        struct md_link *link = &result->links[i];
        link->address = link->destination;
        link->width = s->width, link->height = s->height;
    }
    md_fill(buf_view(&printed), result, a, out);
    buf_free(&printed);
}

static const str spanish[MD_WORD_COUNT] = {
    [MD_NOTE] = STR("Nota"),
    [MD_WARNING] = STR("Cuidado"),
    [MD_FOOTNOTES_TITLE] = STR("Notas"),
    [MD_FOOTNOTES_BACK] = STR("Volver al texto"),
    [MD_TABLE_LABEL] = STR("Tabla"),
    [MD_TASK_DONE] = STR("hecho"),
    [MD_TASK_OPEN] = STR("por hacer"),
    [MD_STALE_MARK] = STR("El original ha cambiado"),
};

static uint64_t number_of(str s)
{
    uint64_t n = 0;
    str_u64(s, &n);
    return n;
}

static void set_list(struct setting *s, str name, str value)
{
    str item;
    while (str_cut(&value, ',', &item))
        if (str_eq(name, STR("stale")))
            s->stale[number_of(item) % 16] = true;
        else if (s->o.id_count < 16)
            s->ids[s->o.id_count++] = item;
}

static void set_syntax(struct setting *s, str value)
{
    static const struct {
        str name;
        unsigned bit;
    } kinds[] = {
        {STR("dollars"), MD_MATH_DOLLARS},   {STR("brackets"), MD_MATH_BRACKETS},
        {STR("kramdown"), MD_MATH_KRAMDOWN}, {STR("admonitions"), MD_ADMONITIONS},
        {STR("containers"), MD_CONTAINERS},
    };
    str item;
    while (str_cut(&value, ',', &item))
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            if (str_eq(item, kinds[i].name))
                s->o.extensions |= kinds[i].bit;
}

static void set_word(struct setting *s, str word)
{
    str value = word, name;
    str_cut(&value, '=', &name);
    if (str_eq(name, STR("plain")))
        s->o.plain = true;
    else if (str_eq(name, STR("unsafe")))
        s->o.unsafe = true;
    else if (str_eq(name, STR("top")))
        s->o.top_heading = (int)number_of(value);
    else if (str_eq(name, STR("words")))
        s->o.words = spanish;
    else if (str_eq(name, STR("cells")) && value.len)
        s->o.max_table_cells = number_of(value);
    else if (str_eq(name, STR("cells")))
        s->cells = true;
    else if (str_eq(name, STR("result")))
        s->result = true;
    else if (str_eq(name, STR("size")))
        s->width = 640, s->height = 480;
    else if (str_eq(name, STR("stale")))
        set_list(s, name, value), s->o.stale_count = 16;
    else if (str_eq(name, STR("on")))
        set_syntax(s, value);
    else if (str_eq(name, STR("ids")))
        set_list(s, name, value);
    else
        printf("not ok unknown option %.*s\n", STR_ARG(word));
}

static void set_all(struct setting *s, str options)
{
    str rest = options, word;
    *s = (struct setting){.o = {.extensions = MD_GFM}};
    s->o.stale = s->stale;
    while (rest.len) {
        rest = str_trim(rest);
        size_t n = 0;
        while (n < rest.len && rest.ptr[n] != ' ' && rest.ptr[n] != '\n')
            n++;
        word = str_slice(rest, 0, n);
        if (word.len)
            set_word(s, word);
        rest = str_slice(rest, n, rest.len);
    }
    s->o.ids = s->ids;
}

static void put_place(buf *out, str text, size_t offset)
{
    uint32_t line, column;
    diag_line_col(text, offset, &line, &column);
    buf_printf(out, " %u:%u", line, column);
}

static void put_result(buf *out, str text, const struct md_result *r)
{
    for (size_t i = 0; i < r->heading_count; i++) {
        const struct md_heading *h = &r->headings[i];
        buf_printf(out, "heading %d #%.*s \"%.*s\" %.*s\n", h->level, STR_ARG(h->id),
                   STR_ARG(h->text), STR_ARG(h->html));
    }
    for (size_t i = 0; i < r->link_count; i++) {
        buf_printf(out, "%s %.*s", r->links[i].is_image ? "image" : "link",
                   STR_ARG(r->links[i].destination));
        put_place(out, text, r->links[i].offset);
        buf_char(out, '\n');
    }
    buf_lit(out, "blocks");
    for (size_t i = 0; i < r->block_count; i++) {
        buf_printf(out, " %c", r->blocks[i].kind);
        put_place(out, text, r->blocks[i].offset);
    }
    buf_lit(out, "\nanchors");
    for (size_t i = 0; i < r->anchor_count; i++)
        buf_printf(out, " %.*s", STR_ARG(r->anchors[i]));
    buf_printf(out, "\nwords %zu, first \"%.*s\"%s%s%s%s\n", r->words, STR_ARG(r->first_paragraph),
               r->has_math ? ", math" : "", r->has_code ? ", code" : "",
               r->has_figures ? ", figures" : "", r->has_tables ? ", tables" : "");
}

static void render(const struct example *x, arena *a, buf *out)
{
    struct setting s;
    struct md_result result, scanned;
    struct diag *d = diag_new((struct diag_options){0});
    set_all(&s, x->options);
    s.o.gaps = !s.o.plain && !s.o.unsafe;
    render_page(&s, x->input, a, d, out, &result);
    if (!s.o.plain && !html_check(buf_view(out), STR("example.html"), d))
        buf_lit(out, "(not well-formed)\n");
    if (s.result)
        put_result(out, x->input, &result);
    diag_text(d, out);
    md_scan(x->input, 0, STR("example.md"), &s.o, a, d, &scanned);
    if (!s.o.plain &&
        (scanned.block_count != result.block_count || scanned.link_count != result.link_count))
        buf_lit(out, "(the scan finds other blocks)\n");
    diag_free(d);
}

static void put_arrows(buf *out, str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] == '\t')
            buf_lit(out, "→");
        else
            buf_char(out, s.ptr[i]);
}

static bool run_chapter(const char *path)
{
    buf text = BUF_INIT, now = BUF_INIT;
    arena a = ARENA_INIT;
    bool ok = true, update = getenv("UPDATE") && *getenv("UPDATE");
    if (fs_read(path, 0, &text))
        return false;
    const char *done = text.ptr, *name = strrchr(path, '/') + 1;
    struct examples e = {.rest = buf_view(&text), .a = &a};
    for (struct example x; example_next(&e, &x);) {
        buf out = BUF_INIT;
        render(&x, &a, &out);
        ok &= example_report(name, &x, x.wanted, buf_view(&out));
        buf_put(&now, done, (size_t)(x.raw.ptr - done));
        put_arrows(&now, buf_view(&out));
        done = x.raw.ptr + x.raw.len;
        buf_free(&out);
    }
    buf_put(&now, done, (size_t)(text.ptr + text.len - done));
    if (update)
        ok &= fs_write(path, buf_view(&now)) >= 0;
    buf_free(&text);
    buf_free(&now);
    arena_free(&a);
    return ok;
}

int main(void)
{
    glob_t chapters;
    bool ok = !glob("tests/spec/markdown-*.md", 0, NULL, &chapters);
    md_init();
    for (size_t i = 0; ok && i < chapters.gl_pathc; i++)
        ok &= run_chapter(chapters.gl_pathv[i]) || getenv("UPDATE");
    globfree(&chapters);
    return !ok;
}
