// torchtune's LinearCrossEntropyLoss: the head and the loss of a chunk of positions after the
// other.

#ifndef CALC_LOSS_LINEAR_H
#define CALC_LOSS_LINEAR_H

#include "calc/trace/graph.h"

struct value loss_linear(struct graph *g, struct value x);
// What its tape depends on: chunks, and how many are longer by a row than the others. 0: another
// loss, or one whose tape does not depend on it.
uint64_t loss_linear_chunks(const struct model *m);
uint64_t loss_linear_longer(const struct model *m);

#endif
