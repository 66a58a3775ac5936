// The block of the families with rotary positions.

#ifndef CALC_BLOCK_LLAMA_H
#define CALC_BLOCK_LLAMA_H

#include "calc/trace/graph.h"

block_fn block_llama;

// Whether keys and values are copied for every query head before attention takes them.
bool block_llama_repeats(const struct graph *g);

#endif
