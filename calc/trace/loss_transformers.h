// The loss of transformers' models, by version.

#ifndef CALC_LOSS_TRANSFORMERS_H
#define CALC_LOSS_TRANSFORMERS_H

#include "calc/trace/graph.h"

// From the last hidden state x; *logits gets a variable of the model's output.
struct value loss_transformers(struct graph *g, struct value x, uint32_t targets,
                               struct value *logits);

#endif
