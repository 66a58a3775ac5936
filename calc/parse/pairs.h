// The values of a structured text, flat: nested names joined by points, lists of values by commas,
// with their places.

#ifndef CALC_PAIRS_H
#define CALC_PAIRS_H

#include "calc/base/mem.h"
#include "calc/base/span.h"
#include "calc/parse/parse.h"

enum { PAIRS_PATH = 512, PAIRS_DEPTH = 64 };

// A place in a text that moves on with the reader, so that no line is counted twice.
struct place {
    const char *text;
    size_t at;
    uint32_t line, col;  // from 1; columns are characters
};

struct pair_list {
    struct mem_arena arena;  // keys and values
    struct vram_pair *at;    // memory of the arena's host, freed by pairs_free
    size_t count, cap;
    bool failed;            // out of memory, sticky
    char path[PAIRS_PATH];  // of the value that is being read
    size_t path_len;
    struct place place;
};

void pairs_init(struct pair_list *l, const struct vram_mem *mem, const char *text);
void pairs_free(struct pair_list *l);

// Goes into a member, by its name or by its number in a list. Returns the length to come back to
// with pairs_leave, or SIZE_MAX where the path is too long.
size_t pairs_enter(struct pair_list *l, struct span key);
size_t pairs_enter_item(struct pair_list *l, size_t number);
void pairs_leave(struct pair_list *l, size_t len);

// Adds a value under the path; key_at and value_at are bytes of the text.
void pairs_add(struct pair_list *l, struct span value, size_t key_at, size_t value_at);

// A value under a name of the path, which both stand at one place.
void pairs_say(struct pair_list *l, struct span key, struct span value, size_t at);

// Without the last pair, the one at first, where its value is no literal.
void pairs_drop_unread(struct pair_list *l, size_t first);

// Without the pairs whose keys begin so.
void pairs_drop(struct pair_list *l, const char *prefix);

// A copy that ends with a NUL, in the arena; its text is NULL without memory.
struct span pairs_keep(struct pair_list *l, struct span s);

// "a" and "b" as "a,b"; where `to` is empty, b.
struct span pairs_join(struct pair_list *l, struct span to, struct span more, bool first);

// The line and column of a byte.
struct err_pos pairs_pos(struct pair_list *l, const char *file, size_t at);

// Readers of one language each. They report what they cannot read; what they return ends the
// reading.
int read_yaml(struct parse *p, struct pair_list *out);  // and JSON, which is YAML in brackets
int read_json_within(struct parse *p, struct pair_list *out, size_t at,
                     size_t len);  // an object of JSON in another text
int read_toml(struct parse *p, struct pair_list *out);
int read_calls(struct parse *p,
               struct pair_list *out);  // of Python: constructors whose arguments are literals

int read_command_line(struct parse *p, struct pair_list *out);  // launch scripts, commands

// Is there a line that begins as a command does?
bool commands_are_in(struct span text);

// Is one of the constructors that read_calls knows called in it?
bool calls_are_in(struct span text);

// The value of an argument that is no literal.
#define PAIRS_NOT_LITERAL "<not a literal>"

#endif
