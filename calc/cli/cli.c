// vramcalc: what each command does with the library, and where its answer goes.

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calc/cli/cli.h"

static void *heap_alloc(void *ctx, size_t bytes)
{
    (void)ctx;
    return malloc(bytes);
}

static void heap_free(void *ctx, void *ptr, size_t bytes)
{
    (void)ctx;
    (void)bytes;
    free(ptr);
}

// ---- output ------------------------------------------------------------------------------------

bool cli_is_terminal(FILE *f)
{
    const char *term = getenv("TERM"), *none = getenv("NO_COLOR");
    return isatty(fileno(f)) && !(none && none[0]) && term && strcmp(term, "dumb") != 0;
}

static bool starts(const char *line, const char *word)
{
    return strncmp(line, word, strlen(word)) == 0;
}

// A verdict is red, yellow or green; a heading (it stands at the margin, numbers do not) is bold.
static const char *color_of(const char *line, size_t len)
{
    if (starts(line, "DOES NOT FIT") || starts(line, "does not fit") ||
        starts(line, "PROBABLY DOES") || starts(line, "probably does"))
        return "\033[1;31m";
    if (starts(line, "TIGHT"))
        return "\033[1;33m";
    if (starts(line, "FITS") || starts(line, "fits:"))
        return "\033[1;32m";
    return len > 0 && line[0] != ' ' && line[0] != '-' && !memchr(line, '=', len) ? "\033[1m"
                                                                                  : NULL;
}

int cli_write(const vram *v, FILE *out, bool color)
{
    size_t len;
    const char *text = vram_text(v, &len), *end = text + len;
    if (!color)
        return fwrite(text, 1, len, out) == len ? CLI_OK : CLI_INPUT;
    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        size_t n = (size_t)((stop ? stop : end) - text);
        const char *c = color_of(text, n);
        fprintf(out, "%s%.*s%s\n", c ? c : "", (int)n, text, c ? "\033[0m" : "");
        text += n + 1;
    }
    return ferror(out) ? CLI_INPUT : CLI_OK;
}

static int cannot_write(const char *path)
{
    fprintf(stderr, "%s:1:1: error: cannot be written: %s\n", path, strerror(errno));
    return CLI_INPUT;
}

static int write_file(const vram *v, const char *path)
{
    FILE *f = fopen(path, "wb");
    if (!f)
        return cannot_write(path);
    int rc = cli_write(v, f, false);
    if (fclose(f) != 0 || rc != CLI_OK)
        return cannot_write(path);
    return CLI_OK;
}

static int deliver(const struct cli_line *line, const vram *v, bool is_text)
{
    const char *path = line->option[OPTION_OUTPUT];
    if (path && strcmp(path, "-") != 0)
        return write_file(v, path);
    if (cli_write(v, stdout, is_text && cli_is_terminal(stdout)) != CLI_OK || fflush(stdout) != 0)
        return cannot_write("<stdout>");
    return CLI_OK;
}

// ---- configuration -----------------------------------------------------------------------------

static int set_pair(const struct cli_line *line, vram *v, const struct cli_word *pair)
{
    const char *eq = strchr(pair->text, '=');
    size_t key = (size_t)(eq - pair->text);
    if (vram_set_n(v, pair->text, key, eq + 1, strlen(eq + 1)) == VRAM_OK)
        return CLI_OK;
    const struct vram_message *m = vram_error(v);
    size_t word = strlen(line->argv[pair->index]) - strlen(pair->text); // "--" before it
    cli_complain(line, pair->index, word + (m->code == VRAM_EKEY ? 0 : key + 1), m->text);
    return CLI_USAGE;
}

static bool is_key(const struct cli_word *pair, const char *key)
{
    return starts(pair->text, key) && pair->text[strlen(key)] == '=';
}

// A log that ends in an out-of-memory message tells the configuration too, if nothing else does.
static bool is_config_too(const struct cli_line *line, const struct cli_text *message)
{
    for (size_t i = 0; i < line->pair_count; i++)
        if (is_key(&line->pairs[i], "preset"))
            return false;
    return line->file_count <= 1 && cli_is_log(message);
}

