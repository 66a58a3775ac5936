// The command line: what its files share. Only calc/vram.h of the library is known here.

#ifndef CALC_CLI_H
#define CALC_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "calc/vram.h"

enum cli_exit { CLI_OK = 0, CLI_NO_FIT = 1, CLI_USAGE = 2, CLI_INPUT = 3 };

enum cli_command_id {
#define COMMAND(id, name, operands, formats, summary, about) COMMAND_##id,
#include "calc/cli/cli.def"
#undef COMMAND
    COMMAND_COUNT
};

enum cli_option_id {
#define OPTION(id, letter, name, argument, commands, help) OPTION_##id,
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
    int index; // in argv, for messages
};

// The command line, taken apart. Owns words; the texts are argv's own.
struct cli_line {
    int argc;
    char **argv;
    enum cli_command_id command;
    const char *option[OPTION_COUNT]; // argument, "" for a flag that is set, NULL
    int option_at[OPTION_COUNT];      // its place in argv
    struct cli_word *files, *pairs;   // pairs: key=value
    size_t file_count, pair_count;
};

// Takes argv apart. Returns CLI_OK, or CLI_USAGE after saying why on stderr.
int cli_parse(struct cli_line *line, int argc, char **argv);
void cli_line_free(struct cli_line *line);

// Says what is wrong with word `index` of the command line, from its byte `at` on, with the line and a caret.
void cli_complain(const struct cli_line *line, int index, size_t at, const char *text);

// The nearest of the names to a word, or NULL.
const char *cli_nearest(const char *word, const char *const *names, size_t count);

// Help, manual page, completion.
void cli_help(FILE *out, const struct cli_command *command); // NULL: all
void cli_man(FILE *out);
void cli_completion(FILE *out);

// A whole file, or standard input for "-". Owns: the caller frees text.
struct cli_text {
    char *text;
    size_t len;
    const char *name; // for messages
};
int cli_read(struct cli_text *out, const char *path); // CLI_OK or CLI_INPUT, said on stderr

// Is it PyTorch's out-of-memory message, or does it hold one?
bool cli_is_message(const char *text, size_t len);

// Reads the message that explain-oom is about and moves its word to the front of line->files. Owns: the caller frees
// message->text.
int cli_find_message(struct cli_line *line, struct cli_text *message);

// Is it a training log with the figures of a model in it?
bool cli_is_log(const struct cli_text *t);

// Flattens JSON into `key = value` lines. Owns: the caller frees *flat.
int cli_flatten(const struct cli_text *json, struct cli_text *flat, bool *is_model);

// Reads a file into the configuration. kind NULL: by name and content.
int cli_configure(vram *v, const char *path, const char *kind);

// Prints one line of a text with a caret.
void cli_show_line(const struct cli_text *source, uint32_t line, uint32_t col);

// Prints the library's last error with the source line (text may be NULL) and gives the exit code for it.
int cli_report(vram *v, const struct cli_text *source);

// The same for an error of a configuration as a whole: the file is read once more to show its line.
int cli_report_place(vram *v);

bool cli_is_terminal(FILE *f); // and colours are wanted

// Writes the library's text; in colour where that helps a reader.
int cli_write(const vram *v, FILE *out, bool color);

int cli_run(struct cli_line *line);

#endif
