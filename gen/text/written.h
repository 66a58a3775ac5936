// Which language a text is written in, as far as its letters alone say it.
#ifndef GEN_TEXT_WRITTEN_H
#define GEN_TEXT_WRITTEN_H

#include "gen/base/str.h"

// The tag of the language of a page's Markdown, "ja", "zh-Hant", by the letters of its first 4 KiB
// outside of code, tags and addresses. "" where most are Latin, or where several languages have
// them. The tag lives as long as the program.
str written_in(str text);

#endif
