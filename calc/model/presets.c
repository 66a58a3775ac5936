// Named configurations, applied to a handle field by field.

#include "calc/model/presets.h"

#include "calc/base/text.h"

#ifdef __wasm__
#define PROSE(text) ""
#else
#define PROSE(text) text
#endif

// A short fine-tuning script: weights, gradients and optimizer state in bfloat16, one sequence of 2048 tokens.
#define PRESET_HF_RUN \
    "batch_size=1 seq_len=2048 gradient_accumulation_steps=1 dtype=bfloat16_pure evaluation=0"

enum run { OWN, HF };

static const struct preset PRESETS[] = {
#define PRESET(name, what, run, fields, source) \
    {name, what, run == HF ? PRESET_HF_RUN : "", fields, PROSE(source)},
#include "calc/model/presets.def"
#undef PRESET
};

enum { PRESET_COUNT = sizeof PRESETS / sizeof *PRESETS };

const struct preset *preset_at(size_t index)
{
    return index < PRESET_COUNT ? &PRESETS[index] : NULL;
}

static bool leave_out(const struct vram *v, const char *key, size_t len)
{
    return v->config.mode == MODE_REFERENCE && text_equal(key, len, "compile");
}

int preset_fields(struct vram *v, const char *fields)
{
    while (*fields) {
        size_t key = 0, end = 0;
        while (fields[key] != '=')
            key++;
        for (end = key; fields[end] && fields[end] != ' ';)
            end++;
        if (!leave_out(v, fields, key)) {
            int rc =
                vram_set_at(v, HANDLE_IMPLIED, fields, key, fields + key + 1, end - key - 1);
            if (rc)
                return rc;
        }
        fields += end;
        while (*fields == ' ')
            fields++;
    }
    return VRAM_OK;
}

// A preset is a whole configuration: what an earlier one left must not show through.
static void forget(struct vram *v)
{
    struct vram_config fresh;
    config_defaults(&fresh);
    mem_zero(v->places, sizeof v->places);
    fresh.mode = v->config.mode;
    fresh.gpu = v->config.gpu;
    fresh.gpu_memory = v->config.gpu_memory;
    fresh.other_memory = v->config.other_memory;
    v->config = fresh;
}

static int unknown_preset(struct vram *v, struct err_pos pos, const char *name, size_t len)
{
    const char *names[PRESET_COUNT];
    for (size_t i = 0; i < PRESET_COUNT; i++)
        names[i] = PRESETS[i].name;
    const char *near = err_nearest(name, len, names, PRESET_COUNT);
    int shown = len > 60 ? 60 : (int)len;
    if (near)
        return err_set(&v->err, VRAM_EPRESET, pos,
                       "no preset is called '%.*s': did you mean '%s'?", shown, name, near);
    return err_set(&v->err, VRAM_EPRESET, pos,
                   "no preset is called '%.*s': `vramcalc presets` lists them", shown, name);
}

int preset_apply(struct vram *v, struct err_pos pos, const char *name, size_t len)
{
    for (size_t i = 0; i < PRESET_COUNT; i++) {
        if (text_equal_nocase(name, len, PRESETS[i].name)) {
            forget(v);
            int rc = preset_fields(v, PRESETS[i].fields);
            return rc ? rc : preset_fields(v, PRESETS[i].run);
        }
    }
    return unknown_preset(v, pos, name, len);
}
