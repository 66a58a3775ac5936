// Owns the telling of what kind a file is, and handing it to the library.

#include "calc/cli/cli_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calc/cli/cli_hub.h"
#include "calc/cli/cli_named.h"

enum { LOOK = 65536 };

// ---- what kind of text -----------------------------------------------------------------------

static bool says(const struct cli_text *t, const char *words)
{
    return memmem(t->text, t->len < LOOK ? t->len : LOOK, words, strlen(words)) != NULL;
}

bool cli_is_log(const struct cli_text *t)
{
    return says(t, "number of parameters:") || says(t, "num decayed parameter tensors:") ||
           says(t, "tokens per iteration will be") ||
           (strncmp(t->text + strspn(t->text, " \t\r\n"), "iter ", 5) == 0 && says(t, ": loss "));
}

// Whether the library finds an out-of-memory message in a text, be it one without a size.
static bool is_message(const struct cli_text *t)
{
    const struct vram_oom *oom;
    struct vram_mem mem = vram_mem_malloc();
    vram *v = vram_new(&mem);
    bool found = v && (vram_explain_oom(v, t->text, t->len, false, &oom) == VRAM_OK ||
                       strcmp(vram_error(v)->id, "oom_no_message") != 0);
    vram_free(v);
    return found;
}

// Such a message that is no file of settings and no script that speaks of one, or the end of a log.
static bool is_given_as_message(const struct cli_text *t)
{
    struct vram_mem mem = vram_mem_malloc();
    vram *v = is_message(t) ? vram_new(&mem) : NULL;
    bool given = v && (cli_is_log(t) ||
                       (vram_parse(v, VRAM_KIND_AUTO, t->text, t->len, t->name, NULL, NULL) &&
                        strcmp(vram_error(v)->id, "text_is_oom") == 0));
    vram_free(v);
    return given;
}

static int kind_by_name(const char *name, enum vram_kind *kind)
{
    static const char *const names[] = {
#define X(id, word, text) word,
        VRAM_KINDS(X)
#undef X
    };
    for (int i = 0; i < VRAM_KIND_COUNT; i++)
        if (strcmp(name, names[i]) == 0) {
            *kind = (enum vram_kind)i;
            return CLI_OK;
        }
    fprintf(stderr, "<command line>:1:1: error: unknown kind '%s': it is one of", name);
    for (int i = 0; i < VRAM_KIND_COUNT; i++)
        fprintf(stderr, "%s %s", i ? "," : "", names[i]);
    fputc('\n', stderr);
    return CLI_USAGE;
}

// ---- reading a configuration -----------------------------------------------------------------

// Of a file that is another one than meant every line is wrong.
enum { ERRORS_SHOWN = 8 };

struct hearing {
    struct cli_texts *texts;
    const struct named_files *files;  // that are read beside the text, or NULL
    size_t errors;
};

static void on_error(void *ctx, const struct vram_message *m)
{
    struct hearing *h = ctx;
    if (h->files && named_is_about(h->files, m))
        return;
    h->errors += m->code != VRAM_OK;
    if (m->code == VRAM_OK || h->errors <= ERRORS_SHOWN)
        cli_say_message(h->texts, m);
}

static int parse(vram *v, struct cli_texts *texts, const struct cli_text *t, enum vram_kind kind,
                 const struct named_files *files)
{
    struct hearing h = {texts, files, 0};
    int rc = vram_parse(v, kind, t->text, t->len, t->name, on_error, &h);
    if (h.errors > ERRORS_SHOWN)
        fprintf(stderr, "%s: error: %zu more like these: is this the right file?\n", t->name,
                h.errors - ERRORS_SHOWN);
    return rc == VRAM_OK ? CLI_OK : CLI_INPUT;
}

// ---- models of the Hub -----------------------------------------------------------------------

enum { PATH = 1024 };

static bool is_not_modelled(const struct vram_message *m)
{
    return strcmp(m->id, "model_not_modelled") == 0;
}

// The model that a file names and no preset is, as its error says it.
static void on_model(void *ctx, const struct vram_message *m)
{
    char *model = ctx;
    bool names = is_not_modelled(m) || strcmp(m->id, "model_unknown") == 0;
    for (size_t i = 0; names && i < m->arg_count; i++)
        if (strcmp(m->args[i].name, "model") == 0 && m->args[i].text)
            snprintf(model, PATH, "%s", m->args[i].text);
}

