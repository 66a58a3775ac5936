// Ranked changes: each is tried on a second handle, so every number is that of a whole estimate.

#include "calc/answer/advise.h"

#include "calc/answer/fit.h"
#include "calc/base/text.h"
#include "calc/model/cost.h"
#include "calc/model/gpus.h"
#include "calc/model/model_make.h"
#include "calc/replay/run.h"

static double seconds(const struct vram_config *c)
{
    struct model m;
    struct err e;
    struct cost cost;
    err_clear(&e);
    if (model_make(&m, c, &e) != VRAM_OK)
        return 0;
    cost_of(&cost, &m);
    return cost_seconds(&cost, c);
}

static int64_t permille(double before, double after)
{
    double d = before > 0 ? (after / before - 1) * 1000 : 0;
    return d > 1e6 ? 1000000 : (int64_t)(d < 0 ? d - 0.5 : d + 0.5);
}

// Time per token, where a change alters how many tokens an iteration has.
static int64_t cost_permille(const struct vram_config *before, const struct vram_config *after,
                             enum advice_effect effect)
{
    if (before->task != TASK_TRAIN)
        return 0;
    double a = seconds(before), b = seconds(after);
    if (effect == ADVICE_DIFFERENT) {
        double seq_a = (double)(before->seq_len ? before->seq_len : before->block_size);
        double seq_b = (double)(after->seq_len ? after->seq_len : after->block_size);
        a /= seq_a * (double)(before->batch_size * before->gradient_accumulation_steps);
        b /= seq_b * (double)(after->batch_size * after->gradient_accumulation_steps);
        a *= 1e6;
        b *= 1e6;
    }
    if (after->compile == COMPILE_TORCH25 && before->compile == COMPILE_NONE)
        return -460; // SRC: nanoGPT README, 250 -> 135 ms
    return permille(a, b);
}

static bool text_starts(const char *s, const char *prefix)
{
    while (*prefix && *s == *prefix) {
        s++;
        prefix++;
    }
    return !*prefix;
}

static int try_config(struct vram *probe, const struct vram_config *config, uint64_t enough,
                      struct fit_answer *answer)
{
    probe->config = *config;
    probe->has_result = false;
    return fit_try(probe, enough, answer);
}

static int try_row(struct vram *v, struct vram *probe, struct advice_list *list, size_t number)
{
    struct advice *a = &list->row[list->count];
    a->config = v->config;
    enum advice_applied applied = advice_apply(number, &a->config, a);
    if (applied == ADVICE_NOT_HERE)
        return VRAM_OK;
    a->effect = advice_change_at(number)->effect;
    a->effect_text = advice_change_at(number)->result;
    const char *how = advice_change_at(number)->how;
    a->how = how[0] && v->config.family == FAMILY_GPT2 ? how : NULL;
    struct vram_mem mem;
    struct writer why = advice_writer(&mem, a->cost_why, ADVICE_WHY);
    writer_str(&why, advice_change_at(number)->basis);
    a->refused = applied == ADVICE_REFUSED;
    list->row_number[list->count++] = number;
    if (applied == ADVICE_REFUSED)
        return VRAM_OK;
    struct fit_answer answer;
    int rc = try_config(probe, &a->config, 0, &answer);
    if (rc == VRAM_ENOMEM)
        return rc;
    if (rc == VRAM_EUNSUPPORTED) { // possible, but not modelled: no advice
        list->count--;
        err_clear(&probe->err);
        return VRAM_OK;
    }
    if (rc != VRAM_OK) {
        struct vram_mem mem2;
        struct writer r = advice_writer(&mem2, a->refusal, ADVICE_WHY);
        writer_str(&r, vram_error(probe)->text);
        a->refused = true;
        err_clear(&probe->err);
        return VRAM_OK;
    }
    a->process = answer.process;
    a->fits = answer.fits;
    a->surely = answer.surely;
    a->saved = list->process > a->process ? list->process - a->process : 0;
    bool steps = v->config.task == TASK_TRAIN && !v->config.eval_only;
    if (!steps && !text_starts(a->cost_why, "not predicted"))
        a->cost_why[0] = 0; // the table's words are about training
    a->predicted = steps && !text_starts(a->cost_why, "not predicted");
    a->cost_permille = a->predicted ? cost_permille(&v->config, &a->config, a->effect) : 0;
    return VRAM_OK;
}

// Free or nearly so, up to a tenth of the time, more.
static unsigned dearness(const struct advice *a)
{
    return a->cost_permille <= 20 ? 0 : a->cost_permille <= 100 ? 1 : 2;
}

// Group by effect; in a group what is enough by itself comes first, then settings before edits of code, then what costs
// little, then the most bytes.
// What is refused comes last.
static bool before(const struct advice *a, const struct advice *b)
{
    if (a->effect != b->effect)
        return a->effect < b->effect;
    if (a->refused != b->refused)
        return !a->refused;
    if (a->fits != b->fits)
        return a->fits;
    if (!a->how != !b->how)
        return !a->how;
    if (dearness(a) != dearness(b))
        return dearness(a) < dearness(b);
    return a->saved > b->saved;
}

static void sort(struct advice_list *list)
{
    for (size_t i = 1; i < list->count; i++)
        for (size_t k = i; k > 0 && before(&list->row[k], &list->row[k - 1]); k--) {
            struct advice swap = list->row[k];
            size_t number = list->row_number[k];
            list->row[k] = list->row[k - 1];
            list->row_number[k] = list->row_number[k - 1];
            list->row[k - 1] = swap;
            list->row_number[k - 1] = number;
        }
}

