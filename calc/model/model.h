// A configuration and what follows from it before anything runs: derived sizes and the parameter
// tensors.

#ifndef CALC_MODEL_H
#define CALC_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calc/base/err.h"
#include "calc/vram.h"
#include "calc/base/writer.h"

// Every field of fields.def under its own name, as a stored number (enum: index, fraction:
// millionths).
struct vram_config {
#define FIELD(type, ident, initial, min, max, unit, group, aliases, help) uint64_t ident;
#include "calc/model/fields.def"
    int32_t gpu;  // index for vram_gpu_at, or -1
};

// Enumerators: DTYPE_FLOAT16, ... and the number of values, dtype_COUNT.
#include "calc/model/fields.def"
#define MODEL_V(prefix, id, name, aliases, help) prefix##_##id,
#define MODEL_ENUM(ident) enum ident##_value{VALUES_##ident(MODEL_V) ident##_COUNT};
MODEL_ENUM(family)
MODEL_ENUM(task)
MODEL_ENUM(mode)
MODEL_ENUM(dtype)
MODEL_ENUM(attention)
MODEL_ENUM(optimizer)
MODEL_ENUM(checkpointing)
MODEL_ENUM(compile)
MODEL_ENUM(cross_entropy)
MODEL_ENUM(keep_logits)
MODEL_ENUM(quantization)
MODEL_ENUM(lora_targets)
MODEL_ENUM(parallel)
MODEL_ENUM(kv_dtype)
#undef MODEL_ENUM
#undef MODEL_V

// How many fields there are.
enum {
    CONFIG_FIELD_COUNT = 0
#define FIELD(type, ident, initial, min, max, unit, group, aliases, help) +1
#include "calc/model/fields.def"
};

void config_defaults(struct vram_config *c);

// Index of a field by key or alias, or -1. The order is that of fields.def.
int config_field(const char *key, size_t len);
int config_set(struct vram_config *c, struct err *e, struct err_pos pos, const char *key,
               size_t key_len, const char *value, size_t value_len);  // not "preset" and "gpu"
uint64_t config_get(const struct vram_config *c, size_t field);
// What a card that is chosen cannot do: run PyTorch's flash attention kernels; compute in bfloat16 natively.
bool model_lacks_flash(const struct vram_config *c);
bool model_lacks_bfloat16(const struct vram_config *c);

// Whether every field is the same; the card is not looked at.
bool config_same(const struct vram_config *a, const struct vram_config *b);
void config_put(struct vram_config *c, size_t field, uint64_t value);
void config_write(struct writer *w, const struct vram_config *c,
                  size_t field);  // as config_set reads it

// What a family has; families.def says which.
enum model_feature {
    HAS_POSITIONS = 1 << 0,  // learned position embedding
    HAS_ROTARY = 1 << 1,
    HAS_FUSED_QKV = 1 << 2,
    HAS_RMS_NORM = 1 << 3,
    HAS_GATE = 1 << 4,       // feed-forward part with a gate
    HAS_GELU_GATE = 1 << 5,  // its activation is GELU, not SiLU
    HAS_QKV_BIAS = 1 << 6,
    HAS_ALL_BIASES = 1 << 7,
    HAS_HEAD_NORM = 1 << 8,  // norms over each head of q and k
    HAS_POST_NORM = 1 << 9,  // norms after attention and after the feed-forward part
    HAS_EMBEDDING_SCALE = 1 << 10,
    HAS_SOFT_CAP = 1 << 11,
    HAS_EXPERTS = 1 << 12,
    HAS_PARALLEL_RESIDUAL = 1 << 13
};

// A parameter tensor of the model.
struct model_param {
    uint16_t name;        // trace_tensor_name()
    int32_t block;        // layer, or -1
    uint64_t rows, cols;  // cols = 0: a vector
    bool trained;
};

// Derived sizes; every product fits (size_ok).
struct model {
    struct vram_config c;  // with every "0 = derived" filled in
    unsigned features;     // HAS_*
    uint64_t tokens;       // batch_size * seq_len
    uint64_t params, reported_params, trained_params;
    uint64_t decayed_params, decayed_tensors, nodecay_params, nodecay_tensors;
    uint64_t tensors;        // parameter tensors
    uint64_t block_tensors;  // of one layer
    bool first, last;    // stage of a pipeline: it has the embedding; it has the head and the loss
    uint64_t in_flight;  // micro-batches whose activations it holds at once
    uint64_t buffer_bytes;  // registered buffers (causal mask of attention=math)
};

// Fills *m from *c. Errors: VRAM_EMODEL (which fields and why), VRAM_EOVERFLOW, VRAM_EUNSUPPORTED.
int model_make(struct model *m, const struct vram_config *c, struct err *e);

// Narrows a model to one stage of its pipeline: the layers and weights of that GPU. stage <
// pipeline_parallel.
void model_stage(struct model *m, uint64_t stage);

// The index-th parameter tensor in the order of registration; false past the end.
bool model_param_at(const struct model *m, uint64_t index, struct model_param *out);

#endif
