// The texts that the command line has read, and messages that show a line of them.

#ifndef CALC_CLI_TEXT_H
#define CALC_CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calc/vram.h"

struct cli_text {
    char *text;  // NUL-terminated
    size_t len;
    const char *name;  // for messages
};

// All texts of a run: what is wrong with a configuration as a whole is shown where it was written.
struct cli_texts {
    struct cli_text **at;
    size_t count;
};
void cli_texts_free(struct cli_texts *t);

// Adds a file, or standard input for "-". Returns it, or NULL after saying why not on stderr.
const struct cli_text *cli_read(struct cli_texts *t, const char *path);

// Adds a word of the command line that is itself a text.
const struct cli_text *cli_read_large(struct cli_texts *t,
                                      const char *path);  // up to 1 GiB and not 64 MiB
const struct cli_text *cli_quote(struct cli_texts *t, const char *text);

// "NAME:LINE:COL: error: TEXT" on stderr, with the line and a caret where it is known.
void cli_say(const struct cli_texts *t, const char *name, uint32_t line, uint32_t col,
             const char *text);
void cli_say_message(const struct cli_texts *t, const struct vram_message *m);

#endif
