// Prints the option tables: help for a reader, a man page, and completion for bash.
#include <stddef.h>

#include "gen/base/args.h"

enum { HELP_COLUMN = 26 };

// "-o, --output DIR" or "--strict[=WHAT]".
static void put_option(buf *out, const struct arg_option *o)
{
    if (o->letter)
        buf_printf(out, "-%c, ", o->letter);
    else
        buf_lit(out, "    ");
    buf_printf(out, "--%s", o->name);
    str value = str_c(o->argument);
    if (o->kind == ARG_FLAG || value.len == 0)
        return;
    if (value.ptr[0] == '[')
        buf_printf(out, "[=%.*s", STR_ARG(str_slice(value, 1, value.len)));
    else
        buf_printf(out, " %s", o->argument);
}

static void pad(buf *out, size_t from)
{
    size_t used = out->len - from;
    if (used + 2 > HELP_COLUMN) {
        buf_char(out, '\n');
        used = 0;
    }
    while (used++ < HELP_COLUMN)
        buf_char(out, ' ');
}

// A summary as a sentence of its own: with a capital and a full stop.
static void put_sentence(buf *out, const char *summary)
{
    char first = *summary >= 'a' && *summary <= 'z' ? (char)(*summary - 32) : *summary;
    buf_printf(out, "%c%s.\n", first, *summary ? summary + 1 : "");
}

static void help_command(const struct args_program *p, const struct arg_command *c, buf *out)
{
    buf_printf(out, "Usage: %s %s [OPTION]...%s%s\n\n", p->name, c->name, *c->operands ? " " : "",
               c->operands);
    put_sentence(out, c->summary);
    buf_lit(out, "\nOptions:\n");
    for (const struct arg_option *o = c->options; o && o->name; o++) {
        size_t from = out->len;
        buf_lit(out, "  ");
        put_option(out, o);
        pad(out, from);
        buf_printf(out, "%s\n", o->help);
    }
    buf_lit(out, "  -h, --help              show this help\n");
}

static void put_indented(buf *out, const char *lines)
{
    str rest = str_c(lines), line;
    while (str_line(&rest, &line))
        buf_printf(out, "  %.*s\n", STR_ARG(line));
}

void args_help(const struct args_program *p, const struct arg_command *only, buf *out)
{
    if (only) {
        help_command(p, only, out);
        return;
    }
    buf_printf(out, "%s %s: %s\n\nUsage: %s COMMAND [OPTION]...\n\nCommands:\n", p->name,
               p->version, p->summary, p->name);
    for (const struct arg_command *const *c = p->commands; *c; c++) {
        size_t from = out->len;
        buf_printf(out, "  %s%s%s", (*c)->name, *(*c)->operands ? " " : "", (*c)->operands);
        pad(out, from);
        buf_printf(out, "%s\n", (*c)->summary);
    }
    if (p->settings)
        buf_lit(out, "  help settings           list what the settings file can say\n");
    buf_printf(
        out,
        "\nOptions:\n  -h, --help              show this help, or a command's: %s COMMAND --help\n"
        "      --version           show the version\n"
        "      --man               print the manual page (roff)\n"
        "      --completion bash   print the completion for a shell\n\nExit codes:\n",
        p->name);
    put_indented(out, p->exit_codes);
    buf_lit(out, "\nEnvironment:\n");
    put_indented(out, p->environment);
}

void args_settings(const struct args_program *p, buf *out)
{
    str rest = str_c(p->settings), line;
    while (str_line(&rest, &line)) {
        size_t from = out->len, gap = str_search(line, STR("  "));
        buf_printf(out, "  %.*s", STR_ARG(str_slice(line, 0, gap)));
        pad(out, from);
        buf_printf(out, "%.*s\n", STR_ARG(str_trim(str_slice(line, gap, line.len))));
    }
}

