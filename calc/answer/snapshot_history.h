// What was alive when: a snapshot's blocks, and its events from the last back to the first.

#ifndef CALC_SNAPSHOT_HISTORY_H
#define CALC_SNAPSHOT_HISTORY_H

#include "calc/answer/snapshot_match.h"

struct history {
    uint64_t peak_requested, peak_reserved;
    struct live_set now, peak;  // peak is that of the requested bytes; empty without events
};

// Returns VRAM_ENOMEM or VRAM_OK; history_done in any case.
int history_of(const struct snapshot_read *s, struct history *h);
void history_done(const struct snapshot_read *s, struct history *h);

#endif
