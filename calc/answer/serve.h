// What a server of a model has on a card beside its cache.

#ifndef CALC_SERVE_H
#define CALC_SERVE_H

#include "calc/model/model.h"

// Bytes of the weights on one GPU, in the format of the configuration's quantization.
uint64_t serve_weights(const struct model *m, uint64_t quantization);

// Bytes of the cache for one token, in all layers of one GPU.
uint64_t serve_token_bytes(const struct model *m, uint64_t kv_dtype);

// Bytes of the work memory: the peak of vLLM's profile run, or llama.cpp's compute buffer.
uint64_t serve_work(const struct model *m, bool vllm, uint64_t batched_tokens, uint64_t sequences);

#endif
