// Command line options from a table: parsing, --help, the man page and the shell completion read the same rows.
#ifndef GEN_BASE_ARGS_H
#define GEN_BASE_ARGS_H

#include "gen/base/buf.h"

enum arg_kind { ARG_FLAG, ARG_STRING, ARG_UINT };

struct arg_option {
    char short_name;        // 0 when there is none
    const char *long_name;
    enum arg_kind kind;
    size_t offset;          // of the target in the command's options struct: bool, const char *, or uint64_t
    const char *value_name; // in the help: "DIR"; NULL for a flag; "[WHAT]" when the value may be left out
    const char *help;
};

struct arg_command {
    const char *name;
    const char *operands;   // in the help: "[FILE|-]"
    const char *summary;
    const struct arg_option *options;  // ends with long_name NULL
    int (*run)(void *options, int operand_count, char **operands);
};

// Parses argv behind the command's name into options. 0, or 2 after saying what is wrong (with "did you mean") in *error.
int args_parse(const struct arg_command *c, int argc, char **argv, void *options, char ***operands,
               int *operand_count, buf *error);
void args_help(const char *program, const struct arg_command *commands, const struct arg_command *only, buf *out);
void args_man(const char *program, const char *about, const struct arg_command *commands, buf *out);
void args_completion(const char *program, const struct arg_command *commands, buf *out);

#endif
