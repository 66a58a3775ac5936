// The one file of the probe that knows the estimator: it reads configs with it, and prints its
// predictions next to what was measured. No figure of it goes into a measurement.
#include "kernels/probe/estimator.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calc/vram.h"

static vram *new_handle(void)
{
    const vram_mem mem = vram_mem_malloc();
    vram *v = vram_new(&mem);
    if (!v) {
        fputs("vramprobe: error: out of host memory\n", stderr);
        exit(3);
    }
    return v;
}

// ---- reading configs

// The settings of a training run, under the names that both sides know.
static const char *const run_keys[] = {"batch_size",
                                       "block_size",
                                       "seq_len",
                                       "n_layer",
                                       "n_head",
                                       "n_embd",
                                       "vocab_size",
                                       "bias",
                                       "dropout",
                                       "dtype",
                                       "attention",
                                       "optimizer",
                                       "checkpointing",
                                       "gradient_accumulation_steps",
                                       NULL};

static bool refuse(const vram *v, const char *what, char *error, size_t size)
{
    const struct vram_message *m = vram_error(v);
    if (m->line)
        snprintf(error, size, "%s:%u:%u: %s", what, m->line, m->col, m->text);
    else
        snprintf(error, size, "%s: %s", what, m->text);
    return false;
}

// The whole file, NUL-terminated; NULL with errno. A config is short.
static char *read_text(const char *path, size_t *length)
{
    enum { MOST = 1 << 20 };
    FILE *f = fopen(path, "r");
    char *text = f ? malloc(MOST + 1) : NULL;
    if (text) {
        *length = fread(text, 1, MOST + 1, f);
        text[*length > MOST ? 0 : *length] = 0;
        if (ferror(f) || *length > MOST) {
            errno = ferror(f) ? EIO : EFBIG;
            free(text);
            text = NULL;
        }
    }
    int saved = errno;
    if (f)
        fclose(f);
    errno = saved;
    return text;
}

static bool parse_file(vram *v, const char *path, char *error, size_t size)
{
    size_t length = 0;
    char *text = read_text(path, &length);
    if (!text) {
        snprintf(error, size, "%s: %s", path, strerror(errno));
        return false;
    }
    bool good = vram_parse(v, VRAM_KIND_NANOGPT, text, length, path, NULL, NULL) == VRAM_OK;
    free(text);
    return good || refuse(v, path, error, size);
}

static bool take_fields(vram *v, struct settings *s, char *error, size_t size)
{
    char value[40] = "";
    bool good = vram_get(v, "family", value, sizeof value) > 0 && strcmp(value, "gpt2") == 0;
    if (!good)
        snprintf(error, size, "family=%s: the probe trains GPTs alone", value);
    for (const char *const *key = run_keys; good && *key; key++) {
        vram_get(v, *key, value, sizeof value);
        if (strcmp(*key, "seq_len") == 0 && strcmp(value, "0") == 0)
            vram_get(v, "block_size", value, sizeof value);
        settings_put(s, *key, value);
    }
    return good;
}

bool estimator_read_config(struct settings *s, const char *preset, const char *path, char *error,
                           size_t size)
{
    vram *v = new_handle();
    bool good =
        !preset || vram_set(v, "preset", preset) == VRAM_OK || refuse(v, preset, error, size);
    good = good && (!path || parse_file(v, path, error, size)) && take_fields(v, s, error, size);
    vram_free(v);
    return good;
}

// ---- comparing

enum figure { ALLOCATED, RESERVED, PROCESS, FIGURES };

static const struct {
    const char *name, *key;  // heading, and the name in records
    double eager, compiled;  // the error that is allowed
} figures[FIGURES] = {
    [ALLOCATED] = {"allocated", "max_memory_allocated_bytes", 0.01, 0.05},
    [RESERVED] = {"reserved", "max_memory_reserved_bytes", 0.03, 0.05},
    [PROCESS] = {"process", "process_bytes", 0.05, 0.05},
};

static bool is(const struct rjson *config, const char *key, const char *text)
{
    return strcmp(rjson_text(rjson_get(config, key)), text) == 0;
}

static bool is_true(const struct rjson *config, const char *key)
{
    const struct rjson *j = rjson_get(config, key);
    return j && j->kind == RJSON_BOOL && j->truth;
}

