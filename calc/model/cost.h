// What a change costs in time, from the operations that it adds: a roofline, not a measurement.

#ifndef CALC_COST_H
#define CALC_COST_H

#include "calc/model/model.h"

// Floating point operations and bytes of one iteration; saturating, good for ratios only.
struct cost {
    double flops;          // forward and backward, all micro-steps, and a reference's forward
    double block_forward;  // of the blocks' forward alone
    double head_forward;   // of the head's matmul alone
    double weight_bytes;   // read and written once for each micro-step: weights three times, a
                           // reference's once, gradients twice
    double micro_steps;
};

void cost_of(struct cost *out, const struct model *m);

// Seconds of an iteration on a card that reaches 40 % of its dense rate, weights read at its full
// bandwidth. Without a card the ratios of an RTX 4070 stand in.
double cost_seconds(const struct cost *c, const struct vram_config *config);

// The same of one dense layer in a micro-batch, forward and backward: its products, which tensor
// parallelism divides, and with sequence_parallel what its collectives move between H100s.
double cost_layer_seconds(const struct model *m);  // the small module has no pipelines' queues

#endif
