// The commands of vramdoc: each file gen/cmd_NAME.c owns one row with its options and its run
// function.
#ifndef GEN_CMD_H
#define GEN_CMD_H

#include "gen/base/args.h"
#include "gen/base/diag.h"

// Exit codes of every command.
enum { EXIT_OK = 0, EXIT_CHECK = 1, EXIT_USAGE = 2, EXIT_IO = 3 };

// In the order of the help. X(name)
#define COMMANDS(X) X(build) X(check) X(serve) X(render) X(i18n) X(figures)

#define X(name) extern const struct arg_command command_##name;
COMMANDS(X)
#undef X

// Prints out to standard output and frees it; false, with a message, when it cannot be written.
bool cmd_print(buf *out);

// Ends a command: d's messages go to stderr, out to standard output; both are freed. ok: the
// command did what it was asked for. The exit code.
int cmd_end(struct diag *d, buf *out, bool ok);

#endif
