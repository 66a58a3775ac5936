// Owns the result: figures with their bounds, and what is alive at the peak, by a second walk that
// stops there.

#include "calc/replay/report.h"

#include "calc/base/size.h"
#include "calc/model/capacities.h"
#include "calc/model/contexts.h"
#include "calc/model/gpus.h"
#include "calc/model/model_make.h"
#include "calc/model/precision.h"
#include "calc/model/kinds.h"
#include "calc/model/regime.h"
#include "calc/model/remarks.h"
#include "calc/replay/accuracy.h"
#include "calc/replay/buckets.h"
#include "calc/replay/schedule.h"
#include "calc/trace/graph.h"

// The walk that finds out who is alive at the peak.
struct report_walk {
    struct engine *e;
    struct vram_result *out;
    uint64_t left;  // events to go
};

static int report_event(void *ctx, const struct trace_event *event)
{
    struct report_walk *w = ctx;
    struct engine *e = w->e;
    uint64_t sign = event->is_free ? (uint64_t)-1 : 1;
    if (event->category != VRAM_CAT_WORKSPACE) {
        e->name_bytes[event->name] += sign * event->bytes;
        e->name_count[event->name] += (uint32_t)sign;
    }
    if (!event->is_free) {
        e->name_op[event->name] = (uint8_t)event->op;
        e->name_category[event->name] = (uint8_t)event->category;
    }
    return --w->left == 0;
}

static int report_walk_to_peak(struct engine *e, struct vram_result *out)
{
    struct report_walk w = {e, out, e->player.peak_event};
    struct trace_sink sink = {.event = report_event, .ctx = &w, .sums = true};
    struct player p;
    mem_zero(e->name_bytes, ENGINE_NAMES * sizeof *e->name_bytes);
    mem_zero(e->name_count, ENGINE_NAMES * sizeof *e->name_count);
    player_init(&p, &e->model);
    p.sink = &sink;
    p.slots = e->slots;
    p.held = e->player.held;
    p.lane_slots = e->player.lane_slots;
    p.workspace_bytes = e->player.workspace_bytes;
    int rc = schedule_play(e, &p, e->player.iterations);
    return rc < 0 ? rc : VRAM_OK;
}

// Inserts a line so that the largest stays first.
static void report_insert(struct vram_line *lines, size_t *count, struct vram_line line)
{
    size_t at = *count < ENGINE_LINES ? (*count)++ : ENGINE_LINES - 1;
    while (at > 0 && lines[at - 1].bytes < line.bytes) {
        lines[at] = lines[at - 1];
        at--;
    }
    lines[at] = line;
}

static int report_at_peak(struct engine *e, struct vram_result *out)
{
    size_t count = 0;
    mem_zero(e->by_category, sizeof e->by_category);
    for (uint32_t name = 0; name < ENGINE_NAMES; name++) {
        if (e->name_bytes[name] == 0)
            continue;
        const char *text = engine_name(e, (uint16_t)name);
        if (!text)
            return VRAM_ENOMEM;
        uint8_t category = e->name_category[name];
        e->by_category[category] += e->name_bytes[name];
        report_insert(e->lines, &count,
                      (struct vram_line){text, trace_op_name(e->name_op[name]), "", category,
                                         e->name_count[name], e->name_bytes[name]});
    }
    out->by_category = e->by_category;
    out->category_count = VRAM_CAT_COUNT;
    out->at_peak = e->lines;
    out->at_peak_count = count;
    return VRAM_OK;
}

static const char *report_dtype(const struct model *m, uint8_t dtype)
{
    static const char *const names[DT_COUNT] = {"float32", "bfloat16", "int64",    "bool",
                                                "float64", "float32",  "bfloat16", "float64",
#ifndef VRAM_SMALL
                                                "float32", "bfloat16"
#endif
    };
    bool low = dtype == DT_LOW || dtype == DT_LOW_SHARE;
    return low && precision_is_float16(&m->c) ? "float16" : names[dtype];
}

