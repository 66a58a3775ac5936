// Owns the walk over a run's events: which slot, which layer, how many bytes live.

#include "calc/replay/player.h"

#include "calc/model/framework.h"
#include "calc/replay/allocator_lean.h"

void player_init(struct player *p, const struct model *m)
{
    mem_zero(p, sizeof *p);
    p->m = m;
    p->tape_base = player_lasting(m);
}

uint32_t player_lane_slots(const struct model *m, const struct reel *reels, size_t count)
{
    uint32_t most = (uint32_t)m->tensors +
                    8;  // temporaries of an optimizer step: one for each tensor, some more
    uint32_t parts =
        (uint32_t)m->c.n_gpu + 2;  // what each GPU has of the weights, and all in a row
    most = framework_goes(&m->c, BY_NANOTRON) && parts > most ? parts : most;
    for (size_t i = 0; i < count; i++) {
        const struct tape *t = &reels[i].tape;
        uint32_t n = t->slots_global + t->slots_lead + reels[i].stack.units * t->slots_unit;
        most = n > most ? n : most;
    }
    return most;
}

static int player_tell(struct player *p, uint32_t id, const struct storage *s, uint64_t bytes,
                       int32_t block, bool freed)
{
    struct trace_event e = {bytes, id, p->phase, s->name, s->op, s->category, freed, block};
    return p->sink->event(p->sink->ctx, &e);
}

static void player_rise(struct player *p, const struct storage *s, uint64_t bytes, int32_t block)
{
    p->live += bytes;
    if (p->live > p->phase_peak)
        p->phase_peak = p->live;
    if (p->live > p->peak) {
        p->peak = p->live;
        p->peak_event = p->events;
        p->peak_phase = p->phase;
        p->peak_op = s->op;
        p->peak_block = block;
    }
}

static void player_release(struct player *p)
{
    allocator_release(p->allocator, p->late[p->late_first].block);
    p->late_first = (p->late_first + 1) % PLAYER_LATE;
    p->late_count--;
}

void player_launch(struct player *p, uint64_t launches)
{
    p->launches += launches;
    while (p->late_count && p->late[p->late_first].due <= p->launches)
        player_release(p);
}

int player_late(struct player *p, uint32_t block)
{
    int rc = allocator_hold(p->allocator, block);
    if (rc != VRAM_OK)
        return rc;
    if (p->late_count == PLAYER_LATE)
        player_release(p);
    p->late[(p->late_first + p->late_count++) % PLAYER_LATE] =
        (struct player_late){block, p->launches + (MODEL_IS_WHOLE ? p->queue : PLAYER_QUEUE)};
    return VRAM_OK;
}

// After an event of the replay.
static int player_told(struct player *p, int rc, const struct storage *s, uint64_t bytes,
                       int32_t layer, uint32_t number)
{
    return rc == VRAM_OK && p->watch ? p->watch->event(p->watch->ctx, p, s, bytes, layer, number)
                                     : rc;
}

void player_drain(struct player *p)
{
    while (p->late_count)
        player_release(p);
}

// Where the card runs behind. A weight's gradient was added to its float32 sum before.
static int player_give_back(struct player *p, uint32_t slot, const struct storage *s)
{
    player_launch(p, s->sent ? PLAYER_COLLECTIVE : s->category == VRAM_CAT_GRAD);
    if (MODEL_IS_WHOLE && p->queue == PLAYER_NEXT && (s->sent || s->taken))
        player_drain(p);
    return s->sent || s->taken ? player_late(p, p->slots[slot])
                               : allocator_free(p->allocator, p->slots[slot]);
}

void player_rename(struct player *p, uint32_t from, uint32_t to)
{
    p->slots[to] = p->slots[from];
    if (p->held)
        p->held[to] = p->held[from];
}

// One after the other, and no one who looks on.
static bool player_is_alone(const struct player *p)
{
    return p->allocator && !p->lags && !p->watch && (p->lean || !p->held);
}

// Whether the calls of allocator_lean.h do. The page is without the loop around them.
static bool player_is_lean(const struct player *p)
{
    return MODEL_IS_WHOLE && p->lean && player_is_alone(p) && allocator_is_lean(p->allocator);
}

