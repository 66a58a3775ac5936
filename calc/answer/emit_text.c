// The report for people: does it fit, what takes the memory, where the figures rest, what to change.

#include "calc/answer/advise.h"
#include "calc/answer/emit.h"
#include "calc/answer/remarks.h"
#include "calc/base/text.h"

enum { BAR_WIDTH = 28, LINES_MAX = 8, ADVICE_SHOWN = 4 };

static const char *name_of(const struct vram *v, const char *key, uint64_t n)
{
    (void)v;
    return vram_field_find(key)->values[n];
}

static void heading(struct writer *w, const struct vram *v)
{
    const struct vram_config *c = &v->config;
    const struct vram_result *r = &v->result;
    uint64_t seq = c->seq_len ? c->seq_len : c->block_size;
    bool falls_back = c->attention == ATTENTION_FLASH && model_lacks_flash(c);
    uint64_t attention = falls_back ? (uint64_t)ATTENTION_MEM_EFFICIENT : c->attention;
    writer_f(w, "%s: %u layers, width %u, %u heads, vocabulary ", name_of(v, "family", c->family),
             c->n_layer, c->n_embd, c->n_head);
    emit_count(w, c->vocab_size);
    writer_str(w, "; ");
    emit_count(w, r->params);
    writer_str(w, " parameters\n");
    writer_f(w, "%u x %u tokens", c->batch_size, seq);
    if (c->eval_only)
        writer_f(w, " a batch, %s, %s attention, evaluation alone, %s", name_of(v, "dtype", c->dtype),
                 name_of(v, "attention", attention),
                 c->compile == COMPILE_NONE ? "eager" : "torch.compile ");
    else if (c->task == TASK_TRAIN)
        writer_f(w, " a micro-step, %u micro-step%s a step, %s, %s attention, %s, %s",
                 c->gradient_accumulation_steps, c->gradient_accumulation_steps == 1 ? "" : "s",
                 name_of(v, "dtype", c->dtype), name_of(v, "attention", attention),
                 name_of(v, "optimizer", c->optimizer),
                 c->compile == COMPILE_NONE ? "eager" : "torch.compile ");
    else
        writer_f(w, " of prompt, %u new tokens, %s, inference", c->max_new_tokens,
                 name_of(v, "dtype", c->dtype));
    if (c->compile != COMPILE_NONE)
        writer_str(w, c->compile == COMPILE_TORCH24 ? "(2.4 or older)" : "(2.5 or newer)");
    if (c->checkpointing != CHECKPOINTING_NONE)
        writer_f(w, ", checkpointing %s", name_of(v, "checkpointing", c->checkpointing));
    writer_str(w, "\n\n");
}

static void verdict(struct writer *w, const struct vram_result *r)
{
    static const char *const words[] = {"", "FITS", "TIGHT", "DOES NOT FIT"};
    enum emit_fit fit = emit_fit_of(r);
    if (fit == EMIT_NO_GPU) {
        writer_str(w, "needs ");
        emit_mib_round(w, r->process.bytes);
        writer_str(w, " MiB on the card (");
        emit_mib_round(w, r->process.low);
        writer_str(w, " to ");
        emit_mib_round(w, r->process.high);
        writer_str(w, "); name a card with --gpu to see whether it fits\n\n");
        return;
    }
    bool nearly = emit_nearly_fits(r);
    writer_f(w, "%s%s: needs ", nearly ? "PROBABLY " : "", words[fit]);
    emit_mib_round(w, r->process.bytes);
    writer_str(w, " MiB (");
    emit_mib_round(w, r->process.low);
    writer_str(w, " to ");
    emit_mib_round(w, r->process.high);
    writer_f(w, "), %s has ", r->gpu_name);
    emit_mib_round(w, r->gpu_bytes);
    bool over = r->process.bytes > r->gpu_bytes;
    writer_str(w, over ? " MiB: " : " MiB, ");
    emit_mib_round(w, over ? r->process.bytes - r->gpu_bytes : r->gpu_bytes - r->process.bytes);
    writer_str(w, nearly              ? " MiB too much, less than the error bound\n\n"
                  : over              ? " MiB too much\n\n"
                  : fit == EMIT_TIGHT ? " MiB to spare, less than the error bound\n\n"
                                      : " MiB to spare\n\n");
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
    char words[48];
    bool done[VRAM_CAT_COUNT] = {false};
    uint64_t sum = 0;
    for (uint32_t c = 0; c < VRAM_CAT_COUNT; c++)
        sum += r->by_category[c];
    writer_f(w, "What is alive at the peak (%s, in %s), MiB\n",
             emit_phase_words(r->peak_phase, words), r->peak_op);
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
        emit_bar(w, r->by_category[best], sum, BAR_WIDTH);
        emit_percent_right(w, r->by_category[best], sum, 4);
        writer_str(w, " %");
        emit_mib_right(w, r->by_category[best], 12);
        writer_f(w, "  %s\n", category_words[best]);
    }
    writer_char(w, '\n');
}