// Reads on a copy which model the file needs, and that model's config.json where the Hub's cache
// has it.
static int read_model(vram *v, struct cli_texts *texts, const struct cli_text *t,
                      enum vram_kind kind)
{
    char model[PATH] = "", path[PATH];
    struct vram_mem mem = vram_mem_malloc();
    vram *copy = vram_new(&mem);
    if (!copy)
        return CLI_INPUT;
    vram_copy(copy, v);
    vram_parse(copy, kind, t->text, t->len, t->name, on_model, model);
    vram_free(copy);
    const struct cli_text *config =
        model[0] && cli_hub_config(model, path, sizeof path) ? cli_read(texts, path) : NULL;
    return config ? parse(v, texts, config, VRAM_KIND_AUTO, NULL) : CLI_OK;
}

// "org/name" or "name" in place of a file: the cache's config.json, or the preset of that name.
static int configure_id(vram *v, struct cli_texts *texts, const char *id)
{
    char path[PATH];
    if (cli_hub_config(id, path, sizeof path)) {
        const struct cli_text *t = cli_read(texts, path);
        return t ? parse(v, texts, t, VRAM_KIND_AUTO, NULL) : CLI_INPUT;
    }
    if (vram_set(v, "preset", id) == VRAM_OK)
        return CLI_OK;
    const struct vram_message *m = vram_error(v);
    if (vram_field_find(id))
        fprintf(stderr,
                "%s:1:1: error: no file has this name, and it is a setting: write %s=VALUE\n", id,
                id);
    else if (is_not_modelled(m) || strcmp(m->id, "unknown_preset_near") == 0)
        fprintf(stderr, "%s:1:1: error: no file has this name, and %s\n", id, m->text);
    else if (!strchr(id, '/'))
        cli_read(texts, id);  // a file that is not there, as it says
    else
        fprintf(stderr,
                "%s:1:1: error: no file has this name, the Hub's cache (HF_HOME) has no such "
                "model, and it is no preset: give its config.json\n",
                id);
    return CLI_INPUT;
}

// ---- files that a text names -----------------------------------------------------------------

enum { DEPTH_MAX = 3 };

static int read_text(vram *v, struct cli_texts *texts, const struct cli_text *t,
                     enum vram_kind kind, int depth);

static int read_named(vram *v, struct cli_texts *texts, const struct named_files *files,
                      enum named_turn turn, int depth)
{
    int rc = CLI_OK;
    for (size_t i = 0; i < files->count && rc == CLI_OK; i++) {
        if (files->at[i].turn != turn)
            continue;
        const struct cli_text *t = cli_read(texts, files->at[i].path);
        fprintf(stderr, "note: %s is read, too\n", files->at[i].path);
        rc = !t                       ? CLI_INPUT
             : turn == NAMED_SETTINGS ? parse(v, texts, t, VRAM_KIND_SETTINGS, NULL)
                                      : read_text(v, texts, t, VRAM_KIND_AUTO, depth + 1);
    }
    return rc;
}

static bool has_turn(const struct named_files *files, enum named_turn turn)
{
    for (size_t i = 0; i < files->count; i++)
        if (files->at[i].turn == turn)
            return true;
    return false;
}

static bool ends(const char *name, const char *end)
{
    size_t n = strlen(name), k = strlen(end);
    return n >= k && strcmp(name + n - k, end) == 0;
}

// Whether one of two files is a script that takes values from the other.
static bool takes(struct cli_texts *texts, const char *script, const char *other)
{
    const struct cli_text *s = ends(script, ".py") ? cli_read(texts, script) : NULL;
    const struct cli_text *o = s && !ends(other, ".py") ? cli_read(texts, other) : NULL;
    return o && named_takes(s, o);
}

// Of the files that a command names, settings are of the script that it names, too.
static void find_settings(struct cli_texts *texts, struct named_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        for (size_t k = 0; k < files->count; k++)
            if (i != k && takes(texts, files->at[k].path, files->at[i].path))
                files->at[i].turn = NAMED_SETTINGS;
}

// What a script takes values from and was not given.
static int read_settings(vram *v, struct cli_texts *texts, const struct cli_text *t,
                         enum vram_kind kind, struct named_files *files)
{
    struct named_files own = {.count = 0};
    int rc = read_named(v, texts, files, NAMED_SETTINGS, 0);
    if (rc == CLI_OK && has_turn(files, NAMED_SETTINGS))
        return rc;
    named_find(&own, v, t, kind);
    return rc == CLI_OK ? read_named(v, texts, &own, NAMED_SETTINGS, 0) : rc;
}

