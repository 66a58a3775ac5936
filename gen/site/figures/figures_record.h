// The records of measurements for who searches them and who lists them.
#ifndef GEN_SITE_FIGURES_RECORD_H
#define GEN_SITE_FIGURES_RECORD_H

#include "gen/site/figures/figures_lib.h"
#include "gen/site/plan/measurements.h"

// All valid records of content/measurements, read once a document; the others are named as diagnostics.
const struct record_list *records_of(lua_State *L);

#endif
