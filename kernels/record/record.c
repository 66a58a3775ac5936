// Records: statistics of samples, results, merging. What a whole record must be is checked in record_check.c.
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

static struct json *number(const char *unit, double v)
{
    bool whole = strcmp(unit, "B") == 0 || strcmp(unit, "count") == 0;
    return whole ? json_int(llround(v)) : json_real(v);
}

struct json *record_reading(const char *unit, double value)
{
    struct json *j = json_object();
    json_set(j, "unit", json_string(unit));
    json_set(j, "value", number(unit, value));
    return j;
}

struct json *record_text(const char *text)
{
    struct json *j = json_object();
    json_set(j, "unit", json_string("text"));
    json_set(j, "value", json_string(text));
    return j;
}

struct json *record_samples(const char *unit, const double *samples, int count)
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
    struct json *j = record_reading(unit, median), *list = json_array();
    json_set(j, "min", number(unit, least));
    json_set(j, "max", number(unit, most));
    json_set(j, "mad", number(unit, mad));
    for (int i = 0; i < count; i++)
        json_add(list, number(unit, samples[i]));
    json_set(j, "samples", list);
    return j;
}

void record_utc(char out[21])
{
    time_t now = time(NULL);
    struct tm t;
    gmtime_r(&now, &t);
    strftime(out, 21, "%Y-%m-%dT%H:%M:%SZ", &t);
}

struct json *record_result(const char *experiment, const char *engine, int protocol)
{
    struct json *r = json_object();
    json_set(r, "experiment", json_string(experiment));
    json_set(r, "engine", json_string(engine));
    json_set(r, "protocol", json_int(protocol));
    json_set(r, "config", json_object());
    json_set(r, "values", json_object());
    return r;
}

void record_finish(struct json *result, const char *status, const char *message)
{
    char now[21];
    record_utc(now);
    json_set(result, "status", json_string(status));
    if (message && *message)
        json_set(result, "message", json_string(message));
    json_set(result, "finished_utc", json_string(now));
}

static bool same(const struct json *a, const struct json *b)
{
    if (!a || !b)
        return a == b;
    if (a->kind >= JSON_ARRAY || b->kind >= JSON_ARRAY) {
        if (a->kind != b->kind)
            return false;
        const struct json *x = a->first, *y = b->first;
        for (; x && y; x = x->next, y = y->next)
            if ((x->key && strcmp(x->key, y->key) != 0) || !same(x, y))
                return false;
        return x == y;
    }
    if (a->kind == JSON_STRING || b->kind == JSON_STRING)
        return a->kind == b->kind && strcmp(a->text, b->text) == 0;
    if (a->kind == JSON_BOOL || a->kind == JSON_NULL)
        return a->kind == b->kind && a->truth == b->truth;
    return json_number(a) == json_number(b);
}

static bool same_subject(const struct json *a, const struct json *b)
{
    const char *keys[] = {"experiment", "engine", "config"};
    for (int i = 0; i < 3; i++)
        if (!same(json_get(a, keys[i]), json_get(b, keys[i])))
            return false;
    return true;
}

static void add_result(struct json *results, const struct json *result)
{
    struct json *copy = json_copy(result), **place = &results->first;
    while (*place && !same_subject(*place, result))
        place = &(*place)->next;
    if (*place) {
        struct json *old = *place;
        copy->next = old->next;
        old->next = NULL;
        json_free(old);
    }
    *place = copy;
}

struct json *record_merge(struct json **records, char **names, int count, const char *id, FILE *out)
{
    const struct json *device = json_get(records[0], "device");
    for (int i = 1; i < count; i++)
        if (!same(json_get(device, "name"), json_get(json_get(records[i], "device"), "name"))) {
            fprintf(out, "%s: error: another GPU than in %s; merge records of one kind of GPU\n", names[i], names[0]);
            return NULL;
        }
    struct json *merged = json_copy(records[count - 1]), *results = json_get(merged, "results");
    struct json *name = json_get(merged, "id");
    json_free(results->first);
    results->first = NULL;
    free(name->text);
    name->text = strdup(id);
    for (int i = 0; i < count; i++)
        for (const struct json *r = json_get(records[i], "results")->first; r; r = r->next)
            add_result(results, r);
    return merged;
}
