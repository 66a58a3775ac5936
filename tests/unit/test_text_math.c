// Formulas: what is kept from run to run is used, what is damaged is made again, errors name their
// place.
#include <sys/stat.h>
#include <unistd.h>

#include "gen/base/fs.h"
#include "gen/text/math.h"
#include "gen/text/math_letters.h"
#include "gen/text/math_spelling.h"
#include "tests/unit/base_fixture.h"

struct folder {
    char path[64];
};

static int make_folder(void **state)
{
    static const char pattern[] = "/tmp/test_text_math.XXXXXX";
    struct folder *f = calloc(1, sizeof *f);
    memcpy(f->path, pattern, sizeof pattern);
    *state = f;
    return mkdtemp(f->path) ? 0 : -1;
}

static int drop_folder(void **state)
{
    struct folder *f = *state;
    int rc = fs_remove_tree(f->path);
    free(f);
    return rc;
}

static bool blahtexml_is_there(void)
{
    return system("command -v blahtexml >/dev/null") == 0;
}

static bool convert(struct math *m, const char *tex, bool display, buf *out, buf *messages)
{
    struct diag *d = diag_new((struct diag_options){0});
    str text = str_c(tex);
    bool ok = math_render(m, text, display, DIAG_AT(STR("f.md"), text, 0), d, out);
    diag_text(d, messages);
    diag_free(d);
    return ok;
}

static void wants(struct math *m, const char *tex, bool display, const char *want)
{
    buf out = BUF_INIT, messages = BUF_INIT;
    assert_true(convert(m, tex, display, &out, &messages));
    assert_str(buf_view(&out), want);
    assert_int_equal(messages.len, 0);
    buf_free(&out);
    buf_free(&messages);
}

static void formulas_become_mathml(void **state)
{
    (void)state;
    if (!blahtexml_is_there())
        skip();
    wants(NULL, "x^2", false, "<math><msup><mi>x</mi><mn>2</mn></msup></math>");
    wants(NULL, "x", true,
          "<math display=\"block\"><mstyle displaystyle=\"true\"><mi>x</mi></mstyle></math>");
    wants(NULL, "a < b \\& c", false,
          "<math><mrow><mi>a</mi><mo>&lt;</mo><mi>b</mi><mo>&amp;</mo><mi>c</mi></mrow></math>");
}

