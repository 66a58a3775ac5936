// Owns the ranked changes as text, and the configuration to paste.

#include "calc/answer/answers.h"
#include "calc/write/number.h"
#include "calc/write/text_parts.h"
#include "calc/write/write_text.h"

enum { WORTH = 200 };  // less than this part of the whole is not worth a line of text

static const char *const HEADS[VRAM_EFFECT_COUNT] = {
    [VRAM_EFFECT_SAME] = "The result stays the same",
    [VRAM_EFFECT_CLOSE] = "The same model and data, another arithmetic",
    [VRAM_EFFECT_DIFFERENT] = "Another model, or other data in a step",
};

static void put_cost(struct writer *w, int64_t permille)
{
    uint64_t n = (uint64_t)(permille < 0 ? -permille : permille);
    if (n < 5)
        writer_str(w, "no time");
    else
        writer_f(w, "about %u %% %s", (n + 5) / 10, permille < 0 ? "faster" : "slower");
}

static void put_change(struct writer *w, const struct vram_change *c, const char *framework)
{
    if (c->refusal) {
        writer_f(w, "     refused  %s\n               %s\n", c->what, c->refusal->text);
        return;
    }
    if (c->saved_bytes) {
        writer_char(w, '-');
        put_mib_right(w, c->saved_bytes, 11);
    } else {
        writer_str(w, "     nothing");
    }
    writer_f(w, "  %s%s%s\n               ", c->what, c->fits ? "   <- fits" : "",
             c->by_tensors ? "   (by its tensors)" : "");
    if (c->cost_predicted) {
        put_cost(w, c->cost_permille);
        writer_f(w, " (%s)", c->cost_basis->text);
    } else {
        writer_f(w, "time %s", c->cost_basis ? c->cost_basis->text : "not predicted");
    }
    writer_f(w, "\n               %s\n", c->result->text);
    if (c->how)
        writer_f(w, "               in the code: %s\n", c->how->text);
    if (c->line)
        writer_f(w, "               %s: %s\n", framework, c->line);
}

static void put_group(struct writer *w, const struct vram_advice *a, uint32_t effect)
{
    bool any = false;
    for (size_t i = 0; i < a->change_count; i++) {
        const struct vram_change *c = &a->changes[i];
        if (c->effect != effect || (c->saved_bytes < a->process_bytes / WORTH && !c->refusal))
            continue;
        if (!any) {
            writer_style(w, STYLE_HEADING);
            writer_f(w, "%s. Saves, MiB; what is enough alone first, settings before code:",
                     HEADS[effect]);
            writer_style(w, STYLE_PLAIN);
            writer_char(w, '\n');
        }
        any = true;
        put_change(w, c, a->framework);
    }
    if (any)
        writer_char(w, '\n');
}

// What the plan comes to, the edits that it needs beside its settings, and the settings.
static void put_plan(struct writer *w, const struct vram *v, const struct advice_list *list)
{
    const struct vram_advice *a = &list->out;
    writer_str(w,
               a->plan_found ? "Do this: it then takes " : "Even all of it together is too much: ");
    put_mib_round(w, a->plan_process_bytes);
    writer_str(w, " of ");
    put_mib_round(w, a->gpu_bytes);
    writer_str(w, " MiB");
    if (v->config.task == TASK_TRAIN) {
        writer_str(w, " (");
        put_cost(w, a->plan_cost_permille);
        writer_char(w, ')');
    }
    writer_str(w, a->plan_found && a->plan_tight
                      ? "; the margin is smaller than the error bound\n\n"
                      : "\n\n");
    for (size_t i = 0; i < a->change_count; i++) {
        const struct vram_change *c = &a->changes[i];
        if (c->in_plan && c->how)
            writer_f(w, "# %s, in the code: %s\n", c->what, c->how->text);
        if (c->in_plan && c->line)
            writer_f(w, "# %s, %s: %s\n", c->what, a->framework, c->line);
    }
    put_config(w, &list->plan);
}

void text_advice(struct vram *v)
{
    const struct advice_list *list = answers_made(v)->advice;
    const struct vram_advice *a = &list->out;
    struct writer *w = &v->text;
    writer_str(w, "Now: ");
    put_mib_round(w, a->process_bytes);
    writer_str(w, " MiB");
    if (a->gpu_bytes) {
        writer_f(w, ", which %s in the %s (", a->fits ? "fits" : "does not fit", a->gpu_name);
        put_mib_round(w, a->gpu_bytes);
        writer_str(w, " MiB for it)\n");
        put_card(w, a->gpu_name, &a->capacity, a->gpu_bytes);
    }
    writer_str(w, a->gpu_bytes ? "" : "\n");
    put_notes(w, "", a->notes, a->note_count);
    writer_char(w, '\n');
    for (uint32_t effect = 0; effect < VRAM_EFFECT_COUNT; effect++)
        put_group(w, a, effect);
    if (a->gpu_bytes && !a->fits)
        put_plan(w, v, list);
    else if (!a->gpu_bytes)
        writer_str(w, "Name a card with --gpu to get a configuration that fits it.\n");
}
