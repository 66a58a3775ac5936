// Command line options from a table: parsing, --help, the man page and the shell completion read
// the same rows. The columns have the names and the order of those in calc/cli/cli.def.
#ifndef GEN_BASE_ARGS_H
#define GEN_BASE_ARGS_H

#include "gen/base/buf.h"

enum arg_kind { ARG_FLAG, ARG_STRING, ARG_UINT };

struct arg_option {
    char letter;  // of -o; 0 when there is none
    const char *name;
    enum arg_kind kind;
    // Of the target in the command's options struct: bool, const char *, or uint64_t.
    size_t offset;
    // In the help: "DIR"; NULL for a flag; "[WHAT]" when =WHAT may be left out (the target is ""
    // then).
    const char *argument;
    const char *help;
};

struct arg_command {
    const char *name;
    const char *operands;  // in the help: "[FILE|-]"; "" when there are none
    const char *summary;
    const struct arg_option *options;  // ends with name NULL; each command also has -h, --help
    size_t options_size;               // of the options struct, which starts zeroed
    int (*run)(void *options, int operand_count, char **operands);  // the exit code
};

enum { ARGS_HELP = -1 };

// Parses argv behind the command's name into options; operands are moved to the front of argv. 0,
// ARGS_HELP when help is asked for, or 2 after saying what is wrong (with "did you mean") in
// *error.
int args_parse(const struct arg_command *c, int argc, char **argv, void *options, char ***operands,
               int *operand_count, buf *error);
// The nearest of count names to word, or NULL when none is near.
const char *args_nearest(const char *word, const char *const *names, size_t count);

// What a program tells about itself; commands ends with NULL.
struct args_program {
    const char *name, *version, *summary;
    const char *about;        // paragraphs of the man page, separated by empty lines
    const char *exit_codes;   // "0  what it means" lines
    const char *environment;  // "NAME  what it does" lines
    const struct arg_command *const *commands;
    const char *settings;  // "key  what it is" lines of the settings file; NULL when there is none
};

// only: one command's help; NULL for the whole program's.
void args_help(const struct args_program *p, const struct arg_command *only, buf *out);
// What the settings file can say.
void args_settings(const struct args_program *p, buf *out);
void args_man(const struct args_program *p, buf *out);         // roff, section 1
void args_completion(const struct args_program *p, buf *out);  // for bash

#endif
