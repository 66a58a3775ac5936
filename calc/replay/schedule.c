// Owns the order of a run: weights, first batch, evaluation, iterations of micro-steps and
// optimizer steps.

#include "calc/replay/schedule.h"

#include "calc/base/size.h"
#include "calc/model/precision.h"
#include "calc/replay/resume.h"
#include "calc/replay/state_play.h"

static const struct storage schedule_batch[2] = {
    {.name = NAME(BATCH, SELF), .op = OP_X, .category = VRAM_CAT_INPUT},
    {.name = NAME(TARGETS, SELF), .op = OP_Y, .category = VRAM_CAT_INPUT},
};

#ifndef VRAM_SMALL
static const struct storage schedule_mask = {
    .name = NAME(SCORES, MASK), .op = OP_X, .category = VRAM_CAT_INPUT};
#endif

static int schedule_first_batch(struct engine *e, struct player *p)
{
    player_phase(p, trace_phase(TRACE_DATA, 0, 0));
    int rc = player_alloc(p, SLOT_X, &schedule_batch[0], 8 * e->model.tokens, -1);
    uint64_t targets = 8 * e->model.tokens;
#ifndef VRAM_SMALL
    targets = e->sizes.each[pass_rows(&e->model)];
    if (rc == VRAM_OK && model_gets_mask(&e->model))
        rc = player_alloc(p, SLOT_MASK, &schedule_mask,
                          reel_bytes(&e->sizes, SHAPE_MASKS, precision_of(&e->model.c)->compute),
                          -1);
#endif
    return rc == VRAM_OK ? player_alloc(p, SLOT_Y, &schedule_batch[1], targets, -1) : rc;
}

// estimate_loss returns: its variables go.
static int schedule_end_evaluation(struct engine *e, struct player *p)
{
    const struct reel *r = &e->reels[ENGINE_EVAL];
    int rc = VRAM_OK;
    for (uint16_t slot = SLOT_LOGITS; slot <= SLOT_LOSS && rc == VRAM_OK; slot++) {
        uint32_t kept = reel_kept(r, slot);
        if (kept != TAPE_NONE)
            rc = player_free(p, slot, &r->tape.storages[kept], reel_request(r, kept)->bytes, -1);
    }
    return rc;
}

static int schedule_evaluate(struct engine *e, struct player *p)
{
    int rc = VRAM_OK;
    for (uint32_t i = 0; i < ENGINE_EVALS && rc == VRAM_OK; i++) {
        uint32_t phase = trace_phase(TRACE_EVAL, 0, i);
        p->first = i == 0;
        rc = player_reel(p, &e->reels[ENGINE_EVAL], phase, phase);
    }
    return rc == VRAM_OK ? schedule_end_evaluation(e, p) : rc;
}

// The largest peak of the phases from number `from` on.
static uint64_t schedule_phase_peak(const struct player *p, uint32_t from)
{
    uint64_t most = p->phase_peak;
    for (uint32_t i = from; i + 1 < p->phase_count; i++)
        most = size_max(most, p->phases[i].peak);
    return most;
}

// What an evaluation between steps keeps of a batch on the card, and joined.
struct schedule_kept {
    uint64_t own, bytes;  // of this GPU, of all
    struct storage storage;
};

// False: nothing. A fused loss makes no logits.
static bool schedule_keeps(const struct engine *e, struct schedule_kept *k)
{
    const struct reel *r = &e->reels[ENGINE_BETWEEN];
    uint32_t kept = e->model.c.eval_accumulation_steps ? reel_kept(r, SLOT_LOGITS) : TAPE_NONE;
    if (kept == TAPE_NONE)
        return false;
    k->own = e->between.logits;
    k->bytes = e->between.gathered;
    k->storage = r->tape.storages[kept];
    k->storage.op = OP_CAT;
    return true;
}

// SRC: accelerate utils/operations.py, _gpu_gather.
static int schedule_gather(struct player *p, const struct schedule_kept *k)
{
    if (k->own == k->bytes)
        return VRAM_OK;
    int rc = player_alloc(p, SLOT_EVAL_JOINED, &k->storage, k->bytes, -1);
    if (rc == VRAM_OK)
        rc = player_free(p, SLOT_LOGITS, &k->storage, k->own, -1);
    player_rename(p, SLOT_EVAL_JOINED, SLOT_LOGITS);
    return rc;
}

