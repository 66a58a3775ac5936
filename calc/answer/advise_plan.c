// Owns the plan: which changes together are enough, and what they cost.

#include "calc/answer/advise_plan.h"

#include "calc/answer/advise_changes.h"
#include "calc/answer/probe.h"
#include "calc/model/cost.h"
#include "calc/model/model_make.h"
#include "calc/replay/report.h"
#include "calc/replay/run.h"

// ---- cost ------------------------------------------------------------------------------------

static double seconds(const struct vram_config *c)
{
    struct model m;
    struct message e;
    struct cost cost;
    message_clear(&e);
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

static double tokens(const struct vram_config *c)
{
    double seq = (double)config_longest(c);
    return seq * (double)(c->batch_size * c->gradient_accumulation_steps);
}

int64_t plan_cost_permille(const struct vram_config *before, const struct vram_config *after,
                           enum vram_effect effect)
{
    if (before->task != TASK_TRAIN)
        return 0;
    if (after->compile == COMPILE_TORCH25 && before->compile == COMPILE_NONE &&
        !model_compiles_whole(after))
        return -460;  // SRC: nanoGPT README, 250 -> 135 ms
    double a = seconds(before), b = seconds(after);
    if (effect == VRAM_EFFECT_DIFFERENT) {
        a = a / tokens(before) * 1e6;
        b = b / tokens(after) * 1e6;
    }
    return permille(a, b);
}

// ---- plan ------------------------------------------------------------------------------------

struct plan {
    struct vram *v, *probe;
    struct advice_list *list;
    bool found, tight;  // of the configuration as it is
    bool tight_only;    // a narrow fit is all that is asked for
    bool exact;  // plan_process_bytes is that of the plan; else all that is known is that it does
                 // not fit: its tensors alone are too much, or the card was full
    uint64_t least;              // run_process_least of the plan
    uint64_t below;              // what is tried in its place takes fewer bytes
    struct probe_answer answer;  // of the plan, where exact
    size_t failed;  // what was tried in its place and does not fit, in list->not_enough: the last
};

static struct vram_change *change_of(const struct plan *p, size_t row)
{
    return &p->list->row[row].out;
}

// Does a come before b in a plan? What keeps the training goes settings first, then by its cost,
// the rest in the table's order: the least change to the result first.
static bool is_earlier(const struct plan *p, size_t a, size_t b)
{
    const struct vram_change *x = change_of(p, a), *y = change_of(p, b);
    if (x->effect == VRAM_EFFECT_SAME && !x->how != !y->how)
        return !x->how;
    if (x->effect == VRAM_EFFECT_SAME)
        return x->cost_permille < y->cost_permille;
    return p->list->row[a].number < p->list->row[b].number;
}

// A compiled run is tried alone, not in a plan: each try takes as long as many others do.
static bool is_alone(const struct plan *p, size_t row)
{
    return MODEL_IS_WHOLE && p->v->config.compile == COMPILE_NONE &&
           p->list->row[row].config.compile != COMPILE_NONE && model_compiles_whole(&p->v->config);
}

// The row that is tried next, of those of the group that were not; list->count if none.
static size_t next_row(const struct plan *p, const bool *tried, bool same)
{
    size_t best = p->list->count;
    for (size_t k = 0; k < p->list->count; k++) {
        size_t i = p->list->order[k];
        const struct vram_change *c = change_of(p, i);
        if (tried[i] || c->in_plan || c->refusal || is_alone(p, i) ||
            (c->effect == VRAM_EFFECT_SAME) != same)
            continue;
        if (best == p->list->count || is_earlier(p, i, best))
            best = i;
    }
    return best;
}

static void aim(struct vram *probe, const struct vram_config *config)
{
    probe->config = *config;
    probe->has_result = false;
}

// What the tensors alone take; more than anything where that is no possible run.
static uint64_t least_of(struct vram *probe, const struct vram_config *config)
{
    uint64_t least;
    aim(probe, config);
    if (run_process_least(probe, &least) != VRAM_OK)
        least = UINT64_MAX;
    message_clear(&probe->err);
    return least;
}

// What is known of a configuration: the first change of a plan has been tried already, as a row,
// and one change may contain another.
static bool is_known(const struct plan *p, const struct vram_config *config,
                     struct probe_answer *answer)
{
    if (p->answer.process && p->exact && config_same(&p->list->plan, config)) {
        *answer = p->answer;
        return true;
    }
    for (size_t i = 0; i < p->list->count; i++) {
        const struct vram_change *c = change_of(p, i);
        if (c->refusal || c->by_tensors || !config_same(&p->list->row[i].config, config))
            continue;
        *answer = (struct probe_answer){c->process_bytes, c->fits, c->fits_surely};
        return true;
    }
    return false;
}

// The answer for a configuration if it takes less than `enough`, else VRAM_ENOFIT; 0: in any case.
static int try_below(const struct plan *p, const struct vram_config *config, uint64_t enough,
                     struct probe_answer *answer)
{
    if (is_known(p, config, answer))
        return !enough || answer->process < enough ? VRAM_OK : VRAM_ENOFIT;
    aim(p->probe, config);
    int rc = probe_try(p->probe, enough, answer);
    message_clear(&p->probe->err);
    return rc;
}

static bool apply(const struct plan *p, size_t row, struct vram_config *config)
{
    struct text_line what;
    struct message refusal;
    return advice_apply(p->list->row[row].number, config, &what, &refusal) == ADVICE_APPLIED;
}

// The figure of a plan of which nothing is known but that it does not fit.
static int make_exact(struct plan *p)
{
    if (p->exact)
        return VRAM_OK;
    int rc = try_below(p, &p->list->plan, 0, &p->answer);
    p->list->out.plan_process_bytes = p->answer.process;
    p->exact = rc == VRAM_OK;
    return rc;
}

// The answer for what would be the plan, *exact: whether it has a figure. VRAM_ENOFIT: it takes no
// less than the plan. The figure of a plan that does not fit is not asked for until another that
// does not fit is compared with it.
static int weigh(struct plan *p, const struct vram_config *next, struct probe_answer *answer,
                 bool *exact)
{
    const struct vram_advice *out = &p->list->out;
    int rc = VRAM_OK;
    *exact = true;
    if (!p->exact) {
        rc = try_below(p, next, out->gpu_bytes + 1, answer);
        if (rc != VRAM_ENOFIT)
            return rc;
        *exact = p->least <= out->gpu_bytes;
        *answer = (struct probe_answer){0};
        rc = *exact ? make_exact(p) : VRAM_OK;
    }
    return *exact && rc == VRAM_OK ? try_below(p, next, out->plan_process_bytes, answer) : rc;
}

// Rows of a plan in the order in which they are left out.
struct rows {
    size_t count, row[ADVICE_MAX];
};

static void without(const struct plan *p, const struct rows *out, struct vram_config *config)
{
    *config = p->v->config;
    for (size_t k = 0; k < p->list->count; k++) {
        size_t i = p->list->order[k], at = 0;
        while (at < out->count && out->row[at] != i)
            at++;
        if (at == out->count && change_of(p, i)->in_plan)
            apply(p, i, config);
    }
}

// Bytes from which on a plan does not fit in the way that is asked for; after least_of.
static uint64_t too_much(const struct plan *p)
{
    return p->tight_only ? p->list->out.gpu_bytes + 1 : report_unsure(p->probe);
}

// What the tensors alone take, and bytes from which on that is too much; a lower bound where that
// is too much already.
static uint64_t least_or_more(const struct plan *p, const struct vram_config *config,
                              uint64_t *enough)
{
    uint64_t least = 0;
    if (MODEL_IS_WHOLE) {
        aim(p->probe, config);
        least = run_process_floor(p->probe);
        *enough = least ? too_much(p) : 0;
    }
    if (!least || least < *enough) {
        least = least_of(p->probe, config);
        *enough = too_much(p);
    }
    return least;
}

static bool has_failed(const struct plan *p, const struct vram_config *config)
{
    for (size_t i = 0; i < p->failed && i < ADVICE_FAILED; i++)
        if (config_same(&p->list->not_enough[i], config))
            return true;
    return false;
}

// The plan without rows, if that fits too. *left: whether they are left out.
static int leave_out(struct plan *p, const struct rows *out, bool *left)
{
    struct vram_config next;
    struct probe_answer answer;
    without(p, out, &next);
    *left = false;
    if (has_failed(p, &next))
        return VRAM_OK;
    uint64_t enough, least = least_or_more(p, &next, &enough);
    if (least >= enough)
        return VRAM_OK;
    int rc = try_below(p, &next, enough < p->below ? enough : p->below, &answer);
    if (rc != VRAM_OK || !(p->tight_only ? answer.fits : answer.surely)) {
        if (enough <= p->below)
            p->list->not_enough[p->failed++ % ADVICE_FAILED] = next;
        return rc == VRAM_ENOMEM ? rc : VRAM_OK;
    }
    p->list->plan = next;
    p->least = least;
    p->answer = answer;
    p->list->out.plan_process_bytes = answer.process;
    for (size_t i = 0; i < out->count; i++)
        change_of(p, out->row[i])->in_plan = false;
    *left = true;
    return VRAM_OK;
}

// Rows from number `from` on that the plan will probably do without, all of them together: what
// its tensors say, and the allocator adding the same part as to the plan. Up to the first that is
// not among them and might be.
static void guess(const struct plan *p, const struct rows *all, size_t from, double part,
                  struct rows *out)
{
    out->count = 0;
    for (size_t i = from; i < all->count; i++) {
        struct vram_config next;
        out->row[out->count++] = all->row[i];
        without(p, out, &next);
        uint64_t enough, least = least_or_more(p, &next, &enough);
        if ((double)least * part < (double)enough)
            continue;
        out->count--;
        if (least < enough)
            return;
    }
}

// Rows that a plan may do without, in the order in which they are left out.
static void spare(const struct plan *p, struct rows *all)
{
    all->count = 0;
    for (size_t k = 0; k < p->list->count; k++) {
        const struct vram_change *c = change_of(p, p->list->order[k]);
        if (c->in_plan && c->cost_permille >= 0)
            all->row[all->count++] = p->list->order[k];
    }
}

// Adds a row with which the plan probably fits, without those that it will then probably do
// without, or without all where the row alone is enough: what fits so fits with them, too. *done:
// whether it does.
static int finish(struct plan *p, size_t row, bool *done)
{
    struct rows all, out;
    int rc = VRAM_OK;
    *done = false;
    spare(p, &all);
    out = all;
    change_of(p, row)->in_plan = true;
    if (!change_of(p, row)->fits_surely)
        guess(p, &all, 0, 1, &out);
    p->below = p->exact ? p->list->out.plan_process_bytes : UINT64_MAX;  // as weigh asks
    if (out.count)
        rc = leave_out(p, &out, done);
    p->below = UINT64_MAX;
    change_of(p, row)->in_plan = *done;
    p->found |= *done;
    p->exact |= *done;
    return rc;
}

// Adds one row if that takes less memory still. While the tensors alone are more than the card has,
// theirs are compared and nothing is replayed; later, what takes as many tensors as the plan and
// saves nothing alone is not tried.
static int extend(struct plan *p, size_t row)
{
    struct vram_config next = p->list->plan;
    struct probe_answer answer = {0};
    struct vram_advice *out = &p->list->out;
    if (!apply(p, row, &next))
        return VRAM_OK;
    bool alone = MODEL_IS_WHOLE && change_of(p, row)->fits_surely, done = false;
    int rc = alone ? finish(p, row, &done) : VRAM_OK;
    if (rc != VRAM_OK || done)
        return rc;
    uint64_t least = least_of(p->probe, &next);
    bool exact = least <= out->gpu_bytes, fewer = least < p->least;
    if (!fewer && (!exact || !change_of(p, row)->saved_bytes))
        return VRAM_OK;
    if (MODEL_IS_WHOLE && exact && !alone && least < too_much(p))
        rc = finish(p, row, &done);
    if (rc == VRAM_OK && exact && !done)
        rc = weigh(p, &next, &answer, &exact);
    if (rc != VRAM_OK || done)
        return rc == VRAM_ENOMEM ? rc : VRAM_OK;
    p->list->plan = next;
    p->least = least;
    p->exact = exact;
    p->answer = answer;
    out->plan_process_bytes = answer.process;
    change_of(p, row)->in_plan = true;
    p->tight = answer.fits;
    p->found = answer.surely;
    return VRAM_OK;
}

// Leaves out one row after the other that the plan does not need, but for what makes it faster.
// Where several will probably go, they are tried together, and where that is wrong without the
// last: what fits without all of them fits without some.
static int prune(struct plan *p)
{
    struct rows all, out;
    int rc = VRAM_OK;
    spare(p, &all);
    for (size_t i = 0; i < all.count && rc == VRAM_OK; i++) {
        bool left = false;
        double part = (double)p->answer.process / (double)p->least;
        if (!change_of(p, all.row[i])->in_plan)
            continue;
        for (guess(p, &all, i, part, &out); out.count > 1 && rc == VRAM_OK && !left; out.count--)
            rc = leave_out(p, &out, &left);
        if (rc == VRAM_OK && !left)
            rc = leave_out(p, &(struct rows){1, {all.row[i]}}, &left);
    }
    return rc;
}

// Adds rows that leave the training as it is until the plan fits.
static int add_same(struct plan *p)
{
    bool tried[ADVICE_MAX] = {false};
    int rc = VRAM_OK;
    for (size_t row;
         rc == VRAM_OK && !p->found && (row = next_row(p, tried, true)) < p->list->count;) {
        tried[row] = true;
        rc = extend(p, row);
    }
    return rc;
}

// Adds the other rows, after another model or optimizer again those that leave the training as it
// is: checkpointing helps where the optimizer's state no longer decides.
static int add_other(struct plan *p)
{
    bool tried[ADVICE_MAX] = {false};
    int rc = VRAM_OK;
    for (size_t row;
         rc == VRAM_OK && !p->found && (row = next_row(p, tried, false)) < p->list->count;) {
        tried[row] = true;
        rc = extend(p, row);
        const struct vram_change *c = change_of(p, row);
        if (rc == VRAM_OK && c->in_plan && c->effect == VRAM_EFFECT_DIFFERENT && !p->found)
            rc = add_same(p);
    }
    return rc;
}

// A second change of the same field (micro-batches) replaces the first.
int plan_make(struct vram *v, struct vram *probe, struct advice_list *list)
{
    struct plan p = {.v = v,
                     .probe = probe,
                     .list = list,
                     .exact = true,
                     .least = list->least,
                     .below = UINT64_MAX};
    int rc = run_resumes(probe, true);
    list->plan = v->config;
    list->out.plan_process_bytes = list->out.process_bytes;
    for (int same = 1; same >= 0 && rc == VRAM_OK; same--) {
        rc = same ? add_same(&p) : add_other(&p);
        // a narrow fit is better than another model
        if (!p.found && p.tight) {
            p.found = p.tight_only = true;
            p.failed = 0;  // that was to fit surely
        }
    }
    if (rc == VRAM_OK)
        rc = p.found ? prune(&p) : make_exact(&p);
    list->out.plan_found = p.found;
    list->out.plan_tight = p.tight_only;
    list->out.plan_cost_permille =
        v->config.eval_only ? 0
                            : plan_cost_permille(&v->config, &list->plan, VRAM_EFFECT_DIFFERENT);
    return rc;
}
