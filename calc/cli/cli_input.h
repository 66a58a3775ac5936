// Files of the command line: what they are, and reading them into the configuration.

#ifndef CALC_CLI_INPUT_H
#define CALC_CLI_INPUT_H

#include "calc/cli/cli_options.h"
#include "calc/cli/cli_text.h"

// Is it a training log with the figures of a model in it?
bool cli_is_log(const struct cli_text *t);

// Reads a file into the configuration. kind NULL: by name and content. Every error is said on
// stderr.
int cli_configure(vram *v, struct cli_texts *texts, const struct cli_word *file, const char *kind);

// Marks the files, from one number on, that a script among them takes values from, and puts them
// before the others.
void cli_find_settings(struct cli_texts *texts, struct cli_line *line, size_t first);

// Reads the message that explain-oom is about and moves its word to the front of line->files. NULL
// after saying why.
const struct cli_text *cli_find_message(struct cli_texts *texts, struct cli_line *line);

#endif
