// The step as a row of moments: few enough to be drawn, with its shape and its peak as they are.

#ifndef CALC_TIMELINE_POINTS_H
#define CALC_TIMELINE_POINTS_H

#include "calc/model/handle.h"
#include "calc/replay/run.h"

enum { TIMELINE_COLUMNS = 360, TIMELINE_PHASES = 64 };

struct timeline_moment {
    uint64_t event, total;  // bytes
    uint64_t by[VRAM_CAT_COUNT];
};

struct timeline_phase {
    char name[TRACE_PHASE_TEXT];
    uint64_t begin, end;  // events
};

// Of each column, which is a 360th of the events, the emptiest and the fullest moment; where no
// event is in it, what was alive before.
struct timeline {
    struct timeline_moment low[TIMELINE_COLUMNS], high[TIMELINE_COLUMNS];
    struct timeline_moment now;
    uint64_t events, at;  // how many in all; this one
    uint64_t column;      // of this one
    uint64_t peak, peak_event;
    uint32_t pass;  // that the last phase is of, as trace_phase()
    struct timeline_phase phase[TIMELINE_PHASES];
    size_t phases;
};

// Runs the step. *out is to be freed, also after an error. Errors: those of vram_run.
int timeline_record(struct vram *v, struct timeline **out);
void timeline_free(struct vram *v, struct timeline *t);  // NULL is allowed

#endif
