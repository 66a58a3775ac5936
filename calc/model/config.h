// The fields of a configuration: their struct, their numbers, reading and writing one value.

#ifndef CALC_CONFIG_H
#define CALC_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calc/base/err.h"
#include "calc/base/writer.h"
#include "calc/vram.h"

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
// Whether every field is the same; the card is not looked at.
bool config_same(const struct vram_config *a, const struct vram_config *b);
void config_put(struct vram_config *c, size_t field, uint64_t value);
void config_write(struct writer *w, const struct vram_config *c,
                  size_t field);  // as config_set reads it

#endif
