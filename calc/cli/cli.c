// vramcalc: what each command does with the library, and where its answer goes.

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calc/cli/cli_heap.h"
#include "calc/cli/cli_help.h"
#include "calc/cli/cli_input.h"
#include "calc/cli/cli_run.h"

// ---- output ------------------------------------------------------------------------------------

static bool is_terminal(FILE *f)
{
    const char *term = getenv("TERM"), *none = getenv("NO_COLOR");
    return isatty(fileno(f)) && !(none && none[0]) && term && strcmp(term, "dumb") != 0;
}

static int cannot_write(const char *path)
{
    fprintf(stderr, "%s:1:1: error: cannot be written: %s\n", path, strerror(errno));
    return CLI_INPUT;
}

static bool put_text(const vram *v, FILE *out)
{
    size_t len;
    const char *text = vram_text(v, &len);
    return fwrite(text, 1, len, out) == len;
}

static int write_file(const vram *v, const char *path)
{
    FILE *f = fopen(path, "wb");
    if (!f)
        return cannot_write(path);
    bool good = put_text(v, f);
    return fclose(f) == 0 && good ? CLI_OK : cannot_write(path);
}

static const char *output_of(const struct cli_run *r)
{
    const char *path = r->line->option[OPTION_OUTPUT];
    return path && strcmp(path, "-") != 0 ? path : NULL;
}

// The library's text, where it is wanted.
int cli_deliver(const struct cli_run *r)
{
    const char *path = output_of(r);
    if (path)
        return write_file(r->v, path);
    return put_text(r->v, stdout) ? CLI_OK : cannot_write("<stdout>");
}

// ---- errors ------------------------------------------------------------------------------------

static int exit_of(enum vram_code code)
{
    switch (code) {
    case VRAM_ENOFIT: return CLI_NO_FIT;
    case VRAM_EKEY:
    case VRAM_EVALUE:
    case VRAM_ERANGE:
    case VRAM_EPRESET:
    case VRAM_EGPU:
    case VRAM_EARG: return CLI_USAGE;
    default: return CLI_INPUT;
    }
}

// The library's last error, at the word or the line of a file that it is about.
int cli_fail(const struct cli_run *r)
{
    const struct vram_message *m = vram_error(r->v);
    bool whole =
        m->code == VRAM_EMODEL || m->code == VRAM_EUNSUPPORTED || m->code == VRAM_EOVERFLOW;
    const struct cli_word *word = whole && m->line == 0 ? cli_word_of(r->line, m->field) : NULL;
    if (word) {
        cli_complain(r->line, word->index, 0, m->text);
        return CLI_INPUT;
    }
    cli_say_message(&r->texts, m);
    return m->line ? CLI_INPUT : exit_of(m->code);
}

// An answer that has been made, or the error that kept it from it.
static int finish(const struct cli_run *r, int code, enum vram_answer answer)
{
    unsigned flags = !output_of(r) && is_terminal(stdout) ? VRAM_WRITE_COLOR : 0;
    if (code == VRAM_OK)
        code = vram_write(r->v, answer, r->format, flags);
    return code == VRAM_OK ? cli_deliver(r) : cli_fail(r);
}

// ---- configuration -----------------------------------------------------------------------------

// A log that ends in an out-of-memory message tells the configuration too, if nothing else does.
static bool message_is_config(const struct cli_run *r)
{
    for (size_t i = 0; i < r->line->pair_count; i++)
        if (cli_is_key(&r->line->pairs[i], "preset"))
            return false;
    return r->message && r->line->file_count <= 1 && cli_is_log(r->message);
}

static int read_files(struct cli_run *r, bool (*skip)(const struct cli_word *))
{
    bool skips = r->message || r->snapshot || r->line->command == COMMAND_SOLVE;
    size_t first = skips && r->line->file_count ? 1 : 0;
    int rc = CLI_OK;
    if (message_is_config(r))
        vram_parse(r->v, VRAM_KIND_LOG, r->message->text, r->message->len, r->message->name, NULL,
                   NULL);
    cli_find_settings(&r->texts, r->line, first);
    for (size_t i = first; i < r->line->file_count && rc == CLI_OK; i++) {
        rc = cli_set_early(r, skip);
        if (rc == CLI_OK)
            rc = cli_configure(r->v, &r->texts, &r->line->files[i], r->line->option[OPTION_KIND]);
    }
    return rc;
}

