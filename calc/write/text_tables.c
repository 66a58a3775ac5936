// Owns the library's tables for people: cards, presets, fields.

#include "calc/base/text.h"
#include "calc/model/contexts.h"
#include "calc/write/number.h"
#include "calc/write/text_parts.h"
#include "calc/write/write_text.h"

static void rate(struct writer *w, uint64_t gflops, unsigned width)
{
    size_t start = w->len;
    if (gflops == 0) {
        put_pad(w, start, width - 1);
        writer_char(w, '-');
        return;
    }
    size_t digits = gflops >= 1000000 ? 6 : gflops >= 100000 ? 5 : gflops >= 10000 ? 4 : 3;
    put_pad(w, start, width > digits ? width - digits : 0);
    writer_fixed(w, gflops, 3, 1);
}

// What the estimate's context and its range rest on.
static void contexts_text(struct writer *w)
{
    struct context_row row;
    writer_str(w,
               "\nCUDA context, outside of the allocator, as published (MiB); the default is 300, "
               "200 to 430\n(bare: without PyTorch's kernels, so the least)\n");
    for (size_t i = 0; context_at(i, &row); i++) {
        size_t start = w->len;
        writer_f(w, "  %u", (uint64_t)row.low_mib);
        if (row.high_mib != row.low_mib)
            writer_f(w, " to %u", (uint64_t)row.high_mib);
        put_pad(w, start, 14);
        put_cell(w, row.card[0] ? row.card : "any card", 24);
        writer_f(w, "%s loading: %s\n                                      %s\n",
                 row.eager  ? "eager"
                 : row.bare ? "bare, lazy"
                            : "lazy",
                 row.what, row.source);
    }
}

void text_gpus(struct vram *v)
{
    struct writer *w = &v->text;
    const struct vram_gpu *g;
    struct vram_capacity card;
    writer_str(w, "card                    nvidia-smi       CUDA       GB/s  fp16 Tflop/s  bf16  "
                  "fp32   SM  cc\n");
    for (size_t i = 0; (g = vram_gpu_at(i)) != NULL; i++) {
        put_cell(w, g->name, 22);
        put_count_right(w, g->memory_bytes / NUMBER_MIB, 11);
        writer_char(w, g->memory_reported ? ' ' : '*');
        vram_gpu_capacity(g, NULL, &card);
        put_count_right(w, card.cuda_bytes / NUMBER_MIB, 10);
        writer_char(w, card.basis == VRAM_CAPACITY_OBSERVED ? ' ' : '~');
        put_count_right(w, (g->bandwidth_mb_s + 500) / 1000, 10);
        rate(w, g->fp16_gflops, 14);
        rate(w, g->bf16_gflops, 8);
        rate(w, g->fp32_gflops, 8);
        writer_u64_right(w, g->sm_count, 5);
        if (g->compute_capability)
            writer_f(w, "  %u.%u\n", (uint64_t)g->compute_capability / 10,
                     (uint64_t)g->compute_capability % 10);
        else
            writer_str(w, "  -\n");
    }
    writer_str(w, "nvidia-smi: the card's total in MiB, as the driver reports it, or (*) the "
                  "advertised size.\n"
                  "CUDA: what processes can have of it on Linux, as seen on such cards, or (~) by "
                  "the cards most like\n"
                  "it; on Windows and under WSL2 it is all. Rates: dense, sums in float32.\n"
                  "Sources: vramcalc gpus --format json\n");
    contexts_text(w);
}

void text_presets(struct vram *v)
{
    const struct vram_preset *p;
    size_t width = 0;
    for (size_t i = 0; (p = vram_preset_at(i)) != NULL; i++)
        width = text_len(p->name) > width ? text_len(p->name) : width;
    for (size_t i = 0; (p = vram_preset_at(i)) != NULL; i++) {
        put_cell(&v->text, p->name, width + 1);
        writer_f(&v->text, "%s\n", p->what);
    }
}

void text_fields(struct vram *v)
{
    struct writer *w = &v->text;
    const struct vram_field *f;
    const char *group = "";
    for (size_t i = 0; (f = vram_field_at(i)) != NULL; i++) {
        if (!text_equal(f->group, text_len(f->group), group)) {
            writer_str(w, i ? "\n" : "");
            put_heading(w, f->group);
        }
        group = f->group;
        size_t start = w->len;
        writer_f(w, "  %s = ", f->key);
        put_default(w, i);
        if (f->unit != VRAM_UNIT_NONE)
            writer_f(w, " %s", vram_unit_name(f->unit));
        put_pad(w, start, 42);
        writer_f(w, " %s\n", f->help);
        for (size_t k = 0; f->values && f->values[k]; k++) {
            writer_str(w, "      ");
            put_cell(w, f->values[k], 15);
            writer_f(w, " %s\n", f->value_help[k]);
        }
    }
}