// mode first, because a preset and nanoGPT's defaults look at it; then presets, files, and the other words, so that
// what is said last and most directly wins.
static int configure(const struct cli_line *line, vram *v, const struct cli_text *message,
                     bool (*skip)(const struct cli_word *))
{
    size_t first_file = message && line->file_count ? 1 : 0;
    int rc = CLI_OK;
    for (int round = 0; round < 3 && rc == CLI_OK; round++) {
        for (size_t i = 0; i < line->pair_count && rc == CLI_OK; i++) {
            const struct cli_word *pair = &line->pairs[i];
            int turn = is_key(pair, "mode") ? 0 : is_key(pair, "preset") ? 1 : 2;
            if (turn == round && !(skip && skip(pair)))
                rc = set_pair(line, v, pair);
        }
        if (round == 1 && rc == CLI_OK && message && is_config_too(line, message))
            vram_parse(v, VRAM_KIND_LOG, message->text, message->len, message->name);
        for (size_t i = first_file; round == 1 && i < line->file_count && rc == CLI_OK; i++)
            rc = cli_configure(v, line->files[i].text, line->option[OPTION_KIND]);
    }
    if (rc == CLI_OK && line->option[OPTION_GPU] &&
        vram_set(v, "gpu", line->option[OPTION_GPU]) != VRAM_OK) {
        cli_complain(line, line->option_at[OPTION_GPU], 0, vram_error(v)->text);
        rc = CLI_USAGE;
    }
    return rc;
}

// "a:b" and "a,b" are for sweep.
static bool is_range(const struct cli_word *pair)
{
    return strpbrk(strchr(pair->text, '='), ":,") != NULL;
}

static bool sweeps_presets(const struct cli_line *line)
{
    for (size_t i = 0; i < line->pair_count; i++)
        if (is_range(&line->pairs[i]) && is_key(&line->pairs[i], "preset"))
            return true;
    return false;
}

// A preset starts afresh in its row: there the other words are set after it, as columns of one value.
static bool in_rows(const struct cli_line *line, const struct cli_word *pair)
{
    return is_range(pair) || (sweeps_presets(line) && !is_key(pair, "mode"));
}

static int format_of(const struct cli_line *line, enum vram_format *format)
{
    static const char *const names[] = {
#define X(id, name) name,
        VRAM_FORMATS(X)
#undef X
    };
    const char *wanted = line->option[OPTION_FORMAT], *list = cli_commands[line->command].formats;
    size_t first = strcspn(list, " ");
    for (int i = 0; i < VRAM_FORMAT_COUNT; i++) {
        size_t n = strlen(names[i]);
        if (!(wanted ? strcmp(wanted, names[i]) == 0
                     : n == first && strncmp(list, names[i], n) == 0))
            continue;
        for (const char *at = list; *at; at += strcspn(at, " "), at += strspn(at, " "))
            if (strcspn(at, " ") == n && strncmp(at, names[i], n) == 0) {
                *format = (enum vram_format)i;
                return CLI_OK;
            }
    }
    char text[160];
    snprintf(text, sizeof text, "%s has no format '%.40s': it is one of %s",
             cli_commands[line->command].name, wanted, list);
    cli_complain(line, line->option_at[OPTION_FORMAT], 0, text);
    return CLI_USAGE;
}

// ---- commands ----------------------------------------------------------------------------------

// What is wrong with a configuration as a whole names its fields: the last word that sets the first of them is shown,
// or the line of the file.
static int complain_of_field(const struct cli_line *line, vram *v)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz_";
    const char *text = vram_error(v)->text;
    for (const char *at = text; vram_error(v)->line == 0 && *at; at += strspn(at, letters)) {
        char key[48];
        at += strcspn(at, letters);
        snprintf(key, sizeof key, "%.*s", (int)strspn(at, letters), at);
        for (size_t i = line->pair_count; i-- > 0;)
            if (is_key(&line->pairs[i], key)) {
                cli_complain(line, line->pairs[i].index, 0, text);
                return CLI_INPUT;
            }
    }
    return cli_report_place(v);
}

static int finish(const struct cli_line *line, vram *v, int rc, enum vram_format format)
{
    if (rc == VRAM_EMODEL || rc == VRAM_EUNSUPPORTED || rc == VRAM_EOVERFLOW)
        return complain_of_field(line, v);
    if (rc != VRAM_OK)
        return cli_report(v, NULL);
    return deliver(line, v, format == VRAM_FORMAT_TEXT);
}

