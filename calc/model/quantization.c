// Owns the bytes of quantized weights.

#include "calc/model/quantization.h"

#include "calc/base/size.h"
#include "calc/model/framework.h"
#include "calc/model/names.h"
#include "calc/model/precision.h"

#define BLOCKS(count, each) (((count) + (each)-1) / (each))

enum { TABLE_BYTES = 1024 };

unsigned quantization_tensors(const struct vram_config *c, bool own_tables, uint64_t rows,
                              uint64_t cols, struct quantization_tensor out[QUANTIZATION_TENSORS])
{
    uint64_t n = size_mul(rows, cols), kind = c->quantization;
    uint64_t group = c->quantization_group ? c->quantization_group : cols;
    unsigned count = 0;
#define STORED(which, name, size) \
    if (kind == QUANTIZATION_##which) \
        out[count++] = (struct quantization_tensor){PART_##name, size};
#include "calc/model/quantization.def"
    if (kind == QUANTIZATION_NF4_DOUBLE && own_tables)
        out[count++] = (struct quantization_tensor){PART_CODE, TABLE_BYTES};
    return count;
}

unsigned quantization_share(const struct model *m, bool own_tables, const struct layout_param *p,
                            uint64_t n, struct quantization_tensor out[QUANTIZATION_TENSORS])
{
    bool inputs = p->number == P_O || p->number == P_DOWN, shared = m->c.tensor_parallel > 1;
    uint64_t rows = shared && !inputs ? n / p->cols : p->rows,
             cols = shared && inputs ? n / p->rows : p->cols;
    return quantization_tensors(&m->c, own_tables, rows, cols, out);
}

bool quantization_is_4bit(uint64_t kind)
{
    return kind == QUANTIZATION_NF4 || kind == QUANTIZATION_NF4_DOUBLE;
}

// LitGPT replaces every linear layer, transformers leaves the head. SRC: lightning
// fabric/plugins/precision/bitsandbytes.py (convert_module); transformers
// quantizers/quantizer_bnb_4bit.py (modules_to_not_convert).
static bool quantization_takes_head(const struct vram_config *c)
{
    return framework_goes(c, BY_QUANTIZED_HEAD) && quantization_is_4bit(c->quantization);
}

// What bitsandbytes replaces outside of the layers: every nn.Linear but the head.
static bool quantization_takes_outside(const struct vram_config *c, uint16_t number)
{
#ifndef VRAM_SMALL
    if (number == P_LAYER_PROJECT)
        return quantization_is_bitsandbytes(c->quantization);
#endif
    return number == P_HEAD && quantization_takes_head(c);
}

bool quantization_of(const struct model *m, const struct layout_param *p, bool block)
{
    bool frozen = !p->trained || m->c.task == TASK_INFERENCE;
    bool apart = p->number == P_ROUTER || p->number == P_EXPERTS_UP || p->number == P_EXPERTS_DOWN;
    bool here = block ? !apart : quantization_takes_outside(&m->c, p->number);
    return m->c.quantization && here && frozen && p->matrix && p->part == PART_WEIGHT;
}

// SRC: trl 0.13 trainer/utils.py, peft_module_casting_to_bf16.
static bool quantization_widens(const struct vram_config *c, const struct layout_param *p)
{
    bool end = p->role == ROLE_WTE || p->role == ROLE_HEAD || p->role == ROLE_WPE;
    return quantization_prepared(c) && !(end && c->prepare_kbit == PREPARE_KBIT_TRL);
}

// DeepSpeed's engine casts the whole model, adapters too. SRC: deepspeed runtime/engine.py,
// _configure_distributed_model; trace llama_dpo_zero2_lora.
static bool quantization_casts_all(const struct vram_config *c)
{
    return c->dtype == DTYPE_BFLOAT16_DEEPSPEED || c->dtype == DTYPE_FLOAT16_DEEPSPEED;
}

// SRC: peft src/peft/tuners/tuners_utils.py, cast_adapter_dtype; src/peft/utils/other.py,
// prepare_model_for_kbit_training.
uint8_t quantization_format(const struct model *m, const struct layout_param *p)
{
    const struct vram_config *c = &m->c;
    const struct precision *precision = precision_of(c);
    bool generates = c->task == TASK_INFERENCE;
    uint8_t base = !generates ? precision->frozen : precision_generates_narrow(c) ? DT_LOW : DT_F32;
    if (p->number == P_ROUTER && p->role == ROLE_ROUTER && model_routes_wide(m))
        return DT_F32;
    if (p->part != PART_A && p->part != PART_B && p->part != PART_VECTOR)
        return quantization_widens(c, p)  ? DT_F32
               : p->trained && !generates ? precision->weight
                                          : base;
    bool as_weights =
        c->adapter_dtype == ADAPTER_DTYPE_AUTO && c->mode == MODE_REFERENCE && !precision->autocast;
    as_weights = as_weights || c->adapter_dtype == ADAPTER_DTYPE_BASE || quantization_casts_all(c);
    return as_weights ? base : DT_F32;
}

bool quantization_is_bitsandbytes(uint64_t kind)
{
    return kind == QUANTIZATION_INT8 || quantization_is_4bit(kind);
}

bool quantization_prepared(const struct vram_config *c)
{
    return c->prepare_kbit && quantization_is_bitsandbytes(c->quantization);
}
