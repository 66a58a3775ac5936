// Owns `vramcalc sweep`: words of the command line become ranges, errors in them get their place.

#include "calc/cli/cli_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// "a:b" and "a,b" are for sweep.
bool cli_is_range(const struct cli_word *pair)
{
    return strpbrk(strchr(pair->text, '='), ":,") != NULL;
}

static bool sweeps_presets(const struct cli_line *line)
{
    for (size_t i = 0; i < line->pair_count; i++)
        if (cli_is_range(&line->pairs[i]) && cli_is_key(&line->pairs[i], "preset"))
            return true;
    return false;
}

// A preset starts afresh in its row: there the other words are set after it, as columns of one
// value.
static bool in_rows(const struct cli_line *line, const struct cli_word *pair)
{
    return cli_is_range(pair) || (sweeps_presets(line) && !cli_is_key(pair, "mode"));
}

// The library counts columns in the ranges as join_ranges makes them; the caret is under the word.
static int complain_of_range(const struct cli_run *r)
{
    const struct cli_line *line = r->line;
    const struct vram_message *m = vram_error(r->v);
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
    cli_say_message(&r->texts, m);
    return CLI_USAGE;
}

// Owns: the caller frees it; NULL without memory.
static char *join_ranges(const struct cli_line *line)
{
    size_t len = 1, at = 0;
    for (size_t i = 0; i < line->pair_count; i++)
        len += strlen(line->pairs[i].text) + 1;
    char *ranges = calloc(len, 1);
    for (size_t i = 0; ranges && i < line->pair_count; i++)
        if (in_rows(line, &line->pairs[i]))
            at +=
                (size_t)snprintf(ranges + at, len - at, "%s%s", at ? " " : "", line->pairs[i].text);
    return ranges;
}

int cli_sweep(struct cli_run *r)
{
    if (r->line->file_count && sweeps_presets(r->line)) {
        cli_complain(r->line, r->line->files[0].index, 0,
                     "a preset is a whole configuration: sweep presets, or this file");
        return CLI_USAGE;
    }
    char *ranges = join_ranges(r->line);
    if (!ranges) {
        fputs("vramcalc: error: out of memory\n", stderr);
        return CLI_INPUT;
    }
    int code = vram_write_sweep(r->v, ranges, r->format);
    free(ranges);
    if (code == VRAM_OK)
        return cli_deliver(r);
    return code == VRAM_EPARSE || vram_error(r->v)->col ? complain_of_range(r) : cli_fail(r);
}
