// vramdoc check: a finished site is looked at from outside.
#include <string.h>

#include "gen/base/diag.h"
#include "gen/cmd.h"
#include "gen/site/check/check.h"

struct options {
    const char *strict;
    uint64_t jobs;
    bool json, quiet, verbose;
};

static const struct arg_option rows[] = {
    {'j', "jobs", ARG_UINT, offsetof(struct options, jobs), "N",
     "processes (as many as there are processors)"},
    {0, "strict", ARG_STRING, offsetof(struct options, strict), "[WHAT]",
     "warnings about content are errors"},
    {0, "json", ARG_FLAG, offsetof(struct options, json), NULL,
     "print messages and the result as lines of JSON"},
    {'q', "quiet", ARG_FLAG, offsetof(struct options, quiet), NULL, "print errors only"},
    {'v', "verbose", ARG_FLAG, offsetof(struct options, verbose), NULL,
     "show each warning, however many of a kind a file has"},
    {0},
};

static void print_result(const struct options *o, const struct check_summary *s,
                         const struct diag *d, bool ok, buf *out)
{
    if (o->json)
        buf_printf(out,
                   "{\"result\":\"%s\",\"files\":%zu,\"pages\":%zu,\"links\":%zu,\"errors\":%zu,"
                   "\"warnings\":%zu,"
                   "\"largest_page_gz\":%zu,\"css_gz\":%zu,\"script_gz\":%zu}\n",
                   ok ? "ok" : "failed", s->files, s->pages, s->links, diag_count(d, DIAG_ERROR),
                   diag_count(d, DIAG_WARNING) - diag_count(d, DIAG_ERROR), (size_t)s->largest_page,
                   (size_t)s->css, (size_t)s->script);
    else if (!o->quiet)
        buf_printf(out,
                   "%zu pages, %zu links, %zu files: %zu errors, %zu warnings; gzip bytes: largest "
                   "page %zu, "
                   "stylesheet %zu, script %zu\n",
                   s->pages, s->links, s->files, diag_count(d, DIAG_ERROR),
                   diag_count(d, DIAG_WARNING) - diag_count(d, DIAG_ERROR), (size_t)s->largest_page,
                   (size_t)s->css, (size_t)s->script);
}

static int run(void *given, int operand_count, char **operands)
{
    const struct options *o = given;
    struct check_summary s;
    if (operand_count > 1 || (o->strict && *o->strict && strcmp(o->strict, "measured"))) {
        diag_say(
            STR("vramdoc check: it takes one folder, and --strict takes nothing or measured\n"));
        return EXIT_USAGE;
    }
    struct diag *d = diag_new((struct diag_options){.strict = o->strict != NULL,
                                                    .json = o->json,
                                                    .verbose = o->verbose,
                                                    .quiet = o->quiet,
                                                    .color = diag_may_color()});
    diag_set_links(d, DIAG_ERROR);
    bool ok =
        check_site(operand_count ? str_c(operands[0]) : STR("site"), (unsigned)o->jobs, d, &s);
    buf out = BUF_INIT;
    print_result(o, &s, d, ok, &out);
    return cmd_end(d, &out, ok);
}

const struct arg_command command_check = {
    .name = "check",
    .operands = "[DIR]",
    .summary = "check a finished site: links, anchors, HTML, sizes",
    .options = rows,
    .run = run,
    .options_size = sizeof(struct options),
};
