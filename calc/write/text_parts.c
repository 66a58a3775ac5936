// Owns what several answers have in common as text: headings, defaults of fields, configurations.

#include "calc/write/text_parts.h"

void put_heading(struct writer *w, const char *text)
{
    writer_style(w, STYLE_HEADING);
    writer_str(w, text);
    writer_style(w, STYLE_PLAIN);
    writer_char(w, '\n');
}

void put_default(struct writer *w, size_t field)
{
    struct vram_config c;
    config_defaults(&c);
    config_write(w, &c, field);
}

// Only what differs from the defaults, and always the fields that people look for.
static bool is_worth_saying(size_t field, uint64_t n)
{
    static const enum config_field_id always[] = {FIELD_n_layer,    FIELD_n_head,     FIELD_n_embd,
                                                  FIELD_vocab_size, FIELD_block_size, FIELD_batch_size,
                                                  FIELD_gradient_accumulation_steps,  FIELD_dtype};
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (field == always[i])
            return true;
    return n != vram_field_at(field)->initial;
}

void put_config(struct writer *w, const struct vram_config *c)
{
    const struct vram_field *f;
    for (size_t i = 0; (f = vram_field_at(i)) != NULL; i++) {
        if (!is_worth_saying(i, config_get(c, i)))
            continue;
        writer_f(w, "%s = ", f->key);
        config_write(w, c, i);
        writer_char(w, '\n');
    }
    const struct vram_gpu *gpu = c->gpu < 0 ? NULL : vram_gpu_at((size_t)c->gpu);
    if (gpu)
        writer_f(w, "gpu = %s\n", gpu->name);
}
