// Owns the recording of errors, positions in parsed text, and "did you mean".

#include "calc/base/err.h"

#include "calc/base/text.h"

int err_set(struct message *e, message_id id, struct err_pos pos, const char *const *about,
            struct args args)
{
    if (err_is_set(e))
        return e->out.code;
    message_set(e, id, about, args);
    message_place(e, pos.file, pos.line, pos.col);
    return e->out.code;
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

// Edit distance of two words, both shorter than ERR_WORD_MAX. A swap of neighbours is one edit.
static size_t err_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t rows[3][ERR_WORD_MAX + 1];
    for (size_t j = 0; j <= b_len; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            size_t change = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = err_min(change, err_min(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = err_min(row[j], two_above[j - 2] + 1);
        }
    }
    return rows[a_len % 3][b_len];
}

const char *vram_nearest(const char *word, size_t len, const char *const *names, size_t count)
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
