// The changes that were tried, and the plan.

#ifndef CALC_ADVICE_LIST_H
#define CALC_ADVICE_LIST_H

#include "calc/base/message.h"
#include "calc/base/text.h"
#include "calc/model/config.h"

enum { ADVICE_MAX = 48, ADVICE_FAILED = 16 };

// A change that was tried. number: its row in advise.def.
struct advice {
    struct vram_change out;
    size_t number;
    struct vram_config config;  // with the change
    struct text_line what, line;
    struct message refusal;
};

struct advice_list {
    struct vram_advice out;
    struct vram_change changes[ADVICE_MAX];  // as out has them: in their order
    struct advice row[ADVICE_MAX];           // in the order of the table
    size_t count;
    size_t order[ADVICE_MAX];  // rows, the first to show first
    bool made;
    uint64_t least;                 // run_process_least of the base
    struct vram_config base, plan;  // what the advice is on; what the plan makes of it
    struct vram_config not_enough[ADVICE_FAILED];  // what was tried in the plan's place
};

#endif
