// Lua in Markdown, by Quarto's convention: what is a cell, and where a worked example keeps the
// output that it wants.
//
//   inline    `{lua} peak`            the cell's code is "peak"; the figure's value replaces it
//             In a table a | in the code is written \|, as GitHub's tables ask for everywhere.
//   fenced    ```{lua}                a worked example: it runs, and what it prints must be
//             print(1 + 1)            what the fence ```output directly behind it says.
//             ```                     Without such a fence it must print nothing.
//             ```output
//             2
//             ```
#ifndef GEN_TEXT_CELLS_H
#define GEN_TEXT_CELLS_H

#include "gen/base/str.h"

// Whether a code span's text is a cell; *code is what is behind {lua}, trimmed.
bool cell_inline(str literal, str *code);
// Whether the info string of a fence is {lua}; other words behind it are kept for later use.
bool cell_fence(str info);
// Whether the info string of a fence says that it holds wanted output.
bool cell_output(str info);
// The next `{lua}` cell at or behind from in Markdown source, without parsing it: offset of its
// first backtick, s.len when there is none. For tools that rewrite cells in place. *end is the
// offset behind its last backtick.
size_t cell_next(str s, size_t from, str *code, size_t *end);

#endif
