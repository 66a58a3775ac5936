// Owns what several answers have in common as JSON: what vram_visit names, and configurations.

#include "calc/write/json_parts.h"

#include "calc/base/text.h"
#include "calc/write/visit_objects.h"

// A set as the text that reads it.
void json_set(struct json *j, const char *key, const struct vram_field *f, uint64_t n)
{
    struct text_line line = {{0}, 0};
    config_set_text((size_t)config_field(f->key, text_len(f->key)), n, &line);
    json_str(j, key, line.text);
}

static void json_text_value(struct json *j, const struct vram_config *c, size_t field)
{
    struct text_line line = {{0}, 0};
    config_append_value(&line, c, field);
    json_str(j, vram_field_at(field)->key, line.text);
}

void json_field_value(struct json *j, const struct vram_config *c, size_t field)
{
    const struct vram_field *f = vram_field_at(field);
    uint64_t n = config_get(c, field);
    if (f->type == VRAM_TYPE_ENUM)
        json_str(j, f->key, f->values[n]);
    else if (f->type == VRAM_TYPE_BOOL)
        json_bool(j, f->key, n != 0);
    else if (f->type >= VRAM_TYPE_SET)
        json_text_value(j, c, field);
    else
        json_fixed(j, f->key, n, f->type == VRAM_TYPE_FRACTION ? 6 : 0);
}

void json_fields(struct json *j, const char *key, const struct vram_config *c)
{
    json_open(j, key, '{');
    for (size_t i = 0; vram_field_at(i); i++)
        json_field_value(j, c, i);
    const struct vram_gpu *gpu = c->gpu < 0 ? NULL : vram_gpu_at((size_t)c->gpu);
    json_str(j, "gpu", gpu ? gpu->name : NULL);
    json_close(j, '}');
}

// ---- what vram_visit names -------------------------------------------------------------------

static struct json *json_in(void *ctx)
{
    return &((struct json_visit *)ctx)->j;
}

static void put_open(void *ctx, const char *key, const char *kind)
{
    json_open(json_in(ctx), key, kind ? '{' : '[');
}

static void put_close(void *ctx, const char *kind)
{
    json_close(json_in(ctx), kind ? '}' : ']');
}

static void put_number(void *ctx, const char *key, uint64_t n, uint32_t unit)
{
    (void)unit;
    json_u64(json_in(ctx), key, n);
}

static void put_difference(void *ctx, const char *key, int64_t n)
{
    json_i64(json_in(ctx), key, n);
}

static void put_fixed(void *ctx, const char *key, uint64_t n, unsigned decimals)
{
    json_fixed(json_in(ctx), key, n, decimals);
}

static void put_text(void *ctx, const char *key, const char *text)
{
    json_str(json_in(ctx), key, text);
}

static void put_truth(void *ctx, const char *key, bool yes)
{
    json_bool(json_in(ctx), key, yes);
}

static void put_config(void *ctx, const char *key)
{
    json_fields(json_in(ctx), key, ((struct json_visit *)ctx)->config);
}

const struct vram_visitor json_visitor = {put_open,       put_close,  put_number,
                                          put_difference, put_fixed,  put_text,
                                          put_truth,      put_config, VRAM_DOOR_COMMAND};

void json_message(struct json *j, const char *key, const struct vram_message *m)
{
    struct json_visit to = {*j, NULL};
    visit_object(&visit_message, m, key, &json_visitor, &to);
    *j = to.j;
}
