// How many decimals a size gets when nobody says: whole small units, one decimal for gigabytes and up.
#ifndef GEN_SITE_FIGURES_UNITS_H
#define GEN_SITE_FIGURES_UNITS_H

#include "gen/text/locale.h"

static inline int figure_decimals(enum byte_unit u)
{
    return byte_unit_size(u) >= 1e9 ? 1 : 0;
}

#endif
