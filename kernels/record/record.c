// Records: statistics of samples, results, merging. What a whole record must be is checked in
// record_check.c.
#include "kernels/record/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, by_value);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static struct rjson *number(const char *unit, double v)
{
    bool whole = strcmp(unit, "B") == 0 || strcmp(unit, "count") == 0;
    return whole ? rjson_int(llround(v)) : rjson_real(v);
}

struct rjson *record_reading(const char *unit, double value)
{
    struct rjson *j = rjson_object();
    rjson_set(j, "unit", rjson_string(unit));
    rjson_set(j, "value", number(unit, value));
    return j;
}

struct rjson *record_text(const char *text)
{
    struct rjson *j = rjson_object();
    rjson_set(j, "unit", rjson_string("text"));
    rjson_set(j, "value", rjson_string(text));
    return j;
}

struct rjson *record_samples(const char *unit, const double *samples, int count)
{
    double *copy = malloc((size_t)count * sizeof *copy);
    if (!copy) {
        fputs("vramprobe: error: out of host memory\n", stderr);
        exit(3);
    }
    memcpy(copy, samples, (size_t)count * sizeof *copy);
    double median = median_of(copy, count), least = copy[0], most = copy[count - 1];
    for (int i = 0; i < count; i++)
        copy[i] = fabs(samples[i] - median);
    double mad = median_of(copy, count);
    free(copy);
    struct rjson *j = record_reading(unit, median), *list = rjson_array();
    rjson_set(j, "min", number(unit, least));
    rjson_set(j, "max", number(unit, most));
    rjson_set(j, "mad", number(unit, mad));
    for (int i = 0; i < count; i++)
        rjson_add(list, number(unit, samples[i]));
    rjson_set(j, "samples", list);
    return j;
}

void record_utc(char out[21])
{
    time_t now = time(NULL);
    struct tm t;
    gmtime_r(&now, &t);
    strftime(out, 21, "%Y-%m-%dT%H:%M:%SZ", &t);
}

struct rjson *record_result(const char *experiment, const char *engine, int protocol)
{
    struct rjson *r = rjson_object();
    rjson_set(r, "experiment", rjson_string(experiment));
    rjson_set(r, "engine", rjson_string(engine));
    rjson_set(r, "protocol", rjson_int(protocol));
    rjson_set(r, "config", rjson_object());
    rjson_set(r, "values", rjson_object());
    return r;
}

void record_finish(struct rjson *result, const char *status, const char *message)
{
    char now[21];
    record_utc(now);
    rjson_set(result, "status", rjson_string(status));
    if (message && *message)
        rjson_set(result, "message", rjson_string(message));
    rjson_set(result, "finished_utc", rjson_string(now));
}

static bool same(const struct rjson *a, const struct rjson *b)
{
    if (!a || !b)
        return a == b;
    if (a->kind >= RJSON_ARRAY || b->kind >= RJSON_ARRAY) {
        if (a->kind != b->kind)
            return false;
        const struct rjson *x = a->first, *y = b->first;
        for (; x && y; x = x->next, y = y->next)
            if ((x->key && strcmp(x->key, y->key) != 0) || !same(x, y))
                return false;
        return x == y;
    }
    if (a->kind == RJSON_STRING || b->kind == RJSON_STRING)
        return a->kind == b->kind && strcmp(a->text, b->text) == 0;
    if (a->kind == RJSON_BOOL || a->kind == RJSON_NULL)
        return a->kind == b->kind && a->truth == b->truth;
    return rjson_number(a) == rjson_number(b);
}

static bool same_subject(const struct rjson *a, const struct rjson *b)
{
    const char *keys[] = {"experiment", "engine", "config"};
    for (int i = 0; i < 3; i++)
        if (!same(rjson_get(a, keys[i]), rjson_get(b, keys[i])))
            return false;
    return true;
}

static void add_result(struct rjson *results, const struct rjson *result)
{
    struct rjson *copy = rjson_copy(result), **place = &results->first;
    while (*place && !same_subject(*place, result))
        place = &(*place)->next;
    if (*place) {
        struct rjson *old = *place;
        copy->next = old->next;
        old->next = NULL;
        rjson_free(old);
    }
    *place = copy;
}

struct rjson *record_merge(struct rjson **records, char **names, int count, const char *id,
                           FILE *out)
{
    const struct rjson *device = rjson_get(records[0], "device");
    for (int i = 1; i < count; i++)
        if (!same(rjson_get(device, "name"), rjson_get(rjson_get(records[i], "device"), "name"))) {
            fprintf(out, "%s: error: another GPU than in %s; merge records of one kind of GPU\n",
                    names[i], names[0]);
            return NULL;
        }
    struct rjson *merged = rjson_copy(records[count - 1]), *results = rjson_get(merged, "results");
    struct rjson *name = rjson_get(merged, "id");
    rjson_free(results->first);
    results->first = NULL;
    free(name->text);
    name->text = strdup(id);
    for (int i = 0; i < count; i++)
        for (const struct rjson *r = rjson_get(records[i], "results")->first; r; r = r->next)
            add_result(results, r);
    return merged;
}