// A text with the files that it names and that are there, each in its turn.
static int read_text(vram *v, struct cli_texts *texts, const struct cli_text *t,
                     enum vram_kind kind, int depth)
{
    struct named_files files = {.count = 0};
    if (depth < DEPTH_MAX)
        named_find(&files, NULL, t, kind);
    for (size_t i = 0;
         i < files.count;)  // what a script takes is asked for below, where it is not given
        if (files.at[i].turn == NAMED_SETTINGS)
            files.at[i] = files.at[--files.count];
        else
            i++;
    find_settings(texts, &files);
    int rc = depth < DEPTH_MAX ? read_settings(v, texts, t, kind, &files) : CLI_OK;
    rc = rc == CLI_OK ? read_named(v, texts, &files, NAMED_BEFORE, depth) : rc;
    if (has_turn(&files, NAMED_BEFORE))  // where settings are missing, nothing else is named
        named_find(&files, v, t, kind);
    rc = rc == CLI_OK ? read_model(v, texts, t, kind) : rc;
    if (rc == CLI_OK && has_turn(&files, NAMED_BETWEEN) &&
        vram_parse(v, kind, t->text, t->len, t->name, NULL, NULL) == VRAM_OK)
        rc = read_named(v, texts, &files, NAMED_BETWEEN, depth);
    rc = rc == CLI_OK ? parse(v, texts, t, kind, &files) : rc;
    return rc == CLI_OK ? read_named(v, texts, &files, NAMED_BEHIND, depth) : rc;
}

void cli_find_settings(struct cli_texts *texts, struct cli_line *line, size_t first)
{
    size_t marked = first;
    for (size_t i = first; i < line->file_count; i++) {
        bool settings = false;
        for (size_t k = first; k < line->file_count && !settings; k++)
            settings = i != k && access(line->files[i].text, R_OK) == 0 &&
                       access(line->files[k].text, R_OK) == 0 &&
                       takes(texts, line->files[k].text, line->files[i].text);
        struct cli_word word = line->files[i];
        word.settings = settings;
        if (settings) {
            memmove(line->files + marked + 1, line->files + marked, (i - marked) * sizeof word);
            line->files[marked++] = word;
        }
    }
}

int cli_configure(vram *v, struct cli_texts *texts, const struct cli_word *file, const char *kind)
{
    enum vram_kind k = VRAM_KIND_AUTO;
    if (kind && kind_by_name(kind, &k) != CLI_OK)
        return CLI_USAGE;
    if (!kind && cli_is_hub_id(file->text))
        return configure_id(v, texts, file->text);
    const struct cli_text *t = cli_read(texts, file->text);
    if (!t)
        return CLI_INPUT;
    if (!kind && file->settings)
        return parse(v, texts, t, VRAM_KIND_SETTINGS, NULL);
    return read_text(v, texts, t, k, 0);
}

// ---- the message of explain-oom --------------------------------------------------------------

// A word of the command line can be the message itself.
static bool is_quoted(const char *word)
{
    struct cli_text t = {(char *)word, strlen(word), ""};
    return access(word, F_OK) != 0 && is_message(&t);
}

static const struct cli_text *read_word(struct cli_texts *texts, const char *word)
{
    return is_quoted(word) ? cli_quote(texts, word) : cli_read(texts, word);
}

// By what it says, wherever it is; without one the first is taken for it, as its error will say.
// Standard input can be read only once.
const struct cli_text *cli_find_message(struct cli_texts *texts, struct cli_line *line)
{
    if (line->file_count == 0)
        return cli_read(texts, "-");
    for (size_t i = 0; i < line->file_count; i++) {
        struct cli_word word = line->files[i];
        const struct cli_text *t = read_word(texts, word.text);
        if (!t)
            return NULL;
        bool sure = strcmp(word.text, "-") == 0 || is_quoted(word.text) || is_given_as_message(t);
        if (line->file_count > 1 && !sure)
            continue;
        memmove(line->files + 1, line->files, i * sizeof *line->files);
        line->files[0] = word;
        return t;
    }
    return read_word(texts, line->files[0].text);
}
