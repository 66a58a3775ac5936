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

#endif
