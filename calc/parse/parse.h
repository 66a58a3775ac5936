// What the parsers of configuration texts share: lines, positions, keys that have nothing to do with memory.

#ifndef CALC_PARSE_H
#define CALC_PARSE_H

#include <stdbool.h>
#include <stddef.h>

#include "calc/model/handle.h"

enum { PARSE_TEXT_MAX = 16 * 1024 * 1024 };

// A view of bytes that somebody else owns.
struct span {
    const char *at;
    size_t len;
};

struct parse {
    struct vram *v;
    const char *text;
    size_t len;
    const char *file;  // for messages, or NULL
    size_t pos;        // read so far
    size_t line_start; // where line `line` begins
    uint32_t line;
};

struct span span_of(const char *s);
struct span span_trim(struct span s);
bool span_is(struct span s, const char *word);
bool span_starts(struct span s, const char *prefix);
struct span span_skip(struct span s, size_t n); // without its first n bytes; empty if shorter
// Index of needle in s, or s.len.
size_t span_find(struct span s, const char *needle);

// The next line without its end; false past the last.
bool parse_line(struct parse *p, struct span *line);

// Position of a byte inside the current line.
struct err_pos parse_at(const struct parse *p, const char *byte);

// Sets a field; keys of training that do not touch memory are read over. Takes the text as it stands.
int parse_set(struct parse *p, struct span key, struct span value);

// The same with the value's text made by the caller and its place in the source.
int parse_set_value(struct parse *p, struct span key, struct span value, const char *place);

// Is it a key of training (learning_rate, wandb_log, ...) that memory does not depend on?
bool parse_is_training_key(struct span key);

bool parse_is_name(struct span s); // a Python identifier

// Adds a line to the handle's notes.
void parse_note(struct parse *p, const char *format, ...);

// The parsers, one a kind.
int parse_flat(struct parse *p);
int parse_nanogpt(struct parse *p);
int parse_log(struct parse *p);
int parse_hf(struct parse *p);

// Reads one Python assignment "name = expression" whose first line is `line`. Used by nanogpt and log.
int parse_assignment(struct parse *p, struct span key, struct span expression);

#endif
