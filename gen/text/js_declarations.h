// Where a text of JavaScript declares its names, by one pass over it.
#ifndef GEN_TEXT_JS_DECLARATIONS_H
#define GEN_TEXT_JS_DECLARATIONS_H

#include "gen/base/map.h"

// A place where a name stands behind a word that declares it, and the next of the same name.
struct js_declaration {
    size_t at;
    struct js_declaration *next;
};

// All of a text, found when the first is looked for. Zero-initialise.
struct js_declarations {
    struct map by_name;
    bool known;
};

static inline bool js_is_name_byte(char c)
{
    return ascii_is_alnum(c) || c == '_' || c == '$' || (c & 0x80);
}

// The first place of name, NULL for none; it lives in a. text is the same in each call.
const struct js_declaration *js_declarations_of(struct js_declarations *all, str text, str name,
                                                arena *a);

#endif
