// The words of a text as a search index keeps them. templates/search.js divides and folds what a
// reader types by the same rule; tests/search_terms.sh compares the two.
#ifndef GEN_TEXT_TERMS_H
#define GEN_TEXT_TERMS_H

#include "gen/base/buf.h"

struct terms;        // classes of letters, looked up once each
struct terms_folds;  // what letters become, the same

struct terms *terms_new(void);
struct terms_folds *terms_folds_new(void);
// Calls visit for each term in order, in lower case: words of letters, marks and digits with two
// letters or a digit at least; of two words with a hyphen or underscore between them, also both as
// one; of scripts that are written without spaces (Han, kana, Thai, Lao, Myanmar, Khmer) each pair
// of neighbours, or the sign when it is alone. Separators within a number are left out. term is
// valid until visit returns.
void terms_scan(struct terms *t, str text, void (*visit)(void *ctx, str term), void *ctx);
// Appends term as it is looked for: without accents, vowel signs of Arabic and Hebrew, nuqta; one
// form of alef, ya and kaf; ASCII digits; ss for ß, oe for œ, and so on; and at most TERM_LETTERS
// letters of it.
void terms_fold(struct terms_folds *f, str term, buf *out);
// Whether term is of a script that is written without spaces: it has no word form that could be
// stemmed.
bool terms_is_pair(str term);
// Whether a folded term is a single letter, which a mark had beside it: no word.
bool terms_is_letter(str folded);

enum { TERM_LETTERS = 30 };

// What terms.c and terms_fold.c share: whether a letter is of a script that is written without
// spaces.
bool terms_is_dense(uint32_t c);

#endif
