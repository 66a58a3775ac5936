// Owns the telling of what kind a file is, and handing it to the library.

#include "calc/cli/cli_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calc/cli/cli_json.h"

enum { LOOK = 65536 };

// ---- what kind of text -----------------------------------------------------------------------

static bool ends(const char *name, const char *suffix)
{
    size_t n = strlen(name), m = strlen(suffix);
    return n >= m && strcmp(name + n - m, suffix) == 0;
}

static bool says(const struct cli_text *t, const char *words)
{
    return memmem(t->text, t->len < LOOK ? t->len : LOOK, words, strlen(words)) != NULL;
}

// By its first byte; a file that is called JSON and holds nothing is truncated, not a list of no settings.
static bool is_json(const struct cli_text *t)
{
    size_t i = strspn(t->text, " \t\r\n");
    return t->text[i] == '{' || t->text[i] == '[' || (t->text[i] == 0 && ends(t->name, ".json"));
}

bool cli_is_log(const struct cli_text *t)
{
    return says(t, "number of parameters:") || says(t, "num decayed parameter tensors:") ||
           says(t, "tokens per iteration will be") ||
           (strncmp(t->text + strspn(t->text, " \t\r\n"), "iter ", 5) == 0 && says(t, ": loss "));
}

static bool holds(const struct cli_text *t, const char *words)
{
    return memmem(t->text, t->len, words, strlen(words)) != NULL;
}

bool cli_is_message(const struct cli_text *t)
{
    return holds(t, "ried to allocate") || holds(t, "OutOfMemoryError") || holds(t, "error: out of memory") ||
           holds(t, "_STATUS_ALLOC_FAILED");
}

static enum vram_kind kind_of(const struct cli_text *t)
{
    if (ends(t->name, ".py"))
        return VRAM_KIND_NANOGPT;
    if (cli_is_log(t))
        return VRAM_KIND_LOG;
    if (says(t, "import ") || says(t, "wandb_log") || says(t, "out_dir ="))
        return VRAM_KIND_NANOGPT;
    return VRAM_KIND_FLAT;
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
    fprintf(stderr, "<command line>:1:1: error: unknown kind '%s': it is flat, nanogpt, hf or log\n", name);
    return CLI_USAGE;
}

// ---- reading a configuration -----------------------------------------------------------------

static void on_error(void *ctx, const struct vram_message *m)
{
    cli_say_message(ctx, m);
}

static int configure_json(vram *v, struct cli_texts *texts, const struct cli_text *t, const char *kind)
{
    struct cli_pairs pairs;
    enum vram_kind k = VRAM_KIND_FLAT;
    int rc = cli_flatten(texts, t, &pairs);
    if (pairs.is_model)
        k = VRAM_KIND_HF;
    if (rc == CLI_OK && kind)
        rc = kind_by_name(kind, &k);
    if (rc == CLI_OK && vram_parse_pairs(v, k, pairs.at, pairs.count, t->name, on_error, texts) != VRAM_OK)
        rc = CLI_INPUT;
    cli_pairs_free(&pairs);
    return rc;
}

static int configure_text(vram *v, struct cli_texts *texts, const struct cli_text *t, const char *kind)
{
    enum vram_kind k = kind_of(t);
    int rc = kind ? kind_by_name(kind, &k) : CLI_OK;
    if (rc == CLI_OK && !kind && k != VRAM_KIND_LOG && cli_is_message(t)) {
        fprintf(stderr, "%s:1:1: error: this is an error message: vramcalc explain-oom %s [CONFIG]\n", t->name,
                strcmp(t->name, "<stdin>") ? t->name : "-");
        return CLI_INPUT;
    }
    if (rc == CLI_OK && vram_parse(v, k, t->text, t->len, t->name, on_error, texts) != VRAM_OK)
        rc = CLI_INPUT;
    return rc;
}

int cli_configure(vram *v, struct cli_texts *texts, const char *path, const char *kind)
{
    const struct cli_text *t = cli_read(texts, path);
    if (!t)
        return CLI_INPUT;
    return is_json(t) ? configure_json(v, texts, t, kind) : configure_text(v, texts, t, kind);
}

// ---- the message of explain-oom --------------------------------------------------------------

// A word of the command line can be the message itself.
static bool is_quoted(const char *word)
{
    struct cli_text t = {(char *)word, strlen(word), ""};
    return cli_is_message(&t) || strstr(word, "out of memory") != NULL;
}

static const struct cli_text *read_word(struct cli_texts *texts, const char *word)
{
    return is_quoted(word) ? cli_quote(texts, word) : cli_read(texts, word);
}

// By what it says, wherever it is; without one the first is taken for it, as its error will say. Standard input can
// be read only once.
const struct cli_text *cli_find_message(struct cli_texts *texts, struct cli_line *line)
{
    if (line->file_count == 0)
        return cli_read(texts, "-");
    for (size_t i = 0; i < line->file_count; i++) {
        struct cli_word word = line->files[i];
        const struct cli_text *t = read_word(texts, word.text);
        if (!t)
            return NULL;
        bool sure = strcmp(word.text, "-") == 0 || is_quoted(word.text) || cli_is_message(t);
        if (line->file_count > 1 && !sure)
            continue;
        memmove(line->files + 1, line->files, i * sizeof *line->files);
        line->files[0] = word;
        return t;
    }
    return read_word(texts, line->files[0].text);
}
