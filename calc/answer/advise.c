// Owns the trying of changes and their order: each is run on a second handle, so every number is
// that of a whole estimate.

#include "calc/answer/advise.h"

#include "calc/answer/advise_changes.h"
#include "calc/answer/advise_lines.h"
#include "calc/answer/advise_plan.h"
#include "calc/answer/answers.h"
#include "calc/answer/probe.h"
#include "calc/model/capacities.h"
#include "calc/model/framework.h"
#include "calc/model/gpus.h"
#include "calc/replay/run.h"

static bool is_for(uint64_t task, enum advice_task row)
{
    return row == ADVICE_BOTH || (row == ADVICE_TRAIN) == (task == TASK_TRAIN);
}

// An error of the probe: a change that is not possible is refused with it; one that is not modelled
// is no advice.
static int refuse(struct vram *probe, struct advice *a, int rc, bool *dropped)
{
    *dropped = rc == VRAM_EUNSUPPORTED;
    if (rc == VRAM_ENOMEM)
        return rc;
    message_copy(&a->refusal, &probe->err.out);
    a->out.refusal = &a->refusal.out;
    message_clear(&probe->err);
    return VRAM_OK;
}

// Where the tensors alone are too much, before and after, nothing is replayed: the allocator is
// taken to add the same part.
static int measure_tensors(struct advice_list *list, struct advice *a, uint64_t least)
{
    double part = (double)list->out.process_bytes / (double)list->least;
    a->out.by_tensors = true;
    a->out.process_bytes =
        least < list->least ? (uint64_t)((double)least * part) : list->out.process_bytes;
    a->out.saved_bytes = list->out.process_bytes - a->out.process_bytes;
    return VRAM_OK;
}

// What the change takes, on the probe. One that takes no less saves nothing, and is not replayed
// where its tensors say so.
static int measure(struct vram *probe, struct advice_list *list, struct advice *a, bool *dropped)
{
    struct probe_answer answer = {0};
    uint64_t least, before = list->out.process_bytes, room = list->out.gpu_bytes;
    probe->config = a->config;
    probe->has_result = false;
    int rc = run_process_least(probe, &least);
    if (rc != VRAM_OK)
        return refuse(probe, a, rc, dropped);
    if (room && least > room)
        return measure_tensors(list, a, least);
    a->out.process_bytes = before;
    if (least >= before)
        return VRAM_OK;
    rc = probe_try(probe, before, &answer);
    if (rc == VRAM_ENOFIT)
        return VRAM_OK;
    if (rc != VRAM_OK)
        return refuse(probe, a, rc, dropped);
    a->out.process_bytes = answer.process;
    a->out.saved_bytes = before - answer.process;
    a->out.fits = answer.fits;
    a->out.fits_surely = answer.surely;
    return VRAM_OK;
}

// The table's words on time are about training.
static void price(const struct vram *v, struct advice *a, const struct advice_change *row)
{
    bool steps = v->config.task == TASK_TRAIN && !v->config.eval_only;
    a->out.cost_predicted = steps && row->predicted && !a->out.refusal;
    a->out.cost_basis = steps || !row->predicted || a->out.refusal ? row->basis : NULL;
    if (a->out.cost_predicted)
        a->out.cost_permille = plan_cost_permille(&v->config, &a->config, row->effect);
}

static int try_row(struct vram *v, struct vram *probe, struct advice_list *list, size_t number,
                   const struct advice_change *row)
{
    struct advice *a = &list->row[list->count];
    bool dropped = false, of_gpt = v->config.family == FAMILY_GPT2;
    int rc = VRAM_OK;
    mem_zero(a, sizeof *a);
    a->config = v->config;
    enum advice_applied applied = advice_apply(number, &a->config, &a->what, &a->refusal);
    if (applied == ADVICE_NOT_HERE ||
        !advise_line(row->id, framework_id(&v->config), &a->config, &a->line))
        return VRAM_OK;
    a->number = number;
    a->out = (struct vram_change){.id = row->id,
                                  .what = a->what.text,
                                  .line = a->line.len ? a->line.text : NULL,
                                  .effect = row->effect,
                                  .result = row->result,
                                  .how = of_gpt ? row->how : NULL,
                                  .refusal = applied == ADVICE_REFUSED ? &a->refusal.out : NULL};
    if (applied == ADVICE_APPLIED)
        rc = measure(probe, list, a, &dropped);
    price(v, a, row);
    list->count += !dropped;
    return rc;
}

