// Owns the bytes of quantized weights.

#include "calc/model/quantization.h"

#include "calc/base/size.h"
#include "calc/model/names.h"
#include "calc/model/precision.h"

#define BLOCKS(count, each) (((count) + (each)-1) / (each))

enum { TABLE_BYTES = 1024 };

unsigned quantization_tensors(uint64_t kind, bool own_tables, uint64_t rows, uint64_t cols,
                              struct quantization_tensor out[QUANTIZATION_TENSORS])
{
    uint64_t n = size_mul(rows, cols);
    unsigned count = 0;
#define STORED(which, name, size) \
    if (kind == QUANTIZATION_##which) \
        out[count++] = (struct quantization_tensor){PART_##name, size};
#include "calc/model/quantization.def"
    if (kind == QUANTIZATION_NF4_DOUBLE && own_tables)
        out[count++] = (struct quantization_tensor){PART_CODE, TABLE_BYTES};
    return count;
}

bool quantization_of(const struct model *m, const struct layout_param *p, bool block)
{
    bool frozen = !p->trained || m->c.task == TASK_INFERENCE;
    return m->c.quantization && block && frozen && p->matrix && p->part == PART_WEIGHT && p->number != P_ROUTER;
}

// SRC: peft src/peft/tuners/tuners_utils.py, cast_adapter_dtype; src/peft/utils/other.py,
// prepare_model_for_kbit_training.
uint8_t quantization_format(const struct model *m, const struct layout_param *p)
{
    const struct vram_config *c = &m->c;
    const struct precision *precision = precision_of(c);
    bool generates = c->task == TASK_INFERENCE;  // loaded in two bytes
    uint8_t base = generates ? (c->dtype == DTYPE_FLOAT32 ? DT_F32 : DT_LOW) : precision->frozen;
    if (p->part != PART_A && p->part != PART_B && p->part != PART_VECTOR)
        return quantization_prepared(c) ? DT_F32 : p->trained && !generates ? precision->weight : base;
    bool as_weights = c->adapter_dtype == ADAPTER_DTYPE_AUTO && c->mode == MODE_REFERENCE && !precision->autocast;
    return c->adapter_dtype == ADAPTER_DTYPE_BASE || as_weights ? base : DT_F32;
}

bool quantization_is_4bit(uint64_t kind)
{
    return kind == QUANTIZATION_NF4 || kind == QUANTIZATION_NF4_DOUBLE;
}

bool quantization_is_bitsandbytes(uint64_t kind)
{
    return kind == QUANTIZATION_INT8 || quantization_is_4bit(kind);
}

bool quantization_prepared(const struct vram_config *c)
{
    return c->prepare_kbit && quantization_is_bitsandbytes(c->quantization);
}
