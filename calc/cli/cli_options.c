// The command line taken apart by its tables, with "did you mean" and a caret for what is wrong.

#include "calc/cli/cli_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calc/vram.h"

const struct cli_command cli_commands[COMMAND_COUNT] = {
#define COMMAND(id, name, operands, formats, summary, about) \
    {name, operands, formats, summary, about},
#include "calc/cli/cli.def"
#undef COMMAND
};

const struct cli_option cli_options[OPTION_COUNT] = {
#define OPTION(id, letter, name, argument, help) {letter, name, argument, help},
#include "calc/cli/cli.def"
#undef OPTION
};

// ---- messages ----------------------------------------------------------------------------------

void cli_complain(const struct cli_line *line, int index, size_t at, const char *text)
{
    size_t col = 1;
    for (int i = 0; i < index; i++)
        col += strlen(line->argv[i]) + 1;
    fprintf(stderr, "<command line>:1:%zu: error: %s\n    ", col + at, text);
    for (int i = 0; i < line->argc; i++)
        fprintf(stderr, "%s%s", i ? " " : "", line->argv[i]);
    fprintf(stderr, "\n    %*s^\n", (int)(col + at - 1), "");
}

enum { WORD_MAX = 40 };

// "what 'word': did you mean 'name'?" or "what 'word': hint"
static int unknown(const struct cli_line *line, int index, const char *what, const char *word,
                   const char *near, const char *hint)
{
    char text[256];
    if (near)
        snprintf(text, sizeof text, "%s '%.60s': did you mean '%s'?", what, word, near);
    else
        snprintf(text, sizeof text, "%s '%.60s': %s", what, word, hint);
    cli_complain(line, index, 0, text);
    return CLI_USAGE;
}

// ---- taking apart ------------------------------------------------------------------------------

static int find_command(struct cli_line *line, int index)
{
    const char *names[COMMAND_COUNT];
    for (int i = 0; i < COMMAND_COUNT; i++) {
        names[i] = cli_commands[i].name;
        if (strcmp(line->argv[index], names[i]) == 0) {
            line->command = (enum cli_command_id)i;
            return CLI_OK;
        }
    }
    return unknown(line, index, "unknown command", line->argv[index],
                   vram_nearest(line->argv[index], strlen(line->argv[index]), names, COMMAND_COUNT),
                   "`vramcalc help` lists them");
}

static int find_option(const char *name, size_t len)
{
    for (int i = 0; i < OPTION_COUNT; i++)
        if (strlen(cli_options[i].name) == len && memcmp(cli_options[i].name, name, len) == 0)
            return i;
    return -1;
}

static bool is_field(const char *name, size_t len)
{
    char key[WORD_MAX];
    if (len >= sizeof key)
        return false;
    memcpy(key, name, len);
    key[len] = 0;
    return vram_field_find(key) || strcmp(key, "preset") == 0;
}

// Settings are words without a dash, or with their value behind an equals sign.
static int setting_for_option(const struct cli_line *line, int index, const char *key)
{
    char text[WORD_MAX + 96];
    snprintf(text, sizeof text, "%s is a setting and no option: write %s=VALUE", key, key);
    cli_complain(line, index, 0, text);
    return CLI_USAGE;
}

static int unknown_option(const struct cli_line *line, int index, const char *name, size_t len)
{
    const char *names[OPTION_COUNT + 128], *near;
    char word[WORD_MAX], hint[WORD_MAX + 8];
    size_t count = 0;
    const struct vram_field *f;
    for (; count < OPTION_COUNT; count++)
        names[count] = cli_options[count].name;
    for (size_t i = 0; i < 128 && (f = vram_field_at(i)) != NULL; i++)
        names[count++] = f->key;
    snprintf(word, sizeof word, "%.*s", (int)len, name);
    if (is_field(name, len))
        return setting_for_option(line, index, word);
    near = vram_nearest(word, strlen(word), names, count);
    bool setting = near && is_field(near, strlen(near));
    snprintf(hint, sizeof hint, "%s%s%s", setting ? "" : "--", near ? near : "",
             setting ? "=VALUE" : "");
    return unknown(line, index, "unknown option", line->argv[index], near ? hint : NULL,
                   "`vramcalc help` lists them");
}

