// Commands on existing records: validate, merge, compare with the estimator.
#include <stdlib.h>
#include <string.h>

#include "kernels/probe/estimator.h"
#include "kernels/probe/probe.h"

static void print_fault(void *path, const struct rjson *at, const char *where, const char *what)
{
    fprintf(stderr, "%s:%d:%d: error: %s: %s\n", (const char *)path, at->line, at->column, where,
            what);
}

static struct rjson *read_record(char *path, int *wrong)
{
    char error[200];
    struct rjson *r = rjson_read_file(path, error, sizeof error);
    if (!r)
        fprintf(stderr, "%s:%s%s\n", path, strchr("0123456789", *error) ? "" : " ", error);
    *wrong += r ? record_check(r, print_fault, path) : 1;
    return r;
}

int record_verb_validate(const struct options *o)
{
    int wrong = 0;
    for (int i = 0; i < o->name_count; i++) {
        int before = wrong;
        rjson_free(read_record(o->names[i], &wrong));
        if (wrong == before)
            printf("%s: a record of schema vramprobe/1\n", o->names[i]);
    }
    return wrong ? EXIT_INPUT : 0;
}

int record_verb_merge(const struct options *o)
{
    int wrong = 0;
    struct rjson **records = calloc((size_t)o->name_count + 1, sizeof *records), *merged = NULL;
    for (int i = 0; records && i < o->name_count; i++)
        records[i] = read_record(o->names[i], &wrong);
    if (records && !wrong && o->name_count) {
        const char *base = strrchr(o->output, '/');
        char id[129];
        snprintf(id, sizeof id, "%s", base ? base + 1 : o->output);
        id[strcspn(id, ".")] = 0;
        merged = record_merge(records, o->names, o->name_count, id, stderr);
    }
    for (int i = 0; records && i < o->name_count; i++)
        rjson_free(records[i]);
    free(records);
    return merged ? probe_write(o, merged) : EXIT_INPUT;
}

int record_verb_compare(const struct options *o)
{
    struct estimator_tally t = {0};
    int wrong = 0;
    for (int i = 0; i < o->name_count; i++) {
        struct rjson *record = read_record(o->names[i], &wrong);
        if (record) {
            printf("%s: %s\n", o->names[i],
                   rjson_text(rjson_get(rjson_get(record, "device"), "name")));
            estimator_compare(record, stdout, &t);
        }
        rjson_free(record);
    }
    if (wrong)
        return EXIT_INPUT;
    if (!t.results)
        return probe_fail(EXIT_INPUT, "nothing to compare",
                          "no result has the memory of a training step");
    printf("%d results, %d figures: %d off by more than allowed (allocated 1 %%, reserved 3 %%, "
           "compiled 5 %%, process 5 %%)\n",
           t.results, t.figures, t.off);
    return t.off ? EXIT_OFF : 0;
}
