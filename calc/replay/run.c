// Owns the public calls of the estimate: run, live peak, trace.

#include "calc/replay/run.h"

#include "calc/base/size.h"
#include "calc/model/capacities.h"
#include "calc/model/contexts.h"
#include "calc/model/cost.h"
#include "calc/model/framework.h"
#include "calc/model/scheme.h"
#include "calc/model/stage.h"
#include "calc/replay/engine.h"
#include "calc/replay/live.h"
#include "calc/replay/pace.h"
#include "calc/replay/report.h"
#include "calc/replay/resume.h"
#include "calc/replay/schedule.h"

const struct vram_result *vram_result(const struct vram *v)
{
    return v->has_result ? &v->result : NULL;
}

static struct allocator_config run_allocator(const struct vram_config *c, uint64_t room)
{
    return (struct allocator_config){
        .device_bytes = room,
        .max_split_bytes = c->max_split_size_mb << 20,
        .roundup_divisions = (uint32_t)c->roundup_power2_divisions,
        .expandable = c->expandable_segments,
        .falling = c->mode == MODE_PROCESS,  // the reference values were simulated with rising ones
    };
}

// A player for the engine's model with its slots.
static int run_player(struct vram *v, struct engine *e, struct player *player)
{
    void *p = e->slots;
    player_init(player, &e->model);
    player->lane_slots = player_lane_slots(&e->model, e->reels, ENGINE_REELS);
    player->workspace_bytes = e->dims.card.workspace;
    if (mem_grow(e->mem, &p, &e->slots_cap, player_slots(player), sizeof *e->slots) != VRAM_OK)
        return handle_no_memory(v);
    player->slots = e->slots = p;
    p = e->held;
    bool differ = e->model.c.seq_lens || e->grows;
    if (differ &&
        mem_grow(e->mem, &p, &e->held_cap, player_lasting(&e->model), sizeof *e->held) != VRAM_OK)
        return handle_no_memory(v);
    e->held = p;
    player->held = differ ? p : NULL;
    return VRAM_OK;
}

// What the card has for the allocator; 0: no card, or one without room for the context alone.
static uint64_t run_room(const struct vram_config *c)
{
    struct vram_figure context;
    uint64_t card = capacity_left(c);
    context_figure(c, &context);
    return card > context.bytes ? card - context.bytes : 0;
}

static void run_drain(void *player)
{
    player_drain(player);
}

// A player that plays into the engine's allocator, which is emptied for it.
static int run_into_allocator(struct vram *v, struct engine *e, struct player *p)
{
    struct allocator_config config = run_allocator(&e->model.c, e->room);
    int rc = allocator_reset(&e->allocator, &config);
    if (rc != VRAM_OK)
        return err_set(&v->err, MESSAGE_allocator_refuses, NO_POS, NO_FIELD, NO_ARGS);
    rc = run_player(v, e, p);
    p->allocator = &e->allocator;
    p->streams = scheme_divides_weights(&e->model.c);
    p->lags = pace_lags(&e->model.c);
#ifndef VRAM_SMALL
    p->queue = pace_queue(&e->model);
    p->ahead = p->lags && pace_is_the_cards(&e->model);
#endif
    p->late = e->late;
    e->allocator.settle = run_drain;
    e->allocator.settled = p;
    return rc;
}

// Steps until each of the run's lengths has been there.
static uint32_t run_round(const struct vram_config *c)
{
    return c->seq_lens ? (uint32_t)c->seq_lens : 1;
}

int run_again(struct vram *v, struct engine *e, const struct player_watch *watch)
{
    struct player p;
    int rc = run_into_allocator(v, e, &p);
    p.watch = watch;
    return rc == VRAM_OK ? schedule_play(e, &p, e->player.iterations) : rc;
}

// lean: only what the allocator reserves, up to `enough` bytes reserved. The rest: player.h.
struct run_way {
    bool lean;
    uint64_t enough, by_pools, most;
    const uint64_t *in_order;
};

static int run_prepare(struct vram *v, struct engine *e, const struct run_way *way)
{
    struct player *p = &e->player;
    int rc = run_into_allocator(v, e, p);
    if (rc != VRAM_OK)
        return rc;
    p->lean = way->lean;
    p->enough = way->enough;
    if (!MODEL_IS_WHOLE)
        return VRAM_OK;
    p->by_pools = way->by_pools;
    p->most = way->most;
    p->in_order = way->in_order;
    rc = p->by_pools ? engine_stretch(e) : VRAM_OK;
    return rc == VRAM_OK ? rc : handle_failed(v, rc);
}

