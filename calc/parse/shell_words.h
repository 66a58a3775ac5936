// The words of a shell script while they are read, and what names stand for.

#ifndef CALC_SHELL_WORDS_H
#define CALC_SHELL_WORDS_H

#include "calc/parse/pairs.h"

enum { SHELL_WORDS = 4096, SHELL_NAMES = 256 };

struct shell_word {
    struct span text;  // of an unknown one: what of it is known
    size_t at;         // its first byte in the script
    bool known;
};

struct shell_name {
    struct span name, value;
    bool known, list;  // list: NAME=(...), whose value is the source between the brackets
};

struct shell {
    struct parse *p;
    struct pair_list *out;  // owner of the memory
    const char *at, *end;
    struct shell_word *words;  // SHELL_WORDS
    size_t count, total;       // words of this command; of all
    struct shell_name *names;  // SHELL_NAMES
    size_t name_count, kept;   // kept: those that outlive this command
    unsigned depth;            // of what may run or not: if, for, functions
    struct span here;          // where the text of a << ends, or empty
    struct span target;        // the file of the last >, or empty
    bool quoted;               // all of it stands in double quotes
    // the word that is being read
    char *text;  // PARSE_LIST_MAX
    size_t len, word_at;
    bool open, known, cut;  // open: there is one, be it empty; cut: it is too long
    unsigned nested;        // of lists
};

// One byte of a command, or more.
int shell_step(struct shell *s);

// The word that is being read, if there is one, is a word of the command.
int shell_flush(struct shell *s);

// What was bound last to a name, or NULL.
const struct shell_name *shell_find(const struct shell *s, struct span name);

// To the bracket that closes, quotes between passed over; at is behind the one that opens.
const char *shell_skip(const char *at, const char *end, char open, char close);

#endif