// The logits of all batches so far become one tensor; a batch's own go when the next one's are
// there. SRC: transformers trainer.py, evaluation_loop; trainer_pt_utils.py, EvalLoopContainer.add.
static int schedule_join(struct player *p, const struct schedule_kept *k, uint64_t batch)
{
    int rc = batch > 1 ? player_free(p, SLOT_EVAL_BEFORE, &k->storage, k->bytes, -1) : VRAM_OK;
    if (rc == VRAM_OK)
        rc = schedule_gather(p, k);
    if (batch > 0 && rc == VRAM_OK)
        rc = player_alloc(p, SLOT_EVAL_JOINED, &k->storage, size_mul(batch + 1, k->bytes), -1);
    if (batch > 0 && rc == VRAM_OK)
        rc = player_free(p, SLOT_EVAL_KEPT, &k->storage, size_mul(batch, k->bytes), -1);
    player_rename(p, batch ? SLOT_EVAL_JOINED : SLOT_LOGITS, SLOT_EVAL_KEPT);
    player_rename(p, SLOT_LOGITS, SLOT_EVAL_BEFORE);
    return rc;
}

// They go to the host's memory.
static int schedule_end_kept(struct player *p, const struct schedule_kept *k, uint64_t batches)
{
    int rc = player_free(p, SLOT_EVAL_KEPT, &k->storage, size_mul(batches, k->bytes), -1);
    return rc == VRAM_OK && batches > 1
               ? player_free(p, SLOT_EVAL_BEFORE, &k->storage, k->bytes, -1)
               : rc;
}

static int schedule_batches_between(struct engine *e, struct player *p)
{
    struct schedule_kept kept;
    bool keeps = schedule_keeps(e, &kept);
    uint64_t batches = keeps ? e->model.c.eval_accumulation_steps : 2;
    int rc = VRAM_OK;
    for (uint64_t i = 0; i < batches && rc == VRAM_OK; i++) {
        uint32_t phase = trace_phase(TRACE_EVAL, 0, (uint32_t)i);
        rc = player_reel(p, &e->reels[ENGINE_BETWEEN], phase, phase);
        if (keeps && rc == VRAM_OK)
            rc = schedule_join(p, &kept, i);
    }
    return keeps && rc == VRAM_OK ? schedule_end_kept(p, &kept, batches) : rc;
}

// An evaluation behind a step, with a batch of its own.
static int schedule_evaluate_between(struct engine *e, struct player *p)
{
    uint32_t from = p->phase_count;
    int rc = engine_take_evaluation(e, true);
    if (rc == VRAM_OK)
        rc = schedule_batches_between(e, p);
    p->eval_peak = schedule_phase_peak(p, from);
    int again = engine_take_evaluation(e, false);
    return rc == VRAM_OK ? again : rc;
}

// What a pipeline's stage had reserved when it grew last, and before which micro-batch that was.
struct schedule_growth {
    uint64_t reserved;
    uint32_t step;
};

enum { SCHEDULE_ROUNDS = 16 };

// Whether rounds of what a stage holds, and as many micro-batches as there were when it grew last,
// have found all their memory in what was reserved: what backward passes leave does not fit the
// next forward pass at once, and where blocks lie changes for many rounds.
static bool schedule_settles(const struct player *p, uint32_t held, uint32_t step,
                             struct schedule_growth *last)
{
    uint64_t reserved = p->allocator ? p->allocator->stats.reserved.peak : 0;
    if (reserved != last->reserved)
        *last = (struct schedule_growth){reserved, step};
    return step >= SCHEDULE_ROUNDS * held && step >= 2 * last->step;
}

// The pass of a micro-step, which is played next.
static const struct reel *schedule_reel(const struct engine *e, struct player *p, uint32_t it,
                                        uint32_t micro)
{
    p->first = it == 0 && micro == 0;
    return &e->reels[micro ? ENGINE_AGAIN : ENGINE_NEXT];
}

// A tensor goes to another stage, or comes from one, behind two others that say its shape: the
// program copies them to the card or reads them there, and waits for it. SRC: nanotron
// pipeline_parallel/p2p.py (_send_meta, _recv_meta).
static void schedule_message(struct player *p, bool sent)
{
    if (MODEL_IS_WHOLE && sent && p->lags)
        player_drain(p);
}

