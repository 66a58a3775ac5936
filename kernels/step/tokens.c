// Tokens from a file: mapped, checked once, drawn at random places.
#include "kernels/step/tokens.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int64_t token_at(const struct tokens *t, int64_t i)
{
    return t->bytes[2 * i] | t->bytes[2 * i + 1] << 8;
}

// Why a file of this size and type is refused; NULL when it is not.
static const char *size_error(const struct stat *st)
{
    if (!S_ISREG(st->st_mode))
        return "not a file";
    if (st->st_size < 4)
        return "two tokens of 16 bits are the least that can be trained on";
    if (st->st_size % 2)
        return "an odd number of bytes; tokens have 16 bits each";
    return st->st_size > INT64_C(1) << 30 ? "more than a gibibyte; a small file is wanted" : NULL;
}

static const unsigned char *map(const char *path, int64_t *size, const char **why)
{
    struct stat st;
    int file = open(path, O_RDONLY);
    *why = file < 0 || fstat(file, &st) != 0 ? strerror(errno) : size_error(&st);
    void *bytes =
        *why ? MAP_FAILED : mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (!*why && bytes == MAP_FAILED)
        *why = strerror(errno);
    if (file >= 0)
        close(file);
    *size = *why ? 0 : st.st_size;
    return bytes;
}

bool tokens_open(struct tokens *t, const char *path, char *error, size_t size)
{
    const char *why;
    int64_t bytes;
    *t = (struct tokens){0};
    const unsigned char *mapped = map(path, &bytes, &why);
    if (why) {
        snprintf(error, size, "%s: %s", path, why);
        return false;
    }
    *t = (struct tokens){.bytes = mapped, .count = bytes / 2};
    for (int64_t i = 0; i < t->count; i++)
        if (token_at(t, i) > t->largest)
            t->largest = token_at(t, i);
    return true;
}

void tokens_close(struct tokens *t)
{
    if (t->bytes)
        munmap((void *)t->bytes, (size_t)t->count * 2);
    *t = (struct tokens){0};
}

const char *tokens_misfit(const struct tokens *t, const struct gpt_config *c)
{
    if (t->largest >= c->vocab_size)
        return "the file of tokens has an id that vocab_size does not reach";
    return t->count <= c->seq_len ? "the file of tokens is shorter than one sequence and its target"
                                  : NULL;
}

void tokens_batch(void *ctx, int64_t n, int64_t *tokens, int64_t *targets)
{
    const struct token_batches *b = ctx;
    int64_t T = b->config->seq_len;
    uint64_t state = (uint64_t)n * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (int64_t row = 0; row < b->config->batch_size; row++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        int64_t first = (int64_t)((state >> 33) % (uint64_t)(b->tokens->count - T));
        for (int64_t i = 0; i < T; i++) {
            tokens[row * T + i] = token_at(b->tokens, first + i);
            targets[row * T + i] = token_at(b->tokens, first + i + 1);
        }
    }
}
