// Owns the finding of the files that a text names: the library says which, this looks for them.

#include "calc/cli/cli_named.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct search {
    struct named_files *out;
    const char *beside;  // the text's own name
};

// A text says what is opened: a pipe or a device would be waited for.
static bool is_file(const char *folder, size_t len, const char *name, char path[NAMED_PATH])
{
    struct stat st;
    int n = snprintf(path, NAMED_PATH, "%.*s%s", (int)len, folder, name);
    return n > 0 && n < NAMED_PATH && stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
           access(path, R_OK) == 0;
}

// Beside the text, in the folders above it, at last as it is written.
static bool look(const char *beside, const char *name, char path[NAMED_PATH])
{
    size_t len = strlen(beside);
    while (name[0] == '.' && name[1] == '/')
        name += 2;
    if (name[0] == '/')
        return is_file("", 0, name, path);
    while (len > 0) {
        while (len > 0 && beside[len - 1] != '/')
            len--;
        if (len > 0 && is_file(beside, len, name, path))
            return true;
        len -= len > 0;
    }
    return is_file("", 0, name, path);
}

static const char *value_of(const struct vram_message *m, const char *name)
{
    for (size_t i = 0; i < m->arg_count; i++)
        if (strcmp(m->args[i].name, name) == 0 && m->args[i].text)
            return m->args[i].text;
    return "";
}

static bool names_file(const struct vram_message *m)
{
    return strcmp(m->id, "file_first") == 0 || strcmp(m->id, "file_not_opened") == 0 ||
           strcmp(m->id, "settings_apart") == 0;
}

static void on_message(void *ctx, const struct vram_message *m)
{
    struct search *s = ctx;
    if (!names_file(m) || s->out->count == NAMED_MAX)
        return;
    struct named_file *f = &s->out->at[s->out->count];
    snprintf(f->said, sizeof f->said, "%s", value_of(m, "value"));
    f->turn = strcmp(m->id, "file_first") == 0                 ? NAMED_BEFORE
              : strcmp(m->id, "settings_apart") == 0           ? NAMED_SETTINGS
              : strcmp(value_of(m, "key"), "config_file") == 0 ? NAMED_BETWEEN
                                                               : NAMED_BEHIND;
    if (look(s->beside, f->said, f->path))
        s->out->count++;
}

static const char *last_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

struct taking {
    const char *name;
    bool takes, by_name;
};

static void on_taking(void *ctx, const struct vram_message *m)
{
    struct taking *t = ctx;
    if (strcmp(m->id, "settings_apart") != 0)
        return;
    t->takes = true;
    t->by_name |= strcmp(last_name(value_of(m, "value")), last_name(t->name)) == 0;
}

// Whether a file is a model's or a launcher's, which a script does not take values from.
static bool is_of_others(const struct cli_text *t)
{
    static const enum vram_kind settings[] = {VRAM_KIND_AUTO,    VRAM_KIND_FLAT, VRAM_KIND_TRAINER,
                                              VRAM_KIND_SFT,     VRAM_KIND_DPO,  VRAM_KIND_REWARD,
                                              VRAM_KIND_SETTINGS};
    struct vram_mem mem = vram_mem_malloc();
    vram *v = vram_new(&mem);
    enum vram_kind kind = v ? vram_recognize(v, t->text, t->len, t->name) : VRAM_KIND_HF;
    bool others = true;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        others = others && kind != settings[i];
    vram_free(v);
    return others;
}

bool named_takes(const struct cli_text *t, const struct cli_text *other)
{
    struct taking taking = {.name = other->name};
    struct vram_mem mem = vram_mem_malloc();
    vram *v = vram_new(&mem);
    if (v) {
        vram_set(v, "preset", "gpt2");
        vram_parse(v, VRAM_KIND_AUTO, t->text, t->len, t->name, on_taking, &taking);
    }
    vram_free(v);
    return taking.by_name || (taking.takes && !is_of_others(other));
}

void named_find(struct named_files *out, const vram *given, const struct cli_text *t,
                enum vram_kind kind)
{
    struct vram_mem mem = vram_mem_malloc();
    struct search s = {out, t->name};
    vram *v = vram_new(&mem);
    out->count = 0;
    if (v && given)
        vram_copy(v, given);
    if (v)
        vram_parse(v, kind, t->text, t->len, t->name, on_message, &s);
    vram_free(v);
}

bool named_is_about(const struct named_files *files, const struct vram_message *m)
{
    for (size_t i = 0; names_file(m) && i < files->count; i++)
        if (strcmp(files->at[i].said, value_of(m, "value")) == 0)
            return true;
    return false;
}
