// The loss of logits that are cut into chunks: whole in memory, their temporaries a chunk's.

#ifndef CALC_LOSS_OUTPUT_H
#define CALC_LOSS_OUTPUT_H

#include "calc/trace/graph.h"

// Both may give the last norm's result up.
struct value loss_output(struct graph *g, struct value *normed, struct value *logits);
struct value loss_output_logits(struct graph *g,
                                struct value *normed);  // the head's result as the loop gets it
node_fn node_loss_chunks;
// Whether the head's gradients of chunks are added up: torchtune's.
bool loss_output_sums(const struct graph *g);
// The gradient of one of the first two chunks, where the head's weight gets one of each chunk.
void loss_output_chunk_goes(struct graph *g, unsigned which);

#endif
