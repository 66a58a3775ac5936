// How frozen linear weights are stored: the rows of quantization.def.

#ifndef CALC_QUANTIZATION_H
#define CALC_QUANTIZATION_H

#include "calc/model/layout.h"

enum { QUANTIZATION_TENSORS = 6 };

struct quantization_tensor {
    uint8_t part;
    uint64_t bytes;
};

// The tensors that a matrix of rows x cols is stored as; returns how many. 0: two bytes a weight,
// as it is. c says how, in which groups; own_tables: each matrix has the table of its scales' codes
// for itself (GEMM_4BIT), one is not shared by all.
unsigned quantization_tensors(const struct vram_config *c, bool own_tables, uint64_t rows,
                              uint64_t cols, struct quantization_tensor out[QUANTIZATION_TENSORS]);
// The same of a weight of which this GPU has n numbers under tensor_parallel: a part of the inputs
// of o and down, of the outputs of the others.
unsigned quantization_share(const struct model *m, bool own_tables, const struct layout_param *p,
                            uint64_t n, struct quantization_tensor out[QUANTIZATION_TENSORS]);

// Whether a parameter is stored so: a frozen linear layer of a block, no router; in LitGPT the head
// too.
bool quantization_of(const struct model *m, const struct layout_param *p, bool block);

bool quantization_is_bitsandbytes(uint64_t kind);
bool quantization_is_4bit(uint64_t kind);  // of bitsandbytes

// The number format, DT_F32 or DT_LOW, that a parameter is kept in when it is not quantized.
uint8_t quantization_format(const struct model *m, const struct layout_param *p);

// prepare_model_for_kbit_training: everything of two bytes that is not quantized goes to float32.
// PEFT leaves GPTQ's alone.
bool quantization_prepared(const struct vram_config *c);

#endif
