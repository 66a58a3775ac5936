// Owns the errors of public measurements by kind of run, which tests/calc/accuracy.sh recomputes.

#include "calc/replay/accuracy.h"

#ifdef VRAM_SMALL

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
#else

#include "calc/model/kinds.h"

// kind: what tells of the rows at that level; present: what some of them have.
static const struct seen {
    uint64_t kind, present;
    uint32_t what, level, rows, permille;
} SEEN[] = {
#define HAS(ident) | (uint64_t)1 << KIND_BIT_##ident
#define ACCURACY_OF(what, level, kind, present, rows, permille) \
    {0 kind, 0 present, ACCURACY_##what, level, rows, permille},
#include "calc/replay/accuracy_kinds.def"
#undef ACCURACY_OF
#undef HAS
};

// A wider kind counts where each thing that the run has was measured in it.
struct accuracy accuracy_of(const struct vram_config *c, enum accuracy_of what)
{
    uint64_t kind = kind_of(c);
    for (unsigned level = 0; level < KIND_LEVELS; level++)
        for (size_t i = 0; i < sizeof SEEN / sizeof *SEEN; i++) {
            const struct seen *s = &SEEN[i];
            if (s->what != what || s->level != level || s->kind != kind_at(kind, level) ||
                (kind & ~s->present))
                continue;
            return (struct accuracy){s->rows, s->permille, s->present == kind ? 0 : s->kind};
        }
    return (struct accuracy){0};
}
#endif

void accuracies_of(const struct vram_config *c, struct accuracy seen[ACCURACY_COUNT])
{
    for (unsigned what = 0; what < ACCURACY_COUNT; what++)
        seen[what] = accuracy_of(c, what);
}