static int draw_timeline(const struct cli_line *line, vram *v)
{
    const char *path = line->option[OPTION_TIMELINE];
    if (!path)
        return CLI_OK;
    if (vram_emit_timeline(v, VRAM_FORMAT_SVG) != VRAM_OK)
        return cli_report(v, NULL);
    return write_file(v, path);
}

static int run_estimate(const struct cli_line *line, vram *v, enum vram_format format)
{
    int rc = vram_run(v);
    rc = finish(line, v, rc == VRAM_OK ? vram_emit(v, format) : rc, format);
    return rc == CLI_OK ? draw_timeline(line, v) : rc;
}

static int run_trace(const struct cli_line *line, vram *v, enum vram_format format)
{
    if (format == VRAM_FORMAT_VIZ && !line->option[OPTION_OUTPUT] && isatty(STDOUT_FILENO)) {
        fputs("vramcalc: error: viz is binary: give --output FILE.pickle\n", stderr);
        return CLI_USAGE;
    }
    int rc = finish(line, v, vram_emit_trace(v, format), format);
    return rc == CLI_OK ? draw_timeline(line, v) : rc;
}

static int run_fit(const struct cli_line *line, vram *v, enum vram_format format)
{
    bool fits = false;
    int rc = finish(line, v, vram_fit(v, &fits, format), format);
    if (rc == CLI_OK)
        rc = draw_timeline(line, v);
    return rc == CLI_OK && !fits ? CLI_NO_FIT : rc;
}

static int run_max_batch(const struct cli_line *line, vram *v, enum vram_format format)
{
    uint64_t batch = 0;
    int rc = vram_max_batch(v, &batch, format);
    if (rc != VRAM_ENOFIT)
        return finish(line, v, rc, format);
    // that nothing fits is an answer, too
    if (format == VRAM_FORMAT_TEXT)
        printf("%s\n", vram_error(v)->text);
    else if (vram_emit_error(v, format) == VRAM_OK)
        deliver(line, v, false);
    return CLI_NO_FIT;
}

// The library counts columns in the ranges as run_sweep joins them; the caret stands under the word.
static int complain_of_range(const struct cli_line *line, vram *v)
{
    const struct vram_message *m = vram_error(v);
    size_t at = m->col ? m->col - 1 : 0;
    for (size_t i = 0; m->col && i < line->pair_count; i++) {
        size_t len = strlen(line->pairs[i].text);
        if (!in_rows(line, &line->pairs[i]))
            continue;
        if (at <= len) {
            int word = line->pairs[i].index;
            cli_complain(line, word, at + strlen(line->argv[word]) - len, m->text);
            return CLI_USAGE;
        }
        at -= len + 1;
    }
    cli_report(v, NULL);
    return CLI_USAGE;
}

static int run_sweep(const struct cli_line *line, vram *v, enum vram_format format)
{
    size_t len = 1;
    if (line->file_count && sweeps_presets(line)) {
        cli_complain(line, line->files[0].index, 0,
                     "a preset is a whole configuration: sweep presets, or this file");
        return CLI_USAGE;
    }
    for (size_t i = 0; i < line->pair_count; i++)
        len += strlen(line->pairs[i].text) + 1;
    char *ranges = malloc(len);
    if (!ranges) {
        fputs("vramcalc: error: out of memory\n", stderr);
        return CLI_INPUT;
    }
    size_t at = 0;
    for (size_t i = 0; i < line->pair_count; i++)
        if (in_rows(line, &line->pairs[i]))
            at +=
                (size_t)snprintf(ranges + at, len - at, "%s%s", at ? " " : "", line->pairs[i].text);
    ranges[at] = 0;
    int rc = vram_sweep(v, ranges, format);
    free(ranges);
    if (rc == VRAM_EPARSE || (rc != VRAM_OK && vram_error(v)->col))
        return complain_of_range(line, v);
    return finish(line, v, rc, format);
}

static int run_advise(const struct cli_line *line, vram *v, enum vram_format format)
{
    return finish(line, v, vram_advise(v, format), format);
}

static int run_compare(const struct cli_line *line, vram *v, enum vram_format format)
{
    return finish(line, v, vram_compare(v, format), format);
}

static int run_gpus(const struct cli_line *line, vram *v, enum vram_format format)
{
    return finish(line, v, vram_emit_gpus(v, format), format);
}

static int run_presets(const struct cli_line *line, vram *v, enum vram_format format)
{
    return finish(line, v, vram_emit_presets(v, format), format);
}