// A block for what is not on a tape.
static int player_take(struct player *p, const struct storage *s, uint64_t bytes, uint32_t *block)
{
    struct allocator *a = p->allocator;
    struct allocator_request r;
    allocator_stream(a, s->stream);
    if (!player_is_lean(p))
        return allocator_malloc(a, bytes, block);
    allocator_request(&a->config, bytes, &r);
    return lean_take(a, !a->plain, s->stream, &r, block) ? VRAM_OK : allocator_take(a, &r, block);
}

int player_alloc(struct player *p, uint32_t slot, const struct storage *s, uint64_t bytes,
                 int32_t block)
{
    p->events++;
    player_hold(p, slot, bytes);
    if (s->category != VRAM_CAT_WORKSPACE)
        player_rise(p, s, bytes, block);
    if (p->lags)
        player_launch(p, 1);
    if (p->allocator) {
        int rc = player_take(p, s, bytes, &p->slots[slot]);
        return player_told(p, rc, s, bytes, block, p->slots[slot]);
    }
    if (!p->sink)
        return VRAM_OK;
    p->slots[slot] = p->ids++;
    return player_tell(p, p->slots[slot], s, bytes, block, false);
}

int player_free(struct player *p, uint32_t slot, const struct storage *s, uint64_t bytes,
                int32_t block)
{
    p->events++;
    if (p->held && slot < player_lasting(p->m))
        bytes = p->held[slot];
    if (s->category != VRAM_CAT_WORKSPACE)
        p->live -= bytes;
    if (p->allocator) {
        if (player_is_lean(p) && lean_free(p->allocator, true, p->slots[slot]))
            return VRAM_OK;
        int rc =
            p->lags ? player_give_back(p, slot, s) : allocator_free(p->allocator, p->slots[slot]);
        return player_told(p, rc, s, bytes, block, 0);
    }
    return p->sink ? player_tell(p, p->slots[slot], s, bytes, block, true) : VRAM_OK;
}

int player_forever(struct player *p, const struct storage *s, uint64_t bytes, int32_t block)
{
    uint32_t block_number;
    p->events++;
    if (s->category != VRAM_CAT_WORKSPACE)
        player_rise(p, s, bytes, block);
    if (p->allocator) {
        int rc = player_take(p, s, bytes, &block_number);
        return player_told(p, rc, s, bytes, block, block_number);
    }
    return p->sink ? player_tell(p, p->ids++, s, bytes, block, false) : VRAM_OK;
}

int player_within(struct player *p, const struct storage *s, uint64_t bytes, int32_t layer,
                  uint32_t block)
{
    p->events++;
    player_rise(p, s, bytes, layer);
    return player_told(p, VRAM_OK, s, bytes, layer, block);
}

int player_workspace(struct player *p, uint32_t slot)
{
    static const struct storage workspace = {
        .name = NAME(CUBLAS, WORKSPACE), .op = OP_CUBLAS, .category = VRAM_CAT_WORKSPACE};
    uint32_t bit = 1u << (slot - SLOT_WORKSPACE);
    if (p->workspaces & bit)
        return VRAM_OK;
    p->workspaces |= bit;
    return player_forever(p, &workspace, p->workspace_bytes, -1);
}

// The layer of a storage while a segment is played for one unit, or -1.
static int32_t player_layer(const struct reel *r, const struct tape_segment *seg, int64_t real,
                            const struct storage *s)
{
    if (s->unit < 0)
        return -1;
    int32_t unit = (int32_t)reel_unit(r, seg, s->unit, real);
    return (int32_t)tape_stack_layer(&r->stack, unit, s->sub);
}

static int player_do(struct player *p, const struct player_turn *t, uint32_t code)
{
    const struct storage *s = &t->r->tape.storages[code >> 2];
    uint64_t bytes = reel_request(t->r, code >> 2)->bytes;
    uint32_t slot = player_slot(t, code >> 2);
    int32_t layer = player_layer(t->r, t->segment, t->real, s);
    return (code & 3) == TAPE_FREE ? player_free(p, slot, s, bytes, layer)
                                   : player_alloc(p, slot, s, bytes, layer);
}

static int player_each(struct player *p, const struct player_turn *t)
{
    const uint32_t *code = t->code;
    int rc = VRAM_OK;
    for (uint32_t i = t->from; i < t->to && rc == VRAM_OK; i++) {
        uint32_t kind = code[i] & 3;
        if (kind == TAPE_WORKSPACE)
            rc = player_workspace(p, code[i] >> 2);
        else if (kind == TAPE_MOVE)
            player_move(p, t, &code[i++]);
        else
            rc = player_do(p, t, code[i]);
    }
    return rc;
}

