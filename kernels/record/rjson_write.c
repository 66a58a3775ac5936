// The indenting writer of JSON.
#include "kernels/record/rjson.h"

#include <errno.h>
#include <unistd.h>

static void write_text(const char *text, FILE *out)
{
    fputc('"', out);
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p == '"' || *p == '\\')
            fprintf(out, "\\%c", *p);
        else if (*p < 0x20)
            fprintf(out, "\\u%04x", *p);
        else
            fputc(*p, out);
    }
    fputc('"', out);
}

static bool has_groups(const struct rjson *group)
{
    for (const struct rjson *j = group->first; j; j = j->next)
        if (j->kind >= RJSON_ARRAY)
            return true;
    return group->kind == RJSON_OBJECT && group->first && group->first->next;
}

// Lists of plain values stay on one line.
static void write_group(const struct rjson *group, FILE *out, int indent)
{
    bool keyed = group->kind == RJSON_OBJECT, lines = has_groups(group);
    fputc(keyed ? '{' : '[', out);
    for (const struct rjson *j = group->first; j; j = j->next) {
        if (lines)
            fprintf(out, "\n%*s", indent + 1, "");
        if (keyed) {
            write_text(j->key, out);
            fputs(": ", out);
        }
        rjson_write(j, out, indent + 1);
        fputs(j->next ? (lines ? "," : ", ") : "", out);
    }
    if (lines)
        fprintf(out, "\n%*s", indent, "");
    fputc(keyed ? '}' : ']', out);
}

void rjson_write(const struct rjson *j, FILE *out, int indent)
{
    switch (j->kind) {
    case RJSON_NULL: fputs("null", out); break;
    case RJSON_BOOL: fputs(j->truth ? "true" : "false", out); break;
    case RJSON_INT: fprintf(out, "%lld", (long long)j->integer); break;
    case RJSON_REAL: fprintf(out, "%.9g", j->real); break;
    case RJSON_STRING: write_text(j->text, out); break;
    default: write_group(j, out, indent); break;
    }
}

int rjson_write_file(const struct rjson *j, const char *path, bool replace)
{
    char temporary[4096];
    if (!replace && access(path, F_OK) == 0) {
        errno = EEXIST;
        return -1;
    }
    if (snprintf(temporary, sizeof temporary, "%s.tmp", path) >= (int)sizeof temporary) {
        errno = ENAMETOOLONG;
        return -1;
    }
    FILE *f = fopen(temporary, "wb");
    if (!f)
        return -1;
    rjson_write(j, f, 0);
    fputc('\n', f);
    bool bad = fflush(f) != 0 || fsync(fileno(f)) != 0;
    bad = fclose(f) != 0 || bad;
    if (!bad && rename(temporary, path) == 0)
        return 0;
    int saved = errno;
    unlink(temporary);
    errno = saved;
    return -1;
}
