// Which program this is, so that what another one left behind is not believed.
#ifndef GEN_SITE_PROGRAM_ID_H
#define GEN_SITE_PROGRAM_ID_H

#include "gen/base/arena.h"

// A number of this program and of every library in it, by the build ids that linkers write: another compilation, other
// structures, or a newer library on the same machine give another number, a copy gives the same.
uint64_t program_id(void);

#endif
