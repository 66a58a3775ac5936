// Help, the manual page and the completion script, all from the tables of cli.def and fields.def.

#include "calc/cli/cli_help.h"

#include <string.h>

#include "calc/vram.h"

enum { COLUMN = 26, RIGHT = 98 };

static const struct example {
    const char *line, *what;
} EXAMPLES[] = {
#define EXAMPLE(line, what) {line, what},
#include "calc/cli/cli.def"
#undef EXAMPLE
};

// The tolerances, stated here and nowhere else in the documents; the JSON's bounds carry the same
// numbers.
static const char *const TOLERANCES[][2] = {
    {"tensors alive, eager", "exact for gpt2; 0.5 % for the llama families"},
    {"max_memory_allocated", "1 %"},
    {"max_memory_reserved", "5 %: a slightly other batch can move it by more than 3 %"},
    {"compiled, all figures", "5 %"},
    {"the process", "5 %, and the context's range on top: 300 MiB by default, 200 to 430"},
    {"where it was measured", "what 90 % of the public measurements of such runs are within, where "
                              "that is more; of a wider kind, which is named, where "
                              "fewer than five are of such runs"},
};

static const char *const EXITS[][2] = {
    {"0", "done; with fit, max-batch, solve, cards and serve: it fits"},
    {"1", "it does not fit"},
    {"2", "a word of the command line is wrong by itself"},
    {"3", "a file or the configuration as a whole is wrong, or it cannot be read or written"},
};

static const char KINDS[] =
    "A FILE is a configuration of a trainer, a launch script, a Hugging Face config.json, a "
    "training log, or lines of key = value (--kind lists what is read); - is standard input; "
    "where no file has the name, it is a preset's or a model's on the Hub. Files are read in "
    "order, then key=value words, each over what came before.";

// Text from column `indent` on, broken at blanks.
static void wrap(FILE *out, const char *text, size_t indent, size_t at)
{
    for (bool first = true; *text; first = false) {
        size_t n = strcspn(text, " ");
        if (!first && at + 1 + n > RIGHT) {
            fprintf(out, "\n%*s", (int)indent, "");
            at = indent;
        } else if (!first) {
            fputc(' ', out);
            at++;
        }
        fprintf(out, "%.*s", (int)n, text);
        at += n;
        text += n + (text[n] == ' ');
    }
    fputc('\n', out);
}

static void row(FILE *out, const char *left, const char *right)
{
    int used = fprintf(out, "  %s", left);
    size_t at = used > 0 ? (size_t)used : 0;
    if (at >= COLUMN) {
        fputc('\n', out);
        at = 0;
    }
    fprintf(out, "%*s", (int)(COLUMN - at), "");
    wrap(out, right, COLUMN, COLUMN);
}

static void option_row(FILE *out, const struct cli_option *o)
{
    char left[64];
    char letter[8] = "    ";
    if (o->letter)
        snprintf(letter, sizeof letter, "-%c, ", o->letter);
    snprintf(left, sizeof left, "%s--%s%s%s", letter, o->name, o->argument[0] ? " " : "",
             o->argument);
    row(out, left, o->help);
}

static void pairs(FILE *out, const char *head, const char *const (*rows)[2], size_t count)
{
    fprintf(out, "\n%s\n", head);
    for (size_t i = 0; i < count; i++)
        row(out, rows[i][0], rows[i][1]);
}

#define COUNT(rows) (sizeof rows / sizeof *rows)

static void command_help(FILE *out, const struct cli_command *c)
{
    fprintf(out, "vramcalc %s%s%s\n\n", c->name, c->operands[0] ? " " : "", c->operands);
    wrap(out, c->about[0] ? c->about : c->summary, 0, 0);
    fprintf(out, "\nFormats: %s (the first if none is asked for)\n", c->formats);
    if (c == &cli_commands[COMMAND_ESTIMATE])
        pairs(out, "Tolerances", TOLERANCES, COUNT(TOLERANCES));
    fputs("\nOptions\n", out);
    for (int i = 0; i < OPTION_COUNT; i++)
        option_row(out, &cli_options[i]);
    fputs("\nFields for key=value: `vramcalc fields`\n", out);
}

void cli_help(FILE *out, const struct cli_command *command)
{
    if (command) {
        command_help(out, command);
        return;
    }
    fputs("vramcalc: how much GPU memory will this training run take?\n\n"
          "  vramcalc COMMAND [FILE...] [key=value...] [options]\n\nCommands\n",
          out);
    for (int i = 0; i < COMMAND_COUNT; i++)
        row(out, cli_commands[i].name, cli_commands[i].summary);
    fputc('\n', out);
    wrap(out, KINDS, 0, 0);
    fputs("\nOptions\n", out);
    for (int i = 0; i < OPTION_COUNT; i++)
        option_row(out, &cli_options[i]);
    pairs(out, "Exit codes", EXITS, COUNT(EXITS));
    fputs("\nExamples\n", out);
    for (size_t i = 0; i < COUNT(EXAMPLES); i++)
        fprintf(out, "  %s\n", EXAMPLES[i].line);
}

// ---- the manual page ---------------------------------------------------------------------------

// Text for troff: a backslash, a leading dot or quote and a minus are not taken as they are.
static void roff(FILE *out, const char *text)
{
    for (bool start = true; *text; text++) {
        if (start && (*text == '.' || *text == '\''))
            fputs("\\&", out);
        start = *text == '\n';
        if (*text == '\\')
            fputs("\\e", out);
        else if (*text == '-')
            fputs("\\-", out);
        else
            fputc(*text, out);
    }
}

static void roff_item(FILE *out, const char *head, const char *text)
{
    fputs(".TP\n.B ", out);
    roff(out, head);
    fputc('\n', out);
    roff(out, text);
    fputc('\n', out);
}

