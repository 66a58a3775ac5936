// Texts that are made to take long: cmark's own list of pathological cases and ours. Each must be
// rendered, as a page and as a plain fragment, within seconds of processor time that are far above
// what it takes; the timer's signal ends the program.
#include <sys/resource.h>
#include <sys/time.h>

#include "gen/text/html_scan.h"
#include "gen/text/markdown.h"
#include "gen/text/math.h"
#include "tests/unit/base_fixture.h"

enum { LIMIT_S = 20 };

// The hostile build lets arrays grow by one item at a time, which takes memory of n x n: there the
// texts are shorter, and refused ones are rendered as plain fragments only.
#ifdef BASE_HOSTILE
enum { SHORTER = 100 };
#else
enum { SHORTER = 1 };
#endif

// Parts repeated one after the other.
struct row {
    const char *name;
    bool too_large;  // a table that must be refused
    struct {
        const char *text;
        unsigned times;
    } parts[5];
};

static const struct row rows[] = {
    {"nested strong emph", false, {{"*a **a ", 65000}, {"b", 1}, {" a** a*", 65000}}},
    {"emph closers", false, {{"a_ ", 65000}}},
    {"emph openers", false, {{"_a ", 65000}}},
    {"link closers", false, {{"a]", 65000}}},
    {"link openers", false, {{"[a", 65000}}},
    {"mismatched openers and closers", false, {{"*a_ ", 50000}}},
    {"multiples of three", false, {{"a**b", 1}, {"c* ", 50000}}},
    {"link openers and emph closers", false, {{"[ a_", 50000}}},
    {"[ (](", false, {{"[ (](", 80000}}},
    {"hard link and emph case", false, {{"**x [a*b**c*](d)", 1}}},
    {"nested brackets", false, {{"[", 50000}, {"a", 1}, {"]", 50000}}},
    {"nested quotes", false, {{"> ", 50000}, {"a", 1}}},
    {"deep lists", false, {{"1. ", 5000}, {"a", 1}}},
    {"unclosed links A", false, {{"[a](<b", 30000}}},
    {"unclosed links B", false, {{"[a](b", 30000}}},
    {"tables with CR", false, {{"aaa\rbbb\n-\v\n", 30000}}},
    {"many references", false, {{"[a]: b\n\n", 1}, {"[a] ", 100000}}},
    {"many links", false, {{"[a](b.md) ", 100000}}},
    {"images in links", false, {{"[![a](b)](c) ", 60000}}},
    {"autolinks", false, {{"http://a.b ", 80000}}},
    {"mail addresses", false, {{"a@b.c ", 50000}}},
    {"links in a cell", false, {{"|a|\n|-|\n|", 1}, {"[a](b) ", 20000}, {"|\n", 1}}},
    {"cells", false, {{"`{lua} x` ", 80000}}},
    {"formula openers", false, {{"$`x$", 50000}}},
    {"open tags", false, {{"<b>", 60000}}},
    {"end tags", false, {{"</b>", 60000}}},
    {"crossed tags", false, {{"<b><i></b></i>", 30000}}},
    {"links of raw HTML without an end", false, {{"<div><a href='u'>\n\n[a](b.md)\n\n", 20000}}},
    {"unclosed attributes", false, {{"<b a='", 50000}}},
    {"ampersands", false, {{"&", 100000}}},
    {"comments", false, {{"<!--", 50000}}},
    {"details", false, {{"<details>\n\n", 20000}}},
    {"the same heading", false, {{"# a\n\n", 50000}}},
    {"footnote references", false, {{"[^a]", 50000}, {"\n\n[^a]: x\n", 1}}},
    {"alerts", false, {{"> [!NOTE]\n> a\n\n", 30000}}},
    {"tasks", false, {{"- [ ] a\n", 50000}}},
    {"a long line", false, {{"a", 5000000}}},
    {"carriage returns", false, {{"a\r", 200000}}},
    {"a long table", false, {{"|a|b|\n|-|-|\n", 1}, {"|x|y|\n", 20000}}},
    {"missing cells", true, {{"|x", 300}, {"|\n", 1}, {"|-", 300}, {"|\n", 1}, {"|a\n", 40000}}},
    {"missing cells, CR",
     true,
     {{"|x", 300}, {"|\r", 1}, {"|-", 300}, {"|\r", 1}, {"|a\r", 40000}}},
    {"missing cells in a quote", true, {{"> |x|y|z|\n> |-|-|-|\n", 1}, {"> |a\n", 40000}}},
    {"a wide row", true, {{"|a|b|\n|-|-|\n", 1}, {"|x", 60000}, {"|\n", 1}}},
    {"a wide head", true, {{"|x", 60000}, {"|\n|-|-|\n", 1}}},
    {"dollars", false, {{"$a ", 300000}}},
    {"dollars without an end", false, {{"$a", 300000}}},
    {"two dollars", false, {{"$$ a\n", 100000}}},
    {"references to formulas", false, {{"$$ \\label{a} \\ref{a} \\eqref{b} $$\n\n", 30000}}},
    {"rows of formulas",
     false,
     {{"$$ \\begin{align} \\label{a} \\\\ ", 30000}, {"\\ref{a} $$", 1}}},
    {"formulas in lists", false, {{"- $$ a\n", 50000}, {"b $$\n", 1}}},
    {"two dollars on lines of their own", false, {{"$$\n", 1}, {"a $$ b\n$$\n", 50000}}},
    {"brackets of formulas", false, {{"\\(a \\\\(b ", 100000}}},
    {"brackets of formulas on lines of their own", false, {{"\\[\n\\\\[\n", 50000}}},
    {"nested admonitions", false, {{":::note\n", 2000}, {"a\n:::\n", 2000}}},
    {"admonitions in each other", false, {{":::note\n\n", 20000}}},
    {"admonitions that end where they begin",
     false,
     {{":::note\n:::\n!!! note\n/// tip\n///\n", 20000}}},
    {"indented nested admonitions",
     false,
     {{"!!! a\n    !!! b\n        !!! c\n            !!! d\n", 10000}}},
    {"bold beside letters without spaces", false, {{"**가(a)**나 ", 50000}}},
    {"bold without an end beside them", false, {{"**가(a) ", 50000}}},
    {"nested quotes with bold in them", false, {{"> ", 20000}, {"**가(a)**나\n: b\n", 1}}},
    {"definitions", false, {{"a\n: b\n: c\n\n", 20000}}},
    {"definitions of one term", false, {{"a\n", 1}, {": b\n", 50000}}},
    {"delimiter rows that fit nothing", true, {{"a|b|c\n|-|-|\n", 5000}}},
};