// Whether a word is read in a round. mode first, because a preset and nanoGPT's defaults look at
// it; then presets; after the files the other words, so that what is said last and most directly
// wins.
static bool is_read(const struct cli_word *pair, int round)
{
    return round == (cli_is_key(pair, "mode") ? 0 : cli_is_key(pair, "preset") ? 1 : 2);
}

static int configure(struct cli_run *r, bool (*skip)(const struct cli_word *))
{
    const struct cli_line *line = r->line;
    int rc = CLI_OK;
    for (int round = 0; round < 3 && rc == CLI_OK; round++) {
        for (size_t i = 0; i < line->pair_count && rc == CLI_OK; i++) {
            const struct cli_word *pair = &line->pairs[i];
            if (is_read(pair, round) && !(skip && skip(pair)))
                rc = cli_set_pair(r, pair);
        }
        if (round == 1 && rc == CLI_OK)
            rc = read_files(r, skip);
    }
    if (rc == CLI_OK && line->option[OPTION_GPU] &&
        vram_set(r->v, "gpu", line->option[OPTION_GPU]) != VRAM_OK) {
        cli_complain(line, line->option_at[OPTION_GPU], 0, vram_error(r->v)->text);
        rc = CLI_USAGE;
    }
    return rc;
}

static int format_of(const struct cli_line *line, enum vram_format *format)
{
    static const char *const names[] = {
#define X(id, name) name,
        VRAM_FORMATS(X)
#undef X
    };
    const char *wanted = line->option[OPTION_FORMAT], *list = cli_commands[line->command].formats;
    size_t len = wanted ? strlen(wanted) : strcspn(list, " ");
    for (const char *at = list; *at; at += strcspn(at, " "), at += strspn(at, " ")) {
        if (strcspn(at, " ") != len || strncmp(at, wanted ? wanted : list, len) != 0)
            continue;
        for (int i = 0; i < VRAM_FORMAT_COUNT; i++)
            if (strlen(names[i]) == len && strncmp(names[i], at, len) == 0)
                *format = (enum vram_format)i;
        return CLI_OK;
    }
    char text[160];
    snprintf(text, sizeof text, "%s has no format '%.40s': it is one of %s",
             cli_commands[line->command].name, wanted, list);
    cli_complain(line, line->option_at[OPTION_FORMAT], 0, text);
    return CLI_USAGE;
}

// ---- commands ----------------------------------------------------------------------------------

static int draw_timeline(const struct cli_run *r)
{
    const char *path = r->line->option[OPTION_TIMELINE];
    if (!path)
        return CLI_OK;
    if (vram_write(r->v, VRAM_ANSWER_TIMELINE, VRAM_FORMAT_SVG, 0) != VRAM_OK)
        return cli_fail(r);
    return write_file(r->v, path);
}

static int run_estimate(struct cli_run *r)
{
    int rc = finish(r, vram_run(r->v), VRAM_ANSWER_REPORT);
    return rc == CLI_OK ? draw_timeline(r) : rc;
}

static int run_trace(struct cli_run *r)
{
    if (r->format == VRAM_FORMAT_VIZ && !r->line->option[OPTION_OUTPUT] && isatty(STDOUT_FILENO)) {
        fputs("vramcalc: error: viz is binary: give --output FILE.pickle\n", stderr);
        return CLI_USAGE;
    }
    int rc = finish(r, VRAM_OK, VRAM_ANSWER_TRACE);
    return rc == CLI_OK ? draw_timeline(r) : rc;
}

static int run_fit(struct cli_run *r)
{
    const struct vram_fit *fit = NULL;
    int rc = finish(r, vram_fit(r->v, &fit), VRAM_ANSWER_FIT);
    bool fits = fit && vram_verdict_fits(fit->verdict);
    if (rc == CLI_OK)
        rc = draw_timeline(r);
    return rc == CLI_OK && !fits ? CLI_NO_FIT : rc;
}

