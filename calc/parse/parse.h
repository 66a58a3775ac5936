// What the parsers of configuration texts share: lines, positions, errors, keys that have nothing
// to do with memory.

#ifndef CALC_PARSE_H
#define CALC_PARSE_H

#include <stdbool.h>
#include <stddef.h>

#include "calc/base/span.h"
#include "calc/model/handle.h"

enum { PARSE_TEXT_MAX = 16 * 1024 * 1024, PARSE_LIST_MAX = 4096 };

// A key with its value, and where both are.
struct entry {
    struct span key, value;
    struct err_pos key_pos, value_pos;
};

struct parse {
    struct vram *v;
    const char *text;
    size_t len;
    const char *file;   // for messages, or NULL
    size_t pos;         // read so far
    size_t line_start;  // where line `line` begins
    uint32_t line;
    const struct vram_pair *pairs;  // in place of a text, or NULL
    size_t pair_count, pair;        // how many; which is next
    vram_message_fn *each;          // gets every error, or NULL
    void *ctx;
    struct message first;         // error
    unsigned unreadable;          // errors of syntax
    unsigned unknown;             // keys that no table has
    struct span unknown_section;  // the last one that was named
    bool other_model;             // a key of a model that is not read was named
    bool delegated;               // what it says is in a file that was read before
    bool ended;                   // what follows cannot be told apart: reading stops
};

// A text that begins with UTF-16's mark, as PowerShell writes what it redirects.
static inline bool parse_is_utf16(struct span text)
{
    return text.len > 1 && ((text.at[0] == '\xff' && text.at[1] == '\xfe') ||
                            (text.at[0] == '\xfe' && text.at[1] == '\xff'));
}

// The next line without its end; false past the last, and after too many errors.
bool parse_line(struct parse *p, struct span *line);

// The next `key = value` line or pair; false past the last. Values may be in quotes.
bool parse_entry(struct parse *p, struct entry *out);
void parse_rewind(struct parse *p);

// Position of a byte inside the current line.
struct err_pos parse_at(const struct parse *p, const char *byte);

// Hands on the error that the handle holds, so that reading can go on. Returns VRAM_OK, or
// VRAM_ENOMEM if that is what it was.
int parse_report(struct parse *p);

// Says something about a place that is no error: each gets it, and it is among the notes.
void parse_warn(struct parse *p, message_id id, struct err_pos pos, struct args args);

// One or two letters wrong in one place.
bool parse_is_slip(struct span a, struct span b);

// Whether anything was said before this text.
bool parse_is_given(const struct parse *p);

// Sets a field; keys of training that do not touch memory are read over. Takes the text as it is.
int parse_set(struct parse *p, struct span key, struct span value);
int parse_set_entry(struct parse *p, const struct entry *e);

// Is it a key of training (learning_rate, wandb_log, ...) that memory does not depend on?
bool parse_is_training_key(struct span key);

bool parse_is_name(struct span s);     // a Python identifier
size_t parse_name_len(struct span s);  // bytes of the identifier at the beginning of s

// The parsers, one a kind. Errors on the way go to parse_report; the one that is returned ends the
// reading.
int parse_flat(struct parse *p);
int parse_nanogpt(struct parse *p);
int parse_log(struct parse *p);
int parse_hf(struct parse *p);

// Fields of a model's group back to their defaults, then "a=1 b=2", as transformers' classes hold
// the model.
int parse_model_fields(struct parse *p, const char *fields);

// A model knows more positions than a run has tokens: shorter where none are given, with a note.
void parse_choose_length(struct parse *p);

// Reads one Python assignment "name = expression" whose first line is `line`. Used by nanogpt and
// log.
int parse_assignment(struct parse *p, struct span key, struct span expression);

#endif
