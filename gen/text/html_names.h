// What a reader of tags must know of HTML's elements and entities.
#ifndef GEN_TEXT_HTML_NAMES_H
#define GEN_TEXT_HTML_NAMES_H

#include "gen/base/buf.h"

enum { HTML_VOID = 1, HTML_RAW = 2, HTML_BLOCK = 4 };

// Flags of an element by its name, in any case; 0 for every other.
unsigned html_flags(str name);
// Decodes the character reference at the head of s, which begins with &. 0 when it is none.
size_t html_entity(str s, uint32_t *code_point);
// Decodes entities of text or an attribute's value.
void html_unescape(str s, buf *out);

#endif