static void man_fields(FILE *out)
{
    const struct vram_field *f;
    fputs(".SH CONFIGURATION\n", out);
    for (size_t i = 0; (f = vram_field_at(i)) != NULL; i++) {
        roff_item(out, f->key, f->help);
        for (size_t k = 0; f->values && f->values[k]; k++) {
            fputs(k ? ".br\n\\fI" : ":\n.br\n\\fI", out);
            roff(out, f->values[k]);
            fputs("\\fR: ", out);
            roff(out, f->value_help[k]);
            fputc('\n', out);
        }
    }
}

static void man_pairs(FILE *out, const char *head, const char *const (*rows)[2], size_t count)
{
    fprintf(out, ".SH %s\n", head);
    for (size_t i = 0; i < count; i++)
        roff_item(out, rows[i][0], rows[i][1]);
}

static void man_commands(FILE *out)
{
    char head[128];
    fputs(".SH COMMANDS\n", out);
    for (int i = 0; i < COMMAND_COUNT; i++) {
        const struct cli_command *c = &cli_commands[i];
        snprintf(head, sizeof head, "%s %s", c->name, c->operands);
        roff_item(out, head, c->summary);
        if (c->about[0]) {
            fputs(".br\n", out);
            roff(out, c->about);
            fputc('\n', out);
        }
    }
}

void cli_man(FILE *out)
{
    char head[64];
    fprintf(out,
            ".TH VRAMCALC 1 \"\" \"vramcalc %s\" \"User Commands\"\n.SH NAME\nvramcalc \\- the GPU "
            "memory of a training run, predicted\n",
            vram_version());
    fputs(".SH SYNOPSIS\n.B vramcalc\n.I command\n[\\fIfile\\fR...] [\\fIkey\\fR=\\fIvalue\\fR...] "
          "[\\fIoptions\\fR]\n.SH DESCRIPTION\n",
          out);
    roff(out, KINDS);
    fputc('\n', out);
    man_commands(out);
    fputs(".SH OPTIONS\n", out);
    for (int i = 0; i < OPTION_COUNT; i++) {
        const struct cli_option *o = &cli_options[i];
        snprintf(head, sizeof head, "%c%c%s--%s%s%s", o->letter ? '-' : ' ',
                 o->letter ? o->letter : ' ', o->letter ? ", " : "", o->name,
                 o->argument[0] ? " " : "", o->argument);
        roff_item(out, o->letter ? head : head + 2, o->help);
    }
    man_pairs(out, "TOLERANCES", TOLERANCES, COUNT(TOLERANCES));
    man_fields(out);
    man_pairs(out, "EXIT STATUS", EXITS, COUNT(EXITS));
    fputs(".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nIf set, nothing is coloured.\n.SH EXAMPLES\n", out);
    for (size_t i = 0; i < COUNT(EXAMPLES); i++)
        roff_item(out, EXAMPLES[i].line, EXAMPLES[i].what);
}

// ---- completion --------------------------------------------------------------------------------

static void completion_values(FILE *out)
{
    const struct vram_field *f;
    for (size_t i = 0; (f = vram_field_at(i)) != NULL; i++) {
        if (!f->values)
            continue;
        fprintf(out, "    %s) COMPREPLY=($(compgen -W '", f->key);
        for (size_t k = 0; f->values[k]; k++)
            fprintf(out, "%s%s", k ? " " : "", f->values[k]);
        fputs("' -- \"$value\"));;\n", out);
    }
}

void cli_completion(FILE *out)
{
    const struct vram_field *f;
    fputs("# bash completion for vramcalc; made by `vramcalc --completion bash`\n"
          "_vramcalc() {\n  local word=${COMP_WORDS[COMP_CWORD]} last=${COMP_WORDS[COMP_CWORD-1]} "
          "key value\n"
          "  COMPREPLY=()\n  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    COMPREPLY=($(compgen -W '",
          out);
    for (int i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "%s ", cli_commands[i].name);
    fputs("' -- \"$word\"))\n    return\n  fi\n  if [ \"$last\" = = ] || [ \"$word\" = = ]; then\n"
          "    key=${COMP_WORDS[COMP_CWORD-2]} value=$word\n    [ \"$word\" = = ] && key=$last "
          "value=\n    case $key in\n",
          out);
    completion_values(out);
    fputs("    preset) COMPREPLY=($(compgen -W \"$(vramcalc presets 2>/dev/null | cut -d' ' -f1)\" "
          "-- \"$value\"));;\n"
          "    esac\n    return\n  fi\n  case $last in\n"
          "  --format|-f) COMPREPLY=($(compgen -W 'text json csv md viz perfetto' -- \"$word\")); "
          "return;;\n"
          "  --kind|-k) COMPREPLY=($(compgen -W 'flat nanogpt hf log' -- \"$word\")); return;;\n"
          "  --completion) COMPREPLY=(bash); return;;\n  esac\n  case $word in\n  -*) "
          "COMPREPLY=($(compgen -W '",
          out);
    for (int i = 0; i < OPTION_COUNT; i++)
        fprintf(out, "--%s ", cli_options[i].name);
    fputs(
        "' -- \"$word\"));;\n  *) COMPREPLY=($(compgen -f -- \"$word\") $(compgen -S = -W 'preset ",
        out);
    for (size_t i = 0; (f = vram_field_at(i)) != NULL; i++)
        fprintf(out, "%s ", f->key);
    fputs("' -- \"$word\"))\n     [ \"${#COMPREPLY[@]}\" -eq 1 ] && case ${COMPREPLY[0]} in *=) "
          "compopt -o nospace;; esac;;\n"
          "  esac\n}\ncomplete -F _vramcalc vramcalc\n",
          out);
}