static void largest(struct writer *w, const struct vram_result *r)
{
    size_t shown = r->at_peak_count < LINES_MAX ? r->at_peak_count : LINES_MAX;
    uint64_t rest = 0;
    writer_str(w, "Largest tensors among them, MiB\n");
    for (size_t i = 0; i < r->at_peak_count; i++) {
        const struct vram_line *l = &r->at_peak[i];
        if (i >= shown) {
            rest += l->bytes;
            continue;
        }
        emit_mib_right(w, l->bytes, 12);
        writer_f(w, "  %s", l->name);
        if (l->count > 1)
            writer_f(w, " (%u of them)", (uint64_t)l->count);
        writer_f(w, ", from %s\n", l->op);
    }
    if (rest) {
        emit_mib_right(w, rest, 12);
        writer_f(w, "  %u smaller kinds\n", (uint64_t)(r->at_peak_count - shown));
    }
    writer_char(w, '\n');
}

static void figure(struct writer *w, const char *name, const struct vram_figure *f)
{
    size_t before = w->len;
    writer_f(w, "  %s", name);
    while (w->len < before + 32 && !w->failed)
        writer_char(w, ' ');
    emit_mib_right(w, f->bytes, 12);
    writer_str(w, "   ");
    if (f->low == f->bytes && f->high == f->bytes) {
        writer_str(w, f->basis == VRAM_BASIS_EXACT ? "exact\n" : "");
    } else {
        emit_mib_round(w, f->low);
        writer_str(w, " to ");
        emit_mib_round(w, f->high);
    }
    if (f->low != f->bytes || f->high != f->bytes || f->basis != VRAM_BASIS_EXACT)
        writer_f(w, " (%s)\n", vram_basis_name(f->basis));
    if (f->why && f->why[0])
        writer_f(w, "                                                 %s\n", f->why);
}

static void figures(struct writer *w, const struct vram_result *r)
{
    writer_str(w,
               "Figure                                   MiB   error bound and what it rests on\n");
    figure(w, "tensors alive at the peak", &r->peak_live);
    figure(w, "max_memory_allocated", &r->peak_allocated);
    figure(w, "max_memory_reserved", &r->peak_reserved);
    figure(w, "CUDA context", &r->context);
    figure(w, "the process in nvidia-smi", &r->process);
    writer_char(w, '\n');
}

static void line_mib(struct writer *w, uint64_t bytes, const char *what)
{
    emit_mib_right(w, bytes, 12);
    writer_f(w, "  %s\n", what);
}

static void state(struct writer *w, const struct vram *v)
{
    const struct vram_result *r = &v->result;
    writer_str(w, "The step, MiB\n");
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
static void plan(struct writer *w, const struct advice_list *list)
{
    const char *between = "";
    if (!list->found)
        return;
    writer_str(w, "To fit: ");
    for (size_t i = 0; i < list->count; i++) {
        if (!list->used[i])
            continue;
        writer_f(w, "%s%s", between, list->row[i].what);
        between = ", ";
    }
    writer_str(w, "; it then takes ");
    emit_mib_round(w, list->best_process);
    writer_str(w, " MiB\n");
}

static void put_advice(struct writer *w, const struct advice_list *list)
{
    size_t shown = 0;
    writer_str(w, "What to change first (the result stays the same), MiB less\n");
    for (size_t i = 0; i < list->count && shown < ADVICE_SHOWN; i++) {
        const struct advice *a = &list->row[i];
        if (a->effect != ADVICE_SAME || a->refused || a->saved == 0)
            continue;
        emit_mib_right(w, a->saved, 12);
        writer_f(w, "  %s%s\n", a->what, a->fits ? "   <- fits" : "");
        shown++;
    }
    plan(w, list);
    writer_str(w, "All of it, with what each costs: vramcalc advise\n\n");
}

static void advice(struct writer *w, struct vram *v)
{
    struct advice_list *list = mem_alloc(&v->mem, sizeof *list);
    if (!list) {
        w->failed = true;
        return;
    }
    int rc = advise_make(v, list);
    if (rc == VRAM_OK)
        put_advice(w, list);
    else if (rc == VRAM_ENOMEM)
        w->failed = true;
    err_clear(&v->err);
    mem_free(&v->mem, list, sizeof *list);
}

static void notes(struct writer *w, const char *text)
{
    while (*text) {
        size_t n = 0;
        while (text[n] && text[n] != '\n')
            n++;
        writer_f(w, "note: %.*s\n", (int)n, text);
        text += n + (text[n] == '\n');
        if (!*text)
            writer_char(w, '\n');
    }
}

void emit_report_text(struct writer *w, struct vram *v)
{
    const struct vram_result *r = &v->result;
    heading(w, v);
    struct writer remarks;
    writer_init(&remarks, &v->mem);
    remarks_write(&remarks, v);
    w->failed |= writer_status(&remarks) != VRAM_OK;
    notes(w, writer_text(&remarks));
    writer_free(&remarks);
    verdict(w, r);
    stack(w, r);
    if (emit_fit_of(r) >= EMIT_TIGHT)
        advice(w, v);
    largest(w, r);
    figures(w, r);
    state(w, v);
    emit_params_text(w, v);
}
