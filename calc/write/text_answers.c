// Owns the shorter answers as text: fit, largest batch, comparison, configuration, error.

#include "calc/answer/answers.h"
#include "calc/write/number.h"
#include "calc/write/text_parts.h"
#include "calc/write/write_text.h"

static const char MARGIN[] = "; the margin is smaller than the error bound";
static const char RETURNED[] = "; only once PyTorch has returned its cache";

void text_fit(struct vram *v)
{
    static const struct {
        const char *words;
        enum writer_style style;
    } verdicts[VRAM_VERDICT_COUNT] = {
        [VRAM_VERDICT_FITS] = {"fits", STYLE_GOOD},
        [VRAM_VERDICT_TIGHT] = {"fits", STYLE_CLOSE},
        [VRAM_VERDICT_NEARLY] = {"probably does not fit", STYLE_BAD},
        [VRAM_VERDICT_TOO_BIG] = {"does not fit", STYLE_BAD},
    };
    const struct vram_fit *f = &answers_made(v)->fit;
    struct writer *w = &v->text;
    bool returned = f->alloc_retries && vram_verdict_fits(f->verdict);
    bool close = f->verdict == VRAM_VERDICT_TIGHT || f->verdict == VRAM_VERDICT_NEARLY;
    writer_style(w, verdicts[f->verdict].style);
    writer_f(w, "%s: ", verdicts[f->verdict].words);
    put_mib_round(w, f->process.bytes);
    writer_str(w, " MiB needed (");
    put_mib_round(w, f->process.low);
    writer_str(w, " to ");
    put_mib_round(w, f->process.high);
    writer_str(w, "), ");
    put_mib_round(w, f->gpu_bytes);
    writer_f(w, " MiB for it on the %s%s", f->gpu_name, returned ? RETURNED : close ? MARGIN : "");
    writer_style(w, STYLE_PLAIN);
    writer_char(w, '\n');
    put_card(w, f->gpu_name, &f->capacity, f->gpu_bytes);
    put_notes(w, "", f->notes, f->note_count);
}

void text_max_batch(struct vram *v)
{
    const struct vram_max_batch *m = &answers_made(v)->max_batch;
    struct writer *w = &v->text;
    if (m->refusal) {
        writer_f(w, "%s\n", m->refusal->text);
        return;
    }
    writer_f(w, "batch_size = %u\n", m->batch_size);
    if (v->config.task == TASK_TRAIN)
        writer_f(w,
                 "gradient_accumulation_steps = %u   # keeps %u sequences a step, or the next "
                 "number above\n",
                 m->gradient_accumulation_steps, m->sequences);
    writer_str(w, "# ");
    put_mib_round(w, m->process_bytes);
    writer_str(w, " of ");
    put_mib_round(w, m->gpu_bytes);
    writer_f(w, " MiB for it on the %s", m->gpu_name);
    if (m->safe_batch_size == m->batch_size)
        writer_str(w, ", with the whole error bound\n");
    else if (m->safe_batch_size)
        writer_f(w, "; with the whole error bound batch_size = %u fits\n", m->safe_batch_size);
    else
        writer_str(w, "; no batch_size fits with the whole error bound\n");
    writer_str(w, "# ");
    put_card(w, m->gpu_name, &m->capacity, m->gpu_bytes);
    put_notes(w, "# ", m->notes, m->note_count);
}

// "+182 %", five columns for the number.
static void put_percent(struct writer *w, const struct vram_formula *f, uint64_t ours)
{
    bool less = f->bytes < ours;
    uint64_t gap = less ? ours - f->bytes : f->bytes - ours;
    uint64_t whole = ours ? (gap * 100 + ours / 2) / ours : 0;  // gap is below 2^53
    for (size_t digits = whole > 999 ? 4 : whole > 99 ? 3 : whole > 9 ? 2 : 1; digits < 5; digits++)
        writer_char(w, ' ');
    writer_f(w, "%c%u %%", less ? '-' : '+', whole);
}

void text_comparison(struct vram *v)
{
    const struct vram_comparison *c = &answers_made(v)->comparison;
    struct writer *w = &v->text;
    put_heading(w, "formula                              MiB    against   because");
    writer_str(w, "the step, run (tensors alive)");
    put_mib_right(w, c->peak_live_bytes, 11);
    writer_char(w, '\n');
    for (size_t i = 0; i < c->formula_count; i++) {
        const struct vram_formula *f = &c->formulas[i];
        put_cell(w, f->name, 29);
        if (f->too_large) {
            writer_str(w, "  too large         ");
        } else {
            put_mib_right(w, f->bytes, 11);
            put_percent(w, f, c->peak_live_bytes);
        }
        writer_f(w, "   %s\n", f->because->text);
    }
    put_notes(w, "", c->notes, c->note_count);
}

void text_config(struct vram *v)
{
    put_config(&v->text, &v->config);
}

// "file:line:col: error: text"
void text_error(struct vram *v)
{
    const struct vram_message *m = &v->err.out;
    struct writer *w = &v->text;
    if (m->file)
        writer_f(w, "%s:", m->file);
    if (m->line)
        writer_f(w, "%u:%u:", (uint64_t)m->line, (uint64_t)m->col);
    writer_f(w, "%serror: %s\n", m->file || m->line ? " " : "", m->text);
}
