// A snapshot's live blocks and an estimate's live tensors, as lists that can be compared.

#ifndef CALC_SNAPSHOT_MATCH_H
#define CALC_SNAPSHOT_MATCH_H

#include "calc/parse/snapshot_read.h"

// A block, or a tensor that was expected. Texts are views of the snapshot or static.
struct live_item {
    uint64_t bytes;
    struct span file, name;
    uint64_t line;
    uint32_t category;
    bool no_frames;
    bool early;  // from before the first event that is kept
    bool matched;
};

struct live_set {
    struct live_item *at;
    size_t count, cap;
};

int live_set_add(struct live_set *s, const struct vram_mem *mem, struct live_item item);
void live_set_free(struct live_set *s, const struct vram_mem *mem);

// By size, the largest first; then by place.
void live_set_sort(struct live_set *s);

// Pairs items of the same size, once each. Both must be sorted. A block whose frames tell nothing
// takes its tensor's category.
void live_set_match(struct live_set *blocks, struct live_set *tensors);

// The largest items that match nothing (all: whether they do or not), equal ones as one row, copied
// into the arena. Returns VRAM_ENOMEM or VRAM_OK.
enum { SNAPSHOT_ROWS = 12 };
int live_set_rows(const struct live_set *s, bool all, struct mem_arena *arena,
                  const struct vram_snapshot_block **out, size_t *count);

const char *span_keep(struct mem_arena *arena, struct span s);  // NUL-terminated; NULL: no memory

#endif
