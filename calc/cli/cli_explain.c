// Which word of `vramcalc explain-oom` is the message: by what it says, wherever it stands. A training log that ends in
// one is both, the message and the configuration.

#include <stdlib.h>
#include <string.h>

#include "calc/cli/cli.h"

static bool holds(const char *text, size_t len, const char *words)
{
    return memmem(text, len, words, strlen(words)) != NULL;
}

bool cli_is_message(const char *text, size_t len)
{
    return holds(text, len, "ried to allocate") || holds(text, len, "OutOfMemoryError") ||
           holds(text, len, "error: out of memory") || holds(text, len, "_STATUS_ALLOC_FAILED");
}

// A word of the command line can be the message itself.
static bool is_quoted(const char *word)
{
    return cli_is_message(word, strlen(word)) || strstr(word, "out of memory") != NULL;
}

static int read_word(struct cli_text *out, const char *word)
{
    if (!is_quoted(word))
        return cli_read(out, word);
    *out = (struct cli_text){strdup(word), strlen(word), "<command line>"};
    return out->text ? CLI_OK : CLI_INPUT;
}

// The file that is the message comes first; without one the first is taken for it, as its error will say.
static int choose(struct cli_line *line, struct cli_text *message)
{
    for (size_t i = 0; i < line->file_count; i++) {
        struct cli_word word = line->files[i];
        int rc = read_word(message, word.text);
        if (rc != CLI_OK)
            return rc;
        // standard input can be read only once
        bool standard = strcmp(word.text, "-") == 0;
        if (line->file_count > 1 && !standard && !is_quoted(word.text) &&
            !cli_is_message(message->text, message->len)) {
            free(message->text);
            message->text = NULL;
            continue;
        }
        memmove(line->files + 1, line->files, i * sizeof *line->files);
        line->files[0] = word;
        return CLI_OK;
    }
    return read_word(message, line->files[0].text);
}

int cli_find_message(struct cli_line *line, struct cli_text *message)
{
    *message = (struct cli_text){NULL, 0, NULL};
    return line->file_count ? choose(line, message) : cli_read(message, "-");
}
