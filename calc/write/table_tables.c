// Owns the library's tables as CSV and Markdown: cards, presets, fields.

#include "calc/write/table.h"
#include "calc/write/text_parts.h"
#include "calc/write/write_table.h"

static void gpus(struct vram *v, bool md)
{
    static const char *const names[] = {
        "card",         "memory basis",  "source",          "CUDA basis",
        "nvidia-smi",   "CUDA on Linux", "bandwidth MB/s",  "fp16 Gflop/s",
        "bf16 Gflop/s", "fp32 Gflop/s",  "multiprocessors", "compute capability x10"};
    const struct vram_gpu *g;
    struct vram_capacity card;
    struct table t = table_of(&v->text, md);
    table_head(&t, names, 12, 4);
    for (size_t i = 0; (g = vram_gpu_at(i)) != NULL; i++) {
        vram_gpu_capacity(g, NULL, &card);
        table_str(&t, g->name);
        table_str(&t, g->memory_reported ? "reported" : "nominal");
        table_str(&t, g->source ? g->source : "");
        table_str(&t, vram_capacity_name(card.basis));
        table_mib(&t, g->memory_bytes);
        table_mib(&t, card.cuda_bytes);
        table_u64(&t, g->bandwidth_mb_s);
        table_u64(&t, g->fp16_gflops);
        table_u64(&t, g->bf16_gflops);
        table_u64(&t, g->fp32_gflops);
        table_u64(&t, g->sm_count);
        table_u64(&t, g->compute_capability);
        table_end(&t);
    }
}

void csv_gpus(struct vram *v)
{
    gpus(v, false);
}

void md_gpus(struct vram *v)
{
    gpus(v, true);
}

static void presets(struct vram *v, bool md)
{
    static const char *const names[] = {"preset", "what", "fields", "source"};
    const struct vram_preset *p;
    struct table t = table_of(&v->text, md);
    table_head(&t, names, 4, 4);
    for (size_t i = 0; (p = vram_preset_at(i)) != NULL; i++) {
        table_str(&t, p->name);
        table_str(&t, p->what);
        table_str(&t, p->fields);
        table_str(&t, p->source);
        table_end(&t);
    }
}

void csv_presets(struct vram *v)
{
    presets(v, false);
}

void md_presets(struct vram *v)
{
    presets(v, true);
}

void md_fields(struct vram *v)
{
    struct writer *w = &v->text;
    const struct vram_field *f;
    writer_str(w, "| field | default | what it is |\n| --- | --- | --- |\n");
    for (size_t i = 0; (f = vram_field_at(i)) != NULL; i++) {
        writer_f(w, "| `%s` | `", f->key);
        put_default(w, i);
        writer_f(w, "` | %s", f->help);
        for (size_t k = 0; f->values && f->values[k]; k++)
            writer_f(w, "%s`%s` (%s)", k ? ", " : ": ", f->values[k], f->value_help[k]);
        writer_str(w, " |\n");
    }
}