static int run_fields(const struct cli_line *line, vram *v, enum vram_format format)
{
    return finish(line, v, vram_emit_fields(v, format), format);
}

static int explain(struct cli_line *line, vram *v, enum vram_format format)
{
    struct cli_text message;
    int rc = cli_find_message(line, &message);
    if (rc == CLI_OK)
        rc = configure(line, v, &message, NULL);
    if (rc == CLI_OK) {
        bool with_config = line->file_count > 1 || line->pair_count > 0 || is_config_too(line, &message);
        rc = vram_explain_oom(v, message.text, message.len, with_config, format);
        rc = rc == VRAM_EPARSE ? cli_report(v, &message) : finish(line, v, rc, format);
    }
    free(message.text);
    return rc;
}

static int run_nothing(const struct cli_line *line, vram *v, enum vram_format format)
{
    (void)line;
    (void)v;
    (void)format;
    return CLI_OK;
}

static int (*const RUN[COMMAND_COUNT])(const struct cli_line *, vram *, enum vram_format) = {
    [COMMAND_ESTIMATE] = run_estimate,
    [COMMAND_TRACE] = run_trace,
    [COMMAND_FIT] = run_fit,
    [COMMAND_MAX_BATCH] = run_max_batch,
    [COMMAND_SWEEP] = run_sweep,
    [COMMAND_ADVISE] = run_advise,
    [COMMAND_EXPLAIN_OOM] = run_nothing, // reads its files itself: explain
    [COMMAND_COMPARE] = run_compare,
    [COMMAND_GPUS] = run_gpus,
    [COMMAND_PRESETS] = run_presets,
    [COMMAND_FIELDS] = run_fields,
    [COMMAND_HELP] = run_nothing,
    [COMMAND_VERSION] = run_nothing,
};

int cli_run(struct cli_line *line)
{
    struct vram_mem mem = {heap_alloc, heap_free, NULL};
    enum vram_format format = VRAM_FORMAT_TEXT;
    if (format_of(line, &format) != CLI_OK)
        return CLI_USAGE;
    vram *v = vram_new(&mem);
    if (!v) {
        fputs("vramcalc: error: out of memory\n", stderr);
        return CLI_INPUT;
    }
    int rc;
    if (line->command == COMMAND_EXPLAIN_OOM) {
        rc = explain(line, v, format);
    } else {
        rc = configure(line, v, NULL, line->command == COMMAND_SWEEP ? is_range : NULL);
        if (rc == CLI_OK)
            rc = RUN[line->command](line, v, format);
    }
    vram_free(v);
    return rc;
}

// ---- help and version --------------------------------------------------------------------------

static int help(const struct cli_line *line)
{
    const struct cli_command *command =
        line->command == COMMAND_HELP ? NULL : &cli_commands[line->command];
    if (line->command == COMMAND_HELP && line->file_count) {
        for (int i = 0; i < COMMAND_COUNT; i++)
            if (strcmp(line->files[0].text, cli_commands[i].name) == 0)
                command = &cli_commands[i];
        if (!command) {
            cli_complain(line, line->files[0].index, 0,
                         "unknown command: `vramcalc help` lists them");
            return CLI_USAGE;
        }
    }
    cli_help(stdout, command);
    return CLI_OK;
}

static int complete(const struct cli_line *line)
{
    if (strcmp(line->option[OPTION_COMPLETION], "bash") != 0) {
        cli_complain(line, line->option_at[OPTION_COMPLETION], 0, "completion is there for bash");
        return CLI_USAGE;
    }
    cli_completion(stdout);
    return CLI_OK;
}

static int answer(struct cli_line *line)
{
    if (line->option[OPTION_MAN])
        cli_man(stdout);
    else if (line->option[OPTION_COMPLETION])
        return complete(line);
    else if (line->option[OPTION_VERSION] || line->command == COMMAND_VERSION)
        printf("vramcalc %s\n", vram_version());
    else if (line->option[OPTION_HELP] || line->command == COMMAND_HELP)
        return help(line);
    else
        return cli_run(line);
    return CLI_OK;
}

int main(int argc, char **argv)
{
    struct cli_line line;
    int rc = cli_parse(&line, argc, argv);
    if (rc == CLI_OK)
        rc = answer(&line);
    cli_line_free(&line);
    if (fflush(stdout) != 0 && rc == CLI_OK)
        rc = CLI_INPUT;
    return rc;
}
