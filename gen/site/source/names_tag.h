// Tags of languages in names of files and folders.
#ifndef GEN_SITE_NAMES_TAG_H
#define GEN_SITE_NAMES_TAG_H

#include "gen/base/map.h"

// Fills a map with the base languages that ICU has data for.
void names_languages(struct map *languages, arena *a);
// "es", "pt-BR", "zh_Hant": one of those languages, with plausible subtags, or a word for one.
bool names_is_tag(const struct map *languages, str s);
// The tag that a word in a path means which is none itself: "chinese", "kr"; else the word.
str names_word(str tag);
// Whether ICU has data for a language in a region, "pt-br": of other pairs either may be meant.
bool names_is_locale(str tag);

#endif
