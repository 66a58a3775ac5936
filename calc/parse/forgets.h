// Keys that no format has a use for.

#ifndef CALC_FORGETS_H
#define CALC_FORGETS_H

#include <stdbool.h>

#include "calc/base/span.h"

// Is the key, as a Python call has it, one that memory does not depend on, by the formats' tables?
bool format_forgets(struct span key);

#endif
