// The words of a shell script's commands, as far as they can be told without running anything:
// quotes, continued lines, comments, variables that are bound above to literals.

#ifndef CALC_SHELL_H
#define CALC_SHELL_H

#include "calc/parse/shell_words.h"

// false: no memory.
bool shell_init(struct shell *s, struct parse *p, struct pair_list *out);

// The next simple command that has words, behind its bindings; false at the end. *rc gets what ends
// the reading. Bindings before a command are known to shell_value until the next one is read.
bool shell_next(struct shell *s, int *rc);

// The value of a name, or NULL.
const struct shell_name *shell_value(const struct shell *s, const char *name);

#endif
