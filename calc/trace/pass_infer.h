// The passes of a generation.

#ifndef CALC_PASS_INFER_H
#define CALC_PASS_INFER_H

#include "calc/trace/graph.h"

enum pass_kind { PASS_TRAINING, PASS_PROMPT, PASS_FIRST_TOKEN, PASS_TOKEN };

// kind: one of a generation's.
void pass_infer(struct graph *g, enum pass_kind kind);

#endif
