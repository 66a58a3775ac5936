// Owns what several answers have in common as JSON: sentences and configurations.

#include "calc/write/json_parts.h"

#include "calc/base/text.h"

void json_sentence(struct json *j, const struct vram_message *m)
{
    json_str(j, "id", m->id);
    json_str(j, "field", m->field);
    json_str(j, "text", m->text);
    json_open(j, "args", '{');
    for (size_t i = 0; i < m->arg_count; i++)
        if (m->args[i].text)
            json_str(j, m->args[i].name, m->args[i].text);
        else
            json_u64(j, m->args[i].name, m->args[i].number);
    json_close(j, '}');
}

void json_message(struct json *j, const char *key, const struct vram_message *m)
{
    if (!m) {
        json_null(j, key);
        return;
    }
    json_open(j, key, '{');
    json_sentence(j, m);
    json_close(j, '}');
}

void json_messages(struct json *j, const char *key, const struct vram_message *m, size_t count)
{
    json_open(j, key, '[');
    for (size_t i = 0; i < count; i++)
        json_message(j, NULL, &m[i]);
    json_close(j, ']');
}

void json_capacity(struct json *j, const struct vram_capacity *card)
{
    json_u64(j, "memory_bytes", card->total_bytes);
    json_u64(j, "cuda_bytes", card->cuda_bytes);
    json_u64(j, "cuda_low_bytes", card->cuda_low_bytes);
    json_u64(j, "cuda_high_bytes", card->cuda_high_bytes);
    json_str(j, "cuda_basis", vram_capacity_name(card->basis));
    json_u64(j, "cuda_seen", card->seen);
}

// A set as the text that reads it.
void json_set(struct json *j, const char *key, const struct vram_field *f, uint64_t n)
{
    struct text_line line = {{0}, 0};
    config_set_text((size_t)config_field(f->key, text_len(f->key)), n, &line);
    json_str(j, key, line.text);
}

void json_field_value(struct json *j, const struct vram_field *f, uint64_t n)
{
    if (f->type == VRAM_TYPE_ENUM)
        json_str(j, f->key, f->values[n]);
    else if (f->type == VRAM_TYPE_SET)
        json_set(j, f->key, f, n);
    else if (f->type == VRAM_TYPE_BOOL)
        json_bool(j, f->key, n != 0);
    else if (f->type == VRAM_TYPE_VERSION)
        json_str(j, f->key, config_version(n, (char[24]){0}));
    else
        json_fixed(j, f->key, n, f->type == VRAM_TYPE_FRACTION ? 6 : 0);
}

void json_fields(struct json *j, const char *key, const struct vram_config *c)
{
    const struct vram_field *f;
    json_open(j, key, '{');
    for (size_t i = 0; (f = vram_field_at(i)) != NULL; i++)
        json_field_value(j, f, config_get(c, i));
    const struct vram_gpu *gpu = c->gpu < 0 ? NULL : vram_gpu_at((size_t)c->gpu);
    json_str(j, "gpu", gpu ? gpu->name : NULL);
    json_close(j, '}');
}
