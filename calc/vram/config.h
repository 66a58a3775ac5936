// libvram: the fields of a configuration, and the texts that they are read from.

#ifndef VRAM_CONFIG_H
#define VRAM_CONFIG_H

#include "handle.h"

#ifdef __cplusplus
extern "C" {
#endif

// Sets one field from text: "16", "true", "bfloat16", "0.1".
// key: a field of vram_field_at or one of its aliases, "preset", or "gpu".
// Errors: VRAM_EKEY, VRAM_EVALUE, VRAM_ERANGE, VRAM_EPRESET, VRAM_EGPU.
VRAM_API int vram_set(vram *v, const char *key, const char *value);
VRAM_API int vram_set_n(vram *v, const char *key, size_t key_len, const char *value,
                        size_t value_len);
// Sets one field to its stored number; a list then has this one member.
VRAM_API int vram_set_u64(vram *v, const char *key, uint64_t value);

// Writes a field's value as text that vram_set reads back. Returns the length without the NUL that
// is always written when cap > 0, or a negative code.
VRAM_API int vram_get(vram *v, const char *key, char *out, size_t cap);

// The stored number: counts as they are, enum and bool as their index, fractions in millionths,
// versions as 1000 * major + minor, a set as a bit for each of its values, of a list the
// longest, 0 where it is empty.
VRAM_API int vram_get_u64(vram *v, const char *key, uint64_t *value);

enum vram_type {
    VRAM_TYPE_COUNT,
    VRAM_TYPE_BOOL,
    VRAM_TYPE_FRACTION,
    VRAM_TYPE_ENUM,
    VRAM_TYPE_SET,
    VRAM_TYPE_VERSION,
    VRAM_TYPE_LIST
};

// A row of the table of fields, for help, forms and schemas.
struct vram_field {
    const char *key, *aliases;  // aliases separated by spaces, "" if none
    const char *group, *help;
    uint32_t type, unit;            // enum vram_type, enum vram_unit
    uint64_t initial, min, max;     // stored numbers; fractions in millionths
    const char *const *values;      // enum and set: names, NULL at the end; else NULL
    const char *const *value_help;  // enum and set: one line each
};
VRAM_API const struct vram_field *vram_field_at(size_t index);       // NULL past the end
VRAM_API const struct vram_field *vram_field_find(const char *key);  // by key or alias, or NULL

// Kinds that the small module has no room for.
#ifdef VRAM_SMALL
#define VRAM_KINDS_WHOLE(X)
#else
#define VRAM_KINDS_WHOLE(X) \
    X(DPO, "dpo", "TRL's DPOConfig: YAML, JSON or a Python call") \
    X(REWARD, "reward", "TRL's RewardConfig: the same") \
    X(SETTINGS, "settings", "YAML, JSON or TOML that a Python file behind it takes values from")
#endif

// What kind of text vram_parse gets.
#define VRAM_KINDS(X) \
    X(FLAT, "flat", "key = value lines, # comments") \
    X(NANOGPT, "nanogpt", "nanoGPT's config/*.py or train.py") \
    X(HF, "hf", "a Hugging Face config.json, flattened to key = value lines (a.b for nesting)") \
    X(LOG, "log", "a training log: parameter counts and the echoed configuration") \
    X(AUTO, "auto", "whichever of these the text's own keys say") \
    X(TRAINER, "trainer", "the Hugging Face trainer's arguments: YAML, JSON or a Python call") \
    X(SFT, "sft", "TRL's SFTConfig: YAML, JSON or a Python call") \
    X(ADAPTER, "adapter", "PEFT's adapter_config.json") \
    X(GENERATION, "generation", "transformers' generation_config.json") \
    X(DEEPSPEED, "deepspeed", "DeepSpeed's JSON") \
    X(ACCELERATE, "accelerate", "accelerate's YAML") \
    X(AXOLOTL, "axolotl", "axolotl's YAML") \
    X(LLAMAFACTORY, "llamafactory", "LLaMA-Factory's YAML") \
    X(LITGPT, "litgpt", "LitGPT's YAML") \
    X(NANOTRON, "nanotron", "nanotron's YAML") \
    X(TORCHTUNE, "torchtune", "torchtune's YAML") \
    X(TORCHTITAN, "torchtitan", "torchtitan's TOML, or the file that it saves") \
    X(SWIFT, "swift", "ms-swift's command line") \
    X(VLLM, "vllm", "vLLM's command line") \
    X(LLAMACPP, "llamacpp", "llama.cpp's command line") \
    X(UNSLOTH, "unsloth", "Unsloth's FastLanguageModel in a Python file") \
    VRAM_KINDS_WHOLE(X)

enum vram_kind {
#define X(id, name, text) VRAM_KIND_##id,
    VRAM_KINDS(X)
#undef X
        VRAM_KIND_COUNT
};

// Reads text into the configuration, over what is there: several files of one run are read one
// after the other. file is a name for messages only; nothing is opened. Keys that belong to
// training but not to memory (learning_rate, ...) are accepted; a key that is not known is a
// warning, as is one that makes the run take less than is modelled. each gets every error, and
// every warning (its code is VRAM_OK), in the order in which they are found; NULL: no one does.
// Warnings are also notes of v. If there is an error, the configuration stays as it was, vram_error
// has the first and its code is returned.
VRAM_API int vram_parse(vram *v, enum vram_kind kind, const char *text, size_t len,
                        const char *file, vram_message_fn *each, void *ctx);

// A key and its value out of a structured file, and where they are in it (line 0: unknown).
struct vram_pair {
    const char *key;    // nested names joined by points: "text_config.hidden_size"
    const char *value;  // as vram_set takes it
    uint32_t key_line, key_col, value_line, value_col;
};

// As vram_parse, for a structured file that the caller has read: lists are values with commas
// between them, null is "null". kind is any but NANOGPT and LOG.
VRAM_API int vram_parse_pairs(vram *v, enum vram_kind kind, const struct vram_pair *pairs,
                              size_t count, const char *file, vram_message_fn *each, void *ctx);

// The kind of a text, without reading it into v: one of the structured kinds, FLAT, NANOGPT or LOG.
// AUTO: it is none that is known, or it cannot be read.
VRAM_API enum vram_kind vram_recognize(vram *v, const char *text, size_t len, const char *file);

// Checks the configuration as a whole. Errors: VRAM_EMODEL, VRAM_EOVERFLOW, VRAM_EUNSUPPORTED.
VRAM_API int vram_check(vram *v);

#ifdef __cplusplus
}
#endif

#endif