// VRAM_ENOFIT: as much as is enough is reserved, or the room is too small.
static int run_replay(struct vram *v, struct engine *e, const struct run_way *way)
{
    int rc = run_prepare(v, e, way);
    if (rc != VRAM_OK)
        return rc;
    rc = schedule_play(e, &e->player,
                       e->model.c.mode == MODE_REFERENCE ? 2 * run_round(&e->model.c) : 0);
    if (rc == VRAM_OK && way->enough && e->allocator.stats.reserved.peak >= way->enough)
        rc = VRAM_ENOFIT;
    bool endless = rc == VRAM_ENOFIT && e->allocator.stats.ooms && !e->room;
    if (rc == VRAM_EOVERFLOW || endless)
        return err_set(&v->err, MESSAGE_sum_too_large, NO_POS, NO_FIELD, NO_ARGS);
    return rc == VRAM_OK || rc == VRAM_ENOFIT ? rc : handle_failed(v, rc);
}

// What has to fit: of a generation what its last steps take.
static int run_needed(struct vram *v, struct engine *e, const struct run_way *way)
{
    e->grows = false;
    int rc = run_replay(v, e, way);
    e->needed = e->allocator.stats.reserved.peak;
    e->needed_retries = e->allocator.stats.retries;
    return rc;
}

// A generation leaves blocks behind that no longer cache fits into, and a full card gets them back.
static int run_growing(struct vram *v, struct engine *e, const struct run_way *way)
{
    const struct vram_config *c = &v->config;
    e->grows = e->room && !way->lean && c->task == TASK_INFERENCE && c->mode == MODE_PROCESS &&
               framework_goes(c, BY_TRANSFORMERS);
    int rc = e->grows ? run_replay(v, e, way) : VRAM_OK;
    return rc == VRAM_ENOFIT ? run_needed(v, e, way) : rc;
}

// As much as the card has, then without an end: what a run that does not fit would take.
static int run_in_room(struct vram *v, struct engine *e, const struct run_way *way)
{
    e->room = run_room(&v->config);
    int rc = run_needed(v, e, way);
    bool full = rc == VRAM_ENOFIT && e->allocator.stats.ooms;
    if (rc == VRAM_OK)
        return run_growing(v, e, way);
    if (!full || (way->enough && way->enough <= e->room + 1))
        return rc;
    e->room = 0;
    return run_needed(v, e, way);
}

// Whether the pools of a run have nothing in common but the device.
static bool run_splits(const struct engine *e)
{
    const struct vram_config *c = &e->model.c;
    return !c->expandable_segments && !c->max_split_size_mb && !c->seq_lens &&
           !scheme_divides_weights(c) && !pace_lags(c);
}

// Within the card, `over` being the first turn that takes more than it has, or 0: that one is
// played in order, and each that is found to do so, after the first few all that follow.
static int run_within(struct vram *v, struct engine *e, uint64_t enough, uint64_t over)
{
    enum { FEW = 4 };
    uint64_t in_order[FEW + 1] = {0};
    struct run_way way = {.lean = true, .enough = enough, .in_order = in_order};
    unsigned i = 0;
    int rc;
    do {
        way.by_pools = i < FEW ? UINT64_MAX : over - 1;
        in_order[i] = i < FEW ? over : 0;
        rc = run_replay(v, e, &way);
        over = e->player.over;
    } while (over && i++ < FEW);
    e->player.in_order = NULL;
    return rc;
}

// The same of a lean run whose pools have nothing in common but the device: without an end first,
// pool by pool. What takes no more than the card has is the same there; what takes more is so up to
// the turn that does. Where the tensors alone are too much none can be.
static int run_by_pools(struct vram *v, struct engine *e, uint64_t enough)
{
    uint64_t room = run_room(&v->config);
    e->room = 0;
    e->grows = false;
    int endless =
        run_replay(v, e, &(struct run_way){.lean = true, enough, UINT64_MAX, .most = room});
    struct allocator_stats stats = e->allocator.stats;
    if (endless != VRAM_OK && endless != VRAM_ENOFIT)
        return endless;
    if (!room || stats.reserved.peak <= room || live_peak(e) > room)
        return endless;
    e->room = room;
    int within = run_within(v, e, enough, e->player.over);
    bool full = within == VRAM_ENOFIT && e->allocator.stats.ooms;
    if (!full || (enough && enough <= room + 1))
        return within;
    e->allocator.stats = stats;
    return endless;
}

