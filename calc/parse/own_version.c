// Owns what framework_version means for a file of a format.

#include "calc/parse/own_version.h"

#include "calc/base/text.h"

// "1.16" as fields have it.
static uint64_t read_version(const char *text)
{
    uint64_t part[2] = {0, 0};
    for (unsigned i = 0; *text && i < 2; text++)
        if (*text == '.')
            i++;
        else
            part[i] = 10 * part[i] + (uint64_t)(*text - '0');
    return 1000 * part[0] + part[1];
}

void own_version(struct parse *p, enum format_id format, const char *title, const char *newest)
{
    struct vram_config *c = &p->v->config;
    uint64_t own = c->framework_version, least = vram_field_at(FIELD_transformers)->min;
    if (format == FORMAT_TRAINER && own >= least && !p->v->places[FIELD_transformers].line) {
        c->transformers = own;
        return;
    }
    if (format == FORMAT_UNSLOTH || own <= read_version(newest))
        return;
    char text[24];
    message_list_add(&p->v->notes, MESSAGE_newer_framework, NO_FIELD,
                     ARGS(arg_text("value", config_version(own, text)), arg_text("newest", newest),
                          arg_text("format", title)));
}
