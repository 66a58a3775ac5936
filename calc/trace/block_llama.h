// The block of the families with rotary positions.

#ifndef CALC_BLOCK_LLAMA_H
#define CALC_BLOCK_LLAMA_H

#include "calc/trace/graph.h"

block_fn block_llama;

#endif
