// How rows are put on the list of parameter tensors; only layout.c and layout_outside.c include
// this.

#ifndef CALC_LAYOUT_ROWS_H
#define CALC_LAYOUT_ROWS_H

#include "calc/model/layout.h"

struct layout_row {
    uint16_t number;
    uint8_t role, part, shape;
    uint64_t rows, cols;
};

// Before and after the layers.
void layout_before(struct layout *l, bool trained, struct layout_row r);
void layout_after(struct layout *l, bool trained, struct layout_row r);
bool layout_norm_trained(const struct model *m);
bool layout_norm_bias(const struct model *m);
void layout_outside(struct layout *l, const struct model *m);

#endif
