// The report for people: does it fit, what takes the memory, where the figures rest, what to
// change.

#include "calc/answer/advise.h"
#include "calc/answer/answers.h"
#include "calc/model/framework.h"
#include "calc/model/kernels_of_card.h"
#include "calc/model/model_make.h"
#include "calc/model/preference.h"
#include "calc/model/resolve.h"
#include "calc/write/number.h"
#include "calc/write/text_parts.h"
#include "calc/write/write_text.h"

enum { BAR_WIDTH = 28, LINES_MAX = 8, ADVICE_SHOWN = 4 };

static const char *name_of(enum config_field_id field, uint64_t n)
{
    return vram_field_at(field)->values[n];
}

// What the estimate is of: the versions whose memory it has.
static void versions(struct writer *w, const struct vram_config *c)
{
    char torch[24], transformers[24];
    writer_f(w, ", PyTorch %s", config_version(c->torch, torch));
    if (framework_goes(c, BY_TRANSFORMERS))
        writer_f(w, ", transformers %s", config_version(c->transformers, transformers));
}

// The scores as the layers make them: not every family has the kernel that was asked for.
static const char *attention_of(const struct vram *v)
{
    struct model m;
    struct message none = {0};
    model_make(&m, &v->config, &none);  // has succeeded before: there is a result
    if (card_lacks_attention(&m.c) || m.lacks_groups[m.c.dtype != DTYPE_FLOAT32])
        return name_of(FIELD_attention, ATTENTION_MATH);
    return name_of(FIELD_attention, m.c.attention);
}

static void heading(struct writer *w, const struct vram *v)
{
    struct vram_config c = v->config;
    const struct vram_result *r = &v->result;
    resolve_auto(&c);
    writer_f(w, "%s: %u layer%s, width %u, %u head%s, vocabulary ", name_of(FIELD_family, c.family),
             c.n_layer, c.n_layer == 1 ? "" : "s", c.n_embd, c.n_head, c.n_head == 1 ? "" : "s");
    put_count(w, c.vocab_size);
    writer_str(w, "; ");
    put_count(w, r->params);
    writer_str(w, " parameters\n");
#ifndef VRAM_SMALL
    if (preference_scores(&c))
        writer_str(w, "reward model, pairs of ");
    if (preference_is(&c))
        writer_str(w, preference_copies(&c) ? "DPO with a reference model, pairs of "
                                            : "DPO, pairs of ");
#endif
    writer_f(w, "%u x ", c.batch_size);
    if (c.seq_lens)
        config_write(w, &c, FIELD_seq_lens);
    else
        writer_u64(w, config_longest(&c));
    writer_str(w, " tokens");
    if (c.eval_only)
        writer_f(w, " a batch, %s, %s attention, evaluation alone, %s",
                 name_of(FIELD_dtype, c.dtype), attention_of(v),
                 c.compile == COMPILE_NONE ? "eager" : "torch.compile ");
    else if (c.task == TASK_TRAIN)
        writer_f(w, " a micro-step, %u micro-step%s a step, %s, %s attention, %s, %s",
                 c.gradient_accumulation_steps, c.gradient_accumulation_steps == 1 ? "" : "s",
                 name_of(FIELD_dtype, c.dtype), attention_of(v),
                 name_of(FIELD_optimizer, c.optimizer),
                 c.compile == COMPILE_NONE ? "eager" : "torch.compile ");
    else
        writer_f(w, " of prompt, %u new token%s, %s, inference", c.max_new_tokens,
                 c.max_new_tokens == 1 ? "" : "s", name_of(FIELD_dtype, c.dtype));
    if (c.compile != COMPILE_NONE)
        writer_str(w, c.compile == COMPILE_TORCH24 ? "(2.4 or older)" : "(2.5 or newer)");
    if (c.float8)
        writer_f(w, ", float8 %s", name_of(FIELD_float8, c.float8));
    if (c.checkpointing != CHECKPOINTING_NONE)
        writer_f(w, ", checkpointing %s", name_of(FIELD_checkpointing, c.checkpointing));
    versions(w, &c);
    writer_str(w, "\n\n");
}

