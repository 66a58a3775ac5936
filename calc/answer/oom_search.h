// The tensors of a step that an out-of-memory message may be about.

#ifndef CALC_OOM_SEARCH_H
#define CALC_OOM_SEARCH_H

#include "calc/model/handle.h"
#include "calc/parse/parse_oom.h"

enum { OOM_SUSPECTS = 6, OOM_PHASE = 32 };

// A kind of allocation whose segment has the message's size.
struct oom_suspect {
    struct vram_suspect out;
    char phase[OOM_PHASE];
    uint64_t distance;  // of the live bytes from what the message calls allocated
};

struct oom_search {
    struct oom_suspect found[OOM_SUSPECTS];  // the likeliest first
    size_t count;
    uint64_t asked;    // torch.compile as the configuration has it
    uint64_t compile;  // and as the suspects were found
};

// Memory of the card that neither this process' tensors nor its context explain; what the allocator
// holds without a tensor in it.
uint64_t oom_others(const struct oom_message *m);
uint64_t oom_idle(const struct oom_message *m);

// torch.compile in another mode, without the result of the one before.
void oom_set_mode(struct vram *v, uint64_t mode);

// As configured; if nothing has that size, as other versions of torch.compile, or none, would have
// run it. The mode that agrees best is left in v->config: the caller puts s->asked back.
int oom_search(struct vram *v, const struct oom_message *m, struct oom_search *s);

#endif
