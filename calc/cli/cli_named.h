// Files that a launch script or a configuration names, where they lie near it.

#ifndef CALC_CLI_NAMED_H
#define CALC_CLI_NAMED_H

#include "calc/cli/cli_text.h"

enum { NAMED_MAX = 8, NAMED_PATH = 1024 };

// When a file is to be read, next to the text that names it.
enum named_turn {
    NAMED_BEFORE,   // settings, over which the text's own words go
    NAMED_BETWEEN,  // a launcher's: needs the model, and the text's words go over it
    NAMED_BEHIND,   // DeepSpeed's, whose "auto" the text says
    NAMED_SETTINGS  // before, too: what a script takes values from
};

struct named_file {
    char said[NAMED_PATH], path[NAMED_PATH];
    enum named_turn turn;
};

struct named_files {
    struct named_file at[NAMED_MAX];
    size_t count;
};

// The files that the text names and that are there: beside it, in a folder above it, or as they are
// written. What it asks for goes by what the handle was given before.
void named_find(struct named_files *out, const vram *given, const struct cli_text *t,
                enum vram_kind kind);

// Does the text, a script, take values from a file that it calls so, or that it does not name and
// that is in no format of its own?
bool named_takes(const struct cli_text *t, const struct cli_text *other);

// Is the message about one of these files, which was not opened?
bool named_is_about(const struct named_files *files, const struct vram_message *m);

#endif
