// Owns the peak of live bytes without playing: the rises of the reels, one after the other.

#include "calc/replay/live.h"

#include "calc/base/size.h"
#include "calc/replay/buckets.h"
#include "calc/replay/state_play.h"

// One reel after the sum `live`; raises *peak. parts: of enum reel_part.
static uint64_t live_after(const struct engine *e, enum engine_reel reel, unsigned parts,
                           uint64_t live, uint64_t *peak)
{
    struct reel_rise rise = reel_rise(&e->reels[reel], &e->sizes, parts);
    *peak = size_max(*peak, live + (uint64_t)rise.peak);
    return live + (uint64_t)rise.net;
}

static uint64_t live_micro_step(const struct engine *e, uint64_t micro, unsigned parts,
                                uint64_t live, uint64_t *peak)
{
    return micro ? live_after(e, ENGINE_AGAIN, parts & REEL_ALL, live, peak)
                 : live_after(e, ENGINE_NEXT, parts, live, peak);
}

// schedule_pipeline, by rises.
static uint64_t live_pipeline(const struct engine *e, uint64_t live, unsigned first, uint64_t *peak)
{
    uint64_t held = e->model.in_flight, all = engine_fed(&e->model);
    for (uint64_t step = 0; step < all + held; step++) {
        if (step >= held)
            live = live_micro_step(e, step - held, REEL_BACKWARD | first, live, peak);
        if (step < all)
            live = live_micro_step(e, step, REEL_FORWARD | first, live, peak);
    }
    return live;
}

static uint64_t live_micro_steps(const struct engine *e, uint64_t live, unsigned first,
                                 uint64_t *peak)
{
    live = live_after(e, ENGINE_NEXT, REEL_ALL | first, live, peak);
    return engine_micro_steps(&e->model) > 1 ? live_after(e, ENGINE_AGAIN, REEL_ALL, live, peak)
                                             : live;
}

static uint64_t live_iteration(const struct engine *e, uint64_t live, bool first, uint64_t *peak)
{
    int64_t net;
    bool pipeline = e->model.c.pipeline_parallel > 1;
    unsigned part = first ? REEL_FIRST : 0;
    live = pipeline ? live_pipeline(e, live, part, peak) : live_micro_steps(e, live, part, peak);
    *peak = size_max(*peak, live + state_step_rise(&e->state, first, &net));
    return live + (uint64_t)net;
}

// The weights with what is beside them while they are loaded; a second head goes before buffers
// come (state_play.c).
static uint64_t live_loading(const struct engine *e)
{
    const struct state *s = &e->state;
    return s->param_bytes + (MODEL_IS_WHOLE && e->model.c.task == TASK_INFERENCE
                                 ? size_max(s->buffer_bytes, s->loading_bytes)
                                 : s->buffer_bytes + s->loading_bytes);
}

static uint64_t live_generation(const struct engine *e, uint64_t live)
{
    uint64_t peak = live_loading(e);
    live = live_after(e, ENGINE_PROMPT, REEL_ALL, live, &peak);
    if (e->model.c.max_new_tokens > 1) {
        live = live_after(e, ENGINE_FIRST_TOKEN, REEL_ALL, live, &peak);
        live_after(e, ENGINE_TOKEN, REEL_ALL, live, &peak);
    }
    return peak;
}

// schedule_evaluate_between: the last batch finds the logits of those before it, and of the one
// before once more; then all of them are joined.
static uint64_t live_between(const struct engine *e)
{
    uint64_t kept = e->model.c.eval_accumulation_steps, before = kept ? kept - 1 : 0;
    const struct engine_between *b = &e->between;
    uint64_t forward = size_add(size_mul(before + (before > 1), b->gathered), b->rise);
    uint64_t joined = before                    ? size_mul(2 * before + 2, b->gathered)
                      : b->gathered > b->logits ? b->gathered + b->logits
                                                : 0;
    return size_max(forward, joined);
}

// What is there before the first batch.
static uint64_t live_built(const struct engine *e)
{
    return e->state.param_bytes + e->state.buffer_bytes + buckets_bytes(&e->state) +
           e->state.copy_bytes + e->state.sum_bytes;
}

uint64_t live_floor(const struct engine *e)
{
    int64_t net;
    uint64_t live = live_built(e);
    bool steps = e->model.c.task == TASK_TRAIN && !e->model.c.eval_only;
    return steps ? live + e->state.grad_bytes + state_step_rise(&e->state, true, &net) : live;
}

uint64_t live_peak(const struct engine *e)
{
    uint64_t live = live_built(e), peak;
    if (e->model.c.task == TASK_INFERENCE)
        return live_generation(e, live);
    if (e->model.c.pipeline_parallel == 1)
        live += 16 * e->model.tokens;  // the first batch
    peak = size_max(live, live_loading(e));
    if (engine_evaluates(&e->model)) {
        uint64_t inside = live_after(e, ENGINE_EVAL, REEL_ALL | REEL_FIRST, live, &peak);
        live_after(e, ENGINE_EVAL, REEL_ALL, inside, &peak);
    }
    if (e->model.c.eval_only)
        return peak;
    live = live_iteration(e, live, true, &peak);
    live = live_iteration(e, live, false, &peak);
    return engine_evaluates_between(&e->model) ? size_max(peak, size_add(live, live_between(e)))
                                               : peak;
}