// The whole run of one stage of a pipeline, or of the model.
static int run_stage(struct vram *v, struct engine *e, uint64_t stage, bool lean, uint64_t enough)
{
    e->stage = stage;
    int rc = engine_prepare(v, e, true);
    uint64_t paged = rc == VRAM_OK ? e->state.paged_bytes : 0;  // on the card, too
    if (enough)
        enough = enough > paged ? enough - paged : 1;
    if (rc == VRAM_OK && MODEL_IS_WHOLE && lean && run_splits(e))
        return run_by_pools(v, e, enough);
    return rc == VRAM_OK ? run_in_room(v, e, &(struct run_way){.lean = lean, .enough = enough})
                         : rc;
}

// Two rounds of the lengths, without an allocator: each step has come after the one before it.
static int run_steps(struct vram *v, struct engine *e)
{
    int rc = run_player(v, e, &e->player);
    if (rc == VRAM_OK)
        rc = schedule_play(e, &e->player, 2 * (uint32_t)v->config.seq_lens);
    if (rc == VRAM_EOVERFLOW)
        return err_set(&v->err, MESSAGE_sum_too_large, NO_POS, NO_FIELD, NO_ARGS);
    return rc == VRAM_OK ? rc : handle_failed(v, rc);
}

static int run_stage_peak(struct vram *v, struct engine *e, uint64_t stage, uint64_t *bytes)
{
    e->stage = stage;
    bool several = v->config.seq_lens > 0;
    int rc = engine_prepare(v, e, several);
    if (rc == VRAM_OK && several)
        rc = run_steps(v, e);
    if (rc != VRAM_OK)
        return rc;
    *bytes = several ? e->player.peak : live_peak(e);
    if (*bytes > SIZE_LIMIT)
        return err_set(&v->err, MESSAGE_sum_too_large, NO_POS, NO_FIELD, NO_ARGS);
    return VRAM_OK;
}

// Of the cards of device_map the fullest.
static int run_fullest(struct vram *v, struct engine *e, uint64_t *card, uint64_t *peak)
{
    uint64_t bytes = 0;
    int rc = VRAM_OK;
    *peak = *card = 0;
    for (uint64_t i = 0; i < v->config.device_map && rc == VRAM_OK; i++) {
        rc = run_stage_peak(v, e, i, &bytes);
        *card = bytes > *peak ? i : *card;
        *peak = bytes > *peak ? bytes : *peak;
    }
    return rc;
}

// Of a pipeline the stage that takes most: the first holds most activations, the last the logits.
static int run_largest(struct vram *v, struct engine *e, uint64_t *stage, uint64_t *peak)
{
    uint64_t last = 0;
    if (v->config.task == TASK_INFERENCE && v->config.device_map > 1)
        return run_fullest(v, e, stage, peak);
    int rc = run_stage_peak(v, e, 0, peak);
    uint64_t stages = e->model.c.pipeline_parallel;
    *stage = v->config.pipeline_stage == PIPELINE_STAGE_LAST ? stages - 1 : 0;
    if (rc != VRAM_OK || stages == 1 || v->config.pipeline_stage != PIPELINE_STAGE_AUTO)
        return rc;
    rc = run_stage_peak(v, e, stages - 1, &last);
    if (last > *peak) {
        *peak = last;
        *stage = stages - 1;
    }
    return rc;
}

static int run_whole(struct vram *v, struct engine *e, bool lean, uint64_t enough)
{
    uint64_t stage = 0, peak;
    int rc = stage_count(&v->config) > 1 ? run_largest(v, e, &stage, &peak) : VRAM_OK;
    return rc == VRAM_OK ? run_stage(v, e, stage, lean, enough) : rc;
}

// What each card of device_map has allocated at most, all of them together; 0 without one.
static int run_cards(struct vram *v, struct engine *e, uint64_t *sum)
{
    int rc = VRAM_OK;
    bool spread = v->config.task == TASK_INFERENCE && v->config.device_map > 1;
    for (uint64_t i = 0; spread && i < v->config.device_map && rc == VRAM_OK; i++) {
        rc = run_stage(v, e, i, false, 0);
        *sum += rc == VRAM_OK ? e->allocator.stats.allocated.peak : 0;
    }
    return rc;
}

int vram_run(struct vram *v)
{
    message_clear(&v->err);
    v->has_result = false;
    struct engine *e = engine_of(v);
    if (!e)
        return VRAM_ENOMEM;
    uint64_t cards = 0;
    int rc = run_cards(v, e, &cards);
    if (rc == VRAM_OK)
        rc = run_whole(v, e, false, 0);
    if (rc != VRAM_OK)
        return rc;
    if (report_make(v, e) != VRAM_OK)
        return handle_no_memory(v);
    v->result.cards_allocated_bytes = cards ? cards : v->result.peak_allocated.bytes;
    v->has_result = e->has_run = true;
    return VRAM_OK;
}

