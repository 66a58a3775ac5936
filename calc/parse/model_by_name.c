// Owns the model that a file names.

#include "calc/parse/model_by_name.h"

#include "calc/base/mem.h"
#include "calc/model/preset_ids.h"
#include "calc/model/unmodelled.h"
#include "calc/parse/lookup.h"

// Whether a preset's model is another one than that of the configuration. Its vocabulary may have
// been extended.
static bool is_other_model(const struct parse *p, const struct vram_preset *preset)
{
    static const uint8_t sizes[] = {FIELD_family, FIELD_n_layer, FIELD_n_embd, FIELD_n_head};
    struct vram_config named = p->v->config;
    const char *at = preset->fields;
    for (size_t i = 0; i < sizeof sizes; i++)
        config_put(&named, sizes[i], vram_field_at(sizes[i])->initial);
    while (*at) {
        size_t key = span_find(span_of(at), "="), len = span_find(span_of(at), " ");
        int field = config_field(at, key);
        struct message e;
        message_clear(&e);
        for (size_t i = 0; i < sizeof sizes; i++)
            if (field == sizes[i])
                config_set(&named, &e, (struct err_pos){0}, at, key, at + key + 1, len - key - 1);
        at += len + (at[len] == ' ');
    }
    for (size_t i = 0; i < sizeof sizes; i++)
        if (config_get(&named, sizes[i]) != config_get(&p->v->config, sizes[i]))
            return true;
    return false;
}

// adapter_config.json knows nothing of the run: without a trainer's file it is a preset's, but for
// what has been said.
static int run_of_adapter(struct parse *p, const char *run)
{
#ifdef __wasm__
    (void)p, (void)run;
    return VRAM_OK;  // the page's form has a run of its own
#else
    struct vram *v = p->v;
    struct vram_config before = v->config;
    struct handle_place said[CONFIG_FIELD_COUNT];
    if (v->facts.trainer || !pair_find(p, "peft_type"))
        return VRAM_OK;
    mem_copy(said, v->places, sizeof said);
    int rc = handle_imply(v, run);
    for (size_t i = 0; i < CONFIG_FIELD_COUNT; i++)
        if (said[i].line) {
            config_put(&v->config, i, config_get(&before, i));
            v->places[i] = said[i];
        }
    return rc;
#endif
}

// What is not modelled of the model, or of how its weights are stored, is about its name.
static void place_at_name(struct parse *p, const struct entry *e, bool stored)
{
    struct handle_place at = {e->value_pos.line, e->value_pos.col};
    p->v->places[FIELD_family] = at;
    if (stored)
        p->v->places[FIELD_quantization] = at;
}

static int unknown(struct parse *p, const struct entry *e, struct arg model)
{
#ifndef VRAM_SMALL
    const char *type = unmodelled_type(e->value);
    if (type)
        return err_set(
            &p->v->err, MESSAGE_model_not_modelled, e->value_pos, ABOUT("family"),
            ARGS(model, arg_text("type", type), arg_text("near", unmodelled_near(span_of(type)))));
#endif
    return err_set(&p->v->err, MESSAGE_model_unknown, e->value_pos, ABOUT("family"), ARGS(model));
}

int model_by_name(struct parse *p, const struct entry *e)
{
    uint8_t stored;
    const struct vram_preset *preset = preset_of_id(e->value, &stored);
    struct arg model = arg_part("model", e->value.at, e->value.len);
    if (p->v->facts.model) {
        if (preset && is_other_model(p, preset))
            parse_warn(p, MESSAGE_model_differs, e->value_pos,
                       ARGS(model, arg_text("preset", preset->name)));
        return VRAM_OK;
    }
    p->v->facts.model = true;  // said, if not known
    if (!preset)
        return unknown(p, e, model);
    message_list_add(&p->v->notes, MESSAGE_model_by_name, ABOUT("family"),
                     ARGS(model, arg_text("preset", preset->name)));
    int rc = parse_model_fields(p, preset->fields);
    rc = rc ? rc : run_of_adapter(p, preset->run);
    bool takes = rc == VRAM_OK && p->v->config.quantization == QUANTIZATION_NONE;
    if (takes)
        p->v->config.quantization = stored;
    place_at_name(p, e, takes && stored != QUANTIZATION_NONE);
    return rc;
}
