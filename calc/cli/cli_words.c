// Owns the words of the command line that set fields.

#include "calc/cli/cli_run.h"

#include <stdio.h>
#include <string.h>

bool cli_is_key(const struct cli_word *pair, const char *key)
{
    size_t n = strlen(key);
    return strncmp(pair->text, key, n) == 0 && pair->text[n] == '=';
}

const struct cli_word *cli_word_of(const struct cli_line *line, const char *field)
{
    const struct vram_field *wanted = field ? vram_field_find(field) : NULL;
    for (size_t i = line->pair_count; wanted && i-- > 0;) {
        char key[48];
        const char *text = line->pairs[i].text;
        snprintf(key, sizeof key, "%.*s", (int)strcspn(text, "="), text);
        if (vram_field_find(key) == wanted)
            return &line->pairs[i];
    }
    return NULL;
}

int cli_set_pair(const struct cli_run *r, const struct cli_word *pair)
{
    const char *eq = strchr(pair->text, '=');
    size_t key = (size_t)(eq - pair->text);
    if (vram_set_n(r->v, pair->text, key, eq + 1, strlen(eq + 1)) == VRAM_OK)
        return CLI_OK;
    const struct vram_message *m = vram_error(r->v);
    size_t word = strlen(r->line->argv[pair->index]) - strlen(pair->text);  // "--" before it
    cli_complain(r->line, pair->index, word + (m->code == VRAM_EKEY ? 0 : key + 1), m->text);
    return CLI_USAGE;
}

// What files depend on and have themselves is read before each of them, too: a framework's version
// decides about its defaults, the number of GPUs is compared with DeepSpeed's train_batch_size, and
// "auto" there is what the words say where no trainer's file does.
int cli_set_early(const struct cli_run *r, bool (*skip)(const struct cli_word *))
{
    static const char *const keys[] = {
        "framework_version",           "transformers", "n_gpu", "batch_size", "dtype",
        "gradient_accumulation_steps", "parallel"};
    int rc = CLI_OK;
    for (size_t i = 0; i < r->line->pair_count && rc == CLI_OK; i++) {
        const struct cli_word *pair = &r->line->pairs[i];
        for (size_t k = 0; k < sizeof keys / sizeof *keys && rc == CLI_OK; k++)
            if (cli_is_key(pair, keys[k]) && !(skip && skip(pair)))
                rc = cli_set_pair(r, pair);
    }
    return rc;
}
