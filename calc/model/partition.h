// What DeepSpeed's stages make of the gradients where they stay on the card: parts, and buckets on
// the way to them. vramcalc alone.

#ifndef CALC_PARTITION_H
#define CALC_PARTITION_H

#include "calc/model/layout.h"

#ifndef VRAM_SMALL
// In numbers, of the first GPU.
struct partition {
    uint64_t part;     // of all trained weights
    uint64_t mine;     // of the tensors that the part lies in: their gradients are kept whole
    uint64_t piece;    // the most of one tensor that lies in the part
    uint64_t flushed;  // the most that is sent at once out of the bucket
    unsigned pieces;   // tensors that the part lies in
    bool spills;       // the bucket is full before the pass ends
};

// Whether gradients are sent out of a bucket, and whether into a part that stays on the card.
bool partition_sends(const struct model *m);
bool partition_is_there(const struct model *m);

// Fills *out; zeros where nothing is sent.
void partition_make(struct partition *out, const struct model *m, const struct layout *l);

// Whether a gradient is too large for the bucket.
bool partition_passes_by(const struct model *m, const struct layout_param *p);

// The most that one step of the optimizer takes of the part at once: DeepSpeed's sub-groups.
uint64_t partition_step(const struct model *m, const struct partition *p);
#else
static inline bool partition_is_there(const struct model *m)
{
    (void)m;
    return false;
}
#endif

#endif