// Syntax of other generators.
static const struct row foreign_rows[] = {
    {"braces", false, {{"{", 300000}}},
    {"braces that one line far behind ends", false, {{"{{ ", 100000}, {"}}", 1}}},
    {"statements without an end", false, {{"{% ", 100000}}},
    {"statements in one line", false, {{"{% a %}", 60000}}},
    {"marks of raw text in one line", false, {{"{% raw %}", 60000}}},
    {"comments without an end", false, {{"{% comment %}\n", 60000}}},
    {"comments of expressions without an end", false, {{"{/* ", 100000}}},
    {"names", false, {{"export const a = 'b'\n\n", 1}, {"{a} ", 100000}}},
    {"names that have no value", false, {{"{a} ", 100000}}},
    {"values", false, {{"export const a = 'b'\n\n", 20000}, {"{c} ", 20000}}},
    {"components", false, {{"<A>", 60000}, {"</B>", 60000}}},
    {"components on lines of their own", false, {{"<A>\n", 20000}, {"</B>\n", 20000}}},
    {"ends of tags without their sign", false, {{"</", 300000}}},
    {"elements without an end", false, {{"<div\n", 100000}}},
    {"elements with Markdown", false, {{"<div markdown=\"1\">\n", 20000}}},
    {"elements of HTML", false, {{"<p>\n\n", 40000}}},
    {"imports", false, {{"import a from 'b'\n", 50000}}},
    {"an attribute that a brace begins", false, {{"<img a={", 20000}, {">\n", 1}}},
    {"attributes of blocks", false, {{"{: .a", 100000}}},
    {"lists of attributes", false, {{"a\n{: .b}\n", 40000}}},
    {"short names", false, {{":a:", 100000}}},
    {"abbreviations", false, {{"*[a]: b\n", 20000}, {"a ", 50000}}},
    {"quotes that are alerts", false, {{"> [!a] b\n\n", 20000}}},
    {"nested quotes", false, {{"> ", 50000}, {"<A>b</A>\n", 1}}},
    {"wiki links", false, {{"[[a|b]] ![[c.png]] ", 50000}}},
    {"wiki links without an end", false, {{"[[a ", 100000}}},
    {"brackets", false, {{"[", 300000}}},
    {"marked words", false, {{"==a== ", 100000}}},
    {"marked words beside others", false, {{"==a *b* ", 60000}}},
    {"remarks of a vault", false, {{"%%a%% ", 100000}}},
    {"remarks without an end", false, {{"%%% ", 100000}}},
    {"names of blocks", false, {{"a ^b\n\n", 50000}}},
    {"boxes", false, {{"{% hint style=\"info\" %}\n", 20000}}},
    {"boxes with their ends",
     false,
     {{"{% hint %}\n", 10000},
      {"{% endhint %}\n", 10000},
      {"{{< note >}}\n", 10000},
      {"{{< /note >}}\n", 10000}}},
    {"boxes in one line", false, {{"{{% tab %}}", 20000}, {"a{{% /tab %}}", 20000}}},
    {"alerts of a line", false, {{"{{< note >}}a{{< /note >}}\n", 20000}}},
    {"alerts of includes", false, {{"{% include tip.html content=\"{{ a }}\" %}\n\n", 20000}}},
    {"arguments", false, {{"{{< note ", 1}, {"a=b ", 1900}, {">}}a{{< /note >}}\n", 1}}},
    {"links around words", false, {{"{{< button href=a >}}b {{< /button >}} c ", 20000}}},
    {"examples of shortcodes", false, {{"`{{</* a */>}}` ", 20000}, {"    {{</* {{\n", 20000}}},
};

