// The commands of vramdoc: each file gen/cmd_NAME.c owns one row with its options and its run
// function.
#ifndef GEN_CMD_H
#define GEN_CMD_H

#include "gen/base/args.h"

// Exit codes of every command.
enum { EXIT_OK = 0, EXIT_CHECK = 1, EXIT_USAGE = 2, EXIT_IO = 3 };

// In the order of the help. X(name)
#define COMMANDS(X) X(build) X(check) X(serve) X(render) X(i18n) X(figures)

#define X(name) extern const struct arg_command command_##name;
COMMANDS(X)
#undef X

#endif