int run_once(struct vram *v)
{
    const struct engine *e = v->parts[HANDLE_ENGINE].ptr;
    if (!v->has_result || !e || !e->has_run)
        return vram_run(v);
    message_clear(&v->err);
    return VRAM_OK;
}

int run_resumes(struct vram *v, bool to_and_fro)
{
    struct engine *e = MODEL_IS_WHOLE ? engine_of(v) : NULL;
    if (!e)
        return MODEL_IS_WHOLE ? VRAM_ENOMEM : VRAM_OK;
    int rc = resume_open(e, to_and_fro ? RESUME_OTHERS : 0);
    return rc == VRAM_OK ? rc : handle_no_memory(v);
}

int run_process(struct vram *v, uint64_t enough, struct vram_figure *process, uint64_t *retries)
{
    struct vram_figure context;
    message_clear(&v->err);
    v->has_result = false;
    struct engine *e = engine_of(v);
    if (!e)
        return VRAM_ENOMEM;
    context_figure(&v->config, &context);
    if (enough)
        enough = enough > context.bytes ? enough - context.bytes : 1;
    int rc = run_whole(v, e, true, enough);
    struct accuracy seen[ACCURACY_COUNT];
    accuracies_of(&v->config, seen);
    if (rc == VRAM_OK)
        report_process(seen, e->allocator.stats.reserved.peak, e->state.paged_bytes, &context,
                       process);
    *retries = e->allocator.stats.retries;
    return rc;
}

int run_process_least(struct vram *v, uint64_t *process)
{
    struct vram_figure context;
    context_figure(&v->config, &context);
    int rc = vram_live_peak(v, process);
    const struct engine *e = v->parts[HANDLE_ENGINE].ptr;
    *process += rc == VRAM_OK ? context.bytes + e->state.paged_bytes : 0;
    return rc;
}

uint64_t run_process_floor(struct vram *v)
{
    struct vram_figure context;
    struct engine *e = MODEL_IS_WHOLE && stage_count(&v->config) == 1 ? engine_of(v) : NULL;
    int rc = e ? engine_prepare_state(v, e) : VRAM_ENOMEM;
    message_clear(&v->err);
    if (rc != VRAM_OK)
        return 0;
    context_figure(&v->config, &context);
    return live_floor(e) + context.bytes + e->state.paged_bytes;
}

int vram_live_peak(struct vram *v, uint64_t *bytes)
{
    uint64_t stage;
    message_clear(&v->err);
    struct engine *e = engine_of(v);
    return e ? run_largest(v, e, &stage, bytes) : VRAM_ENOMEM;
}

// From the core's events to the public ones.
struct run_tell {
    struct engine *e;
    vram_event_fn *fn;
    void *ctx;
    uint64_t live;
    uint32_t phase;
    char text[TRACE_PHASE_TEXT];
};

static int run_event(void *ctx, const struct trace_event *in)
{
    struct run_tell *t = ctx;
    const char *name = engine_name(t->e, in->name);
    if (!name)
        return VRAM_ENOMEM;
    if (t->phase != in->phase || !t->text[0])
        trace_phase_name(t->phase = in->phase, t->text);
    t->live += in->is_free ? 0 - in->bytes : in->bytes;
    struct vram_event out = {in->bytes,        t->live,   in->id, in->category,
                             in->is_free != 0, in->block, name,   trace_op_name(in->op),
                             t->text};
    return t->fn(t->ctx, &out);
}

int run_events(struct vram *v, const struct trace_sink *sink)
{
    int rc = run_once(v);  // how many iterations a run takes is known only after it
    if (rc != VRAM_OK)
        return rc;
    struct engine *e = v->parts[HANDLE_ENGINE].ptr;
    struct player p;
    rc = run_player(v, e, &p);
    p.sink = sink;
    return rc == VRAM_OK ? schedule_play(e, &p, e->player.iterations) : rc;
}

int vram_trace(struct vram *v, vram_event_fn *fn, void *ctx)
{
    struct engine *e = engine_of(v);
    struct run_tell tell = {.e = e, .fn = fn, .ctx = ctx};
    return e ? run_events(v, &(struct trace_sink){.event = run_event, .ctx = &tell}) : VRAM_ENOMEM;
}
