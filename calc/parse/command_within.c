// Owns the scripts that a command holds or starts: the text of bash -c, a file of commands.

#include "calc/base/text.h"
#include "calc/parse/command.h"

static bool is_shell(struct shell_word w)
{
    struct span name = command_base(w.text);
    return w.known && command_is_key(name, "bash sh zsh dash");
}

// Between the quotes at a byte of the script; empty: none are there.
static struct span between_quotes(const struct parse *p, size_t at)
{
    struct span none = {"", 0};
    char quote = at < p->len ? p->text[at] : 0;
    size_t end = at + 1;
    if (quote != '"' && quote != '\'')
        return none;
    while (end < p->len && p->text[end] != quote)
        end += 1 + (quote == '"' && p->text[end] == '\\');
    return end < p->len ? (struct span){p->text + at + 1, end - at - 1} : none;
}

// bash -c "...", and -lc, -euo pipefail -c: its text, behind whatever starts the shell.
struct span command_within(struct command *c)
{
    for (size_t i = 0, k; i < c->count; i++) {
        if (!is_shell(*command_word(c, i)))
            continue;
        for (k = i + 1; k + 1 < c->count; k++) {
            struct span flag = command_word(c, k)->text;
            if (!span_starts(flag, "--") && span_starts(flag, "-") && command_ends(flag, "c"))
                return between_quotes(c->p, command_word(c, k + 1)->at);
        }
    }
    return (struct span){"", 0};
}

// Does the name say that a run is in it?
static bool starts_run(struct span name)
{
    static const char *const words[] = {"train", "tune", "sft", "run", "launch", "lora"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (span_find(name, words[i]) < name.len)
            return true;
    return false;
}

static bool is_script(struct span name)
{
    return command_ends(name, ".sh") || command_ends(name, ".bash") ||
           command_ends(name, ".slurm") || command_ends(name, ".sbatch");
}

// srun ./train.sh, bash train.sh, ./train.sh. Of several no one can say which is meant.
void command_meet_script(struct command *c)
{
    struct shell_word first = *command_word(c, 0);
    bool starts = is_shell(first) || command_is_key(first.text, "srun sbatch exec nohup sudo");
    for (size_t i = 0; i < c->count; i++) {
        struct shell_word w = *command_word(c, i);
        bool other = c->script.text.len > 0 && !span_same(c->script.text, w.text);
        if ((i > 0 && !starts) || !w.known || !is_script(w.text) ||
            !starts_run(command_base(w.text)))
            continue;
        if (!other)
            c->script = w;
        c->script.known = !other && c->script.known;
        return;
    }
}
