// PyTorch's memory snapshot as arrays: segments with their blocks, and the events of one device.

#ifndef CALC_SNAPSHOT_READ_H
#define CALC_SNAPSHOT_READ_H

#include "calc/parse/tree.h"

enum snapshot_state { SNAPSHOT_INACTIVE, SNAPSHOT_ALLOCATED, SNAPSHOT_PENDING };

enum snapshot_action {
    SNAPSHOT_ALLOC,
    SNAPSHOT_FREE,
    SNAPSHOT_SEGMENT_GROWS,
    SNAPSHOT_SEGMENT_SHRINKS,
    SNAPSHOT_OOM,
    SNAPSHOT_OTHER
};

enum { SNAPSHOT_UNKNOWN = VRAM_CAT_COUNT };  // a category that nothing tells

// Where something was allocated: its innermost frame outside of PyTorch's own files.
struct snapshot_site {
    struct span file, name;
    uint64_t line;
    uint32_t category;  // by the frames alone, or SNAPSHOT_UNKNOWN
    bool empty;         // no frame at all
};

struct snapshot_block {
    uint64_t address, bytes, requested;
    uint32_t state;  // enum snapshot_state
    uint32_t site;
};

struct snapshot_segment {
    uint64_t address, bytes, stream, device;
    bool small, expandable;
    size_t first, count;  // blocks
};

struct snapshot_event {
    uint64_t address, bytes;  // of OOM: free on the device, asked for
    uint32_t action;          // enum snapshot_action
    uint32_t category;        // that the event names, or SNAPSHOT_UNKNOWN
    uint32_t site;
};

struct snapshot_read {
    struct tree tree;
    uint64_t device, devices;  // the one that is read: it has the most memory
    struct snapshot_segment *segments;
    struct snapshot_block *blocks;
    struct snapshot_event *events;
    struct snapshot_site *sites;  // the first is for what has no frames
    uint32_t *site_of_list;
    unsigned char *rule_of_frame;  // by the number of its dictionary: 1 and its rule of
                                   // snapshot_frames.def, 0: not yet known
    size_t rule_cap;
    size_t segment_count, segment_cap, block_count, block_cap, event_count, event_cap, site_count,
        site_cap, list_cap;
    struct span settings;  // PYTORCH_CUDA_ALLOC_CONF as it was
    bool has_frames;
};

// A pickle or JSON, told apart by its first byte. Errors go to *err; snapshot_done is to be called
// in any case.
int snapshot_read(struct snapshot_read *s, const struct vram_mem *mem, struct message *err,
                  const char *text, size_t len, const char *file);
void snapshot_done(struct snapshot_read *s);

// What the frames of a list, the innermost first, say about an allocation.
struct snapshot_site snapshot_site_of(struct snapshot_read *s, const struct tree_value *frames);

#endif
