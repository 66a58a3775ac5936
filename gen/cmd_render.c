// vramdoc render: one Markdown file to an HTML fragment on standard output.
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "gen/base/fs.h"
#include "gen/cmd.h"
#include "gen/text/front.h"
#include "gen/text/markdown.h"
#include "gen/text/math.h"

struct render_options {
    bool unsafe, site;
    const char *extensions;
};

static const struct arg_option options[] = {
    {0, "unsafe", ARG_FLAG, offsetof(struct render_options, unsafe), NULL,
     "let raw HTML and any address through"},
    {0, "extensions", ARG_STRING, offsetof(struct render_options, extensions), "LIST",
     "table, footnotes, tasklist, strikethrough, autolink, tagfilter, and with --site math, "
     "admonitions, containers, by commas; none; without it, all but the last four"},
    {0, "site", ARG_FLAG, offsetof(struct render_options, site), NULL,
     "render as on a site's page: front matter left out, ids, alerts, coloured code, formulas, raw "
     "HTML by the allow-list"},
    {0},
};

static const struct {
    str name;
    unsigned bit;
} extensions[] = {
    {STR("table"), MD_TABLE},           {STR("footnotes"), MD_FOOTNOTES},
    {STR("tasklist"), MD_TASKLIST},     {STR("strikethrough"), MD_STRIKETHROUGH},
    {STR("autolink"), MD_AUTOLINK},     {STR("tagfilter"), MD_TAGFILTER},
    {STR("math"), MD_MATH_DOLLARS},     {STR("admonitions"), MD_ADMONITIONS},
    {STR("containers"), MD_CONTAINERS},
};

static unsigned extension_bit(str name)
{
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++)
        if (str_eq(name, extensions[i].name))
            return extensions[i].bit;
    return 0;
}

static bool read_extensions(const char *list, unsigned *bits, str *unknown)
{
    str rest = str_c(list), name;
    *bits = list ? 0 : MD_GFM;
    if (str_eq(rest, STR("none")))
        return true;
    while (str_cut(&rest, ',', &name)) {
        unsigned bit = extension_bit(str_trim(name));
        *unknown = name;
        if (!bit)
            return false;
        *bits |= bit;
    }
    return true;
}

static int read_input(const char *path, struct diag *d, buf *text)
{
    bool from_stdin = !path || !strcmp(path, "-");
    int rc = from_stdin ? fs_read_fd(STDIN_FILENO, 0, text) : fs_read(path, 0, text);
    if (rc)
        diag_add(d, D_IO_READ, DIAG_FILE(str_c(from_stdin ? "-" : path)), "%s", strerror(errno));
    return rc;
}

// On a site's page, front matter is no text.
static bool find_body(const struct md_options *o, str file, arena *a, struct diag *d, str text,
                      size_t *body)
{
    struct front front;
    *body = 0;
    if (o->plain)
        return true;
    bool ok = front_parse(text, file, a, d, &front);
    *body = ok ? front.body : 0;
    return ok;
}

static bool render_text(const struct md_options *o, str file, struct diag *d, str text, buf *out)
{
    arena a = ARENA_INIT;
    size_t body;
    bool ok =
        find_body(o, file, &a, d, text, &body) && md_render(text, body, file, o, &a, d, out, NULL);
    arena_free(&a);
    return ok;
}

// Reports words that render does not take; true when there are none.
static bool are_good(const struct render_options *r, int count, unsigned *bits)
{
    buf wrong = BUF_INIT;
    str unknown;
    if (!read_extensions(r->extensions, bits, &unknown))
        buf_printf(&wrong, "vramdoc render: unknown extension %.*s\n", STR_ARG(unknown));
    else if (count > 1)
        buf_lit(&wrong, "vramdoc render: more than one file\n");
    bool good = !wrong.len;
    diag_say(buf_view(&wrong));
    buf_free(&wrong);
    return good;
}

static int run(void *given, int count, char **operands)
{
    const struct render_options *r = given;
    struct md_options o = {.unsafe = r->unsafe, .plain = !r->site};
    const char *path = count ? operands[0] : "-";
    buf text = BUF_INIT, out = BUF_INIT;
    if (!are_good(r, count, &o.extensions))
        return EXIT_USAGE;
    struct diag *d = diag_new((struct diag_options){.color = diag_may_color()});
    bool ok = !read_input(path, d, &text);
    if (ok) {
        md_init();
        if (r->site && !r->extensions)
            o.extensions |= MD_MATH_DOLLARS;
        o.math = math_open(STR_NONE);
        ok = render_text(&o, str_c(path), d, buf_view(&text), &out);
        math_free(o.math);
    }
    buf_free(&text);
    return cmd_end(d, &out, ok);
}

const struct arg_command command_render = {
    .name = "render",
    .operands = "[FILE|-]",
    .summary = "print a Markdown file as an HTML fragment",
    .options = options,
    .options_size = sizeof(struct render_options),
    .run = run,
};
