// What a model takes in llama.cpp's types.

#ifndef CALC_GGUF_H
#define CALC_GGUF_H

#include "calc/model/layout.h"
#include "calc/model/model.h"

// Is this value of VALUES_quantization one of llama.cpp's types?
bool gguf_is(uint64_t quantization);

// Bytes of a parameter in layer `layer` (any number outside of the layers). embedding: it is the
// token embedding; that of a model without an output layer of its own is one, too. SIZE_BAD: too
// large.
uint64_t gguf_bytes(const struct model *m, uint64_t quantization, const struct layout_param *p,
                    bool block, uint64_t layer);

#endif
