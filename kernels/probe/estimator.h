// The probe's questions to the estimator: to read a config, and to predict what was measured. No
// file that measures includes this header; a test checks that.
#ifndef KERNELS_ESTIMATOR_H
#define KERNELS_ESTIMATOR_H

#include <stdio.h>

#include "kernels/probe/settings.h"
#include "kernels/record/rjson.h"

#ifdef __cplusplus
extern "C" {
#endif

// Puts a training run's config into *s: of a named preset and then of a nanoGPT config file, either
// of which may be NULL. Settings of a framework that are none of the step (compile, data,
// intervals) are ignored. Returns false, with file:line:col and the reason in error, when it cannot
// be read or the probe cannot train such a model.
bool estimator_read_config(struct settings *s, const char *preset, const char *path, char *error,
                           size_t size);

// Numbers of figures that were compared, and of those that are off by more than is allowed.
struct estimator_tally {
    int results, figures, off, passed_over;
};

// Prints, for each result of a record that has the memory of a training step, the estimate next to
// the measured value. max_memory_allocated may be off by 1 %, max_memory_reserved by 3 %, both by 5
// % when compiled, the process by 5 %. The context is the measured one: the estimator does not
// predict it.
void estimator_compare(const struct rjson *record, FILE *out, struct estimator_tally *tally);

#ifdef __cplusplus
}
#endif

#endif
