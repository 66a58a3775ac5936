// The loss of logits that are cut into chunks: whole in memory, their temporaries a chunk's.

#ifndef CALC_LOSS_OUTPUT_H
#define CALC_LOSS_OUTPUT_H

#include "calc/trace/graph.h"

// Both may give the last norm's result up.
struct value loss_output(struct graph *g, struct value *normed, struct value *logits);
struct value loss_output_logits(struct graph *g,
                                struct value *normed);  // the head's result as the loop gets it
node_fn node_loss_chunks;

#endif