static int64_t measured(const struct rjson *result, const char *key)
{
    const struct rjson *value = rjson_get(rjson_get(rjson_get(result, "values"), key), "value");
    return value && value->kind == RJSON_INT ? value->integer : -1;
}

// A config's value as text that vram_set reads.
static void value_text(const struct rjson *j, char *out, size_t size)
{
    if (j->kind == RJSON_BOOL)
        snprintf(out, size, "%s", j->truth ? "true" : "false");
    else if (j->kind == RJSON_INT)
        snprintf(out, size, "%lld", (long long)j->integer);
    else if (j->kind == RJSON_REAL)
        snprintf(out, size, "%.6g", j->real);
    else
        snprintf(out, size, "%s", rjson_text(j));
}

static bool set_number(vram *v, const char *key, int64_t n)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)n);
    return vram_set(v, key, text) == VRAM_OK;
}

// The settings of the config whose names both sides know.
static bool set_run(vram *v, const struct rjson *config)
{
    char text[64];
    bool good = set_number(v, "batch_size", 1) && set_number(v, "gradient_accumulation_steps", 1);
    for (const char *const *key = run_keys; good && *key; key++) {
        const struct rjson *j = rjson_get(config, *key);
        if (!j)
            continue;
        value_text(j, text, sizeof text);
        if (strcmp(*key, "attention") == 0 &&
            (strcmp(text, "tiled") == 0 || strcmp(text, "matrix") == 0))
            snprintf(text, sizeof text, "%s", *text == 't' ? "flash" : "math");
        good = vram_set(v, *key, text) == VRAM_OK;
    }
    return good;
}

// What the process holds beside the allocator: of the probe as it was measured, of PyTorch, which
// loads more of its kernels as it runs, as the estimator has it for the card.
static bool set_context(vram *v, const struct rjson *record, const struct rjson *result, bool probe)
{
    const char *card = rjson_text(rjson_get(rjson_get(record, "device"), "name"));
    if (!probe && vram_set(v, "gpu", card) == VRAM_OK)
        return true;
    int64_t context = measured(result, "context_bytes");
    return context <= 0 || set_number(v, "context_mib", (context + (1 << 19)) >> 20);
}

// The parts of a process that the engine has: evaluation, clipping, the compiler, the workspaces of
// its card.
static bool set_engine(vram *v, const struct rjson *record, const struct rjson *result)
{
    const struct rjson *config = rjson_get(result, "config");
    bool probe = is(result, "engine", "vramprobe"),
         loop = probe ? is_true(config, "train_loop") : !is(config, "loop", "reference");
    bool evaluates = probe ? is_true(config, "evaluation") : loop;
    int major = 2, minor = 5;  // of the probe, whose workspaces are those of that time
    char version[24];
    double capability =
        strtod(rjson_text(rjson_get(rjson_get(record, "device"), "compute_capability")), NULL);
    // aten/src/ATen/cuda/CublasHandlePool.cpp; the probe takes as much.
    bool good = set_number(v, "workspace_bytes", capability >= 9 ? 33554432 : 8519680);
    good = good && vram_set(v, "evaluation", evaluates ? "true" : "false") == VRAM_OK;
    good = good && vram_set(v, "grad_clip", loop ? "1" : "0") == VRAM_OK;
    if (!probe)
        sscanf(rjson_text(rjson_get(rjson_get(record, "software"), "torch")), "%2d.%3d", &major,
               &minor);
    snprintf(version, sizeof version, "%d.%d", major, minor);
    good = good && vram_set(v, "torch", version) == VRAM_OK;
    if (good && is(result, "engine", "torch-compile"))
        good = vram_set(v, "compile", "true") == VRAM_OK;
    // The probe's own checkpointing is the reentrant one, which is also the default.
    if (good && rjson_get(config, "use_reentrant"))
        good = vram_set(v, "use_reentrant", is_true(config, "use_reentrant") ? "true" : "false") ==
               VRAM_OK;
    return good && set_context(v, record, result, probe);
}

