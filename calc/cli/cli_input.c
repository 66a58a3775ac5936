// Files for the command line: reading, telling what kind they are, and showing where the library found an error.

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calc/cli/cli.h"

enum { READ_STEP = 65536, READ_MAX = 64 * 1024 * 1024, LOOK = 65536 };

static int cannot(const char *path, const char *why)
{
    fprintf(stderr, "%s:1:1: error: cannot be read: %s\n", path, why);
    return CLI_INPUT;
}

static int read_all(struct cli_text *out, FILE *f, const char *path)
{
    size_t cap = 0;
    for (;;) {
        if (out->len + READ_STEP + 1 > cap) {
            cap = cap * 2 + READ_STEP + 1;
            char *more = realloc(out->text, cap);
            if (!more)
                return cannot(path, "out of memory");
            out->text = more;
        }
        size_t n = fread(out->text + out->len, 1, READ_STEP, f);
        out->len += n;
        out->text[out->len] = 0;
        if (out->len > READ_MAX)
            return cannot(path, "it is larger than 64 MiB");
        if (n == 0)
            return ferror(f) ? cannot(path, strerror(errno)) : CLI_OK;
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

int cli_read(struct cli_text *out, const char *path)
{
    bool standard = strcmp(path, "-") == 0;
    *out = (struct cli_text){NULL, 0, standard ? "<stdin>" : path};
    FILE *f = standard ? stdin : fopen(path, "rb");
    if (!f)
        return cannot(path, strerror(errno));
    int rc = read_all(out, f, out->name);
    if (!standard)
        fclose(f);
    if (rc != CLI_OK) {
        free(out->text);
        out->text = NULL;
        return rc;
    }
    drop_mark(out);
    return CLI_OK;
}

// ---- what kind of text -------------------------------------------------------------------------

static bool ends(const char *name, const char *suffix)
{
    size_t n = strlen(name), m = strlen(suffix);
    return n >= m && strcmp(name + n - m, suffix) == 0;
}

static bool says(const struct cli_text *t, const char *words)
{
    size_t n = strlen(words), len = t->len < LOOK ? t->len : LOOK;
    for (size_t i = 0; i + n <= len; i++)
        if (memcmp(t->text + i, words, n) == 0)
            return true;
    return false;
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
    fprintf(stderr,
            "<command line>:1:1: error: unknown kind '%s': it is flat, nanogpt, hf or log\n", name);
    return CLI_USAGE;
}

// ---- errors ------------------------------------------------------------------------------------

void cli_show_line(const struct cli_text *source, uint32_t line, uint32_t col)
{
    const char *at = source->text, *end = at + source->len;
    for (uint32_t i = 1; i < line && at < end; i++) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        at = next ? next + 1 : end;
    }
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    int len = (int)((stop ? stop : end) - at);
    if (len > 160 || memchr(at, 0, (size_t)len))
        return;
    fprintf(stderr, "    %.*s\n    ", len, at);
    // tabs keep their width; a caret under bytes of one character would stand too far right
    for (uint32_t c = 1; c < col && at < end; at++) {
        if (((unsigned char)*at & 0xc0) != 0x80) {
            fputc(*at == '\t' ? '\t' : ' ', stderr);
            c++;
        }
    }
    fputs("^\n", stderr);
}

static int exit_of(enum vram_code code)
{
    switch (code) {
    case VRAM_ENOFIT:
        return CLI_NO_FIT;
    case VRAM_EKEY:
    case VRAM_EVALUE:
    case VRAM_ERANGE:
    case VRAM_EPRESET:
    case VRAM_EGPU:
    case VRAM_EARG:
        return CLI_USAGE;
    default:
        return CLI_INPUT;
    }
}

int cli_report(vram *v, const struct cli_text *source)
{
    struct vram_message m = *vram_error(v);
    if (m.file)
        fprintf(stderr, "%s:%u:%u: error: %s\n", m.file, (unsigned)m.line, (unsigned)m.col, m.text);
    else if (source)
        fprintf(stderr, "%s:%u:%u: error: %s\n", source->name, m.line ? (unsigned)m.line : 1,
                m.col ? (unsigned)m.col : 1, m.text);
    else
        fprintf(stderr, "<command line>:1:1: error: %s\n", m.text);
    if (source && m.line)
        cli_show_line(source, m.line, m.col);
    return source ? CLI_INPUT : exit_of(m.code);
}

// ---- reading a configuration -------------------------------------------------------------------

// Where a flattened line came from: the last part of its key, searched in the JSON. Good enough for a message; an
// error without a line is reported as it is.
static void locate(vram *v, const struct cli_text *json, const struct cli_text *flat)
{
    struct vram_message m = *vram_error(v);
    const char *at = flat->text;
    for (uint32_t i = 1; i < m.line; i++) {
        const char *next = strchr(at, '\n');
        at = next ? next + 1 : at;
    }
    size_t len = strcspn(at, " =\n"), start = len;
    while (start > 0 && at[start - 1] != '.')
        start--;
    const char *found = json->text, *quoted;
    unsigned line = 1, col = 1;
    for (; (quoted = strchr(found, '"')) != NULL; found = quoted + 1)
        if (strncmp(quoted + 1, at + start, len - start) == 0 && quoted[1 + len - start] == '"')
            break;
    for (const char *c = json->text; quoted && c < quoted; c++) {
        col = *c == '\n' ? 1 : col + (((unsigned char)*c & 0xc0) != 0x80);
        line += *c == '\n';
    }
    fprintf(stderr, "%s:%u:%u: error: %s\n", json->name, line, col, m.text);
    if (quoted)
        cli_show_line(json, line, col);
}

// A file that may be gone by now, or another; its name is enough for the message then.
static bool read_again(struct cli_text *t, const char *path)
{
    *t = (struct cli_text){NULL, 0, path};
    FILE *f = strcmp(path, "<stdin>") ? fopen(path, "rb") : NULL;
    bool good = f && read_all(t, f, path) == CLI_OK;
    if (f)
        fclose(f);
    if (!good) {
        free(t->text);
        t->text = NULL;
    }
    return good;
}

int cli_report_place(vram *v)
{
    struct cli_text t, flat;
    bool is_model;
    if (!vram_error(v)->file || !read_again(&t, vram_error(v)->file))
        return cli_report(v, NULL);
    drop_mark(&t);
    if (!is_json(&t)) {
        cli_report(v, &t);
    } else if (cli_flatten(&t, &flat, &is_model) == CLI_OK) {
        locate(v, &t, &flat);
        free(flat.text);
    }
    free(t.text);
    return CLI_INPUT;
}

// Takes out the line with the error that was reported, so that the next one shows; false if there is none.
static bool blank_line(struct cli_text *t, uint32_t line)
{
    char *at = t->text, *end = at + t->len;
    for (uint32_t i = 1; i < line && at; i++) {
        at = memchr(at, '\n', (size_t)(end - at));
        at = at ? at + 1 : NULL;
    }
    if (!at || at >= end || line == 0)
        return false;
    for (; at < end && *at != '\n'; at++)
        *at = ' ';
    return true;
}

// Every error of a text and not only the first. Text that cannot be read at all may make more errors of one: it ends there.
// json: the text that `t` was made from, or NULL.
static int report_all(vram *v, enum vram_kind kind, struct cli_text *t, const struct cli_text *json)
{
    enum { MOST = 10 };
    uint32_t line;
    bool readable;
    struct cli_text shown = {malloc(t->len + 1), t->len, t->name};
    int count = 0;
    if (shown.text)
        memcpy(shown.text, t->text, t->len + 1); // a NUL may be among them
    do {
        line = vram_error(v)->line;
        readable = vram_error(v)->code != VRAM_EPARSE;
        if (json)
            locate(v, json, t);
        else
            cli_report(v, shown.text ? &shown : NULL);
    } while (++count < MOST && readable && blank_line(t, line) && vram_parse(v, kind, t->text, t->len, t->name) != VRAM_OK &&
             vram_error(v)->line != line);
    free(shown.text);
    return CLI_INPUT;
}

static int configure_json(vram *v, const struct cli_text *t, const char *kind)
{
    struct cli_text flat = {NULL, 0, t->name};
    bool is_model = false;
    enum vram_kind k = VRAM_KIND_FLAT;
    int rc = cli_flatten(t, &flat, &is_model);
    if (rc == CLI_OK && kind)
        rc = kind_by_name(kind, &k);
    else
        k = is_model ? VRAM_KIND_HF : VRAM_KIND_FLAT;
    if (rc == CLI_OK && vram_parse(v, k, flat.text, flat.len, t->name) != VRAM_OK)
        rc = report_all(v, k, &flat, t);
    free(flat.text);
    return rc;
}

int cli_configure(vram *v, const char *path, const char *kind)
{
    struct cli_text t;
    enum vram_kind k = VRAM_KIND_FLAT;
    int rc = cli_read(&t, path);
    if (rc != CLI_OK)
        return rc;
    if (is_json(&t)) {
        rc = configure_json(v, &t, kind);
    } else {
        if (kind)
            rc = kind_by_name(kind, &k);
        else
            k = kind_of(&t);
        if (rc == CLI_OK && !kind && k != VRAM_KIND_LOG && cli_is_message(t.text, t.len)) {
            fprintf(stderr, "%s:1:1: error: this is an error message: vramcalc explain-oom %s [CONFIG]\n", t.name,
                    strcmp(path, "-") ? t.name : "-");
            rc = CLI_INPUT;
        }
        if (rc == CLI_OK && vram_parse(v, k, t.text, t.len, t.name) != VRAM_OK)
            rc = report_all(v, k, &t, NULL);
    }
    free(t.text);
    return rc;
}