// "4,464 MiB (4,200 to 4,700)"
static void put_process(struct writer *w, const struct vram_figure *process, const char *unit)
{
    put_mib_round(w, process->bytes);
    writer_f(w, " %s (", unit);
    put_mib_round(w, process->low);
    writer_str(w, " to ");
    put_mib_round(w, process->high);
    writer_char(w, ')');
}

static const struct {
    const char *word, *rest;
    enum writer_style style;
} VERDICTS[VRAM_VERDICT_COUNT] = {
    [VRAM_VERDICT_FITS] = {"FITS", " MiB to spare", STYLE_GOOD},
    [VRAM_VERDICT_TIGHT] = {"TIGHT", " MiB to spare, less than the error bound", STYLE_CLOSE},
    [VRAM_VERDICT_NEARLY] = {"PROBABLY DOES NOT FIT", " MiB too much, less than the error bound",
                             STYLE_BAD},
    [VRAM_VERDICT_TOO_BIG] = {"DOES NOT FIT", " MiB too much", STYLE_BAD},
};

static void verdict(struct writer *w, const struct vram_result *r)
{
    if (r->verdict == VRAM_VERDICT_NO_GPU) {
        writer_str(w, "needs ");
        put_process(w, &r->needed, "MiB on the card");
        writer_str(w, "; name a card with --gpu to see whether it fits\n\n");
        return;
    }
    bool over = !vram_verdict_fits(r->verdict);
    writer_style(w, VERDICTS[r->verdict].style);
    writer_f(w, "%s: needs ", VERDICTS[r->verdict].word);
    put_process(w, &r->needed, "MiB");
    writer_f(w, ", %s has ", r->gpu_name);
    put_mib_round(w, r->gpu_bytes);
    writer_str(w, over ? " MiB for it: " : " MiB for it, ");
    put_mib_round(w, over ? r->needed.bytes - r->gpu_bytes : r->gpu_bytes - r->needed.bytes);
    writer_str(w, over || !r->alloc_retries ? VERDICTS[r->verdict].rest
                                            : " MiB to spare, once PyTorch has returned its cache");
    writer_style(w, STYLE_PLAIN);
    writer_char(w, '\n');
    put_card(w, r->gpu_name, &r->capacity, r->gpu_bytes);
    writer_char(w, '\n');
}

// What each category is made of, in a reader's words.
static const char *const category_words[VRAM_CAT_COUNT] = {
    [VRAM_CAT_PARAM] = "parameters",
    [VRAM_CAT_GRAD] = "gradients",
    [VRAM_CAT_OPTIM] = "optimizer state",
    [VRAM_CAT_CAST] = "two-byte copies of the weights",
    [VRAM_CAT_ACT] = "activations kept for backward",
    [VRAM_CAT_LOGITS] = "logits and their loss (tokens x vocabulary)",
    [VRAM_CAT_BACKWARD] = "temporaries of backward",
    [VRAM_CAT_CACHE] = "keys and values of past tokens",
    [VRAM_CAT_INPUT] = "token ids",
    [VRAM_CAT_WORKSPACE] = "library workspaces",
};

