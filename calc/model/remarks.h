// Notes on a configuration as it is.

#ifndef CALC_REMARKS_H
#define CALC_REMARKS_H

#include "calc/model/handle.h"

// Adds them to a list: choices that PyTorch makes for the chosen card, settings that do nothing,
// figures that rest on source code alone.
void remarks_add(struct message_list *notes, const struct vram *v);

#endif
