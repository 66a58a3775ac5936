// JavaScript as it is sent: without lines that are comments and without indentation.
#ifndef GEN_TEXT_SCRIPT_H
#define GEN_TEXT_SCRIPT_H

#include "gen/base/buf.h"

// Appends js without what only its authors read. A script whose literals may go over several lines
// (a backtick, a backslash at the end of a line) is appended as it is.
void script_shorten(str js, buf *out);

#endif
