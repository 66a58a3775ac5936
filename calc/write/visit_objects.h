// What the members of the library's structs are called where they are written, and how each is read
// out of its struct.

#ifndef CALC_VISIT_OBJECTS_H
#define CALC_VISIT_OBJECTS_H

#include "calc/vram.h"

enum member_kind {
    MEMBER_WHEN,        // the next member has a value where this one is not 0
    MEMBER_UNLESS,      // where it is 0
    MEMBER_WHEN_OUTER,  // where this one of the struct that the list is in is not 0
    MEMBER_SCHEMA,      // VRAM_SCHEMA
    MEMBER_NUMBER,
    MEMBER_DIFFERENCE,
    MEMBER_LAYER,   // no value where it is negative
    MEMBER_TENTHS,  // a number in tenths
    MEMBER_TEXT,
    MEMBER_CODE,  // the name of an error's code
    MEMBER_WORD,  // the word of an enumeration's number
    MEMBER_TRUTH,
    MEMBER_MEMBERS,    // those of another table, of a struct within, without an object of their own
    MEMBER_OBJECT,     // of a struct within
    MEMBER_POINTER,    // of a struct that is pointed to
    MEMBER_LIST,       // of structs
    MEMBER_SHAPE,      // numbers one after the other, up to the first 0
    MEMBER_ARGS,       // a sentence's
    MEMBER_SENTENCE,   // its text, in the words of a door
    MEMBER_BREAKDOWN,  // bytes by category
    MEMBER_PLAN,       // what the changes of a plan are
    MEMBER_CAPACITY,   // of a card of the table
    MEMBER_CONFIG
};

struct member {
    const char *name;
    uint8_t kind;       // enum member_kind
    uint8_t width;      // bytes of what is read; of a shape: most of its numbers
    uint8_t unit;       // enum vram_unit
    uint16_t at;        // offset in the struct
    uint16_t count_at;  // of a list's count
    uint16_t size;      // of a list's elements
    union {
        const struct object *object;
        const char *(*word)(uint32_t);
        bool (*truth)(uint32_t);  // of a number; NULL: of itself
    } by;
};

struct object {
    const char *kind;  // the name of the struct, as readers see it
    const struct member *members;
    uint32_t count;
};

// One table for each of the kinds that vram_visit knows, and for the totals of a card. They are
// named one by one, so that a program has only those that it uses.
#define X(id, name) extern const struct object visit_##name;
VRAM_OBJECTS(X)
#undef X
extern const struct object visit_capacity;

// vram_visit by the table, of an object that may be a member; NULL has no value.
void visit_object(const struct object *kind, const void *object, const char *key,
                  const struct vram_visitor *visitor, void *ctx);

#endif
