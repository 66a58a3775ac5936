// Owns the reading of files and what is said about a place in them.

#include "calc/cli/cli_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    READ_STEP = 65536,
    READ_MAX = 64 * 1024 * 1024,
    LARGE_MAX = 1024 * 1024 * 1024,
    SHOWN_MAX = 160
};

void cli_texts_free(struct cli_texts *t)
{
    for (size_t i = 0; i < t->count; i++) {
        free(t->at[i]->text);
        free(t->at[i]);
    }
    free(t->at);
}

// Takes over text, also where there is no room for it.
static const struct cli_text *add(struct cli_texts *t, struct cli_text text)
{
    struct cli_text **more = realloc(t->at, (t->count + 1) * sizeof *more),
                    *own = malloc(sizeof *own);
    if (more)
        t->at = more;
    if (!more || !own || !text.text) {
        fprintf(stderr, "%s:1:1: error: cannot be read: out of memory\n", text.name);
        free(own);
        free(text.text);
        return NULL;
    }
    *own = text;
    return t->at[t->count++] = own;
}

static const char *read_all(struct cli_text *out, FILE *f, size_t most)
{
    size_t cap = 0;
    for (;;) {
        if (out->len + READ_STEP + 1 > cap) {
            cap = cap * 2 + READ_STEP + 1;
            char *more = realloc(out->text, cap);
            if (!more)
                return "out of memory";
            out->text = more;
        }
        size_t n = fread(out->text + out->len, 1, READ_STEP, f);
        out->len += n;
        out->text[out->len] = 0;
        if (out->len > most)
            return most == READ_MAX ? "it is larger than 64 MiB" : "it is larger than 1 GiB";
        if (n == 0)
            return ferror(f) ? strerror(errno) : NULL;
    }
}

// Editors of Windows begin a file with a byte order mark.
static void drop_mark(struct cli_text *t)
{
    if (t->len < 3 || memcmp(t->text, "\xef\xbb\xbf", 3) != 0)
        return;
    t->len -= 3;
    memmove(t->text, t->text + 3, t->len + 1);
}

static const struct cli_text *read_file(struct cli_texts *t, const char *path, size_t most)
{
    bool standard = strcmp(path, "-") == 0;
    struct cli_text text = {NULL, 0, standard ? "<stdin>" : path};
    FILE *f = standard ? stdin : fopen(path, "rb");
    const char *why = f ? read_all(&text, f, most) : strerror(errno);
    if (f && !standard)
        fclose(f);
    if (why) {
        fprintf(stderr, "%s:1:1: error: cannot be read: %s\n", text.name, why);
        free(text.text);
        return NULL;
    }
    drop_mark(&text);
    return add(t, text);
}

const struct cli_text *cli_read(struct cli_texts *t, const char *path)
{
    return read_file(t, path, READ_MAX);
}

const struct cli_text *cli_read_large(struct cli_texts *t, const char *path)
{
    return read_file(t, path, LARGE_MAX);
}

const struct cli_text *cli_quote(struct cli_texts *t, const char *text)
{
    return add(t, (struct cli_text){strdup(text), strlen(text), "<command line>"});
}

// ---- messages --------------------------------------------------------------------------------

// One line of a text with a caret under a column.
static void show_line(const struct cli_text *source, uint32_t line, uint32_t col)
{
    const char *at = source->text, *end = at + source->len;
    for (uint32_t i = 1; i < line && at < end; i++) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        at = next ? next + 1 : end;
    }
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    int len = (int)((stop ? stop : end) - at);
    if (len > SHOWN_MAX || memchr(at, 0, (size_t)len))
        return;
    fprintf(stderr, "    %.*s\n    ", len, at);
    // tabs keep their width; a caret under bytes of one character would be too far right
    for (uint32_t c = 1; c < col && at < end; at++) {
        if (((unsigned char)*at & 0xc0) != 0x80) {
            fputc(*at == '\t' ? '\t' : ' ', stderr);
            c++;
        }
    }
    fputs("^\n", stderr);
}

static void say(const struct cli_texts *t, const char *name, uint32_t line, uint32_t col,
                const char *level, const char *text)
{
    fprintf(stderr, "%s:%u:%u: %s: %s\n", name, line ? (unsigned)line : 1, line ? (unsigned)col : 1,
            level, text);
    for (size_t i = 0; line && i < t->count; i++)
        if (strcmp(t->at[i]->name, name) == 0 && t->at[i]->len) {
            show_line(t->at[i], line, col);
            return;
        }
}

void cli_say(const struct cli_texts *t, const char *name, uint32_t line, uint32_t col,
             const char *text)
{
    say(t, name, line, col, "error", text);
}

void cli_say_message(const struct cli_texts *t, const struct vram_message *m)
{
    const char *level = m->code == VRAM_OK ? "warning" : "error";
    say(t, m->file ? m->file : "<command line>", m->line, m->col, level, m->text);
}
