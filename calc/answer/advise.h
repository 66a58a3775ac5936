// Changes to a configuration that take less memory: what each saves, costs, and does to the result.

#ifndef CALC_ADVISE_H
#define CALC_ADVISE_H

#include "calc/model/handle.h"

// Whether the handle's advice is on its configuration as it is.
bool advise_is_current(const struct vram *v);

#endif
