// Owns what several answers have in common as text: headings, totals of cards, defaults of fields,
// configurations.

#include "calc/write/text_parts.h"

#include "calc/write/number.h"

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

static void put_observations(struct writer *w, const struct vram_capacity *card)
{
    writer_f(w, " on Linux (seen %u time%s", (uint64_t)card->seen, card->seen == 1 ? "" : "s");
    if (card->cuda_low_bytes != card->cuda_high_bytes) {
        writer_str(w, "; extremes ");
        put_mib_round(w, card->cuda_low_bytes);
        writer_str(w, " and ");
        put_mib_round(w, card->cuda_high_bytes);
    }
    writer_char(w, ')');
}

static void put_totals(struct writer *w, const struct vram_capacity *card)
{
    if (card->total_bytes) {
        put_mib_round(w, card->total_bytes);
        writer_str(w, " MiB in nvidia-smi, of which ");
    }
    writer_str(w, "CUDA offers ");
    put_mib_round(w, card->cuda_bytes);
    writer_str(w, card->total_bytes ? "" : " MiB");
    if (card->basis == VRAM_CAPACITY_OBSERVED)
        put_observations(w, card);
    else if (card->basis == VRAM_CAPACITY_RULE)
        writer_str(w, " on Linux (not seen: by what the cards most like it keep back)");
    else
        writer_str(w, " (cuda_memory)");
}

void put_card(struct writer *w, const char *name, const struct vram_capacity *card, uint64_t left)
{
    writer_f(w, "%s: ", name);
    if (card->basis == VRAM_CAPACITY_TOTAL) {
        put_mib_round(w, card->total_bytes);
        writer_str(w, " MiB, all of them for processes");
    } else {
        put_totals(w, card);
    }
    if (left < card->cuda_bytes) {
        writer_str(w, ", less ");
        put_mib_round(w, card->cuda_bytes - left);
        writer_str(w, " MiB of others");
    }
    writer_char(w, '\n');
}

size_t put_notes(struct writer *w, const char *before, const struct vram_message *notes,
                 size_t count)
{
    size_t said = 0;
    for (size_t i = 0; i < count; i++) {
        if (notes[i].line)
            continue;
        writer_f(w, "%snote: %s\n", before, notes[i].text);
        said++;
    }
    return said;
}

// Only what differs from the defaults, and always the fields that people look for.
static bool is_worth_saying(size_t field, uint64_t n)
{
    static const enum config_field_id always[] = {FIELD_n_layer,
                                                  FIELD_n_head,
                                                  FIELD_n_embd,
                                                  FIELD_vocab_size,
                                                  FIELD_block_size,
                                                  FIELD_batch_size,
                                                  FIELD_gradient_accumulation_steps,
                                                  FIELD_dtype};
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