static int report_saved(struct engine *e, struct vram_result *out)
{
    const struct reel *r = &e->reels[ENGINE_NEXT];
    size_t count = 0;
    if (r->tape.count == 0)
        return VRAM_OK;  // no pass with gradients: nothing is saved
    for (size_t i = 0; i < r->saved_count; i++) {
        const struct reel_saved *s = &r->saved[i];
        uint64_t n = s->count[0] + s->count[1] + s->count[2] * reel_times(r, 1) + s->count[3];
        const char *text = engine_name(e, s->name), *op = engine_saved_name(e, s->kind, s->which);
        if (!text || !op)
            return VRAM_ENOMEM;
        uint32_t category = s->shape == SHAPE_NV ? VRAM_CAT_LOGITS : VRAM_CAT_ACT;
        report_insert(e->saved_lines, &count,
                      (struct vram_line){text, op, report_dtype(&e->model, s->dtype), category,
                                         (uint32_t)n,
                                         n * reel_bytes(&e->sizes, s->shape, s->dtype)});
    }
    out->saved = e->saved_lines;
    out->saved_count = count;
    out->saved_bytes = reel_saved_bytes(r, &e->sizes);
    return VRAM_OK;
}

static void report_phases(struct engine *e, struct vram_result *out)
{
    for (uint32_t i = 0; i < e->player.phase_count; i++) {
        trace_phase_name(e->player.phases[i].phase, e->phase_names[i]);
        e->phases[i] = (struct vram_phase){e->phase_names[i], e->player.phases[i].peak};
    }
    out->phases = e->phases;
    out->phase_count = e->player.phase_count;
    out->peak_phase = trace_phase_name(e->player.peak_phase, e->peak_phase);
    out->peak_op = trace_op_name(e->player.peak_op);
    out->peak_block = e->player.peak_block;
}

static struct vram_figure report_figure(uint64_t bytes, uint32_t basis, uint32_t permille,
                                        message_id why)
{
    uint64_t slack = bytes / 1000 * permille;
    slack = slack < bytes ? slack : bytes;
    return (struct vram_figure){bytes, bytes - slack, bytes + slack, basis, permille, 0, NULL, why};
}

// What the sum of live tensors rests on. Exact: what the reference values cover, GPT-2 in eager
// training on one GPU with the optimizers of PyTorch.
static struct vram_figure report_live(const struct model *m, uint64_t bytes)
{
    const struct vram_config *c = &m->c;
    bool one = !c->offload_optimizer && !c->offload_activations && c->n_gpu == 1 &&
               c->tensor_parallel == 1 && c->pipeline_parallel == 1;
    bool torch = c->optimizer <= OPTIMIZER_ADAMW_FOREACH || c->optimizer == OPTIMIZER_SGD ||
                 c->optimizer == OPTIMIZER_SGD_MOMENTUM;
    bool eager = c->task == TASK_TRAIN && c->cross_entropy == CROSS_ENTROPY_EAGER;
    if (c->compile != COMPILE_NONE)
        return report_figure(bytes, VRAM_BASIS_MODEL, REPORT_TOLERANCE_COMPILED,
                             MESSAGE_why_compiled);
    if (!one || !torch || c->lora_rank > 0 || c->n_expert > 0)
        return report_figure(bytes, VRAM_BASIS_MODEL, REPORT_TOLERANCE_MODEL,
                             MESSAGE_why_libraries);
    if (!eager || c->family != FAMILY_GPT2)
        return report_figure(bytes, VRAM_BASIS_MODEL, REPORT_TOLERANCE_FAMILY, MESSAGE_why_family);
    return report_figure(bytes, VRAM_BASIS_EXACT, REPORT_TOLERANCE_LIVE, MESSAGE_why_exact);
}

