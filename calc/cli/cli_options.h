// The command line taken apart, by the tables of cli.def.

#ifndef CALC_CLI_OPTIONS_H
#define CALC_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

enum cli_exit { CLI_OK = 0, CLI_NO_FIT = 1, CLI_USAGE = 2, CLI_INPUT = 3 };

enum cli_command_id {
#define COMMAND(id, name, operands, formats, summary, about) COMMAND_##id,
#include "calc/cli/cli.def"
#undef COMMAND
    COMMAND_COUNT
};

enum cli_option_id {
#define OPTION(id, letter, name, argument, help) OPTION_##id,
#include "calc/cli/cli.def"
#undef OPTION
    OPTION_COUNT
};

struct cli_command {
    const char *name, *operands, *formats, *summary, *about;
};
struct cli_option {
    char letter;
    const char *name, *argument, *help;
};
extern const struct cli_command cli_commands[COMMAND_COUNT];
extern const struct cli_option cli_options[OPTION_COUNT];

// A word of the command line that is neither a command nor an option.
struct cli_word {
    const char *text;
    int index;      // in argv, for messages
    bool settings;  // a file that a script takes values from
};

// Owns words; the texts are argv's own.
struct cli_line {
    int argc;
    char **argv;
    bool given;  // a command is
    enum cli_command_id command;
    const char *option[OPTION_COUNT];  // argument, "" for a flag that is set, NULL
    int option_at[OPTION_COUNT];       // its place in argv
    struct cli_word *files, *pairs;    // pairs: key=value
    size_t file_count, pair_count;
};

// Takes argv apart. Returns CLI_OK, or CLI_USAGE after saying why on stderr.
int cli_parse(struct cli_line *line, int argc, char **argv);
void cli_line_free(struct cli_line *line);

// Says what is wrong with word `index` of the command line, from its byte `at` on, with the line
// and a caret.
void cli_complain(const struct cli_line *line, int index, size_t at, const char *text);

#endif
