// vramdoc build: a folder of Markdown becomes a site.
#include <string.h>
#include <unistd.h>

#include "gen/cmd.h"
#include "gen/site/output/build.h"
#include "gen/base/escape.h"

struct options {
    const char *source, *output, *settings, *templates, *i18n, *cache, *strict, *kind, *base_url;
    uint64_t jobs;
    bool explain, fresh, into, json, quiet, verbose, shuffle;
};

static const struct arg_option rows[] = {
    {'s', "source", ARG_STRING, offsetof(struct options, source), "DIR",
     "folder of Markdown files (content)"},
    {'o', "output", ARG_STRING, offsetof(struct options, output), "DIR",
     "folder to write the site to (site)"},
    {'c', "config", ARG_STRING, offsetof(struct options, settings), "FILE",
     "settings (DIR/site.yaml of the source, if it is there)"},
    {'t', "templates", ARG_STRING, offsetof(struct options, templates), "DIR",
     "folder of templates (the program's own)"},
    {0, "i18n", ARG_STRING, offsetof(struct options, i18n), "DIR",
     "folder of message catalogs (the program's own)"},
    {0, "cache", ARG_STRING, offsetof(struct options, cache), "DIR",
     "folder that remembers what was built (beside the output)"},
    {'k', "kind", ARG_STRING, offsetof(struct options, kind), "NAME",
     "what the folder is: docusaurus, vitepress, starlight, mdbook, mkdocs, hugo, gitbook, jekyll, "
     "obsidian or plain (its own files say)"},
    {0, "base-url", ARG_STRING, offsetof(struct options, base_url), "URL",
     "where the site will be: canonical addresses, hreflang, a sitemap"},
    {0, "explain", ARG_FLAG, offsetof(struct options, explain), NULL,
     "say what the folder was recognised as and why; nothing is built"},
    {'j', "jobs", ARG_UINT, offsetof(struct options, jobs), "N",
     "processes (as many as there are processors)"},
    {'f', "fresh", ARG_FLAG, offsetof(struct options, fresh), NULL,
     "forget the last build and write everything again"},
    {0, "into", ARG_FLAG, offsetof(struct options, into), NULL,
     "build into a folder that holds other files; they stay there"},
    {0, "strict", ARG_STRING, offsetof(struct options, strict), "[WHAT]",
     "warnings about content are errors; measured: stale measurements, too"},
    {0, "json", ARG_FLAG, offsetof(struct options, json), NULL,
     "print messages and the result as lines of JSON"},
    {'q', "quiet", ARG_FLAG, offsetof(struct options, quiet), NULL, "print errors only"},
    {'v', "verbose", ARG_FLAG, offsetof(struct options, verbose), NULL,
     "show every warning, list what is left out and what is not the build's"},
    {0, "shuffle", ARG_FLAG, offsetof(struct options, shuffle), NULL,
     "render in another order; the site is the same"},
    {0},
};

static str path_arg(const char *s)
{
    return s ? str_c(s) : STR_NONE;
}

static void print_json(const struct build_summary *s, bool ok, const struct diag *d, buf *out)
{
    buf_printf(out, "{\"result\":\"%s\",\"output\":\"",
               ok ? s->unchanged ? "unchanged" : "built" : "failed");
    escape_json(out, str_c(s->output));
    buf_printf(out, "\",\"pages\":%zu,\"translations\":%zu,\"documents\":%zu,\"languages\":%zu,",
               s->pages, s->translations, s->documents, s->languages);
    buf_printf(out, "\"rendered\":%zu,\"written\":%zu,\"removed\":%zu,", s->rendered, s->written,
               s->removed);
    buf_printf(out,
               "\"left_out\":%zu,\"foreign\":%zu,\"errors\":%zu,\"warnings\":%zu,\"ms\":%llu}\n",
               s->left_out.count, s->foreign, diag_count(d, DIAG_ERROR),
               diag_count(d, DIAG_WARNING) - diag_count(d, DIAG_ERROR), (unsigned long long)s->ms);
}

static void print_text(const struct build_summary *s, buf *out)
{
    if (s->unchanged)
        buf_printf(out, "%s: nothing has changed", s->output);
    else
        buf_printf(out,
                   "%s: %zu pages in %zu language%s, %zu rendered, %zu files written, %zu removed",
                   s->output, s->pages, s->languages, s->languages == 1 ? "" : "s", s->rendered,
                   s->written, s->removed);
    if (s->left_out.count)
        buf_printf(out, ", %zu left out", s->left_out.count);
    if (s->hosts.len)
        buf_printf(out, ", pictures from %.*s", STR_ARG(s->hosts));
    if (s->foreign)
        buf_printf(out, ", %zu kept that the build did not write", s->foreign);
    buf_printf(out, " (%llu ms)\n", (unsigned long long)s->ms);
}

