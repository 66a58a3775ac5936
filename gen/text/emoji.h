// Short names between colons: :rocket: is an emoji, :material-rocket: an icon of MkDocs.
#ifndef GEN_TEXT_EMOJI_H
#define GEN_TEXT_EMOJI_H

#include "gen/base/arena.h"

// Whether a short name begins at s[at], a colon: where it ends, and what is shown for it. An icon
// is a picture without words: nothing is shown but for those that say yes or no, nor are the
// attributes in braces behind it.
bool emoji_at(str s, size_t at, size_t *end, str *shown);
// A text with what is shown in place of short names, without blanks that an icon leaves at its
// ends; s itself without any.
str emoji_text(str s, arena *a);

#endif
