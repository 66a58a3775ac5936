// Memory over the step as a picture.

#ifndef CALC_TIMELINE_H
#define CALC_TIMELINE_H

#include "calc/model/handle.h"

// SVG. Runs the step and appends to v->text.
int timeline_svg(struct vram *v);

#endif