// Seconds of processor time from now until SIGPROF; 0 ends the wait.
static void limit(unsigned seconds)
{
    struct itimerval timer = {.it_value.tv_sec = (time_t)seconds};
    setitimer(ITIMER_PROF, &timer, NULL);
}

static void put_row(const struct row *row, buf *text)
{
    for (size_t i = 0; i < 5 && row->parts[i].text; i++) {
        unsigned times = row->parts[i].times;
        if (times >= SHORTER && !row->too_large)
            times /= SHORTER;
        for (unsigned k = 0; k < times; k++)
            buf_str(text, str_c(row->parts[i].text));
    }
}

static void render_as(const char *name, str text, str file, const struct md_options *o,
                      bool too_large)
{
    arena a = ARENA_INIT;
    bool plain = o->plain;
    struct diag *d = diag_new((struct diag_options){0});
    buf out = BUF_INIT;
    struct md_result r;
    bool ok = md_render(text, 0, file, o, &a, d, &out, &r);
    if (ok == too_large)
        fail_msg("%s: %s", name, ok ? "was not refused" : "was refused");
    if (too_large)
        assert_int_equal(diag_count(d, DIAG_ERROR), 1);
    else if (!plain && !strstr(name, "nested") && !strstr(name, "lists"))
        // Which counts more than 512 levels as a fault.
        assert_true(html_check(buf_view(&out), STR(""), d));
    buf_free(&out);
    diag_free(d);
    arena_free(&a);
}

static void render(const char *name, str text, bool plain, bool too_large)
{
    struct md_options o = {.extensions = plain ? MD_GFM
                                               : MD_GFM | MD_MATH | MD_ADMONITIONS | MD_CONTAINERS |
                                                     MD_DEFINITIONS,
                           .plain = plain,
                           .math = math_open(STR_NONE)};  // one program for all that are formulas
    render_as(name, text, STR("a.md"), &o, too_large);
    math_free(o.math);
}