// "gpt B16 T512 C384 L6 float16", and whatever else distinguishes the run.
static void name_run(const struct rjson *config, char *out, size_t size)
{
    static const struct {
        const char *key, *usual;
    } rest[] = {{"attention", "flash"},
                {"checkpointing", "none"},
                {"optimizer", "adamw_fused"},
                {"loop", "train"}};
    static const struct {
        const char *key, *letter;
    } sizes[] = {{"batch_size", "B"}, {"seq_len", "T"},    {"n_embd", "C"},
                 {"n_layer", "L"},    {"vocab_size", "V"}, {"gradient_accumulation_steps", "x"}};
    size_t at = 0;
    *out = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && at < size; i++) {
        const struct rjson *j = rjson_get(config, sizes[i].key);
        j = !j && i == 1 ? rjson_get(config, "block_size") : j;
        if (j)
            at += (size_t)snprintf(out + at, size - at, "%s%lld ", sizes[i].letter,
                                   (long long)rjson_number(j));
    }
    if (at < size)
        at += (size_t)snprintf(out + at, size - at, "%s", rjson_text(rjson_get(config, "dtype")));
    for (size_t i = 0; i < sizeof rest / sizeof *rest && at < size; i++) {
        const char *text = rjson_text(rjson_get(config, rest[i].key));
        if (*text && strcmp(text, rest[i].usual) != 0)
            at += (size_t)snprintf(out + at, size - at, " %s", text);
    }
    if (at < size && is_true(config, "use_reentrant"))
        snprintf(out + at, size - at, " reentrant");
}

static void print_figures(const struct vram_result *r, const struct rjson *result, FILE *out,
                          struct estimator_tally *t)
{
    const uint64_t estimates[FIGURES] = {r->peak_allocated.bytes, r->peak_reserved.bytes,
                                         r->process.bytes};
    bool compiled = is(result, "engine", "torch-compile"),
         probe = is(result, "engine", "vramprobe");
    for (int i = 0; i < FIGURES; i++) {
        int64_t real = measured(result, figures[i].key);
        if (real <= 0) {
            fprintf(out, "  %-9s %9.1f estimated, not measured\n", figures[i].name,
                    (double)estimates[i] / 1048576);
            continue;
        }
        if (probe && i != ALLOCATED) {
            // The probe takes both workspaces before the weights, PyTorch each with a thread's
            // first product: the gaps between blocks are others.
            fprintf(out, "  %-9s %9.1f measured, not compared: its workspaces come first\n",
                    figures[i].name, (double)real / 1048576);
            continue;
        }
        double off = (double)estimates[i] / (double)real - 1,
               may = compiled ? figures[i].compiled : figures[i].eager;
        bool good = fabs(off) <= may;
        t->figures++;
        t->off += !good;
        fprintf(out,
                "  %-9s %9.1f estimated, %9.1f measured, MiB: %+6.2f %% of at most %.0f %%%s\n",
                figures[i].name, (double)estimates[i] / 1048576, (double)real / 1048576, 100 * off,
                100 * may, good ? "" : "   <- OFF");
    }
}

static void compare_result(const struct rjson *record, const struct rjson *result, FILE *out,
                           struct estimator_tally *t)
{
    const struct rjson *config = rjson_get(result, "config");
    char name[160];
    if (strcmp(rjson_text(rjson_get(result, "status")), "ok") != 0 ||
        measured(result, figures[ALLOCATED].key) <= 0)
        return;  // it has no memory of a step
    name_run(config, name, sizeof name);
    fprintf(out, "%s %s: %s\n", rjson_text(rjson_get(result, "experiment")),
            rjson_text(rjson_get(result, "engine")), name);
    if (is(config, "mode", "lean")) {
        fputs("  the lean mode is no framework's: there is no estimate\n", out);
        t->passed_over++;
        return;
    }
    vram *v = new_handle();
    if (set_run(v, config) && set_engine(v, record, result) && vram_run(v) == VRAM_OK) {
        t->results++;
        print_figures(vram_result(v), result, out, t);
    } else {
        fprintf(out, "  not estimated: %s\n", vram_error(v)->text);
        t->passed_over++;
    }
    vram_free(v);
}

void estimator_compare(const struct rjson *record, FILE *out, struct estimator_tally *tally)
{
    const struct rjson *results = rjson_get(record, "results");
    for (const struct rjson *r = results ? results->first : NULL; r; r = r->next)
        compare_result(record, r, out, tally);
}
