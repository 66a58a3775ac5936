// Records (vramprobe.schema.json): values with their statistics, results, the check of a whole
// record, merging.
#ifndef KERNELS_RECORD_H
#define KERNELS_RECORD_H

#include "kernels/record/rjson.h"

#ifdef __cplusplus
extern "C" {
#endif

// {unit, value}: one reading, whole for bytes and counts.
struct rjson *record_reading(const char *unit, double value);
struct rjson *record_text(const char *text);
// {unit, value, min, max, mad, samples}: value is the median, mad the median absolute deviation.
struct rjson *record_samples(const char *unit, const double *samples, int count);
// A result with empty config and values: fill them by rjson_set on the members "config" and
// "values".
struct rjson *record_result(const char *experiment, const char *engine, int protocol);
void record_finish(struct rjson *result, const char *status, const char *message);
void record_utc(char out[21]);

#define RECORD_SCHEMA "vramprobe/1"

// One error of a record: the value, or the value that lacks a member; its path
// ("results[2].values.peak_bytes.unit"); and what is wanted.
typedef void record_say(void *ctx, const struct rjson *at, const char *where, const char *what);
// Returns the number of errors, each of which is reported.
int record_check(const struct rjson *record, record_say *say, void *ctx);
// One record from many of the same GPU and schema: their results in order, a later one in the place
// of an earlier with the same experiment, engine and config. Returns NULL after reporting why they
// cannot be merged.
struct rjson *record_merge(struct rjson **records, char **names, int count, const char *id,
                           FILE *out);

#ifdef __cplusplus
}
#endif

#endif
