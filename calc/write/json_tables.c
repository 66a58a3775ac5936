// Owns the library's tables as JSON: presets, and the fields as a JSON Schema.

#include "calc/write/json.h"
#include "calc/write/json_parts.h"
#include "calc/write/write_json.h"

void json_presets(struct vram *v)
{
    const struct vram_preset *p;
    struct json j = json_of(&v->text);
    json_open(&j, NULL, '[');
    for (size_t i = 0; (p = vram_preset_at(i)) != NULL; i++) {
        json_open(&j, NULL, '{');
        json_str(&j, "name", p->name);
        json_str(&j, "what", p->what);
        json_str(&j, "fields", p->fields);
        json_str(&j, "run", p->run);
        if (p->source[0])
            json_str(&j, "source", p->source);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_end(&j);
}

static void values(struct json *j, const struct vram_field *f)
{
    json_open(j, "enum", '[');
    for (size_t k = 0; f->values[k]; k++)
        json_str(j, NULL, f->values[k]);
    json_close(j, ']');
    json_str(j, "default", f->values[f->initial]);
}

// A set is a text of names; which ones it takes is in the examples.
static void members(struct json *j, const struct vram_field *f)
{
    json_str(j, "type", "string");
    json_open(j, "examples", '[');
    for (size_t k = 0; f->values[k]; k++)
        json_str(j, NULL, f->values[k]);
    json_close(j, ']');
    json_set(j, "default", f, f->initial);
}

static void aliases(struct json *j, const struct vram_field *f)
{
    json_open(j, "aliases", '[');
    for (const char *at = f->aliases; *at; at += *at == ' ') {
        char name[48];
        size_t n = 0;
        for (; *at && *at != ' '; at++)
            if (n + 1 < sizeof name)
                name[n++] = *at;
        name[n] = 0;
        json_str(j, NULL, name);
    }
    json_close(j, ']');
}

// Numbers with + between them, or an array.
static void list(struct json *j, const struct vram_field *f)
{
    json_open(j, "type", '[');
    json_str(j, NULL, "string");
    json_str(j, NULL, "array");
    json_close(j, ']');
    json_str(j, "pattern", "^(none|[0-9]+([+,][0-9]+)*)$");
    json_open(j, "items", '{');
    json_str(j, "type", "integer");
    json_u64(j, "minimum", 1);
    json_u64(j, "maximum", f->max);
    json_close(j, '}');
    json_u64(j, "maxItems", CONFIG_LENGTHS);
    json_str(j, "default", "none");
}

static void field(struct json *j, const struct vram_field *f)
{
    unsigned decimals = f->type == VRAM_TYPE_FRACTION ? 6 : 0;
    json_open(j, f->key, '{');
    json_str(j, "description", f->help);
    json_str(j, "group", f->group);
    json_str(j, "unit", vram_unit_name(f->unit));
    aliases(j, f);
    if (f->type == VRAM_TYPE_ENUM) {
        values(j, f);
    } else if (f->type == VRAM_TYPE_SET) {
        members(j, f);
    } else if (f->type == VRAM_TYPE_LIST) {
        list(j, f);
    } else if (f->type == VRAM_TYPE_BOOL) {
        json_str(j, "type", "boolean");
        json_bool(j, "default", f->initial != 0);
    } else if (f->type == VRAM_TYPE_VERSION) {
        json_str(j, "type", "string");
        json_str(j, "pattern", "^[0-9]+[.][0-9]+");
        json_str(j, "default", config_version(f->initial, (char[24]){0}));
    } else {
        json_str(j, "type", decimals ? "number" : "integer");
        json_fixed(j, "minimum", f->min, decimals);
        json_fixed(j, "maximum", f->max, decimals);
        json_fixed(j, "default", f->initial, decimals);
    }
    json_close(j, '}');
}

static void gpu_field(struct json *j)
{
    json_open(j, "gpu", '{');
    json_str(j, "description", "card, by name");
    json_open(j, "type", '[');
    json_str(j, NULL, "string");
    json_str(j, NULL, "null");
    json_close(j, ']');
    json_close(j, '}');
}

void json_schema(struct vram *v)
{
    const struct vram_field *f;
    struct json j = json_of(&v->text);
    json_open(&j, NULL, '{');
    json_str(&j, "$schema", "https://json-schema.org/draft/2020-12/schema");
    json_str(&j, "title", "A training configuration of vramcalc");
    json_str(&j, "type", "object");
    json_open(&j, "properties", '{');
    for (size_t i = 0; (f = vram_field_at(i)) != NULL; i++)
        field(&j, f);
    gpu_field(&j);
    json_close(&j, '}');
    json_bool(&j, "additionalProperties", false);
    json_close(&j, '}');
    json_end(&j);
}
