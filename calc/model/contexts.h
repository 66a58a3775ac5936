// The CUDA context: memory of the process that the allocator never sees.

#ifndef CALC_CONTEXTS_H
#define CALC_CONTEXTS_H

#include "calc/model/config.h"
#include "calc/vram.h"

enum { CONTEXT_MIB = 300, CONTEXT_LOW_MIB = 200, CONTEXT_HIGH_MIB = 430 };

// What the process has outside of the allocator, with its range: the context, and a communicator of
// NCCL for each group of cards, where one of the card was published. context_mib of the
// configuration wins and is all; else the card's own measurement, where there is one for lazy
// loading; else the default.
void context_figure(const struct vram_config *c, struct vram_figure *out);

// A row of contexts.def; false past the end. Texts are "" where sources are left out.
struct context_row {
    const char *card;
    bool eager, bare;  // bare: a process without PyTorch
    uint32_t low_mib, high_mib;
    const char *source, *what;
};
bool context_at(size_t index, struct context_row *out);

// The largest context of the table, MiB: eager loading, as old versions have it.
uint32_t context_most_mib(void);

#endif
