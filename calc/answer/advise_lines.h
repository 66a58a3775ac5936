// What to write for a change in the user's own framework.

#ifndef CALC_ADVISE_LINES_H
#define CALC_ADVISE_LINES_H

#include "calc/base/text.h"
#include "calc/model/config.h"

// The line for change `id` with the fields of *c, which are those after it; empty where there is
// nothing to write. false: the framework does not have the change.
bool advise_line(const char *id, uint64_t framework, const struct vram_config *c,
                 struct text_line *line);

#endif
