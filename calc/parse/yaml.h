// What the files of the YAML reader share: the place in the text, errors, one value.

#ifndef CALC_YAML_H
#define CALC_YAML_H

#include "calc/parse/pairs.h"

enum yaml_kind { YAML_NOTHING, YAML_SCALAR, YAML_COLLECTION };

// A value as its owner gets it: the pairs of a collection are in the list already, a list of
// scalars is one scalar.
struct yaml_value {
    enum yaml_kind kind;
    struct span text;
    size_t at;
};

struct yaml_anchor;

struct yaml {
    struct parse *p;
    struct pair_list *out;
    const char *text;
    size_t len, at, line_start;
    int depth;
    bool json;    // the text begins with a brace: JSON's rules hold
    bool failed;  // said, reading stops
    struct yaml_anchor *anchors;
};

static inline char yaml_byte(const struct yaml *y, size_t ahead)
{
    return y->at + ahead < y->len ? y->text[y->at + ahead] : 0;
}

static inline bool yaml_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == 0;
}

static inline bool yaml_at_line_end(const struct yaml *y)
{
    return y->at >= y->len || y->text[y->at] == '\n' ||
           (y->text[y->at] == '\r' && yaml_byte(y, 1) == '\n');
}

// Says what is wrong at a byte, once, and returns a value of nothing.
struct yaml_value yaml_fail(struct yaml *y, size_t at, message_id id, struct args args);

// yaml_scalar.c: scalars, each from its first byte on.
struct yaml_value yaml_quoted(struct yaml *y);
struct yaml_value yaml_plain(struct yaml *y, bool in_flow,
                             size_t indent);  // goes on in lines deeper than indent
struct yaml_value yaml_block_text(struct yaml *y, size_t indent);  // after | and >

// yaml_flow.c: a value in brackets, or one inside of them.
struct yaml_value yaml_flow(struct yaml *y);

// A list's items, one after the other; what it comes to is the list's value.
struct yaml_list {
    struct span joined;
    size_t items, scalars, at;
};
bool yaml_enter_item(struct yaml *y, struct yaml_list *list, size_t *before);
void yaml_leave_item(struct yaml *y, struct yaml_list *list, size_t before, struct yaml_value item);
struct yaml_value yaml_list_value(const struct yaml_list *list);

// A mapping's member: its key is entered before the value is read, which is added when it is a
// scalar.
bool yaml_enter_key(struct yaml *y, struct span key, size_t at, size_t *before);
void yaml_leave_key(struct yaml *y, size_t before, size_t key_at, struct yaml_value value);

#endif
