// Remarks about a configuration that go with every report.

#ifndef CALC_REMARKS_H
#define CALC_REMARKS_H

#include "calc/base/writer.h"
#include "calc/model/handle.h"

// One a line: those of the last parse, then those of the configuration as it is. Writes nothing if there are none.
void remarks_write(struct writer *w, const struct vram *v);

#endif
