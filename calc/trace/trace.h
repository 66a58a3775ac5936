// The trace: ordered allocations and frees, by ids only. Names are looked up when someone prints
// them.

#ifndef CALC_TRACE_H
#define CALC_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "calc/vram.h"

// A phase packed into 32 bits: kind, iteration, micro-step.
enum trace_phase_kind {
    TRACE_PARAMS,  // building the model
    TRACE_DATA,    // the first batch
    TRACE_EVAL,
    TRACE_FORWARD,
    TRACE_BACKWARD,
    TRACE_STEP,
    TRACE_PREFILL,
    TRACE_DECODE
};

static inline uint32_t trace_phase(enum trace_phase_kind kind, uint32_t iteration, uint32_t micro)
{
    return (uint32_t)kind << 28 | (iteration & 0xfff) << 16 | (micro & 0xffff);
}

enum { TRACE_PHASE_TEXT = 32 };

// Writes "bwd:it0.m1" (NUL-terminated) and returns out.
const char *trace_phase_name(uint32_t phase, char out[TRACE_PHASE_TEXT]);

// One allocation or free. Ids are given in order of allocation, from 0.
struct trace_event {
    uint64_t bytes;  // requested; on a free the bytes that were allocated
    uint32_t id;
    uint32_t phase;     // trace_phase()
    uint16_t name;      // into the table of tensor names (roles.def, parts.def)
    uint16_t op;        // into the table of operations (ops.def)
    uint16_t category;  // enum vram_category
    uint16_t is_free;
    int32_t block;  // layer number, or -1
};

// Gets every event in order. A non-zero answer stops the walk and is handed back.
struct trace_sink {
    int (*event)(void *ctx, const struct trace_event *e);
    void *ctx;
    bool sums;  // which tensor of a name it is does not matter: neither ids nor layers are there
};

// Texts of the ids. A tensor's name is a place and a suffix: "block.c_attn" ".weight cast".
const char *trace_place_name(uint16_t name);
const char *trace_part_name(uint16_t name);
const char *trace_op_name(uint16_t op);
const char *trace_node_name(uint8_t kind);
const char *trace_saved_name(uint8_t kind, uint8_t which);

#endif
