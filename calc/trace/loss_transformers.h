// The loss of transformers' models, by version.

#ifndef CALC_LOSS_TRANSFORMERS_H
#define CALC_LOSS_TRANSFORMERS_H

#include "calc/trace/graph.h"

// The head's product of x, capped, scaled and in float32 as the family's code has it.
struct value loss_logits(struct graph *g, struct value x);
// From the last hidden state x; *logits gets a variable of the model's output.
struct value loss_transformers(struct graph *g, struct value x, uint32_t targets,
                               struct value *logits);

#endif
