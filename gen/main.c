// The program's face: finds the command, lets its table read the options, and returns its exit
// code.
#include <stdlib.h>
#include <string.h>

#include "gen/base/diag.h"
#include "gen/base/heap.h"
#include "gen/cmd.h"

#define X(name) +1
enum { COMMAND_COUNT = 0 COMMANDS(X) };
#undef X

#define X(name) &command_##name,
static const struct arg_command *const commands[COMMAND_COUNT + 1] = {COMMANDS(X) NULL};
#undef X

// Every row of site.yaml's table, for `vramdoc help settings` and the manual page.
#define X(key, type, member, help) key "  " help "\n"
static const char settings[] =
#include "gen/site/source/settings.def"
    ;
#undef X

static const struct args_program program = {
    .name = "vramdoc",
    .version = VERSION,
    .summary = "builds a multilingual documentation site from Markdown",
    .about = "Reads a folder of Markdown documents, one file a language, and writes a static site: "
             "pages in every "
             "language with a switcher between them, feeds, a search index and a list of what was "
             "read and written.\n"
             "\n"
             "Published are pages that are no drafts and whose date is not to come, the files that "
             "something refers to, and "
             "everything in the folder static (or public) under its own name; hidden files, keys "
             "and what lies outside of the "
             "source never are. --verbose lists what is left out. Files of others in the output "
             "stay where they are.\n"
             "\n"
             "Numbers in the text are cells, `{lua} name`, whose values come from the document's "
             "page.lua.",
    .exit_codes = "0  all is well\n"
                  "1  the site or a check of it has errors; each is on stderr as FILE:LINE:COLUMN: "
                  "error: ...\n"
                  "2  the command line cannot be understood\n"
                  "3  a file cannot be read or written, or memory ran out\n",
    .environment = "NO_COLOR  when set and not empty, messages are not coloured\n"
                   "SOURCE_DATE_EPOCH  the time that counts as now: pages with a later date are "
                   "left out; no file holds it\n"
                   "UPDATE  when 1, outputs of worked examples are rewritten where they differ\n",
    .commands = commands,
    .settings = settings,
};

static int print(buf *out)
{
    return cmd_print(out) ? EXIT_OK : EXIT_IO;
}

static int usage(const char *what, const char *near)
{
    buf b = BUF_INIT;
    buf_printf(&b, "vramdoc: %s", what);
    if (near)
        buf_printf(&b, "; did you mean %s?", near);
    buf_lit(&b, "\nvramdoc --help says more\n");
    diag_say(buf_view(&b));
    buf_free(&b);
    return EXIT_USAGE;
}

static const struct arg_command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (!strcmp(commands[i]->name, name))
            return commands[i];
    return NULL;
}

static int unknown_command(const char *name)
{
    const char *names[COMMAND_COUNT];
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        names[i] = commands[i]->name;
    buf b = BUF_INIT;
    buf_printf(&b, "unknown command %s", name);
    int rc = usage(b.ptr, args_nearest(name, names, COMMAND_COUNT));
    buf_free(&b);
    return rc;
}

static int help(const char *name)
{
    const struct arg_command *c = name ? find_command(name) : NULL;
    buf out = BUF_INIT;
    if (name && !strcmp(name, "settings")) {
        args_settings(&program, &out);
        return print(&out);
    }
    if (name && !c)
        return unknown_command(name);
    args_help(&program, c, &out);
    return print(&out);
}

static int run(const struct arg_command *c, int argc, char **argv)
{
    buf error = BUF_INIT;
    void *options = calloc(1, c->options_size ? c->options_size : 1);
    if (!options)
        buf_no_memory();
    char **operands;
    int operand_count, rc = args_parse(c, argc, argv, options, &operands, &operand_count, &error);
    if (rc == ARGS_HELP)
        rc = help(c->name);
    else if (rc)
        rc = usage(error.ptr, NULL);
    else
        rc = c->run(options, operand_count, operands);
    free(options);
    buf_free(&error);
    return rc;
}

static int global_option(const char *word, const char *value)
{
    buf out = BUF_INIT;
    if (!strcmp(word, "-h") || !strcmp(word, "--help"))
        return help(value);
    if (!strcmp(word, "--version"))
        buf_printf(&out, "%s %s\n", program.name, program.version);
    else if (!strcmp(word, "--man"))
        args_man(&program, &out);
    else if (!strcmp(word, "--completion") && value && !strcmp(value, "bash"))
        args_completion(&program, &out);
    else if (!strcmp(word, "--completion"))
        return usage("--completion wants a shell: bash", NULL);
    else
        return usage("unknown option", NULL);
    return print(&out);
}

int main(int argc, char **argv)
{
    heap_prepare();
    if (argc < 2)
        return usage("a command is missing", NULL);
    const char *word = argv[1], *value = argc > 2 ? argv[2] : NULL;
    if (word[0] == '-')
        return global_option(word, value);
    if (!strcmp(word, "help"))
        return help(value);
    const struct arg_command *c = find_command(word);
    return c ? run(c, argc - 2, argv + 2) : unknown_command(word);
}