// Text for roff: a backslash and a hyphen are written so that they stay what they are, a line's
// first dot too.
static void put_roff(buf *out, str s)
{
    bool at_start = true;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (at_start && (c == '.' || c == '\''))
            buf_lit(out, "\\&");
        if (c == '\\')
            buf_lit(out, "\\e");
        else if (c == '-')
            buf_lit(out, "\\-");
        else
            buf_char(out, c);
        at_start = c == '\n';
    }
}

static void man_command(const struct args_program *p, const struct arg_command *c, buf *out)
{
    buf_printf(out, ".SS %s %s [\\fIOPTION\\fR]... ", p->name, c->name);
    put_roff(out, str_c(c->operands));
    buf_char(out, '\n');
    buf sentence = BUF_INIT;
    put_sentence(&sentence, c->summary);
    put_roff(out, buf_view(&sentence));
    buf_free(&sentence);
    for (const struct arg_option *o = c->options; o && o->name; o++) {
        buf head = BUF_INIT;
        put_option(&head, o);
        buf_lit(out, ".TP\n\\fB");
        put_roff(out, str_trim(buf_view(&head)));
        buf_lit(out, "\\fR\n");
        put_roff(out, str_c(o->help));
        buf_char(out, '\n');
        buf_free(&head);
    }
}

// Lines "NAME  text" as a list.
static void man_list(const char *title, const char *lines, buf *out)
{
    buf_printf(out, ".SH %s\n", title);
    str rest = str_c(lines), line;
    while (str_line(&rest, &line)) {
        size_t gap = str_search(line, STR("  "));
        buf_lit(out, ".TP\n\\fB");
        put_roff(out, str_slice(line, 0, gap));
        buf_lit(out, "\\fR\n");
        put_roff(out, str_trim(str_slice(line, gap, line.len)));
        buf_char(out, '\n');
    }
}

void args_man(const struct args_program *p, buf *out)
{
    buf_printf(
        out,
        ".TH %s 1 \"\" \"%s %s\" \"User commands\"\n.SH NAME\n%s \\- %s\n.SH SYNOPSIS\n.B %s\n"
        "\\fICOMMAND\\fR [\\fIOPTION\\fR]...\n.SH DESCRIPTION\n",
        p->name, p->name, p->version, p->name, p->summary, p->name);
    str rest = str_c(p->about), line;
    while (str_line(&rest, &line)) {
        if (line.len == 0)
            buf_lit(out, ".PP\n");
        else
            put_roff(out, line), buf_char(out, '\n');
    }
    buf_lit(out, ".SH COMMANDS\n");
    for (const struct arg_command *const *c = p->commands; *c; c++)
        man_command(p, *c, out);
    if (p->settings)
        man_list("SETTINGS", p->settings, out);
    man_list("EXIT STATUS", p->exit_codes, out);
    man_list("ENVIRONMENT", p->environment, out);
}

void args_completion(const struct args_program *p, buf *out)
{
    buf_printf(
        out,
        "# bash completion for %s, written by %s --completion bash\n_%s()\n{\n    local words i "
        "command=\n"
        "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
        "        [[ ${COMP_WORDS[i]} != -* ]] && command=${COMP_WORDS[i]} && break\n    done\n"
        "    case $command in\n",
        p->name, p->name, p->name);
    for (const struct arg_command *const *c = p->commands; *c; c++) {
        buf_printf(out, "        %s) words='--help", (*c)->name);
        for (const struct arg_option *o = (*c)->options; o && o->name; o++)
            buf_printf(out, " --%s", o->name);
        buf_lit(out, "' ;;\n");
    }
    buf_lit(out, "        *) words='--help --version --man --completion");
    for (const struct arg_command *const *c = p->commands; *c; c++)
        buf_printf(out, " %s", (*c)->name);
    buf_printf(out,
               "' ;;\n    esac\n    COMPREPLY=($(compgen -W \"$words\" -- "
               "\"${COMP_WORDS[COMP_CWORD]}\"))\n}\n"
               "complete -o default -F _%s %s\n",
               p->name, p->name);
}
