// Attributes in braces: of headings, links and blocks.
#ifndef GEN_TEXT_ATTRIBUTES_H
#define GEN_TEXT_ATTRIBUTES_H

#include "gen/base/str.h"

// "{#id .class}", "{: #id}", "{ .class key=value }" at the head of s: its length, 0 when s begins
// otherwise. *id: "" without one.
size_t md_attributes(str s, str *id, str *classes);
// The same at the end of s: where it begins, blanks in front of it included; s.len when there is
// none.
size_t md_attributes_at_end(str s, str *id, str *classes);

#endif