// With what most have at once, and with what a page of MDX, a vault, GitBook and Hugo have.
static void foreign_rows_end_in_time(void **state)
{
    static const unsigned syntax[] = {
        MD_FOREIGN_BRACES | MD_FOREIGN_LIQUID | MD_FOREIGN_JSX | MD_FOREIGN_ATTRIBUTES |
            MD_FOREIGN_EMOJI | MD_FOREIGN_HTML,
        MD_FOREIGN_JSX | MD_FOREIGN_MDX, MD_FOREIGN_WIKI | MD_FOREIGN_BREAKS,
        MD_FOREIGN_BRACES | MD_FOREIGN_GITBOOK,
        MD_FOREIGN_BRACES | MD_FOREIGN_ATTRIBUTES | MD_FOREIGN_SHORTCODES};
    (void)state;
    for (size_t i = 0; i < sizeof foreign_rows / sizeof *foreign_rows; i++) {
        buf text = BUF_INIT;
        put_row(&foreign_rows[i], &text);
        print_message("# %s\n", foreign_rows[i].name);
        for (size_t k = 0; k < sizeof syntax / sizeof *syntax; k++) {
            bool mdx = syntax[k] & MD_FOREIGN_MDX;
            struct md_options o = {.extensions = MD_GFM | MD_ADMONITIONS | MD_ABBREVIATIONS,
                                   .foreign = syntax[k],
                                   .open_html = true};
            limit(LIMIT_S);
            render_as(foreign_rows[i].name, buf_view(&text), mdx ? STR("a.mdx") : STR("a.md"), &o,
                      false);
            limit(0);
        }
        buf_free(&text);
    }
}

static void every_row_ends_in_time(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        buf text = BUF_INIT;
        put_row(&rows[i], &text);
        print_message("# %s\n", rows[i].name);
        limit(LIMIT_S);
        if (SHORTER == 1 || !rows[i].too_large)
            render(rows[i].name, buf_view(&text), false, rows[i].too_large);
        render(rows[i].name, buf_view(&text), true, rows[i].too_large);
        limit(0);
        buf_free(&text);
    }
}

// Lists within lists, runs of backticks, references whose names collide, and bold text in Korean:
// these grow with their number.
static void rows_that_grow(void **state)
{
    (void)state;
    buf lists = BUF_INIT, ticks = BUF_INIT, notes = BUF_INIT, bold = BUF_INIT;
    for (int i = 0; i < 500; i++) {
        buf_printf(&lists, "%*s* a\n", 2 * i, "");
        buf_printf(&notes, "[^%d]\n\n[^%d]: x\n\n", i, i);
    }
    for (int i = 1; i < 5000; i++) {
        buf_char(&ticks, 'e');
        for (int k = 0; k < i; k++)
            buf_char(&ticks, '`');
    }
    for (int i = 0; i < 1 + 200 / SHORTER; i++) {
        for (int k = 0; k < 700; k++)
            buf_lit(&bold, "가**(a)**나");
        buf_lit(&bold, "\n\n");
    }
    limit(LIMIT_S);
    render("bold in paragraphs", buf_view(&bold), false, false);
    render("lists", buf_view(&lists), false, false);
    render("backticks", buf_view(&ticks), false, false);
    render("footnotes", buf_view(&notes), false, false);
    limit(0);
    buf_free(&lists);
    buf_free(&ticks);
    buf_free(&notes);
    buf_free(&bold);
}

static void none_takes_much_memory(void **state)
{
    (void)state;
#ifdef BASE_HOSTILE
    skip();  // what is given back stays in the sanitizer's quarantine, each size of a growing array
#endif
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    assert_true(usage.ru_maxrss < 1024 * 1024);  // kB
}

static int begin(void **state)
{
    (void)state;
    md_init();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_ends_in_time),
        cmocka_unit_test(foreign_rows_end_in_time),
        cmocka_unit_test(rows_that_grow),
        cmocka_unit_test(none_takes_much_memory),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
