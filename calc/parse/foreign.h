// Files of programs that are not read, by their keys.

#ifndef CALC_FOREIGN_H
#define CALC_FOREIGN_H

#include "calc/parse/parse.h"

// Sets the error that names whose file the pairs are. false: nothing is known of them.
bool foreign_named(struct parse *p);

#endif