// A line for each file: what it is, why it is that.
static void print_list(const struct build_list *l, const char *what, bool json, buf *out)
{
    for (size_t i = 0; i < l->count; i++) {
        const struct build_item *x = &l->items[i];
        if (json) {
            buf_printf(out, "{\"%s\":\"", what);
            escape_json(out, x->path);
            buf_printf(out, "\"%s%s%s}\n", *x->why ? ",\"why\":\"" : "", x->why,
                       *x->why ? "\"" : "");
        } else {
            buf_printf(out, "%s: %.*s%s%s\n", what, STR_ARG(x->path), *x->why ? ": " : "", x->why);
        }
    }
}

// What the folder is and what follows from it; nothing is written. Ends with d.
static int explain(const struct settings_paths *paths, struct diag *d, arena *a)
{
    struct site site = {.arena = ARENA_INIT, .diag = d};
    bool ok = settings_load(&site.settings, paths, build_program_dir(a), &site.arena, d);
    buf out = BUF_INIT;
    if (ok) {
        struct tree *t = tree_read(site.settings.content_dir, site.settings.kind,
                                   site.settings.file.len > 0, &site.arena, d);
        buf_str(&out, t->explanation);
    }
    arena_free(&site.arena);
    return cmd_end(d, &out, ok);
}

static bool only_measured(const struct options *o)
{
    return o->strict && !strcmp(o->strict, "measured");
}

// Reports words that build does not take; true when there are none.
static bool are_good(const struct options *o, int operand_count)
{
    buf wrong = BUF_INIT;
    if (operand_count)
        buf_lit(&wrong, "vramdoc build: it takes no operands; name the folder by --source\n");
    else if (o->strict && *o->strict && !only_measured(o))
        buf_lit(&wrong, "vramdoc build: --strict takes nothing, or measured\n");
    else if (o->base_url && !settings_base_url(str_c(o->base_url)).len)
        buf_lit(&wrong,
                "vramdoc build: --base-url is an address that starts with https:// or http://\n");
    else if (o->kind && !kind_named(str_c(o->kind)))
        buf_printf(&wrong, "vramdoc build: --kind is %s\n", kind_names());
    bool good = !wrong.len;
    diag_say(buf_view(&wrong));
    buf_free(&wrong);
    return good;
}

static int run(void *given, int operand_count, char **operands)
{
    const struct options *o = given;
    arena a = ARENA_INIT;
    bool measured = only_measured(o);
    (void)operands;
    if (!are_good(o, operand_count))
        return EXIT_USAGE;
    struct diag *d = diag_new((struct diag_options){.strict = o->strict != NULL,
                                                    .strict_measured = measured,
                                                    .json = o->json,
                                                    .verbose = o->verbose,
                                                    .quiet = o->quiet,
                                                    .color = diag_may_color()});
    struct build_options b = {.paths = {.file = path_arg(o->settings),
                                        .content = path_arg(o->source),
                                        .output = path_arg(o->output),
                                        .templates = path_arg(o->templates),
                                        .i18n = path_arg(o->i18n),
                                        .cache = path_arg(o->cache),
                                        .base_url = path_arg(o->base_url),
                                        .kind = o->kind ? kind_named(str_c(o->kind)) : NULL},
                              .program_dir = build_program_dir(&a),
                              .jobs = (unsigned)o->jobs,
                              .fresh = o->fresh,
                              .into = o->into,
                              .verbose = o->verbose,
                              .progress = isatty(2) && !o->json && !o->quiet,
                              .strict = o->strict != NULL,
                              .strict_measured = measured,
                              .shuffle = o->shuffle};
    if (o->explain) {
        int code = explain(&b.paths, d, &a);
        arena_free(&a);
        return code;
    }
    struct build_summary s;
    bool ok = build_site(&b, d, &s);
    buf out = BUF_INIT;
    if (o->verbose && ok) {
        print_list(&s.left_out, o->json ? "left_out" : "left out", o->json, &out);
        print_list(&s.foreign_list, "kept", o->json, &out);
    }
    if (o->json)
        print_json(&s, ok, d, &out);
    else if (ok && !o->quiet)
        print_text(&s, &out);
    int code = cmd_end(d, &out, ok);
    arena_free(&a);
    arena_free(&s.arena);
    return code;
}

const struct arg_command command_build = {
    .name = "build",
    .operands = "",
    .summary = "build the site",
    .options = rows,
    .run = run,
    .options_size = sizeof(struct options),
};
