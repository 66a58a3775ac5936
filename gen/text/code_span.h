// Code spans in Markdown that has not been parsed.
#ifndef GEN_TEXT_CODE_SPAN_H
#define GEN_TEXT_CODE_SPAN_H

#include "gen/base/str.h"

struct code_span {
    size_t marks;  // backticks that open it
    size_t end;    // offset behind those that close it; behind the first when none do
    bool closed;   // in its paragraph
};

// What the backtick at s[at] opens.
struct code_span code_span_at(str s, size_t at);

#endif
