// The fields of a configuration: their struct, their numbers, reading and writing one value.

#ifndef CALC_CONFIG_H
#define CALC_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calc/base/err.h"
#include "calc/base/text.h"
#include "calc/base/writer.h"
#include "calc/vram.h"

enum { CONFIG_LENGTHS = 16 };  // of a list, at most

// Every field of fields.def under its own name, as a stored number (enum: index, fraction:
// millionths, list: how many).
struct vram_config {
#define FIELD(type, ident, initial, min, max, unit, group, aliases, help) uint64_t ident;
#include "calc/model/fields.def"
    uint32_t lengths[CONFIG_LENGTHS];  // the first seq_lens are there
    int32_t gpu;                       // index for vram_gpu_at, or -1
};

// Enumerators: DTYPE_FLOAT16, ... and the number of values, dtype_COUNT.
#include "calc/model/fields.def"
#define CONFIG_V(prefix, id, name, aliases, help) prefix##_##id,
#define CONFIG_ENUM(ident) enum ident##_value{VALUES_##ident(CONFIG_V) ident##_COUNT};
CONFIG_ENUM(family)
CONFIG_ENUM(task)
CONFIG_ENUM(trainer)
CONFIG_ENUM(attention_mask)
CONFIG_ENUM(framework)
CONFIG_ENUM(mode)
CONFIG_ENUM(dtype)
CONFIG_ENUM(attention)
CONFIG_ENUM(kernels)
CONFIG_ENUM(optimizer)
CONFIG_ENUM(checkpointing)
CONFIG_ENUM(use_reentrant)
CONFIG_ENUM(compile)
CONFIG_ENUM(cross_entropy)
CONFIG_ENUM(keep_logits)
CONFIG_ENUM(quantization)
CONFIG_ENUM(prepare_kbit)
CONFIG_ENUM(adapter)
CONFIG_ENUM(adapter_dtype)
CONFIG_ENUM(lora_targets)
CONFIG_ENUM(modules_to_save)
CONFIG_ENUM(lora_kernels)
CONFIG_ENUM(parallel)
CONFIG_ENUM(reshard_after_forward)
CONFIG_ENUM(auto_wrap_policy)
CONFIG_ENUM(backward_prefetch)
CONFIG_ENUM(fsdp_rank)
CONFIG_ENUM(offload_activations)
CONFIG_ENUM(float8)
CONFIG_ENUM(pipeline_stage)
CONFIG_ENUM(pipeline_schedule)
CONFIG_ENUM(kv_dtype)
CONFIG_ENUM(system)
#undef CONFIG_ENUM
#undef CONFIG_V

// Members of a set as one number; every linear layer of the blocks.
#define CONFIG_BIT(member) (UINT64_C(1) << (member))
#define CONFIG_SET_ALL_LINEAR (CONFIG_BIT(TARGET_HEAD) - 1)

// Numbers of the fields: FIELD_n_head, ... and how many there are.
enum config_field_id {
#define FIELD(type, ident, initial, min, max, unit, group, aliases, help) FIELD_##ident,
#include "calc/model/fields.def"
    CONFIG_FIELD_COUNT
};

void config_defaults(struct vram_config *c);

// Index of a field by key or alias, or -1.
int config_field(const char *key, size_t len);

// Digits of a version as it is written: 2.15. Returns them, at the end of text.
const char *config_version(uint64_t n, char text[24]);

// The variable of the allocator's settings, by the version of PyTorch.
const char *config_alloc_conf(const struct vram_config *c);

// Sets a field from text, but not "preset" and "gpu". Errors: VRAM_EKEY, VRAM_EVALUE, VRAM_ERANGE.
int config_set(struct vram_config *c, struct message *e, struct err_pos pos, const char *key,
               size_t key_len, const char *value, size_t value_len);
uint64_t config_get(const struct vram_config *c, size_t field);
void config_put(struct vram_config *c, size_t field, uint64_t value);
void config_write(struct writer *w, const struct vram_config *c,
                  size_t field);  // as config_set reads it

// A value, and "key=value", the latter behind a blank where the text is not empty.
void config_append_value(struct text_line *line, const struct vram_config *c, size_t field);
void config_append(struct text_line *line, const struct vram_config *c, size_t field);

// A value of a field of type SET as config_set reads it, to *out, which is zeroed.
void config_set_text(size_t field, uint64_t members, struct text_line *out);

// The error of a key that is no field.
int config_unknown(struct message *e, struct err_pos pos, const char *key, size_t len);

// The longest sequence of a run.
static inline uint64_t config_longest(const struct vram_config *c)
{
    uint64_t longest = c->seq_lens ? 0 : c->seq_len ? c->seq_len : c->block_size;
    for (uint64_t i = 0; i < c->seq_lens; i++)
        longest = c->lengths[i] > longest ? c->lengths[i] : longest;
    return longest;
}

// framework_version as tables have it: a year's version counts from 2000, 2025.12 is 25012.
static inline uint64_t config_own_version(const struct vram_config *c)
{
    const uint64_t year = 2000000;
    return c->framework_version >= year ? c->framework_version - year : c->framework_version;
}

// Head and loss are one function, which takes the head's weight and no adapter of it. SRC:
// Liger-Kernel transformers/model/llama.py (lm_head.weight); cut_cross_entropy
// transformers/llama.py; trl kernels/chunked_logprob.py.
static inline bool config_fuses_head(const struct vram_config *c)
{
    return c->cross_entropy == CROSS_ENTROPY_CHUNKED || c->cross_entropy == CROSS_ENTROPY_CCE ||
           c->cross_entropy == CROSS_ENTROPY_TILED;
}

// SRC: torchtune modules/loss/ce_chunked_output_loss.py, cross_entropy_loss.py (num_output_chunks).
static inline uint64_t config_loss_chunks(const struct vram_config *c)
{
    const uint64_t own = 8;
#ifndef VRAM_SMALL
    return c->cross_entropy_chunks ? c->cross_entropy_chunks : own;
#else
    (void)c;
    return own;
#endif
}

// Every block runs again but for attention, if that.
static inline bool checkpointing_is_of_all(const struct vram_config *c)
{
#ifndef VRAM_SMALL
    if (c->checkpointing == CHECKPOINTING_ATTENTION)
        return true;
#endif
    return c->checkpointing == CHECKPOINTING_BLOCK;
}

// A policy chooses what is kept.
static inline bool checkpointing_chooses(const struct vram_config *c)
{
    return c->checkpointing >= CHECKPOINTING_SELECTIVE;
}

// A loss that is compiled where the model may not be.
static inline bool config_compiles_loss(const struct vram_config *c)
{
#ifndef VRAM_SMALL
    return c->cross_entropy == CROSS_ENTROPY_COMPILED;
#else
    (void)c;
    return false;
#endif
}

// Whether every field is the same; the card is not looked at.
bool config_same(const struct vram_config *a, const struct vram_config *b);

#endif