static uint32_t report_at_least(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

// A figure with the tolerance that measurements of its kind of run show, and no less than `least`.
static struct vram_figure report_confirmed(uint64_t bytes, uint32_t basis, struct accuracy seen,
                                           uint32_t least, message_id why)
{
    struct vram_figure f = report_figure(bytes, basis, report_at_least(seen.permille, least), why);
    f.measurements = seen.rows;
    return f;
}

#ifndef VRAM_SMALL
// The words of the kinds, which stay as long as the engine does.
static void report_kinds(const struct vram *v, struct engine *e, struct vram_result *out,
                         const struct accuracy seen[ACCURACY_COUNT])
{
    out->peak_live.wider = out->context.wider = "";
    out->kind = kind_words(kind_of(&v->config), e->kinds[0]);
    out->peak_allocated.wider = out->peak_reserved.wider =
        kind_words(seen[ACCURACY_ALLOCATOR].wider, e->kinds[1]);
    out->process.wider = out->needed.wider = kind_words(seen[ACCURACY_PROCESS].wider, e->kinds[2]);
}
#endif

// paged: managed memory, on the card where there is room for it; the lower end is without.
void report_process(const struct accuracy seen[ACCURACY_COUNT], uint64_t reserved, uint64_t paged,
                    const struct vram_figure *context, struct vram_figure *out)
{
    struct accuracy outside = seen[ACCURACY_PROCESS];
    uint32_t inside = outside.rows ? 0 : seen[ACCURACY_ALLOCATOR].permille;
    uint32_t least = report_at_least(REPORT_TOLERANCE_PROCESS, inside);
    *out = report_confirmed(reserved, VRAM_BASIS_RANGE, outside, least, MESSAGE_why_process);
    out->bytes += context->bytes + paged;
    out->low += context->low;
    out->high += context->high + paged;
}

static void report_figures(const struct vram *v, struct engine *e, struct vram_result *out)
{
    const struct allocator_stats *s = &e->allocator.stats;
    struct accuracy seen[ACCURACY_COUNT];
    accuracies_of(&v->config, seen);
    out->peak_live = report_live(&e->model, e->player.peak);
    uint32_t live = out->peak_live.tolerance_permille;
    out->peak_allocated =
        report_confirmed(s->allocated.peak, VRAM_BASIS_MODEL, seen[ACCURACY_ALLOCATOR],
                         report_at_least(live, REPORT_TOLERANCE_ALLOCATED), MESSAGE_why_allocated);
    out->peak_reserved =
        report_confirmed(s->reserved.peak, VRAM_BASIS_MODEL, seen[ACCURACY_ALLOCATOR],
                         report_at_least(live, REPORT_TOLERANCE_RESERVED), MESSAGE_why_reserved);
    context_figure(&v->config, &out->context);
    report_process(seen, s->reserved.peak, e->state.paged_bytes, &out->context, &out->process);
    report_process(seen, e->needed, e->state.paged_bytes, &out->context, &out->needed);
#ifndef VRAM_SMALL
    report_kinds(v, e, out, seen);
#endif
}

static void report_counts(const struct engine *e, struct vram_result *out)
{
    const struct model *m = &e->model;
    out->params = m->params;
    out->reported_params = m->reported_params;
    out->trained_params = m->trained_params;
    out->decayed_params = m->decayed_params;
    out->decayed_tensors = m->decayed_tensors;
    out->nodecay_params = m->nodecay_params;
    out->nodecay_tensors = m->nodecay_tensors;
    out->tensors = m->tensors;
    out->param_bytes = e->state.param_bytes;
    out->grad_bytes = e->state.grad_bytes + (e->state.grad_bytes ? 0 : buckets_bytes(&e->state));
    out->optim_bytes = e->state.optim_bytes;
    out->buffer_bytes = e->state.buffer_bytes;
}

// A line for the tensors of one name: those of all layers together.
static int report_parameters(struct engine *e, const struct layout_param *p, size_t n,
                             const struct model *m, struct vram_result *out)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t count = m ? layout_times(&p[i], m) : 1;
        const char *name = engine_name(e, name_of(p[i].role, p[i].part));
        if (!name)
            return VRAM_ENOMEM;
        e->parameters[out->parameter_count++] =
            (struct vram_tensor){name,
                                 count,
                                 p[i].rows,
                                 p[i].cols,
                                 count * p[i].rows * (p[i].cols ? p[i].cols : 1),
                                 p[i].matrix,
                                 p[i].trained};
    }
    return VRAM_OK;
}

static int report_layout(const struct vram *v, struct engine *e, struct vram_result *out)
{
    struct model m;
    struct message none;
    message_clear(&none);
    model_make(&m, &v->config, &none);  // the whole model, also where the run was of one stage
    struct layout l;
    layout_make(&l, &m);
    out->parameters = e->parameters;
    int rc = report_parameters(e, l.before, l.before_count, NULL, out);
    if (rc == VRAM_OK)
        rc = report_parameters(e, l.block, l.block_count, &m, out);
    return rc == VRAM_OK ? report_parameters(e, l.after, l.after_count, NULL, out) : rc;
}

static uint64_t report_activations_on_host(const struct engine *e)
{
    const struct reel *r = &e->reels[ENGINE_NEXT];
    uint64_t bytes = 0;
    for (size_t i = 1; e->model.c.offload_activations && i < r->tape.count; i++) {
        const struct storage *s = &r->tape.storages[i];
        bytes += graph_is_on_host(s) ? reel_bytes(&e->sizes, s->shape, s->dtype) : 0;
    }
    return bytes;
}

