// A command under way, for the files that run one.

#ifndef CALC_CLI_RUN_H
#define CALC_CLI_RUN_H

#include "calc/cli/cli_options.h"
#include "calc/cli/cli_text.h"
#include "calc/vram.h"

struct cli_run {
    struct cli_line *line;
    vram *v;
    struct cli_texts texts;
    const struct cli_text *message;   // of explain-oom, or NULL
    const struct cli_text *snapshot;  // of snapshot, or NULL
    enum vram_format format;
};

// Is the pair's key this one?
bool cli_is_key(const struct cli_word *pair, const char *key);

// The last word that sets a field, under its key or another of its names; NULL if none does.
const struct cli_word *cli_word_of(const struct cli_line *line, const char *field);

// Sets what a word says, or what the words that files depend on say, but for those to skip (NULL:
// none). Return an exit code.
int cli_set_pair(const struct cli_run *r, const struct cli_word *pair);
int cli_set_early(const struct cli_run *r, bool (*skip)(const struct cli_word *));

// Writes the library's text where it is wanted. Returns an exit code.
int cli_deliver(const struct cli_run *r);

// Says the library's last error, at the word or the line of a file that it is about. Returns an
// exit code.
int cli_fail(const struct cli_run *r);

// `vramcalc sweep`; is a pair a range ("a:b", "a,b") for it?
int cli_sweep(struct cli_run *r);
bool cli_is_range(const struct cli_word *pair);

#endif
