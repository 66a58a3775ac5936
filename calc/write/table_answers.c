// Owns the answers as CSV and Markdown.

#include "calc/answer/answers.h"
#include "calc/write/table.h"
#include "calc/write/write_table.h"

static void figure(struct table *t, const char *name, const struct vram_figure *f)
{
    table_str(t, name);
    table_mib(t, f->bytes);
    table_mib(t, f->low);
    table_mib(t, f->high);
    table_str(t, vram_basis_name(f->basis));
    table_end(t);
}

static void figures(struct writer *w, const struct vram_result *r, bool md)
{
    static const char *const csv[] = {"figure", "bytes", "low", "high", "basis"};
    static const char *const mib[] = {"figure", "MiB", "low", "high", "basis"};
    struct table t = table_of(w, md);
    table_head(&t, md ? mib : csv, 5, 1);
    figure(&t, "peak_live_bytes", &r->peak_live);
    figure(&t, "peak_allocated_bytes", &r->peak_allocated);
    figure(&t, "peak_reserved_bytes", &r->peak_reserved);
    figure(&t, "context_bytes", &r->context);
    figure(&t, "process_bytes", &r->process);
    figure(&t, "needed_bytes", &r->needed);
}

static void tensors(struct writer *w, const struct vram_result *r)
{
    static const char *const mib[] = {"tensor", "category", "op", "count", "MiB"};
    struct table t = table_of(w, true);
    table_head(&t, mib, 5, 3);
    for (size_t i = 0; i < r->at_peak_count; i++) {
        table_str(&t, r->at_peak[i].name);
        table_str(&t, vram_category_name(r->at_peak[i].category));
        table_str(&t, r->at_peak[i].op);
        table_u64(&t, r->at_peak[i].count);
        table_mib(&t, r->at_peak[i].bytes);
        table_end(&t);
    }
}

// One table in a CSV file: figures first, then a line for each category.
void csv_report(struct vram *v)
{
    struct writer *w = &v->text;
    const struct vram_result *r = &v->result;
    figures(w, r, false);
    writer_f(w, "params,%u,%u,%u,exact rule\n", r->params, r->params, r->params);
    writer_f(w, "decayed_params,%u,%u,%u,exact rule\n", r->decayed_params, r->decayed_params,
             r->decayed_params);
    writer_f(w, "saved_bytes,%u,%u,%u,exact rule\n", r->saved_bytes, r->saved_bytes,
             r->saved_bytes);
    for (uint32_t c = 0; c < r->category_count; c++)
        writer_f(w, "at_peak.%s,%u,%u,%u,%s\n", vram_category_name(c), r->by_category[c],
                 r->by_category[c], r->by_category[c], vram_basis_name(r->peak_live.basis));
}

void md_report(struct vram *v)
{
    const struct vram_result *r = &v->result;
    figures(&v->text, r, true);
    writer_f(&v->text, "\nAlive at the peak (%s, %s):\n\n", r->peak_phase, r->peak_op);
    tensors(&v->text, r);
}

static void fit(struct vram *v, bool md)
{
    static const char *const names[] = {"gpu",  "fits", "process", "low",
                                        "high", "card", "CUDA",    "nvidia-smi"};
    const struct vram_fit *f = &answers_made(v)->fit;
    struct table t = table_of(&v->text, md);
    table_head(&t, names, 8, 2);
    table_str(&t, f->gpu_name);
    table_str(&t, vram_verdict_fits(f->verdict) ? "yes" : "no");
    table_mib(&t, f->process.bytes);
    table_mib(&t, f->process.low);
    table_mib(&t, f->process.high);
    table_mib(&t, f->gpu_bytes);
    table_mib(&t, f->capacity.cuda_bytes);
    table_mib(&t, f->capacity.total_bytes);
    table_end(&t);
}

void csv_fit(struct vram *v)
{
    fit(v, false);
}

void md_fit(struct vram *v)
{
    fit(v, true);
}

static void advice(struct vram *v, bool md)
{
    static const char *const csv[] = {"change",      "effect",       "result", "slowdown_permille",
                                      "saved_bytes", "process_bytes"};
    static const char *const mib[] = {"change",     "effect",   "result", "slower, per mille",
                                      "saves, MiB", "then, MiB"};
    const struct vram_advice *a = &answers_made(v)->advice->out;
    struct table t = table_of(&v->text, md);
    table_head(&t, md ? mib : csv, 6, 3);
    for (size_t i = 0; i < a->change_count; i++) {
        const struct vram_change *c = &a->changes[i];
        table_str(&t, c->what);
        table_str(&t, c->refusal ? "refused" : vram_effect_name(c->effect));
        table_str(&t, c->refusal ? c->refusal->text : c->result->text);
        table_i64(&t, c->cost_permille);
        table_mib(&t, c->saved_bytes);
        table_mib(&t, c->process_bytes);
        table_end(&t);
    }
}

void csv_advice(struct vram *v)
{
    advice(v, false);
}

void md_advice(struct vram *v)
{
    advice(v, true);
}

static void comparison(struct vram *v, bool md)
{
    static const char *const csv[] = {"formula", "bytes", "difference_percent"};
    static const char *const mib[] = {"formula", "MiB", "difference, %"};
    const struct vram_comparison *c = &answers_made(v)->comparison;
    struct table t = table_of(&v->text, md);
    table_head(&t, md ? mib : csv, 3, 1);
    table_str(&t, "vramcalc");
    table_mib(&t, c->peak_live_bytes);
    table_str(&t, "0");
    table_end(&t);
    for (size_t i = 0; i < c->formula_count; i++) {
        table_str(&t, md ? c->formulas[i].name : c->formulas[i].id);
        table_mib(&t, c->formulas[i].bytes);
        table_tenths(&t, c->formulas[i].difference_permille);
        table_end(&t);
    }
}

void csv_comparison(struct vram *v)
{
    comparison(v, false);
}

void md_comparison(struct vram *v)
{
    comparison(v, true);
}