// Does a come before b in a plan? What keeps the training goes settings first, then by its cost, the rest in the table's order: the least
// change to the result first.
static bool earlier(const struct advice_list *list, size_t a, size_t b)
{
    if (list->row[a].effect == ADVICE_SAME && !list->row[a].how != !list->row[b].how)
        return !list->row[a].how;
    if (list->row[a].effect == ADVICE_SAME)
        return list->row[a].cost_permille < list->row[b].cost_permille;
    return list->row_number[a] < list->row_number[b];
}

// The row that is tried next, of those of the group that were not; list->count if none.
static size_t next_row(const struct advice_list *list, const bool *tried, bool same)
{
    size_t best = list->count;
    for (size_t i = 0; i < list->count; i++) {
        const struct advice *a = &list->row[i];
        if (tried[i] || a->refused || a->saved == 0 || (a->effect == ADVICE_SAME) != same)
            continue;
        if (best == list->count || earlier(list, i, best))
            best = i;
    }
    return best;
}

// Is what the tensors alone take already too much? Then there is nothing to replay.
static bool takes_at_least(struct vram *probe, const struct vram_config *config, uint64_t bytes)
{
    uint64_t least;
    probe->config = *config;
    probe->has_result = false;
    bool does = run_process_least(probe, &least) == VRAM_OK && least >= bytes;
    err_clear(&probe->err);
    return does;
}

// The answer for a configuration if it takes less than `enough`, else VRAM_ENOFIT. The first change of a plan has been
// tried already, as a row.
static int try_below(struct vram *probe, const struct advice_list *list,
                     const struct vram_config *config, uint64_t enough, struct fit_answer *answer)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct advice *a = &list->row[i];
        if (a->refused || !config_same(&a->config, config))
            continue;
        *answer = (struct fit_answer){a->process, a->fits, a->surely};
        return a->process < enough ? VRAM_OK : VRAM_ENOFIT;
    }
    if (takes_at_least(probe, config, enough))
        return VRAM_ENOFIT;
    int rc = try_config(probe, config, enough, answer);
    err_clear(&probe->err);
    return rc;
}

// Adds one row to the plan if that takes less memory still.
static int extend_plan(struct vram *probe, struct advice_list *list, size_t row)
{
    struct vram_config next = list->best;
    struct fit_answer answer;
    if (advice_apply(list->row_number[row], &next, NULL) != ADVICE_APPLIED)
        return VRAM_OK;
    int rc = try_below(probe, list, &next, list->best_process, &answer);
    if (rc != VRAM_OK)
        return rc == VRAM_ENOMEM ? rc : VRAM_OK;
    list->best = next;
    list->best_process = answer.process;
    list->used[row] = true;
    list->tight = answer.fits;
    list->found = answer.surely;
    return VRAM_OK;
}

// Leaves out what the plan does not need, but for what makes it faster.
static int prune_plan(struct vram *v, struct vram *probe, struct advice_list *list)
{
    int rc = VRAM_OK;
    for (size_t out = 0; out < list->count && rc != VRAM_ENOMEM; out++) {
        struct vram_config next = v->config;
        struct fit_answer answer;
        if (!list->used[out] || list->row[out].cost_permille < 0)
            continue;
        for (size_t i = 0; i < list->count; i++)
            if (i != out && list->used[i])
                advice_apply(list->row_number[i], &next, NULL);
        rc = try_below(probe, list, &next, list->gpu_bytes + 1, &answer);
        if (rc == VRAM_OK && (list->tight_only ? answer.fits : answer.surely)) {
            list->best = next;
            list->best_process = answer.process;
            list->used[out] = false;
        }
    }
    return rc == VRAM_ENOMEM ? rc : VRAM_OK;
}

// Adds changes until it fits: those that leave the training as it is, the cheapest first, then the rest. A second
// change of the same field (micro-batches) replaces the first.
static int make_plan(struct vram *v, struct vram *probe, struct advice_list *list)
{
    bool tried[ADVICE_MAX] = {false};
    int rc = VRAM_OK;
    list->best = v->config;
    list->best_process = list->process;
    for (int same = 1; same >= 0; same--) {
        for (size_t row;
             rc == VRAM_OK && !list->found && (row = next_row(list, tried, same)) < list->count;) {
            tried[row] = true;
            rc = extend_plan(probe, list, row);
        }
        // a narrow fit is better than another model
        list->tight_only = !list->found && list->tight;
        list->found = list->found || list->tight;
    }
    if (rc == VRAM_OK && list->found)
        rc = prune_plan(v, probe, list);
    list->best_cost_permille =
        v->config.eval_only ? 0 : cost_permille(&v->config, &list->best, ADVICE_DIFFERENT);
    return rc;
}

static bool is_for(uint64_t task, enum advice_task row)
{
    return row == ADVICE_BOTH || (row == ADVICE_TRAIN) == (task == TASK_TRAIN);
}

int advise_make(struct vram *v, struct advice_list *list)
{
    struct vram *probe = fit_probe(v);
    if (!probe)
        return VRAM_ENOMEM;
    mem_zero(list, sizeof *list);
    struct fit_answer now = {0};
    int rc = fit_try(probe, 0, &now);
    list->gpu_bytes = gpu_bytes(&v->config);
    list->process = now.process;
    list->fits = now.fits;
    for (size_t i = 0; advice_change_at(i) && rc == VRAM_OK; i++)
        if (is_for(v->config.task, advice_change_at(i)->task))
            rc = try_row(v, probe, list, i);
    if (rc == VRAM_OK) {
        sort(list);
        if (list->gpu_bytes && !list->fits)
            rc = make_plan(v, probe, list);
    }
    if (rc != VRAM_OK)
        fit_error(v, probe);
    vram_free(probe);
    return rc;
}