static void report_mib(struct engine *e, message_id id, const char *const *about, uint64_t bytes)
{
    if (bytes)
        message_list_add(&e->notes, id, about, ARGS(arg_u64("mib", (bytes + 524288) / 1048576)));
}

static int report_notes(const struct vram *v, struct engine *e, struct vram_result *out)
{
    message_list_free(&e->notes);
    for (size_t i = 0; i < v->notes.count; i++)
        message_list_copy(&e->notes, &v->notes.at[i]);
    remarks_add(&e->notes, v);
    report_mib(e, MESSAGE_paged_outside, ABOUT("optimizer"), e->state.paged_bytes);
    report_mib(e, MESSAGE_offloaded, NO_FIELD, e->state.host_bytes + report_activations_on_host(e));
    const struct vram_figure *all = &out->process, *needed = &out->needed;
    report_mib(e, MESSAGE_cache_kept, NO_FIELD,
               MODEL_IS_WHOLE && all->bytes > needed->high ? all->bytes - needed->bytes : 0);
    if (out->alloc_retries && vram_verdict_fits(out->verdict))
        message_list_add(
            &e->notes, MESSAGE_cache_returned, NO_FIELD,
            ARGS(arg_u64("times", out->alloc_retries), arg_u64("steps", out->iterations)));
    out->notes = e->notes.at;
    out->note_count = e->notes.count;
    return e->notes.failed ? VRAM_ENOMEM : VRAM_OK;
}

uint32_t report_verdict(const struct vram_figure *process, uint64_t gpu_bytes, uint64_t retries)
{
    if (gpu_bytes == 0)
        return VRAM_VERDICT_NO_GPU;
    if (process->bytes > gpu_bytes)
        return process->low <= gpu_bytes ? VRAM_VERDICT_NEARLY : VRAM_VERDICT_TOO_BIG;
    return process->high > gpu_bytes || retries ? VRAM_VERDICT_TIGHT : VRAM_VERDICT_FITS;
}

uint64_t report_unsure(const struct vram *v)
{
    const struct engine *e = v->parts[HANDLE_ENGINE].ptr;
    uint64_t room = capacity_left(&v->config), paged = e->state.paged_bytes;
    struct vram_figure context, f;
    context_figure(&v->config, &context);
    struct accuracy seen[ACCURACY_COUNT];
    accuracies_of(&v->config, seen);
    report_process(seen, room, paged, &context, &f);
    uint64_t rest = context.high + paged, part = 1000 + f.tolerance_permille;
    uint64_t reserved = room > rest ? (room - rest) * 1000 / part + 1000 : 1000;
    report_process(seen, reserved, paged, &context, &f);
    return f.high > room && f.bytes <= room ? f.bytes : room + 1;
}

int report_make(struct vram *v, struct engine *e)
{
    struct vram_result *out = &v->result;
    mem_zero(out, sizeof *out);
    report_counts(e, out);
    report_figures(v, e, out);
    out->peak_requested_bytes = e->allocator.stats.requested.peak;
    out->segments = e->allocator.stats.segments.now;
    out->events = e->player.events;
    out->alloc_retries = e->allocator.stats.retries;
    out->pipeline_stage = (uint32_t)e->stage;
    out->iterations = e->player.iterations;
    out->first_step_peak_bytes = e->player.first_step_peak;
    out->steady_end_bytes = e->player.steady_end;
    out->reserved_end_bytes = e->allocator.stats.reserved.now;
    out->eval_peak_bytes = e->player.eval_peak;
    out->gpu_name = gpu_name(&v->config);
    out->gpu_bytes = capacity_left(&v->config);
    capacity_of(&v->config, &out->capacity);
    out->verdict = report_verdict(&out->needed, out->gpu_bytes, e->needed_retries);
    out->regime = regime_of(&v->config);
    report_phases(e, out);
    int rc = report_walk_to_peak(e, out);
    if (rc == VRAM_OK)
        rc = report_at_peak(e, out);
    if (rc == VRAM_OK)
        rc = report_saved(e, out);
    if (rc == VRAM_OK)
        rc = report_layout(v, e, out);
    return rc == VRAM_OK ? report_notes(v, e, out) : rc;
}