// A pipeline's stage: as many micro-batches as it holds go forward, then each backward makes room
// for the next. The run takes all of a step, or rounds until one settles; walks after it as many as
// it took. SRC: nanotron pipeline_parallel/engine.py (OneForwardOneBackwardPipelineEngine),
// Megatron-LM schedules.py (forward_backward_pipelining_without_interleaving).
static int schedule_pipeline(struct engine *e, struct player *p, uint32_t it)
{
    bool run = MODEL_IS_WHOLE && p == &e->player;
    uint32_t held = (uint32_t)e->model.in_flight, all = engine_fed(&e->model);
    struct schedule_growth last = {0, 0};
    int rc = VRAM_OK;
    if (MODEL_IS_WHOLE)
        all = run ? (uint32_t)e->model.c.gradient_accumulation_steps : e->fed[it];
    for (uint32_t step = 0; step < all + held && rc == VRAM_OK; step++) {
        if (run && step < all && schedule_settles(p, held, step, &last))
            all = step;
        if (step >= held) {
            uint32_t micro = step - held;
            schedule_message(p, !e->model.last);
            rc = player_part(p, schedule_reel(e, p, it, micro),
                             trace_phase(TRACE_BACKWARD, it, micro), true, micro % held);
        }
        if (step < all && rc == VRAM_OK) {
            schedule_message(p, !e->model.first || step < held);
            rc = player_part(p, schedule_reel(e, p, it, step), trace_phase(TRACE_FORWARD, it, step),
                             false, step % held);
        }
    }
    if (run)
        e->fed[it] = all;
    return rc;
}

static int schedule_micro_steps(struct engine *e, struct player *p, uint32_t it)
{
    int rc = VRAM_OK;
    for (uint32_t micro = 0; micro < engine_micro_steps(&e->model) && rc == VRAM_OK; micro++) {
        rc = player_reel(p, schedule_reel(e, p, it, micro), trace_phase(TRACE_FORWARD, it, micro),
                         trace_phase(TRACE_BACKWARD, it, micro));
    }
    return rc;
}

// nanotron's program waits for the card when a step has ended. SRC: nanotron trainer.py
// (train_step_logs: torch.cuda.synchronize), config/config.py (iteration_step_info_interval = 1).
static int schedule_step(struct engine *e, struct player *p, uint32_t it)
{
    player_phase(p, trace_phase(TRACE_STEP, it, 0));
    int rc = state_step(p, &e->state, it == 0);
    if (MODEL_IS_WHOLE && p->lags)
        player_drain(p);
    return rc;
}

static int schedule_passes(struct engine *e, struct player *p, uint32_t it)
{
    bool pipeline = e->model.c.pipeline_parallel > 1;
    int rc = pipeline ? schedule_pipeline(e, p, it) : schedule_micro_steps(e, p, it);
    return MODEL_IS_WHOLE && rc == VRAM_OK && it == 0 ? resume_note(e, p) : rc;
}

// resumed: the first step's passes have been played.
static int schedule_iteration(struct engine *e, struct player *p, uint32_t it, bool resumed)
{
    int rc = resumed && it == 0 ? VRAM_OK : schedule_passes(e, p, it);
    return rc == VRAM_OK ? schedule_step(e, p, it) : rc;
}

// A round of the run's lengths has added nothing to what is reserved, after a first one.
static bool schedule_is_stable(const struct player *p, uint32_t it, uint32_t round,
                               uint64_t reserved)
{
    return p->allocator && it >= round && (it + 1) % round == 0 &&
           p->allocator->stats.reserved.peak == reserved;
}

static int schedule_iterations(struct engine *e, struct player *p, uint32_t iterations,
                               bool resumed)
{
    uint64_t reserved = 0;
    uint32_t round = (uint32_t)size_max(e->model.c.seq_lens, 1);
    for (uint32_t it = 0; it < ENGINE_MOST_ITERATIONS * round; it++) {
        uint32_t from = p->phase_count;
        int rc = engine_take_batch(e, it);
        if (rc == VRAM_OK)
            rc = schedule_iteration(e, p, it, resumed);
        if (rc != VRAM_OK)
            return rc;
        if (it == 0)
            p->first_step_peak = schedule_phase_peak(p, from);
        p->iterations = it + 1;
        if (iterations ? it + 1 == iterations : schedule_is_stable(p, it, round, reserved))
            break;
        if ((it + 1) % round == 0)
            reserved = p->allocator ? p->allocator->stats.reserved.peak : 0;
    }
    return VRAM_OK;
}

// How a generation is played: one step for `stride` tokens.
struct schedule_tokens {
    uint64_t all, stride, steps;
    bool grows;
};

enum { SCHEDULE_LENGTHS = 512, SCHEDULE_LONGER = 128 << 10 };

// A step that makes the tensors of the cache longer by a small part of the 2 MiB that the allocator
// asks the card for: what is reserved is then within 1 % of what one step a token takes (Llama 2 7B
// and 13B, 512 and 2,048 tokens, tried). Who lists the events gets two steps at the full length.
static struct schedule_tokens schedule_tokens(const struct engine *e, const struct player *p)
{
    struct schedule_tokens t = {.all = e->model.c.max_new_tokens};
    uint64_t token = size_max(4 * e->elements[SHAPE_CACHE] / size_max(e->dims.cache, 1), 1);
    t.grows = e->grows && !(p->sink && !p->sink->sums);
    t.stride = t.grows ? size_max(SCHEDULE_LONGER / token, 1) : t.all;
    t.stride = size_max(t.stride, (t.all + SCHEDULE_LENGTHS - 1) / SCHEDULE_LENGTHS);
    t.steps = t.all > 1 ? size_max((t.all + t.stride - 1) / t.stride, 2) : 0;
    return t;
}

