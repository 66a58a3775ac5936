// Shared by the probe's files: the table of experiments, and the form of an experiment.
#ifndef KERNELS_PROBE_H
#define KERNELS_PROBE_H

#include <sys/types.h>

#include "kernels/step/gpt.h"
#include "kernels/probe/nvml.h"
#include "kernels/probe/settings.h"
#include "kernels/record/record.h"
#include "kernels/step/tokens.h"

#ifdef __cplusplus
extern "C" {
#endif

// In the child process of one run: the values go into `values`. Returns "ok" or "oom"; message may
// be filled.
typedef const char *measure_fn(const struct settings *s, struct nvml *nvml, struct rjson *values,
                               char message[256]);

struct experiment {
    const char *name;
    int protocol;  // raised by hand when the experiment measures something else
    int limit_s;   // a run that takes longer is ended
    const char *about;
    const char *const *runs;  // its configs, NULL at the end
    measure_fn *measure;
};

extern const struct experiment experiments[];  // name NULL at the end
const struct experiment *experiment_find(const char *name);

measure_fn measure_context, measure_reserve, measure_malloc, measure_bandwidth, measure_matmul,
    measure_attention, measure_step, measure_max_batch;

// The options of the command line.
struct options {
    const char *output, *state, *commit, *config, *tokens;
    char words[1024];  // key=value words: the one run of each experiment, instead of its own
    int64_t cap_mib, seconds;
    int dirty;  // -1 unknown
    bool replace;
    char **names;  // of experiments or files; all experiments when there is none
    int name_count;
    int argc;
    char **argv;
};

enum { EXIT_OFF = 1, EXIT_USAGE, EXIT_INPUT, EXIT_MORE = 75, EXIT_NO_DEVICE = 77 };

// `vramprobe: error: what: why` (why may be empty); returns status.
int probe_fail(int status, const char *what, const char *why);
// Writes to o->output, as o->replace allows, and frees the record. Exit status.
int probe_write(const struct options *o, struct rjson *record);

// runs.c: one run in this process, its result as JSON in a file; all runs that are asked for, a
// process each.
int runs_one(const char *name, const char *text, const char *tokens, const char *path);
// One more run of an experiment, in a process of its own, during another run: returns its result,
// which the caller frees. Whatever happens to that process, there is a result with a status.
struct rjson *runs_child(const char *name, const struct settings *s);
// Returns the number of runs that are left; results that exist go to `results`. o->words must be
// complete.
int runs_all(const struct options *o, struct rjson *results);
// Exit status of waitpid; -1 when the child took longer than limit_s and was ended.
int runs_wait(pid_t child, int limit_s);

// record_verbs.c: commands on existing records. They return the exit status.
int record_verb_validate(const struct options *o);
int record_verb_merge(const struct options *o);
int record_verb_compare(const struct options *o);

// The GPU. Returns false, with one line in why, when there is none.
bool gpu_find(char pci_bus_id[32], char why[160]);
// Fills "device" and "software" of a record.
void gpu_describe(struct rjson *device, struct rjson *software, struct nvml *nvml);
// Compares every kernel with its reference on random inputs. Returns the number of kernels that are
// off, and prints each.
int kernels_check(uint64_t seed);
struct cuda_ops;
// A part of it: returns the number of training runs that differ from the reference's.
int training_check(const struct cuda_ops *o, bool has_bf16);

#ifdef __cplusplus
}
#endif

#endif
