// Records of measurements from any bytes: read, checked, and what was read is written and read
// again as the same.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/record/record.h"
#include "tests/fuzz/gen_fuzz.h"

static void say(void *ctx, const struct rjson *at, const char *where, const char *what)
{
    (void)ctx;
    fuzz_check(at->line > 0 && at->column > 0 && *where && *what, "a fault without its place\n");
}

static char *written(const struct rjson *j)
{
    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    rjson_write(j, f, 0);
    fclose(f);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char error[200];
    struct rjson *j = rjson_parse((const char *)data, size, error, sizeof error);
    fuzz_check(j || *error, "refused without a message\n");
    if (!j)
        return 0;
    record_check(j, say, NULL);
    char *once = written(j);
    struct rjson *again = rjson_parse(once, strlen(once), error, sizeof error);
    fuzz_check(again != NULL, "what was written cannot be read\n");
    char *twice = written(again);
    fuzz_check(strcmp(once, twice) == 0, "what is read again is another\n");
    free(once);
    free(twice);
    rjson_free(again);
    rjson_free(j);
    return 0;
}
