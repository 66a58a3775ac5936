// What the probe asks the estimator: to read a config, and to stand beside what was measured.
// Nothing that measures includes this header; a test sees to it.
#ifndef KERNELS_ESTIMATOR_H
#define KERNELS_ESTIMATOR_H

#include <stdio.h>

#include "kernels/record/rjson.h"
#include "kernels/probe/probe.h"

#ifdef __cplusplus
extern "C" {
#endif

// Puts a training run's config into *s: of a named preset and then of a nanoGPT config file, either
// of which may be NULL. What belongs to a framework and not to the step (compile, data, intervals)
// is passed over. False with file:line:col and the reason in error when it cannot be read or the
// probe cannot train such a model.
bool estimator_read_config(struct settings *s, const char *preset, const char *path, char *error,
                           size_t size);

// How many figures were compared, and how many of those are off by more than is allowed.
struct estimator_tally {
    int results, figures, off, passed_over;
};

// Prints, for each result of a record that has the memory of a training step, what the estimator
// says beside what was measured. max_memory_allocated may be off by 1 %, max_memory_reserved by 3
// %, both by 5 % when compiled, the process by 5 %. The context is the measured one: the estimator
// does not predict it.
void estimator_compare(const struct rjson *record, FILE *out, struct estimator_tally *tally);

#ifdef __cplusplus
}
#endif

#endif
