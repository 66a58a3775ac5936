// Help, the manual page, completion.

#ifndef CALC_CLI_HELP_H
#define CALC_CLI_HELP_H

#include <stdio.h>

#include "calc/cli/cli_options.h"

void cli_help(FILE *out, const struct cli_command *command);  // NULL: all
void cli_man(FILE *out);
void cli_completion(FILE *out);

#endif
