// What DeepSpeed does with gradients: a bucket in which they are sent, the way to the host.

#ifndef CALC_ZERO_H
#define CALC_ZERO_H

#include "calc/trace/graph.h"

// Makes the bucket where there is none. True: the gradient is copied into it, and out of it to the
// host.
bool zero_bucket(struct graph *g, const struct node *n);

// What is there for a moment while a gradient goes to the host.
void zero_to_host(struct graph *g, const struct storage *gradient);

// Whether gradients are sent after the pass.
bool zero_waits(const struct graph *g);

// After the pass: the bucket goes.
void zero_close(struct graph *g);

#ifndef VRAM_SMALL
// A whole gradient of stage 2 goes to the GPU that keeps it. It is used up.
void zero_send(struct graph *g, const struct node *n, uint32_t gradient);

// Stage 3: what a unit's end sends out of the bucket; before: the unit's gradients are still there.
void zero_unit_sends(struct graph *g, bool before);
#endif

#endif