static void letters_of_other_alphabets(void **state)
{
    (void)state;
    static const struct {
        const char *markup, *want;
    } rows[] = {
        {"<mi mathvariant=\"bold\">W</mi>", "<mi>𝐖</mi>"},
        {"<mi mathvariant=\"bold-italic\">θ</mi><mi>x</mi>", "<mi>𝜽</mi><mi>x</mi>"},
        {"<mi mathvariant=\"double-struck\">R</mi><mn mathvariant=\"bold\">12</mn>",
         "<mi>ℝ</mi><mn>𝟏𝟐</mn>"},
        {"<mi mathvariant=\"script\" mathcolor=\"#ff0000\">LA</mi>",
         "<mi mathcolor=\"#ff0000\">ℒ𝒜</mi>"},
        {"<mi mathvariant=\"normal\">x</mi>", "<mi mathvariant=\"normal\">x</mi>"},
        {"<mi mathvariant=\"bold\">é</mi>", "<mi mathvariant=\"bold\">é</mi>"},
        {"<mi mathvariant=\"bold\"", "<mi mathvariant=\"bold\""},
        {"<mi mathvariant=\"", "<mi mathvariant=\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        buf out = BUF_INIT;
        math_letters(str_c(rows[i].markup), &out);
        assert_str(buf_view(&out), rows[i].want);
        buf_free(&out);
    }
}

struct kept {
    buf path, bytes;
};

static struct kept kept_in(const char *folder)
{
    struct kept k = {BUF_INIT, BUF_INIT};
    buf_printf(&k.path, "%s/formulas", folder);
    assert_int_equal(fs_read(k.path.ptr, 0, &k.bytes), 0);
    return k;
}

static void kept_free(struct kept *k)
{
    buf_free(&k->path);
    buf_free(&k->bytes);
}

// What a new run shows for tex where blahtexml cannot be found.
static void wants_kept(const char *folder, const char *tex, const char *want)
{
    const char *path = getenv("PATH");
    char *as_it_was = strdup(path ? path : "");
    struct math *m = math_open(str_c(folder));
    setenv("PATH", "/nowhere", 1);
    buf out = BUF_INIT, messages = BUF_INIT;
    bool known = convert(m, tex, false, &out, &messages);
    setenv("PATH", as_it_was, 1);
    assert_int_equal(known, str_starts(str_c(want), STR("<math>")));
    if (known)
        assert_str(buf_view(&out), want);
    else
        assert_non_null(strstr(messages.ptr, want));
    free(as_it_was);
    buf_free(&out);
    buf_free(&messages);
    math_free(m);
}

static void shows(const char *folder, const char *tex, const char *want)
{
    struct math *m = math_open(str_c(folder));
    wants(m, tex, false, want);
    math_free(m);
}

static void what_is_kept_is_used(void **state)
{
    struct folder *f = *state;
    if (!blahtexml_is_there())
        skip();
    shows(f->path, "x", "<math><mi>x</mi></math>");
    shows(f->path, "y", "<math><mi>y</mi></math>");
    wants_kept(f->path, "x", "<math><mi>x</mi></math>");
    wants_kept(f->path, "y", "<math><mi>y</mi></math>");
    wants_kept(f->path, "z", "blahtexml is not installed");
    shows(f->path, "z", "<math><mi>z</mi></math>");
    wants_kept(f->path, "z", "<math><mi>z</mi></math>");
}

static void a_refusal_is_kept(void **state)
{
    struct folder *f = *state;
    if (!blahtexml_is_there())
        skip();
    struct math *m = math_open(str_c(f->path));
    buf out = BUF_INIT, messages = BUF_INIT;
    assert_false(convert(m, "\\nosuch", false, &out, &messages));
    math_free(m);
    buf_free(&out);
    buf_free(&messages);
    wants_kept(f->path, "\\nosuch", "Unrecognised command \"\\nosuch\"");
}

static void two_workers_write_one_file(void **state)
{
    struct folder *f = *state;
    if (!blahtexml_is_there())
        skip();
    struct math *one = math_open(str_c(f->path)), *other = math_open(str_c(f->path));
    wants(one, "a", false, "<math><mi>a</mi></math>");
    wants(other, "b", false, "<math><mi>b</mi></math>");
    wants(one, "c", false, "<math><mi>c</mi></math>");
    math_free(one);
    math_free(other);
    wants_kept(f->path, "a", "<math><mi>a</mi></math>");
    wants_kept(f->path, "b", "<math><mi>b</mi></math>");
    wants_kept(f->path, "c", "<math><mi>c</mi></math>");
}

// Each byte of the file changed, and the file cut at each: nothing wrong is shown, and what is kept
// after that is used again.
static void what_is_damaged_is_made_again(void **state)
{
    struct folder *f = *state;
    if (!blahtexml_is_there())
        skip();
    shows(f->path, "x", "<math><mi>x</mi></math>");
    struct kept k = kept_in(f->path);
    for (size_t i = 0; i < k.bytes.len; i++) {
        for (int cut = 0; cut < 2; cut++) {
            k.bytes.ptr[i] ^= 1;
            str bytes = str_slice(buf_view(&k.bytes), 0, cut ? i : k.bytes.len);
            assert_int_not_equal(fs_write(k.path.ptr, bytes), -1);
            k.bytes.ptr[i] ^= 1;
            wants_kept(f->path, "x", "blahtexml is not installed");
        }
    }
    assert_int_not_equal(fs_write(k.path.ptr, str_slice(buf_view(&k.bytes), 0, 20)), -1);
    shows(f->path, "x", "<math><mi>x</mi></math>");
    shows(f->path, "y", "<math><mi>y</mi></math>");
    shows(f->path, "y", "<math><mi>y</mi></math>");
    wants_kept(f->path, "y", "<math><mi>y</mi></math>");
    kept_free(&k);
}

// Many at once, some of which are bad: each is shown as it is by itself.
static void many_are_as_each_alone(void **state)
{
    static const char *const tex[] = {"x^2",          "\\nosuch",
                                      "a < b \\& c",  "",
                                      "\\text{é 中}", "{",
                                      "x^2",          "\\sqrt{}",
                                      "a\tb\nc",      "\\newcommand{\\q}{x}\\q",
                                      "\\q",          "a\001b",
                                      "\\mathbb{R}",  "\\begin{<\"&}",
                                      "\\text{😀}",    "]]>-->",
                                      "\"/></f>"};
    enum { COUNT = sizeof tex / sizeof *tex };
    struct math_formula list[2 * COUNT];
    (void)state;
    if (!blahtexml_is_there())
        skip();
    for (size_t i = 0; i < 2 * COUNT; i++)
        list[i] = (struct math_formula){str_c(tex[i % COUNT]), i >= COUNT};
    struct math *m = math_open(STR_NONE);
    math_prepare(m, list, 2 * COUNT);
    for (size_t i = 0; i < 2 * COUNT; i++) {
        buf out[2] = {BUF_INIT, BUF_INIT}, messages[2] = {BUF_INIT, BUF_INIT};
        bool together = convert(m, list[i].tex.ptr, list[i].display, &out[0], &messages[0]);
        bool alone = convert(NULL, list[i].tex.ptr, list[i].display, &out[1], &messages[1]);
        assert_int_equal(together, alone);
        assert_str(buf_view(&out[0]), out[1].ptr);
        assert_str(buf_view(&messages[0]), messages[1].ptr);
        for (int k = 0; k < 2; k++)
            buf_free(&out[k]), buf_free(&messages[k]);
    }
    math_free(m);
}

static void spelled_as_blahtexml_takes_it(void **state)
{
    static const struct {
        const char *tex, *inline_want, *display_want;
    } rows[] = {
        {"\\dfrac{1}{2} \\le \\tfrac12", "\\frac{1}{2} \\le \\frac12", NULL},
        {"a \\lt b\\:c \\nonumber", "a < b\\;c ", NULL},
        {"x \\label{eq:{a}} \\tag {1} y", "x   y\\qquad\\text{(1)}", NULL},
        {"\\begin{gather} x \\\\ y \\tag{$2$} \\\\ z \\tag{3} \\end{gather}",
         "\\begin{aligned} x \\\\ y  \\qquad{(2)}\\\\ z  \\qquad\\text{(3)}\\end{aligned}", NULL},
        {"\\tag*{a_b} \\begin{align} x \\\\ y \\end{align}",
         " \\begin{aligned} x \\\\ y \\end{aligned}\\qquad\\text{a\\_b}", NULL},
        {"\\begin{cases} a & b \\end{cases} \\begin{cases} \\begin{cases} a \\end{cases} & b & c "
         "\\end{cases}",
         "\\begin{cases} a & b \\end{cases} \\left\\{\\begin{matrix} \\begin{cases} a \\end{cases} "
         "& "
         "b & c \\end{matrix}\\right.",
         NULL},
        {"a \\bigm| \\lparen b \\Biggm| c", "a \\big| ( b \\Bigg| c", NULL},
        {"\\begin{align*} a &= b \\\\ c &= d \\end{align*}",
         "\\begin{aligned} a &= b \\\\ c &= d \\end{aligned}", NULL},
        {"\\begin{array}{c|c} a & b \\end{array}", "\\begin{matrix} a & b \\end{matrix}", NULL},
        {"\\begin{equation} a \\end{equation}", " a ", NULL},
        {"\\begin{pmatrix} a & b \\end{pmatrix}", "\\begin{pmatrix} a & b \\end{pmatrix}", NULL},
        {"a \\\\ b", "a \\\\ b", "\\begin{aligned}a \\\\ b\\end{aligned}"},
        {"\\begin{equation} a &= b \\end{equation}", " a &= b ",
         "\\begin{aligned} a &= b \\end{aligned}"},
        {"a \\& b \\{ c", "a \\& b \\{ c", NULL},
        {"\\text{a_b\\_c} \\texttt{x_y}_i", "\\text{a\\_b\\_c} \\texttt{x\\_y}_i", NULL},
        {"x \u2212 y\u200b \u2264 \u03b1", "x - y \\le  \\alpha ", NULL},
        {"s = \"a\" + \u4e2d\u6587_1", "s = \\text{\"}a\\text{\"} + \\text{\u4e2d\u6587}_1", NULL},
        {"\\text{\u4e2d\u2212}", "\\text{\u4e2d\u2212}", NULL},
        {"a \\newline b", "a \\\\ b", "\\begin{aligned}a \\\\ b\\end{aligned}"},
        {"\\boxed{a} \\dbinom n k \\R^2", "{a} \\binom n k \\mathbb{R}^2", NULL},
        {"\\text", "\\text", NULL},
        {"\\text{", "\\text{", NULL},
        {"\\dfracx \\begin{align", "\\dfracx \\begin{}{align", NULL},
        {"\\", "\\", NULL},
        {"\\tag{", "{", NULL},
        {"\\phantom{xy}a \\middle| b \\impliedby c", "a | b \\;\\Longleftarrow\\; c", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int display = 0; display < 2; display++) {
            buf out = BUF_INIT;
            math_spelling(str_c(rows[i].tex), display, &out);
            assert_str(buf_view(&out), display && rows[i].display_want ? rows[i].display_want
                                                                       : rows[i].inline_want);
            buf_free(&out);
        }
}

static void errors_name_the_place(void **state)
{
    (void)state;
    if (!blahtexml_is_there())
        skip();
    static const char *const bad[] = {"\\nosuch", "{", "}", "\\frac{1}", "\\begin{matrix}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        buf out = BUF_INIT, messages = BUF_INIT;
        assert_false(convert(NULL, bad[i], false, &out, &messages));
        assert_true(str_starts(buf_view(&out), STR("<code>")));
        assert_true(str_starts(buf_view(&messages),
                               STR("f.md:1:1: warning: a formula that cannot be read: ")));
        assert_non_null(strstr(messages.ptr, "[math-syntax]"));
        buf_free(&out);
        buf_free(&messages);
    }
}

static void long_formulas_are_refused(void **state)
{
    (void)state;
    char *tex = malloc(20001);
    memset(tex, 'x', 20000);
    tex[20000] = 0;
    buf out = BUF_INIT, messages = BUF_INIT;
    assert_false(convert(NULL, tex, false, &out, &messages));
    assert_non_null(strstr(messages.ptr, "too long"));
    buf_free(&out);
    buf_free(&messages);
    free(tex);
}

static void a_missing_program_is_named(void **state)
{
    (void)state;
    const char *path = getenv("PATH");
    char *kept = strdup(path ? path : "");
    setenv("PATH", "/nowhere", 1);
    buf out = BUF_INIT, messages = BUF_INIT;
    assert_false(convert(NULL, "x", false, &out, &messages));
    assert_non_null(strstr(messages.ptr, "blahtexml is not installed"));
    setenv("PATH", kept, 1);
    free(kept);
    buf_free(&out);
    buf_free(&messages);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, drop_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formulas_become_mathml),
        cmocka_unit_test(letters_of_other_alphabets),
        IN_FOLDER(what_is_kept_is_used),
        IN_FOLDER(a_refusal_is_kept),
        IN_FOLDER(two_workers_write_one_file),
        IN_FOLDER(what_is_damaged_is_made_again),
        cmocka_unit_test(many_are_as_each_alone),
        cmocka_unit_test(errors_name_the_place),
        cmocka_unit_test(spelled_as_blahtexml_takes_it),
        cmocka_unit_test(long_formulas_are_refused),
        cmocka_unit_test(a_missing_program_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
