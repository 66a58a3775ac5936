// One command of a launch script: its launcher, its program, its flags.

#ifndef CALC_COMMAND_H
#define CALC_COMMAND_H

#include "calc/parse/pairs.h"
#include "calc/parse/shell.h"

enum launcher {
    BY_NAME,  // the program itself
    PYTHON,
    TORCHRUN,
    ACCELERATE,
    DEEPSPEED,
    TUNE
};

// A row of programs.def.
struct program {
    const char *words, *mark, *first, *pairs;
};

// One command of the script.
struct command {
    struct shell s;
    struct parse *p;
    struct pair_list *out;
    size_t at, count;  // words read, words there are
    enum launcher launcher;
    struct shell_word program;
    struct shell_word each, nodes;  // processes of a machine, machines, as the launcher is told
    uint64_t included;              // processes that deepspeed's --include names; 0: it names none
    bool has_config;                // a file of settings is named
    size_t from;                    // pairs before this command
    size_t run_from, run_to;        // pairs of the run that was found
    uint32_t run_line;              // 0: none yet
    struct shell_word stranger;  // a program that trains by its launcher or name, and is not known
    struct shell_word script;    // a file of commands that is started; not known: several are
    unsigned within;             // of scripts within commands
};

// Before the keys of what a launcher is told, and of marks.
#define LAUNCH "launch."

// ---- words -----------------------------------------------------------------------------------

static inline struct shell_word *command_word(struct command *c, size_t i)
{
    return &c->s.words[i];
}

bool command_is_flag(struct shell_word w);
bool command_ends(struct span s, const char *end);
struct span command_base(struct span path);  // behind the last slash

// What stands in the script from a byte on, to the next blank.
struct span command_source(const struct command *c, size_t at);

// The launcher or the program whose words begin at word i, and how many they are.
bool command_launcher(struct command *c, size_t i, size_t *len, enum launcher *launcher);
const struct program *command_program(struct command *c, size_t i, size_t *len);

// Is it started by its name, and no script or module?
bool command_is_name(struct span words);

// Is it a container's image?
bool command_is_image(struct span words);

// ---- pairs -----------------------------------------------------------------------------------

// Adds a pair; of the key's name a dash is an underscore.
void command_add(struct command *c, const char *prefix, struct span key, struct span value,
                 size_t key_at, size_t value_at);

// Is the value an object of JSON, in single quotes, so that it stands in the script as it is? Adds
// its members under the key.
bool command_is_object(const struct command *c, struct span value, size_t at);
int command_add_object(struct command *c, struct span key, struct span value, size_t at);

// A flag at word i: its name, and its value with the place of it; *next is the word behind both.
// Several words are one value with commas between them.
struct span command_flag(struct command *c, size_t i, struct span *value, size_t *value_at,
                         size_t *next);

// A word, or what stands for one that is not known.
struct span command_value(struct shell_word w);

// Is the word key=value, as torchtune's and LLaMA-Factory's command lines have it?
bool command_is_pair(struct shell_word w);

bool command_is_key(struct span key, const char *words);

// ---- scripts within --------------------------------------------------------------------------

// The commands that a shell is given as a word, as they stand in the script; empty: there are none.
struct span command_within(struct command *c);

// Takes down the file of commands that the command starts, if it starts one.
void command_meet_script(struct command *c);

// ---- launchers -------------------------------------------------------------------------------

// To the program, over the launcher's own flags. false: none is started.
bool command_to_program(struct command *c);

// Adds how many processes there are, and what divides the work where nothing else says it.
void command_add_processes(struct command *c, const struct program *program);

// A variable of the command's environment; an empty word where nothing binds it.
struct shell_word command_variable(struct command *c, const char *name);

#endif
