// Fields out of what all files so far have said.

#ifndef CALC_CONCLUDE_H
#define CALC_CONCLUDE_H

#include "calc/parse/format_ids.h"
#include "calc/parse/parse.h"

int conclude(struct parse *p);

// What a command line leaves open, as notes.
void conclude_command(struct parse *p, enum format_id format);

#endif
