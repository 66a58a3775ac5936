// From a configuration to a model: the check as a whole, the counts, the list of its parameters.

#ifndef CALC_MODEL_MAKE_H
#define CALC_MODEL_MAKE_H

#include "calc/model/model.h"

// Fills *m from *c. Errors: VRAM_EMODEL (which fields and why), VRAM_EOVERFLOW, VRAM_EUNSUPPORTED.
int model_make(struct model *m, const struct vram_config *c, struct message *e);

// A parameter tensor of the model.
struct model_param {
    uint16_t name;        // trace_tensor_name()
    int32_t block;        // layer, or -1
    uint64_t rows, cols;  // cols = 0: a vector
    bool trained;
};

// The index-th parameter tensor in the order of registration; false past the end.
bool model_param_at(const struct model *m, uint64_t index, struct model_param *out);

#endif
