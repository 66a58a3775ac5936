// PyTorch's out-of-memory messages: what they say.

#ifndef CALC_PARSE_OOM_H
#define CALC_PARSE_OOM_H

#include "calc/base/err.h"

struct oom_message {
    struct vram_size tried, total, free, allocated, reserved, unallocated, in_use;
    bool driver;  // not PyTorch's allocator but the driver or a library had no memory: there is no size
};

// Errors: VRAM_EPARSE with the position where the text stops being such a message.
int oom_parse(struct oom_message *m, struct message *e, const char *text, size_t len);

#endif
