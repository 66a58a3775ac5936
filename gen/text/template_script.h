// Where in JavaScript a template's value is: a state machine fed with the static text of a script.
#ifndef GEN_TEXT_TEMPLATE_SCRIPT_H
#define GEN_TEXT_TEMPLATE_SCRIPT_H

#include "gen/base/str.h"

enum script_state {
    SCRIPT_CODE,
    SCRIPT_SLASH,  // behind a "/" of code: a division, a comment or a regular expression
    SCRIPT_STRING,
    SCRIPT_TEMPLATE,
    SCRIPT_REGEX,
    SCRIPT_CLASS,  // [...] of a regular expression
    SCRIPT_LINE,   // comments
    SCRIPT_BLOCK,
    SCRIPT_UNSURE  // it depends on a branch, or is nested too deep: until the script's end
};

// What the code so far ends with: behind an operand a "/" divides, elsewhere a regular expression
// begins.
enum script_before { SCRIPT_OPERATOR, SCRIPT_OPERAND, SCRIPT_EITHER };

enum { SCRIPT_NESTED = 4 };

// All zero at a script's start.
struct script_context {
    uint8_t state;                  // enum script_state
    uint8_t before;                 // enum script_before
    char quote;                     // of the string; or the last byte of a template
    bool escaped;                   // behind a backslash; or a block comment's last byte is a *
    uint8_t nested;                 // how many ${...} of templates the code is in
    uint8_t braces[SCRIPT_NESTED];  // and how many { are open in each
    uint8_t tail_len;
    char tail[12];  // the last bytes of code
};

void script_feed(struct script_context *c, char byte);
// NULL where a value may be, *is_string says how; else why none may be here. Goes on behind the
// value.
const char *script_value(struct script_context *c, bool *is_string);
// Makes c what holds whether a branch was taken (other) or not (c); they agree in all but the tail
// and the last token.
void script_join(struct script_context *c, const struct script_context *other);
// What must agree where branches meet.
void script_essence(struct script_context *c);

#endif
