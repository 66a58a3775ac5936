// What framework_version means for a file of a format.

#ifndef CALC_OWN_VERSION_H
#define CALC_OWN_VERSION_H

#include "calc/parse/format_ids.h"
#include "calc/parse/parse.h"

// The trainer's arguments are transformers': its version is meant. A note where the version is
// newer than `newest`.
void own_version(struct parse *p, enum format_id format, const char *title, const char *newest);

#endif
