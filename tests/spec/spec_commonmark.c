// Every example of the CommonMark 0.29 and GFM 0.29 specifications, against md_render as `vramdoc
// render` calls it.
#include "gen/base/fs.h"
#include "gen/text/markdown.h"
#include "tests/spec/examples.h"

struct counts {
    unsigned passed, failed;
};

static unsigned extension(str word)
{
    static const struct {
        str name;
        unsigned bit;
    } names[] = {
        {STR("table"), MD_TABLE},       {STR("strikethrough"), MD_STRIKETHROUGH},
        {STR("autolink"), MD_AUTOLINK}, {STR("tagfilter"), MD_TAGFILTER},
        {STR("disabled"), MD_TASKLIST},  // the GFM text marks its examples of task lists so
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_eq(word, names[i].name))
            return names[i].bit;
    return 0;
}

static void replace(buf *b, str from, str to)
{
    buf out = BUF_INIT;
    str s = buf_view(b);
    for (size_t n; (n = str_search(s, from)) < s.len; s = str_slice(s, n + from.len, s.len)) {
        buf_str(&out, str_slice(s, 0, n));
        buf_str(&out, to);
    }
    buf_str(&out, s);
    buf_free(b);
    *b = out;
}

// The task lists' examples are the only ones that the text writes with attributes in another order
// than cmark-gfm.
static void normalize(buf *wanted)
{
    replace(wanted, STR("<input disabled=\"\" type=\"checkbox\">"),
            STR("<input type=\"checkbox\" disabled=\"\" />"));
    replace(wanted, STR("<input checked=\"\" disabled=\"\" type=\"checkbox\">"),
            STR("<input type=\"checkbox\" checked=\"\" disabled=\"\" />"));
}

static bool run_example(const char *name, const struct example *x, struct diag *d)
{
    struct md_options o = {.unsafe = true, .plain = true, .extensions = extension(x->words)};
    arena a = ARENA_INIT;
    buf out = BUF_INIT, wanted = BUF_INIT;
    buf_str(&wanted, x->wanted);
    normalize(&wanted);
    md_render(x->input, 0, STR("example.md"), &o, &a, d, &out, NULL);
    bool ok = example_report(name, x, buf_view(&wanted), buf_view(&out));
    buf_free(&out);
    buf_free(&wanted);
    arena_free(&a);
    return ok;
}

static struct counts run_text(const char *name, const char *path, struct diag *d)
{
    buf text = BUF_INIT;
    arena a = ARENA_INIT;
    struct counts c = {0};
    if (fs_read(path, 0, &text)) {
        printf("skip %s: its text is not there\n", name);
        return c;
    }
    struct examples e = {.rest = buf_view(&text), .a = &a};
    for (struct example x; example_next(&e, &x);)
        run_example(name, &x, d) ? c.passed++ : c.failed++;
    buf_free(&text);
    arena_free(&a);
    return c;
}

// A text that is cut short or written otherwise must not pass as a success.
static bool all_there(const char *name, struct counts c, unsigned wanted)
{
    bool ok = !(c.passed + c.failed) || c.passed + c.failed == wanted;
    if (!ok)
        printf("not ok %s: %u examples, not %u\n", name, c.passed + c.failed, wanted);
    return ok && !c.failed;
}

int main(void)
{
    const char *build = getenv("BUILD");
    buf folder = BUF_INIT, path = BUF_INIT;
    struct diag *d = diag_new((struct diag_options){0});
    buf_printf(&folder, "%s/spec", build ? build : "build");
    buf_printf(&path, "sh tests/spec/texts/fetch.sh %s", folder.ptr);
    if (system(path.ptr))
        printf("# the texts could not all be had\n");
    md_init();
    buf_clear(&path);
    buf_printf(&path, "%s/commonmark.txt", folder.ptr);
    bool ok = all_there("commonmark", run_text("commonmark", path.ptr, d), 649);
    buf_clear(&path);
    buf_printf(&path, "%s/gfm.txt", folder.ptr);
    ok &= all_there("gfm", run_text("gfm", path.ptr, d), 673);
    diag_free(d);
    buf_free(&folder);
    buf_free(&path);
    return !ok;
}