static int run_max_batch(struct cli_run *r)
{
    const struct vram_max_batch *found = NULL;
    int rc = finish(r, vram_max_batch(r->v, &found), VRAM_ANSWER_MAX_BATCH);
    return rc == CLI_OK && found->refusal ? CLI_NO_FIT : rc;
}

// The field is the first word that is neither an option nor a pair.
static int run_solve(struct cli_run *r)
{
    const struct vram_solution *s = NULL;
    const struct cli_word *word = r->line->files;
    int code = vram_solve(r->v, word->text, &s);
    const struct vram_message *m = vram_error(r->v);
    if (code == VRAM_EKEY || (code == VRAM_EVALUE && !m->line)) {
        cli_complain(r->line, word->index, 0, m->text);
        return CLI_USAGE;
    }
    int rc = finish(r, code, VRAM_ANSWER_SOLUTION);
    return rc == CLI_OK && s->refusal ? CLI_NO_FIT : rc;
}

static int run_cards(struct cli_run *r)
{
    const struct vram_cards *c = NULL;
    int rc = finish(r, vram_cards(r->v, &c), VRAM_ANSWER_CARDS);
    return rc == CLI_OK && c->refusal ? CLI_NO_FIT : rc;
}

static int run_serve(struct cli_run *r)
{
    const struct vram_serving *s = NULL;
    int rc = finish(r, vram_serve(r->v, &s), VRAM_ANSWER_SERVING);
    return rc == CLI_OK && s->refusal ? CLI_NO_FIT : rc;
}

// --at: the name of a moment, or the number of an event.
static int moment_of(const struct cli_line *line, uint32_t *moment, uint64_t *event)
{
    const char *wanted = line->option[OPTION_AT];
    *moment = VRAM_MOMENT_GROWTH;
    if (!wanted)
        return CLI_OK;
    for (*moment = 0; *moment < VRAM_MOMENT_EVENT; ++*moment)
        if (strcmp(wanted, vram_moment_name(*moment)) == 0)
            return CLI_OK;
    size_t digits = strspn(wanted, "0123456789");
    if (digits && digits < 19 && !wanted[digits]) {
        *event = strtoull(wanted, NULL, 10);
        return CLI_OK;
    }
    cli_complain(line, line->option_at[OPTION_AT], 0,
                 "a moment is peak, growth, end, or the number of an event");
    return CLI_USAGE;
}

static int run_segments(struct cli_run *r)
{
    const struct vram_segments *s;
    uint32_t moment;
    uint64_t event = 0;
    int rc = moment_of(r->line, &moment, &event);
    return rc == CLI_OK ? finish(r, vram_segments(r->v, moment, event, &s), VRAM_ANSWER_SEGMENTS)
                        : rc;
}

static int run_advise(struct cli_run *r)
{
    const struct vram_advice *advice;
    return finish(r, vram_advise(r->v, &advice), VRAM_ANSWER_ADVICE);
}

static int run_compare(struct cli_run *r)
{
    const struct vram_comparison *comparison;
    return finish(r, vram_compare(r->v, &comparison), VRAM_ANSWER_COMPARISON);
}

static int run_gpus(struct cli_run *r)
{
    return finish(r, VRAM_OK, VRAM_ANSWER_GPUS);
}

static int run_presets(struct cli_run *r)
{
    return finish(r, VRAM_OK, VRAM_ANSWER_PRESETS);
}

static int run_fields(struct cli_run *r)
{
    return finish(r, VRAM_OK, VRAM_ANSWER_FIELDS);
}

static int run_explain(struct cli_run *r)
{
    const struct vram_oom *oom;
    bool with_config = r->line->file_count > 1 || r->line->pair_count > 0 || message_is_config(r);
    int code = vram_explain_oom(r->v, r->message->text, r->message->len, with_config, &oom);
    const struct vram_message *m = vram_error(r->v);
    if (code != VRAM_EPARSE)
        return finish(r, code, VRAM_ANSWER_OOM);
    cli_say(&r->texts, r->message->name, m->line, m->col, m->text);
    return CLI_INPUT;
}

