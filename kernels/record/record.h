// Records (vramprobe.schema.json): values with their statistics, results, the check of a whole record, merging.
#ifndef KERNELS_RECORD_H
#define KERNELS_RECORD_H

#include "kernels/record/json.h"

#ifdef __cplusplus
extern "C" {
#endif

// {unit, value}: one reading, whole for bytes and counts.
struct json *record_reading(const char *unit, double value);
struct json *record_text(const char *text);
// {unit, value, min, max, mad, samples}: value is the median, mad the median absolute deviation.
struct json *record_samples(const char *unit, const double *samples, int count);
// A result with empty config and values: fill them by json_set on the members "config" and "values".
struct json *record_result(const char *experiment, const char *engine, int protocol);
void record_finish(struct json *result, const char *status, const char *message);
void record_utc(char out[21]);

// Number of things that are wrong, each printed as `file: where: what` to out.
int record_check(const struct json *record, const char *file, FILE *out);
// One record from many of the same GPU and schema: their results in order, a later one in the place of an earlier with
// the same experiment, engine and config. NULL after saying why not.
struct json *record_merge(struct json **records, char **names, int count, const char *id, FILE *out);

#ifdef __cplusplus
}
#endif

#endif