static void stack(struct writer *w, const struct vram_result *r)
{
    char words[NUMBER_PHASE];
    bool done[VRAM_CAT_COUNT] = {false};
    uint64_t sum = 0;
    for (uint32_t c = 0; c < VRAM_CAT_COUNT; c++)
        sum += r->by_category[c];
    writer_style(w, STYLE_HEADING);
    writer_f(w, "What is alive at the peak (%s, in %s), MiB", phase_words(r->peak_phase, words),
             r->peak_op);
    writer_style(w, STYLE_PLAIN);
    writer_char(w, '\n');
    for (;;) {
        uint32_t best = VRAM_CAT_COUNT;
        for (uint32_t c = 0; c < VRAM_CAT_COUNT; c++)
            if (!done[c] && r->by_category[c] > sum / 1000 &&
                (best == VRAM_CAT_COUNT || r->by_category[c] > r->by_category[best]))
                best = c;
        if (best == VRAM_CAT_COUNT)
            break;
        done[best] = true;
        writer_str(w, "  ");
        put_bar(w, r->by_category[best], sum, BAR_WIDTH);
        put_percent_right(w, r->by_category[best], sum, 4);
        writer_str(w, " %");
        put_mib_right(w, r->by_category[best], 12);
        writer_f(w, "  %s\n", category_words[best]);
    }
    writer_char(w, '\n');
}

static void largest(struct writer *w, const struct vram_result *r)
{
    size_t shown = r->at_peak_count < LINES_MAX ? r->at_peak_count : LINES_MAX;
    uint64_t rest = 0;
    put_heading(w, "Largest tensors among them, MiB");
    for (size_t i = 0; i < r->at_peak_count; i++) {
        const struct vram_line *l = &r->at_peak[i];
        if (i >= shown) {
            rest += l->bytes;
            continue;
        }
        put_mib_right(w, l->bytes, 12);
        writer_f(w, "  %s", l->name);
        if (l->count > 1)
            writer_f(w, " (%u of them)", (uint64_t)l->count);
        writer_f(w, ", from %s\n", l->op);
    }
    if (rest) {
        put_mib_right(w, rest, 12);
        writer_f(w, "  %u smaller kinds\n", (uint64_t)(r->at_peak_count - shown));
    }
    writer_char(w, '\n');
}

// Whether GPUs have confirmed a figure: of allocator and process, which they show.
static void put_confirmed(struct writer *w, const struct vram_figure *f)
{
    writer_str(w, "                                                 ");
    if (*f->wider)
        writer_f(w, "90 %% of %u public measurements of a wider kind are within it: %s\n",
                 (uint64_t)f->measurements, f->wider);
    else if (f->measurements == 1)
        writer_str(w, "the one public measurement of such a run is within it\n");
    else if (f->measurements)
        writer_f(w, "90 %% of %u public measurements of such runs are within it\n",
                 (uint64_t)f->measurements);
    else
        writer_str(w, "none of the public measurements is of such a run\n");
}

static void figure(struct writer *w, const char *name, const struct vram_figure *f)
{
    size_t before = w->len;
    writer_f(w, "  %s", name);
    while (w->len < before + 32 && !w->failed)
        writer_char(w, ' ');
    put_mib_right(w, f->bytes, 12);
    writer_str(w, "   ");
    if (f->low == f->bytes && f->high == f->bytes) {
        writer_str(w, f->basis == VRAM_BASIS_EXACT ? "exact\n" : "");
    } else {
        put_mib_round(w, f->low);
        writer_str(w, " to ");
        put_mib_round(w, f->high);
    }
    if (f->low != f->bytes || f->high != f->bytes || f->basis != VRAM_BASIS_EXACT)
        writer_f(w, " (%s)\n", vram_basis_name(f->basis));
    if (f->why)
        writer_f(w, "                                                 %s\n", f->why->text);
}

static void figures(struct writer *w, const struct vram_result *r)
{
    put_heading(w,
                "Figure                                   MiB   error bound and what it rests on");
    figure(w, "tensors alive at the peak", &r->peak_live);
    figure(w, "max_memory_allocated", &r->peak_allocated);
    put_confirmed(w, &r->peak_allocated);
    figure(w, "max_memory_reserved", &r->peak_reserved);
    put_confirmed(w, &r->peak_reserved);
    figure(w, "CUDA context", &r->context);
    figure(w, "the process in nvidia-smi", &r->process);
    put_confirmed(w, &r->process);
    writer_char(w, '\n');
}

