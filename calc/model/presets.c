// Owns named configurations: their table, and applying one field by field.

#include "calc/model/presets.h"

#include "calc/base/text.h"
#include "calc/model/gpus.h"
#include "calc/model/preset_ids.h"
#include "calc/model/unmodelled.h"

#ifdef __wasm__
#define PROSE(text) ""
#else
#define PROSE(text) text
#endif

// A short fine-tuning script: weights, gradients and optimizer state in bfloat16, one sequence of
// 2048 tokens, or of as many as BERT has positions.
#define PRESET_HF_RUN(length) \
    "batch_size=1 seq_len=" length " gradient_accumulation_steps=1 dtype=auto evaluation=0"

enum run { OWN, HF, HF_512 };

static const struct vram_preset PRESETS[] = {
#define PRESET(name, what, run, fields, source) \
    {name, what, fields, \
     run == HF       ? PRESET_HF_RUN("2048") \
     : run == HF_512 ? PRESET_HF_RUN("512") \
                     : "", \
     PROSE(source)},
#include "calc/model/presets.def"
#undef PRESET
};

enum { PRESET_COUNT = sizeof PRESETS / sizeof *PRESETS };

const struct vram_preset *vram_preset_at(size_t index)
{
    return index < PRESET_COUNT ? &PRESETS[index] : NULL;
}

static bool leave_out(const struct vram_config *c, const char *key, size_t len)
{
    return c->mode == MODE_REFERENCE && text_equal(key, len, "compile");
}

static int set_one(struct vram_config *c, struct message *e, const char *key, size_t key_len,
                   const char *value, size_t value_len)
{
    if (text_equal(key, key_len, "gpu"))
        return gpu_choose(c, e, NO_POS, value, value_len);
    return config_set(c, e, NO_POS, key, key_len, value, value_len);
}

int preset_fields(struct vram_config *c, struct message *e, const char *fields)
{
    while (*fields) {
        size_t key = 0, end = 0;
        while (fields[key] != '=')
            key++;
        for (end = key; fields[end] && fields[end] != ' ';)
            end++;
        int rc = leave_out(c, fields, key)
                     ? VRAM_OK
                     : set_one(c, e, fields, key, fields + key + 1, end - key - 1);
        if (rc)
            return rc;
        fields += end;
        while (*fields == ' ')
            fields++;
    }
    return VRAM_OK;
}

// A preset is a whole configuration: what an earlier one left must not show through.
static void forget(struct vram_config *c)
{
    struct vram_config fresh;
    config_defaults(&fresh);
    fresh.mode = c->mode;
    fresh.gpu = c->gpu;
    fresh.gpu_memory = c->gpu_memory;
    fresh.cuda_memory = c->cuda_memory;
    fresh.system = c->system;
    fresh.other_memory = c->other_memory;
    *c = fresh;
}

static int unknown_preset(struct message *e, struct err_pos pos, const char *name, size_t len)
{
    const char *names[PRESET_COUNT];
    for (size_t i = 0; i < PRESET_COUNT; i++)
        names[i] = PRESETS[i].name;
#ifndef VRAM_SMALL
    const char *type = unmodelled_type((struct span){name, len});
    if (type)
        return err_set(e, MESSAGE_model_not_modelled, pos, ABOUT("preset"),
                       ARGS(arg_part("model", name, len), arg_text("type", type),
                            arg_text("near", unmodelled_near(span_of(type)))));
#endif
    const char *near = vram_nearest(name, len, names, PRESET_COUNT);
    if (near)
        return err_set(e, MESSAGE_unknown_preset_near, pos, ABOUT("preset"),
                       ARGS(arg_part("name", name, len), arg_text("near", near)));
    return err_set(e, MESSAGE_unknown_preset, pos, ABOUT("preset"),
                   ARGS(arg_part("name", name, len)));
}

static const struct vram_preset *preset_named(struct span name)
{
    for (size_t i = 0; i < PRESET_COUNT; i++)
        if (text_equal_nocase(name.at, name.len, PRESETS[i].name))
            return &PRESETS[i];
    return NULL;
}

int preset_apply(struct vram_config *c, struct message *e, struct err_pos pos, const char *name,
                 size_t len)
{
    uint8_t stored = QUANTIZATION_NONE;
    struct span id = {name, len};
    const struct vram_preset *preset = preset_named(id);
    if (!preset)
        preset = preset_of_id(id, &stored);  // "meta-llama/Llama-3.2-1B"
    if (!preset)
        return unknown_preset(e, pos, name, len);
    forget(c);
    int rc = preset_fields(c, e, preset->fields);
    rc = rc ? rc : preset_fields(c, e, preset->run);
    if (stored != QUANTIZATION_NONE)
        c->quantization = stored;
    return rc;
}