// Free or nearly so, up to a tenth of the time, more.
static unsigned dearness(const struct vram_change *c)
{
    return c->cost_permille <= 20 ? 0 : c->cost_permille <= 100 ? 1 : 2;
}

// Group by effect; in a group what is enough by itself comes first, then settings before edits of
// code, then what costs little, then the most bytes. What is refused comes last.
static bool is_before(const struct vram_change *a, const struct vram_change *b)
{
    if (a->effect != b->effect)
        return a->effect < b->effect;
    if (!a->refusal != !b->refusal)
        return !a->refusal;
    if (a->fits != b->fits)
        return a->fits;
    if (!a->how != !b->how)
        return !a->how;
    if (dearness(a) != dearness(b))
        return dearness(a) < dearness(b);
    return a->saved_bytes > b->saved_bytes;
}

static void sort(struct advice_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        size_t k = i;
        for (; k > 0 && is_before(&list->row[i].out, &list->row[list->order[k - 1]].out); k--)
            list->order[k] = list->order[k - 1];
        list->order[k] = i;
    }
}

// Rows that save something, are refused, or that the plan needs; what helps in a plan may save
// nothing alone.
static void publish(struct advice_list *list)
{
    size_t shown = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct vram_change *c = &list->row[list->order[i]].out;
        if (!c->saved_bytes && !c->refusal && !c->in_plan)
            continue;
        list->order[shown] = list->order[i];
        list->changes[shown++] = *c;
    }
    list->out.changes = list->changes;
    list->out.change_count = shown;
    list->made = true;
}

static int try_all(struct vram *v, struct vram *probe, struct advice_list *list)
{
    struct advice_change row;
    struct probe_answer now = {0};
    int rc = probe_try(probe, 0, &now);
    if (rc == VRAM_OK)
        rc = run_process_least(probe, &list->least);
    list->out = (struct vram_advice){
        .process_bytes = now.process,
        .gpu_bytes = capacity_left(&v->config),
        .gpu_name = gpu_name(&v->config),
        .fits = now.fits,
        .framework = vram_field_at(FIELD_framework)->values[framework_id(&v->config)]};
    capacity_of(&v->config, &list->out.capacity);
    for (size_t i = 0; rc == VRAM_OK && advice_change_at(i, &row); i++)
        if (is_for(v->config.task, row.task))
            rc = try_row(v, probe, list, i, &row);
    if (rc != VRAM_OK)
        return rc;
    sort(list);
    if (list->out.gpu_bytes && !list->out.fits)
        rc = plan_make(v, probe, list);
    publish(list);
    return rc;
}

// Fills *list. Errors are recorded in v->err.
static int make(struct vram *v, struct advice_list *list)
{
    struct vram *probe = probe_new(v);
    if (!probe)
        return VRAM_ENOMEM;
    list->made = false;
    list->count = 0;
    list->base = v->config;
    int rc = run_resumes(probe, false);
    if (rc == VRAM_OK)
        rc = try_all(v, probe, list);
    if (rc != VRAM_OK)
        probe_error(v, probe);
    vram_free(probe);
    return rc;
}

int vram_advise(vram *v, const struct vram_advice **out)
{
    message_clear(&v->err);
    struct answers *a = answers_of(v);
    if (!a)
        return VRAM_ENOMEM;
    if (!a->advice)
        a->advice = mem_alloc(&v->mem, sizeof *a->advice);
    if (!a->advice)
        return handle_no_memory(v);
    int rc = make(v, a->advice);
    if (rc == VRAM_OK)
        rc = answers_note(a, VRAM_ANSWER_ADVICE, v, &a->advice->out);
    *out = &a->advice->out;
    return rc;
}

bool advise_is_current(const struct vram *v)
{
    const struct answers *a = answers_made(v);
    const struct advice_list *list = a ? a->advice : NULL;
    return list && list->made && list->base.gpu == v->config.gpu &&
           config_same(&list->base, &v->config);
}

int vram_take_advice(vram *v, size_t change, vram *to)
{
    const struct answers *a = answers_made(v);
    const struct advice_list *list = a ? a->advice : NULL;
    message_clear(&v->err);
    if (!list || !list->made)
        return err_set(&v->err, MESSAGE_no_answer, NO_POS, NO_FIELD, NO_ARGS);
    bool plan = change == VRAM_PLAN && list->out.plan_found;
    if (!plan && change >= list->out.change_count)
        return err_set(&v->err, MESSAGE_no_such_change, NO_POS, NO_FIELD,
                       ARGS(arg_u64("index", change)));
    to->config = plan ? list->plan : list->row[list->order[change]].config;
    to->has_result = false;
    return VRAM_OK;
}
