// Owns error texts of the core: the handle's one message, positions in parsed text, and "did you
// mean".

#include "calc/base/err.h"

#include "calc/base/mem.h"
#include "calc/base/text.h"
#include "calc/base/writer.h"

void err_clear(struct err *e)
{
    e->text[0] = 0;
    e->file[0] = 0;
    e->message = (struct vram_message){.code = VRAM_OK, .text = e->text};
}

// The message is made in the error's own array, so that an error about memory needs none.
static void *err_no_memory(void *ctx, size_t bytes)
{
    (void)ctx;
    (void)bytes;
    return NULL;
}

int err_set(struct err *e, enum vram_code code, struct err_pos pos, const char *format, ...)
{
    static const char more[] = "...";
    struct vram_mem mem = {err_no_memory, NULL, NULL};
    struct writer w = {.mem = &mem, .text = e->text, .cap = ERR_TEXT_MAX - sizeof more};
    va_list args;
    if (e->message.code != VRAM_OK)
        return e->message.code;
    e->text[0] = 0;
    va_start(args, format);
    writer_fv(&w, format, args);
    va_end(args);
    if (w.failed)
        mem_copy(e->text + w.len, more, sizeof more);
    e->message = (struct vram_message){code, e->text, NULL, pos.line, pos.col};
    if (pos.file) {
        size_t n = 0;
        for (; n + 1 < ERR_FILE_MAX && pos.file[n]; n++)
            e->file[n] = pos.file[n];
        e->file[n] = 0;
        e->message.file = e->file;
    }
    return code;
}

struct err_pos err_pos_of(const char *file, const char *text, size_t at)
{
    struct err_pos pos = {file, 1, 1};
    for (size_t i = 0; i < at; i++) {
        if (text[i] == '\n') {
            pos.line++;
            pos.col = 1;
        } else if (((unsigned char)text[i] & 0xc0) != 0x80) {
            pos.col++;
        }
    }
    return pos;
}

enum { ERR_WORD_MAX = 40 };

static size_t err_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

// Edit distance of two words, both shorter than ERR_WORD_MAX.
static size_t err_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t row[ERR_WORD_MAX + 1];
    for (size_t j = 0; j <= b_len; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            size_t change = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = err_min(change, err_min(row[j], row[j - 1]) + 1);
        }
    }
    return row[b_len];
}

const char *err_nearest(const char *word, size_t len, const char *const *names, size_t count)
{
    const char *best = NULL;
    size_t least = len / 3 + 1;
    if (len >= ERR_WORD_MAX)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        size_t n = text_len(names[i]);
        size_t d = n < ERR_WORD_MAX ? err_distance(word, len, names[i], n) : SIZE_MAX;
        if (d < least) {
            least = d;
            best = names[i];
        }
    }
    return best;
}