// The value of option `id`: after '=', or the next word. Returns how many words were used, 0 after
// a complaint.
static int take_value(struct cli_line *line, int index, int id, const char *inline_value)
{
    line->option_at[id] = index;
    if (!cli_options[id].argument[0]) {
        if (inline_value) {
            cli_complain(line, index, 0, "this option takes no value");
            return 0;
        }
        line->option[id] = "";
        return 1;
    }
    if (inline_value) {
        line->option[id] = inline_value;
        return 1;
    }
    if (index + 1 >= line->argc) {
        char text[128];
        snprintf(text, sizeof text, "--%s needs a value: %s", cli_options[id].name,
                 cli_options[id].argument);
        cli_complain(line, index, 0, text);
        return 0;
    }
    line->option[id] = line->argv[index + 1];
    return 2;
}

static int take_long(struct cli_line *line, int index)
{
    const char *name = line->argv[index] + 2, *eq = strchr(name, '=');
    size_t len = eq ? (size_t)(eq - name) : strlen(name);
    int id = find_option(name, len);
    if (id >= 0)
        return take_value(line, index, id, eq ? eq + 1 : NULL);
    if (eq && is_field(name, len)) {  // --key=value, as train.py takes it
        line->pairs[line->pair_count++] = (struct cli_word){name, index, false};
        return 1;
    }
    unknown_option(line, index, name, len);
    return 0;
}

static int take_short(struct cli_line *line, int index)
{
    const char *word = line->argv[index];
    for (int i = 0; i < OPTION_COUNT; i++)
        if (cli_options[i].letter && word[1] == cli_options[i].letter)
            return take_value(line, index, i, word[2] ? word + 2 : NULL);
    unknown(line, index, "unknown option", word, NULL, "`vramcalc help` lists them");
    return 0;
}

// A key=value pair has its '=' before any '/' and a name before it; everything else is a file.
static bool is_pair(const char *word)
{
    size_t n = strcspn(word, "=/.");
    return n > 0 && word[n] == '=';
}

// plain: behind "--", where nothing is an option.
static int take_word(struct cli_line *line, int index, bool *plain)
{
    const char *word = line->argv[index];
    if (strcmp(word, "=") == 0) {
        cli_complain(line, index, 0, "write key=value without spaces");
        return 0;
    }
    if (!*plain && strcmp(word, "--") == 0) {
        *plain = true;
        return 1;
    }
    if (!*plain && word[0] == '-' && word[1] == '-')
        return take_long(line, index);
    if (!*plain && word[0] == '-' && word[1])
        return take_short(line, index);
    if (!line->given) {
        line->given = true;
        return find_command(line, index) == CLI_OK ? 1 : 0;
    }
    if (is_pair(word))
        line->pairs[line->pair_count++] = (struct cli_word){word, index, false};
    else
        line->files[line->file_count++] = (struct cli_word){word, index, false};
    return 1;
}

int cli_parse(struct cli_line *line, int argc, char **argv)
{
    bool plain = false;
    *line = (struct cli_line){.argc = argc, .argv = argv, .command = COMMAND_HELP};
    line->files = calloc((size_t)argc + 1, sizeof *line->files);
    line->pairs = calloc((size_t)argc + 1, sizeof *line->pairs);
    if (!line->files || !line->pairs) {
        fputs("vramcalc: error: out of memory\n", stderr);
        return CLI_INPUT;
    }
    for (int i = 1; i < argc;) {
        int used = take_word(line, i, &plain);
        if (used == 0)
            return CLI_USAGE;
        i += used;
    }
    return CLI_OK;
}

void cli_line_free(struct cli_line *line)
{
    free(line->files);
    free(line->pairs);
}
