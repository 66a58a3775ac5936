// Owns the names of the public enumerations, and the version.

#include "calc/vram.h"

const char *vram_version(void)
{
    return VRAM_VERSION;
}

uint32_t vram_abi_version(void)
{
    return VRAM_ABI;
}

const char *vram_code_name(int code)
{
    switch (code) {
#define X(id, number, name, text) \
    case number: return name;
        VRAM_CODES(X)
#undef X
    default: return "unknown";
    }
}

#define NAME(id, name, text) name,
#define UNIT_NAME(id, name) name,
#define NAMES(function, LIST, ROW) \
    const char *function(uint32_t n) \
    { \
        static const char *const names[] = {LIST(ROW)}; \
        return n < sizeof names / sizeof *names ? names[n] : "unknown"; \
    }

NAMES(vram_category_name, VRAM_CATEGORIES, NAME)
NAMES(vram_basis_name, VRAM_BASES, NAME)
NAMES(vram_verdict_name, VRAM_VERDICTS, NAME)
NAMES(vram_regime_name, VRAM_REGIMES, NAME)
NAMES(vram_capacity_name, VRAM_CAPACITIES, NAME)
NAMES(vram_effect_name, VRAM_EFFECTS, NAME)
NAMES(vram_goal_name, VRAM_GOALS, NAME)
NAMES(vram_moment_name, VRAM_MOMENTS, NAME)
NAMES(vram_block_state_name, VRAM_BLOCK_STATES, NAME)
NAMES(vram_method_name, VRAM_METHODS, NAME)
NAMES(vram_unit_name, VRAM_UNITS, UNIT_NAME)
