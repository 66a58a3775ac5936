// Files of training frameworks: which format a file is in, and its keys as our fields.

#ifndef CALC_FORMATS_H
#define CALC_FORMATS_H

#include "calc/parse/format_ids.h"
#include "calc/parse/parse.h"

// By the keys that only it has. FORMAT_NONE: no format has these keys.
enum format_id format_recognize(struct parse *p);

const char *format_name(enum format_id format);

// Reads all pairs of p as a file of that format, over what is there. Errors go to parse_report,
// remarks to parse_warn.
int format_read(struct parse *p, enum format_id format);

#endif
