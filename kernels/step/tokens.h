// A file of tokens as nanoGPT prepares them (train.bin): 16 bits each, the low byte first.
#ifndef KERNELS_TOKENS_H
#define KERNELS_TOKENS_H

#include "kernels/step/gpt.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tokens {
    const unsigned char *bytes;
    int64_t count;    // of tokens
    int64_t largest;  // id
};

// Maps the file and reads it once. Returns false, with `file: reason` in error, when it cannot be
// read, holds fewer than two tokens, half a token, or more than a gibibyte.
bool tokens_open(struct tokens *t, const char *path, char *error, size_t size);
void tokens_close(struct tokens *t);
// Returns NULL, or the reason why a run of this config cannot draw from these tokens.
const char *tokens_misfit(const struct tokens *t, const struct gpt_config *c);
// A gpt_batch: seq_len tokens from anywhere in the file for each sequence, and those one further as
// targets. The same for the same n.
struct token_batches {
    const struct tokens *tokens;
    const struct gpt_config *config;
};
void tokens_batch(void *ctx, int64_t n, int64_t *tokens, int64_t *targets);

#ifdef __cplusplus
}
#endif

#endif