// The longer cache takes the place of the one before.
static void schedule_swap(const struct engine *e, struct player *p)
{
    for (int32_t layer = 0; layer < (int32_t)e->model.c.n_layer; layer++) {
        player_rename(p, player_gradient(layer, P_K), player_gradient(layer, P_K + 1));
        player_rename(p, player_gradient(layer, P_V), player_gradient(layer, P_V + 1));
    }
}

// Tokens there are after a step: the last two steps are one apart, which is the peak of what lives.
static uint64_t schedule_made(const struct schedule_tokens *t, uint64_t step)
{
    uint64_t rest = t->steps - step, made = step * t->stride;
    return rest == 0 ? t->all : rest == 1 || made >= t->all ? t->all - 1 : made;
}

static int schedule_token(struct engine *e, struct player *p, const struct schedule_tokens *t,
                          uint64_t step)
{
    uint32_t phase = trace_phase(TRACE_DECODE, 0, step > 1 && step == t->steps);
    int rc = t->grows ? engine_take_generated(e, schedule_made(t, step)) : VRAM_OK;
    if (rc == VRAM_OK)
        rc = player_reel(p, &e->reels[step > 1 ? ENGINE_TOKEN : ENGINE_FIRST_TOKEN], phase, phase);
    if (step > 1 && step < t->steps)
        schedule_swap(e, p);
    return rc;
}

// The prompt, then steps up to the full length of the cache, the last ones at it.
static int schedule_generation(struct engine *e, struct player *p)
{
    struct schedule_tokens t = schedule_tokens(e, p);
    uint32_t phase = trace_phase(TRACE_PREFILL, 0, 0);
    int rc = player_reel(p, &e->reels[ENGINE_PROMPT], phase, phase);
    for (uint64_t step = 1; step <= t.steps && rc == VRAM_OK; step++)
        rc = schedule_token(e, p, &t, step);
    p->iterations = 1;
    int whole = t.grows ? engine_take_generated(e, t.all) : VRAM_OK;
    return rc == VRAM_OK ? whole : rc;
}

static int schedule_steps(struct engine *e, struct player *p, uint32_t iterations, bool resumed)
{
    int rc = schedule_iterations(e, p, iterations, resumed);
    return rc == VRAM_OK && engine_evaluates_between(&e->model) ? schedule_evaluate_between(e, p)
                                                                : rc;
}

static int schedule_training(struct engine *e, struct player *p, uint32_t iterations)
{
    int rc = e->model.c.pipeline_parallel == 1 ? schedule_first_batch(e, p) : VRAM_OK;
    p->eval_peak = 0;
    if (rc == VRAM_OK && engine_evaluates(&e->model)) {
        uint32_t from = p->phase_count;
        rc = schedule_evaluate(e, p);
        p->eval_peak = schedule_phase_peak(p, from);
    }
    if (rc == VRAM_OK && e->model.c.eval_only) {
        p->iterations = 0;
        return rc;
    }
    return rc == VRAM_OK ? schedule_steps(e, p, iterations, false) : rc;
}

// From where a run with another optimizer stood before its first step.
static int schedule_resumed(struct engine *e, struct player *p, uint32_t iterations)
{
    bool enough = p->enough && p->allocator->stats.reserved.peak >= p->enough;
    return enough ? VRAM_ENOFIT : schedule_steps(e, p, iterations, true);
}

static int schedule_from_start(struct engine *e, struct player *p, uint32_t iterations)
{
    bool generates = e->model.c.task == TASK_INFERENCE;
    int rc = engine_take_batch(e, 0);
    if (rc == VRAM_OK)
        rc = state_build(p, &e->state);
    if (rc == VRAM_OK)
        rc = generates ? schedule_generation(e, p) : schedule_training(e, p, iterations);
    return rc;
}

int schedule_play(struct engine *e, struct player *p, uint32_t iterations)
{
    bool resumed = false;
    player_phase(p, trace_phase(TRACE_PARAMS, 0, 0));
    int rc = MODEL_IS_WHOLE ? resume_take(e, p, &resumed) : VRAM_OK;
    if (rc == VRAM_OK && resumed)
        rc = schedule_resumed(e, p, iterations);
    else if (rc == VRAM_OK)
        rc = schedule_from_start(e, p, iterations);
    player_end_phase(p);
    p->steady_end = p->live;
    return rc == VRAM_OK ? engine_take_longest(e) : rc;
}
