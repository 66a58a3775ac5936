// PyTorch's out-of-memory messages: what they say, and what the size that could not be had is the size of.

#ifndef CALC_OOM_H
#define CALC_OOM_H

#include "calc/model/handle.h"

// A size as the message rounds it: shown +- half a unit in the last place. present: the message has it.
struct oom_size {
    uint64_t bytes, low, high;
    bool present;
};

struct oom_message {
    struct oom_size tried, total, free, allocated, reserved, unallocated, in_use;
    bool modern; // 2.x: "Of the allocated memory ..."
    bool driver; // not PyTorch's allocator but the driver or a library had no memory: there is no size
};

// Errors: VRAM_EPARSE with the position where the text stops being such a message.
int oom_parse(struct oom_message *m, struct err *e, const char *text, size_t len);

// The segment that a tensor of so many bytes asks the driver for; this is what the message shows.
uint64_t oom_segment(uint64_t bytes);

#endif