static int run_snapshot(struct cli_run *r)
{
    const struct vram_snapshot *s;
    bool with_config = r->line->file_count > 1 || r->line->pair_count > 0;
    return finish(r,
                  vram_read_snapshot(r->v, r->snapshot->text, r->snapshot->len, r->snapshot->name,
                                     with_config, &s),
                  VRAM_ANSWER_SNAPSHOT);
}

// ---- all of them -------------------------------------------------------------------------------

static int (*const RUN[COMMAND_COUNT])(struct cli_run *) = {
    [COMMAND_ESTIMATE] = run_estimate,
    [COMMAND_TRACE] = run_trace,
    [COMMAND_FIT] = run_fit,
    [COMMAND_MAX_BATCH] = run_max_batch,
    [COMMAND_SWEEP] = cli_sweep,
    [COMMAND_ADVISE] = run_advise,
    [COMMAND_EXPLAIN_OOM] = run_explain,
    [COMMAND_COMPARE] = run_compare,
    [COMMAND_GPUS] = run_gpus,
    [COMMAND_PRESETS] = run_presets,
    [COMMAND_FIELDS] = run_fields,
    [COMMAND_SOLVE] = run_solve,
    [COMMAND_CARDS] = run_cards,
    [COMMAND_SERVE] = run_serve,
    [COMMAND_SEGMENTS] = run_segments,
    [COMMAND_SNAPSHOT] = run_snapshot,
};

// Says so where a command lacks the word that it is about.
static bool needs_word(const struct cli_line *line)
{
    if (line->file_count)
        return false;
    if (line->command == COMMAND_SOLVE)
        fputs("vramcalc: error: solve needs a field: `vramcalc solve seq_len ...` (`vramcalc help "
              "solve`)\n",
              stderr);
    else if (line->command == COMMAND_SNAPSHOT)
        fputs("vramcalc: error: snapshot needs a file: `vramcalc snapshot FILE ...` (`vramcalc "
              "help snapshot`)\n",
              stderr);
    return line->command == COMMAND_SOLVE || line->command == COMMAND_SNAPSHOT;
}

static int run(struct cli_run *r)
{
    if (r->line->command == COMMAND_EXPLAIN_OOM) {
        r->message = cli_find_message(&r->texts, r->line);
        if (!r->message)
            return CLI_INPUT;
    }
    if (needs_word(r->line))
        return CLI_USAGE;
    if (r->line->command == COMMAND_SNAPSHOT &&
        !(r->snapshot = cli_read_large(&r->texts, r->line->files[0].text)))
        return CLI_INPUT;
    int rc = configure(r, r->line->command == COMMAND_SWEEP ? cli_is_range : NULL);
    return rc == CLI_OK ? RUN[r->line->command](r) : rc;
}

static int run_command(struct cli_line *line)
{
    struct vram_mem mem = vram_mem_malloc();
    struct cli_run r = {.line = line};
    if (format_of(line, &r.format) != CLI_OK)
        return CLI_USAGE;
    r.v = vram_new(&mem);
    if (!r.v) {
        fputs("vramcalc: error: out of memory\n", stderr);
        return CLI_INPUT;
    }
    int rc = run(&r);
    vram_free(r.v);
    cli_texts_free(&r.texts);
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
    bool asks = line->option[OPTION_HELP] || line->option[OPTION_VERSION] ||
                line->option[OPTION_MAN] || line->option[OPTION_COMPLETION];
    if (!line->given && !asks) {
        cli_help(stderr, NULL);
        return CLI_USAGE;
    }
    if (line->option[OPTION_MAN])
        cli_man(stdout);
    else if (line->option[OPTION_COMPLETION])
        return complete(line);
    else if (line->option[OPTION_VERSION] || line->command == COMMAND_VERSION)
        printf("vramcalc %s\n", vram_version());
    else if (line->option[OPTION_HELP] || line->command == COMMAND_HELP)
        return help(line);
    else
        return run_command(line);
    return CLI_OK;
}

int main(int argc, char **argv)
{
    struct cli_line line;
    cli_keep_freed();
    int rc = cli_parse(&line, argc, argv);
    if (rc == CLI_OK)
        rc = answer(&line);
    cli_line_free(&line);
    if (rc == CLI_OK && (fflush(stdout) != 0 || ferror(stdout)))
        rc = cannot_write("<stdout>");
    return rc;
}
