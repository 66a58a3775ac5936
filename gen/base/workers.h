// Jobs in forked processes: a shared counter hands out ranges, results come back in order, a dead
// worker costs one job. What a job is and where its result goes are functions of the caller, as
// with pthread_create and qsort: nothing here depends on what they do.
#ifndef GEN_BASE_WORKERS_H
#define GEN_BASE_WORKERS_H

#include "gen/base/buf.h"

enum { WORKERS_WAIT = 8 };
enum workers_fate { WORKERS_DONE, WORKERS_CRASHED, WORKERS_TIMED_OUT };

struct workers_plan {
    size_t job_count;
    unsigned workers;  // 0: the number of processors that may be used
    unsigned chunk;    // jobs taken at once; 0: chosen
    // Processor time of one job, which a busy machine does not shorten; 0: none. A job that waits
    // is ended when WORKERS_WAIT times as much has passed on the clock.
    uint64_t job_timeout_ms;
    uint64_t memory_bytes;  // address space a worker may add; 0: no limit
    // In the worker, once, before its first job.
    void (*begin)(void *ctx);
    // In the worker, once, behind its last job.
    void (*end)(void *ctx);
    // In the worker. Appends the job's result (small: metadata, diagnostics) to out.
    void (*job)(void *ctx, size_t index, buf *out);
    // In the parent, in order of index, once for every job. result is empty unless the fate is
    // WORKERS_DONE.
    void (*result)(void *ctx, size_t index, enum workers_fate fate, int signal, str result);
    void *ctx;
};

// Runs all jobs. The parent's memory is what workers start with (copy on write). A job that crashes
// or runs past its limit is reported and not run again; the others of its chunk are. 0, or -1 with
// errno when no worker could be started.
int workers_run(const struct workers_plan *plan);

#endif