static void line_mib(struct writer *w, uint64_t bytes, const char *what)
{
    put_mib_right(w, bytes, 12);
    writer_f(w, "  %s\n", what);
}

static void state(struct writer *w, const struct vram *v)
{
    const struct vram_result *r = &v->result;
    put_heading(w, "The step, MiB");
    line_mib(w, r->param_bytes, "parameters, always there");
    if (v->config.task == TASK_TRAIN && !v->config.eval_only) {
        line_mib(w, r->optim_bytes, "optimizer state, from the first step on");
        line_mib(w, r->grad_bytes, "gradients, from the first backward of a step to its end");
        line_mib(w, r->saved_bytes, "saved by forward for backward");
        line_mib(w, r->first_step_peak_bytes,
                 "peak of the first iteration (no optimizer state yet)");
        line_mib(w, r->steady_end_bytes, "left between two steps");
    }
    writer_char(w, '\n');
}

// The plan in one line: which of the changes, and what the run takes then.
static void plan(struct writer *w, const struct vram_advice *a)
{
    const char *between = "";
    if (!a->plan_found)
        return;
    writer_str(w, "To fit: ");
    for (size_t i = 0; i < a->change_count; i++) {
        if (!a->changes[i].in_plan)
            continue;
        writer_f(w, "%s%s", between, a->changes[i].what);
        between = ", ";
    }
    writer_str(w, "; it then takes ");
    put_mib_round(w, a->plan_process_bytes);
    writer_str(w, " MiB\n");
}

static void advice(struct writer *w, const struct vram_advice *a)
{
    size_t shown = 0;
    put_heading(w, "What to change first (the result stays the same), MiB less");
    for (size_t i = 0; i < a->change_count && shown < ADVICE_SHOWN; i++) {
        const struct vram_change *c = &a->changes[i];
        if (c->effect != VRAM_EFFECT_SAME || c->refusal || c->saved_bytes == 0)
            continue;
        put_mib_right(w, c->saved_bytes, 12);
        writer_f(w, "  %s%s\n", c->what, c->fits ? "   <- fits" : "");
        shown++;
    }
    plan(w, a);
    writer_str(w, "All of it, with what each costs: vramcalc advise\n\n");
}

static void parameters(struct writer *w, const struct vram_result *r)
{
    put_heading(w, "Parameters");
    put_count_right(w, r->params, 18);
    writer_f(w, "  in all, %u tensors", r->tensors);
    if (r->reported_params != r->params) {
        writer_str(w, "; nanoGPT's log reports ");
        put_count(w, r->reported_params);
        writer_str(w, ", without positions");
    }
    writer_char(w, '\n');
    put_count_right(w, r->decayed_params, 18);
    writer_f(w, "  with weight decay, %u tensors; ", r->decayed_tensors);
    put_count(w, r->nodecay_params);
    writer_f(w, " without, %u tensors\n", r->nodecay_tensors);
    for (size_t i = 0; i < r->parameter_count; i++) {
        const struct vram_tensor *t = &r->parameters[i];
        put_count_right(w, t->elements, 18);
        writer_f(w, "  %s, %u", t->name, t->rows);
        if (t->cols)
            writer_f(w, " x %u", t->cols);
        if (t->count > 1)
            writer_f(w, " (%u of them)", t->count);
        writer_str(w, t->trained ? "\n" : ", frozen\n");
    }
    writer_char(w, '\n');
}

void text_report(struct vram *v)
{
    struct writer *w = &v->text;
    const struct vram_result *r = &v->result;
    heading(w, v);
    if (put_notes(w, "", r->notes, r->note_count))
        writer_char(w, '\n');
    verdict(w, r);
    stack(w, r);
    if (advise_is_current(v))
        advice(w, &answers_made(v)->advice->out);
    largest(w, r);
    figures(w, r);
    state(w, v);
    parameters(w, r);
}