// For a sink that adds up alone.
static int player_sums(struct player *p, const struct player_turn *t)
{
    const uint32_t *code = t->code;
    int rc = VRAM_OK;
    for (uint32_t i = t->from; i < t->to && rc == VRAM_OK; i++) {
        uint32_t operand = code[i] >> 2, kind = code[i] & 3;
        const struct storage *s = &t->r->tape.storages[operand];
        if (kind == TAPE_WORKSPACE)
            rc = player_workspace(p, operand);
        else if (kind == TAPE_MOVE)
            i++;
        else
            rc = player_tell(p, 0, s, reel_request(t->r, operand)->bytes, -1, kind == TAPE_FREE);
    }
    return rc;
}

// Live bytes after an event of a plain replay. The layer is wanted at a new peak alone.
static void player_count(struct player *p, const struct player_turn *t, uint32_t code)
{
    const struct storage *s = &t->r->tape.storages[code >> 2];
    uint64_t bytes = reel_request(t->r, code >> 2)->bytes;
    p->events++;
    if (s->category == VRAM_CAT_WORKSPACE)
        return;
    if ((code & 3) == TAPE_FREE)
        p->live -= bytes;
    else if (p->live + bytes > p->phase_peak)
        player_rise(p, s, bytes, player_layer(t->r, t->segment, t->real, s));
    else
        p->live += bytes;
}

// What most replays come to: one stream, batches of one length, a card that keeps up, and no one
// who looks on. An allocation whose free is next needs no slot.
static int player_plain(struct player *p, const struct player_turn *t)
{
    const uint32_t *code = t->code;
    int rc = VRAM_OK;
    for (uint32_t i = t->from, end = t->to; i < end && rc == VRAM_OK; i++) {
        uint32_t operand = code[i] >> 2, kind = code[i] & 3;
        if (kind == TAPE_WORKSPACE) {
            rc = player_workspace(p, operand);
        } else if (kind == TAPE_MOVE) {
            player_move(p, t, &code[i++]);
        } else {
            if (!p->lean)
                player_count(p, t, code[i]);
            if (kind == TAPE_FREE) {
                rc = allocator_free(p->allocator, p->slots[player_slot(t, operand)]);
            } else if (i + 1 < end && code[i + 1] == (operand << 2 | TAPE_FREE)) {
                rc = allocator_borrow(p->allocator, reel_request(t->r, operand));
                i++;
                if (!p->lean)
                    player_count(p, t, code[i]);
            } else {
                rc = allocator_take(p->allocator, reel_request(t->r, operand),
                                    &p->slots[player_slot(t, operand)]);
            }
        }
    }
    return rc;
}

// The parts of the slots begin later by the units that lie between the tape's and the model's.
static struct player_turn player_turn(const struct player *p, const struct reel *r,
                                      const struct tape_segment *seg, int64_t real)
{
    bool folded = r->tape.repeats;
    uint32_t shift = folded && seg->unit >= 0 ? (uint32_t)(real - seg->unit) : 0;
    uint32_t last = folded && seg->unit < 0 ? r->stack.units - 3 : shift;
    struct player_turn t = {.r = r,
                            .segment = seg,
                            .code = r->tape.code,
                            .from = seg->begin,
                            .to = seg->end,
                            .real = real};
    for (unsigned in_lane = 0; in_lane < 2; in_lane++) {
        uint32_t *begin = t.begin + in_lane * REEL_UNITS, base = in_lane ? p->tape_base : 0;
        begin[REEL_OUTSIDE] = base;
        begin[REEL_UNIT] = base + shift * reel_step(r, in_lane);
        begin[REEL_LAST] = base + last * reel_step(r, in_lane);
    }
    return t;
}

bool player_passes_over(const struct player *p, uint64_t large, uint64_t small)
{
    const struct allocator *a = p->allocator;
    return player_is_lean(p) && a->plain && (!large || allocator_has(a, false, large)) &&
           (!small || allocator_has(a, true, small));
}

static int player_part_of_segment(struct player *p, const struct player_turn *t)
{
    return p->sink && p->sink->sums && !p->held ? player_sums(p, t)
           : player_is_lean(p)                  ? player_lean(p, t)
           : player_is_alone(p) && !p->streams  ? player_plain(p, t)
                                                : player_each(p, t);
}

