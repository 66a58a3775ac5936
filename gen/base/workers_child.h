// What the parent and its workers share; only workers_parent.c and workers_child.c include this.
#ifndef GEN_BASE_WORKERS_CHILD_H
#define GEN_BASE_WORKERS_CHILD_H

#include <stdatomic.h>
#include <sys/types.h>

#include "gen/base/workers.h"

#define WORKERS_NO_JOB UINT64_MAX

// Written by one worker, read by the parent.
struct workers_slot {
    _Alignas(64) _Atomic uint64_t current;  // the job that runs
    // When it began: the clock, and what processor time the worker had used.
    _Atomic uint64_t since_ms, used_ms;
    _Atomic uint64_t begin, end;  // the range whose results are not all sent
};

struct workers_shared {
    _Alignas(64) _Atomic uint64_t counter;  // the first job that is not taken
    uint64_t chunk;
    struct workers_slot slots[];
};

// In front of each result in the pipe.
struct workers_frame {
    uint64_t index;
    uint64_t len;
};

// The life of a worker: the jobs of redo, then ranges from the shared counter. Does not return.
_Noreturn void workers_child(const struct workers_plan *plan, struct workers_shared *shared,
                             struct workers_slot *slot, int fd, const uint64_t *redo,
                             size_t redo_count, pid_t parent);

#endif
