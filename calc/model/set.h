// Fields that are sets of named members: "q_proj,v_proj", "q+v+head", "all-linear".

#ifndef CALC_SET_H
#define CALC_SET_H

#include "calc/base/text.h"

// A name for several members.
struct set_group {
    const char *names;  // the first group: one name, which is written; others: separated by spaces
    uint64_t members;
};

struct set {
    const char *const *values, *const *aliases;  // by member, NULL at the end
    const struct set_group *groups;              // NULL: none; the last one has no names
};

// Reads members, or names for several of them, with +, commas or the brackets and quotes of a list
// between them; "none" is the empty set. false: a word is no member.
bool set_read(const struct set *set, const char *s, size_t len, uint64_t *out);

// Writes what set_read takes to *out, which is zeroed.
void set_text(const struct set *set, uint64_t members, struct text_line *out);

#endif