// A first pass has nothing of an earlier one to free.
static int player_first(struct player *p, struct player_turn *t)
{
    const struct reel *r = t->r;
    int rc = VRAM_OK;
    for (size_t i = 0; i < r->earlier_count && rc == VRAM_OK; i++) {
        uint32_t at = r->earlier[i].code;
        if (at < t->from || at >= t->to)
            continue;
        uint32_t end = t->to;
        t->to = at;
        rc = player_part_of_segment(p, t);
        t->from = at + 1;
        t->to = end;
    }
    return rc == VRAM_OK ? player_part_of_segment(p, t) : rc;
}

// Whether a segment has nothing that a first pass leaves out, and its reel has stretches.
static bool player_has_stretches(const struct player *p, const struct player_turn *t)
{
    const struct reel *r = t->r;
    if (!MODEL_IS_WHOLE || p->turns >= p->by_pools || !r->stretches.made)
        return false;
    for (const uint64_t *turn = p->in_order; turn && *turn; turn++)
        if (*turn == p->turns + 1)
            return false;
    for (size_t i = 0; p->first && i < r->earlier_count; i++)
        if (r->earlier[i].code >= t->from && r->earlier[i].code < t->to)
            return false;
    return true;
}

// After a turn of a lean replay.
static int player_weigh(struct player *p)
{
    uint64_t reserved = p->allocator->stats.reserved.now;
    if (MODEL_IS_WHOLE) {
        p->turns++;
        p->over = !p->over && p->most && reserved > p->most ? p->turns : p->over;
    }
    return p->enough && reserved >= p->enough ? VRAM_ENOFIT : VRAM_OK;
}

static int player_segment(struct player *p, const struct reel *r, const struct tape_segment *seg,
                          int64_t real)
{
    struct player_turn t = player_turn(p, r, seg, real);
    int rc = player_has_stretches(p, &t) ? player_by_pools(p, &t)
             : p->first                  ? player_first(p, &t)
                                         : player_part_of_segment(p, &t);
    return rc == VRAM_OK && (p->enough || (MODEL_IS_WHOLE && p->lean)) ? player_weigh(p) : rc;
}

void player_end_phase(struct player *p)
{
    if (p->phase_open)
        p->phases[p->phase_count - 1].peak = p->phase_peak;
}

void player_phase(struct player *p, uint32_t phase)
{
    player_end_phase(p);
    p->phase = phase;
    p->phase_peak = p->live;
    p->phase_open = p->phase_count < PLAYER_PHASES;
    if (p->phase_open)
        p->phases[p->phase_count++] = (struct player_phase){phase, p->live};
}

// One segment, as often as the model has the unit.
static int player_repeat(struct player *p, const struct reel *r, const struct tape_segment *s)
{
    int64_t last = r->tape.repeats ? (int64_t)r->stack.units - 1 : 0;
    int rc = VRAM_OK;
    if (!r->tape.repeats || s->unit != 1)
        return player_segment(p, r, s, s->unit == 2 ? last : s->unit);
    if (s->backward)
        for (int64_t u = last - 1; u >= 1 && rc == VRAM_OK; u--)
            rc = player_segment(p, r, s, u);
    else
        for (int64_t u = 1; u < last && rc == VRAM_OK; u++)
            rc = player_segment(p, r, s, u);
    return rc;
}

int player_reel(struct player *p, const struct reel *r, uint32_t forward, uint32_t backward)
{
    bool back = false;
    int rc = VRAM_OK;
    player_phase(p, forward);
    for (size_t i = 0; i < r->tape.segment_count && rc == VRAM_OK; i++) {
        if (r->tape.segments[i].backward && !back) {
            back = true;
            player_phase(p, backward);
        }
        rc = player_repeat(p, r, &r->tape.segments[i]);
    }
    return rc;
}

int player_part(struct player *p, const struct reel *r, uint32_t phase, bool backward,
                uint32_t lane)
{
    uint32_t base = p->tape_base;
    int rc = VRAM_OK;
    player_phase(p, phase);
    p->tape_base += lane * p->lane_slots;
    for (size_t i = 0; i < r->tape.segment_count && rc == VRAM_OK; i++)
        if (r->tape.segments[i].backward == backward)
            rc = player_repeat(p, r, &r->tape.segments[i]);
    p->tape_base = base;
    return rc;
}
