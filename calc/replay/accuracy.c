// Owns the errors of public measurements by kind of run, which tests/calc/accuracy.sh recomputes.

#include "calc/replay/accuracy.h"

#include "calc/model/regime.h"

struct accuracy accuracy_of(const struct vram_config *c, enum accuracy_of what)
{
    static const struct accuracy table[VRAM_REGIME_COUNT][2] = {
#define ACCURACY(regime, rows, permille, process_rows, process_permille) \
    [VRAM_REGIME_##regime] = {{rows, permille}, {process_rows, process_permille}},
#include "calc/replay/accuracy.def"
#undef ACCURACY
    };
    return table[regime_of(c)][what];
}
