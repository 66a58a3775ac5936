// Which program this is, so that what another one left behind is not believed.
#ifndef GEN_SITE_PROGRAM_ID_H
#define GEN_SITE_PROGRAM_ID_H

#include "gen/base/arena.h"

// A number of this program and of every library in it, by the size and date of each file: another
// compilation or a newer library gives another number, and so does a copy without its date, which
// costs one full build.
uint64_t program_id(void);

#endif
