// Owns the model that a file names.

#include "calc/parse/model_by_name.h"

#include "calc/model/preset_ids.h"

static const struct vram_preset *preset_named(const char *name)
{
    const struct vram_preset *preset;
    for (size_t i = 0; (preset = vram_preset_at(i)) != NULL; i++)
        if (span_is(span_of(name), preset->name))
            return preset;
    return NULL;
}

int model_by_name(struct parse *p, const struct entry *e)
{
    if (p->v->facts.model)
        return VRAM_OK;
    const char *name = preset_of_id(e->value);
    struct arg model = arg_part("model", e->value.at, e->value.len);
    p->v->facts.model = true;  // said, if not known
    if (!name)
        return err_set(&p->v->err, MESSAGE_model_unknown, e->value_pos, ABOUT("family"), ARGS(model));
    message_list_add(&p->v->notes, MESSAGE_model_by_name, ABOUT("family"), ARGS(model, arg_text("preset", name)));
    return parse_model_fields(p, preset_named(name)->fields);
}
