// Out-of-memory messages: who says them, and what they say.

#ifndef CALC_PARSE_OOM_H
#define CALC_PARSE_OOM_H

#include "calc/base/err.h"

enum oom_source {
#define SOURCE(id, name, sentence) OOM_##id,
#include "calc/parse/oom_sources.def"
#undef SOURCE
    OOM_SOURCE_COUNT
};

struct oom_message {
    struct vram_size tried, total, free, allocated, reserved, unallocated, in_use;
    struct vram_size allowed;        // of the card, by set_per_process_memory_fraction
    struct vram_size private_pools;  // of CUDA graphs
    uint64_t room_tokens;            // that the KV cache of a server has room for; 0: not said
    enum oom_source source;
};

const char *oom_source_name(enum oom_source source);
message_id oom_source_sentence(enum oom_source source);  // MESSAGE_NONE for PyTorch's allocators

// A tensor of PyTorch's is what had no room.
static inline bool oom_is_tensor(const struct oom_message *m)
{
    return m->source == OOM_PYTORCH || m->source == OOM_ASYNC || m->source == OOM_MPS ||
           m->source == OOM_DIRECTML;
}

// Errors: VRAM_EPARSE with the position where the text stops being such a message.
int oom_parse(struct oom_message *m, struct message *e, const char *text, size_t len);

#endif
