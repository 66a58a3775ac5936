// The largest or smallest value of a field with which a run fits.

#ifndef CALC_SOLVE_H
#define CALC_SOLVE_H

#include "calc/model/handle.h"

// What is looked for: a row of solve.def.
struct solve_row {
    uint32_t field, goal, method;
    uint8_t from, step, most;  // enum solve_bound
};

// The row of a field; NULL if none.
const struct solve_row *solve_row_of(uint32_t field);

// What was found. limit, where found and there is memory left for more: why there is no larger
// value.
struct solve_found {
    bool any, surely;  // a value that fits; one that does so with the whole error bound
    uint64_t value, safe_value;
    uint64_t process_bytes;  // with value
    uint32_t tried;          // configurations
};

// Tries values of a field on the probe, which is left with one of them. limit gets a sentence, or
// stays clear. Errors: recorded in the probe.
int solve_search(struct vram *probe, const struct solve_row *row, struct solve_found *found,
                 struct message *limit);

// VRAM_EGPU, recorded, where no card is chosen.
int solve_need_card(struct vram *v);

#endif
