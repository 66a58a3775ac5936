// Trying configurations beside the one that a handle holds.

#ifndef CALC_PROBE_H
#define CALC_PROBE_H

#include "calc/model/handle.h"

// A second handle with v's configuration, so that v keeps its result. NULL with the error recorded
// in v.
struct vram *probe_new(struct vram *v);

// Takes over the probe's error into v and returns its code.
int probe_error(struct vram *v, const struct vram *probe);

// Bytes of the process, and whether they are within the card, and with the whole error bound;
// without a card they never are.
struct probe_answer {
    uint64_t process;
    bool fits, surely;
};

// For the probe's configuration as it is. enough: bytes from which on the exact number does not
// matter (the answer is VRAM_ENOFIT), or 0.
int probe_try(struct vram *probe, uint64_t enough, struct probe_answer *answer);

#endif
