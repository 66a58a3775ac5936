// Owns reels: recording a tape with as few layers as will do, sizes of its storages, and its rise
// of live bytes by segment, without playing every layer.

#include "calc/replay/reel.h"

#include "calc/base/size.h"
#include "calc/trace/compiled.h"

void reel_init(struct reel *r, const struct vram_mem *mem)
{
    mem_zero(r, sizeof *r);
    tape_init(&r->tape, mem);
}

void reel_free(struct reel *r)
{
    const struct vram_mem *mem = r->tape.mem;
    if (!mem)
        return;
    mem_free(mem, r->kinds, r->kinds_cap * sizeof *r->kinds);
    mem_free(mem, r->places, r->places_cap * sizeof *r->places);
    mem_free(mem, r->saved, r->saved_cap * sizeof *r->saved);
    mem_free(mem, r->changes, r->changes_cap * sizeof *r->changes);
    mem_free(mem, r->ends, r->ends_cap * sizeof *r->ends);
    mem_free(mem, r->earlier, r->earlier_cap * sizeof *r->earlier);
    if (MODEL_IS_WHOLE) {
        stretches_free(&r->stretches, mem);
        mem_free(mem, r->loops, r->loops_cap * sizeof *r->loops);
    }
    tape_free(&r->tape);
    reel_init(r, mem);
}

static unsigned reel_class(const struct tape_stack *s, int32_t unit)
{
    if (unit < 0)
        return 0;
    return unit == 1 && s->units == 3 ? 2 : unit == 2 && s->units == 3 ? 3 : 1;
}

// How often a node is in a pass.
static uint32_t reel_node_times(const struct reel *r, const struct node *n)
{
    return MODEL_IS_WHOLE && n->turn == TAPE_MIDDLE ? 1 + r->more_turns : 1;
}

static void reel_note_saved(void *ctx, const struct node *n, unsigned which,
                            const struct storage *s)
{
    struct reel *r = ctx;
    void *p = r->saved;
    unsigned group = reel_class(&r->stack, s->unit);
    for (size_t k = 0; k < r->saved_count; k++) {
        size_t i = (r->saved_next + k) % r->saved_count;  // layers save the same in the same order
        struct reel_saved *e = &r->saved[i];
        if (e->kind == n->kind && e->which == which && e->dtype == s->dtype &&
            e->shape == s->shape && e->name == s->name) {
            e->count[group] += reel_node_times(r, n);
            r->saved_next = i + 1;
            return;
        }
    }
    if (mem_grow(r->tape.mem, &p, &r->saved_cap, r->saved_count + 1, sizeof *r->saved) != VRAM_OK) {
        r->failed = true;
        return;
    }
    r->saved = p;
    r->saved[r->saved_count] =
        (struct reel_saved){n->kind, (uint8_t)which, s->dtype, s->shape, s->name, {0}};
    r->saved[r->saved_count++].count[group] = reel_node_times(r, n);
}

static int reel_write(struct reel *r, struct graph *g, const struct model *m,
                      struct tape_stack stack)
{
    r->saved_count = r->saved_next = 0;
    r->failed = false;
    r->stack = stack;
    graph_reset(g, m, &r->tape, stack);
    pass_write(g, &r->pass, reel_note_saved, r);
    return graph_ok(g) && !r->failed ? VRAM_OK : VRAM_ENOMEM;
}

#ifndef VRAM_SMALL
static int reel_try(struct reel *r, struct graph *g, const struct model *m, struct tape_stack stack)
{
    r->more_turns = compile_is_traced(m) ? 0 : reel_more_turns(r, m);  // else it is unrolled
    g->few_turns = r->more_turns > 0;
    int rc = reel_write(r, g, m, stack);
    r->brief = rc == VRAM_OK && g->few_turns && tape_has_turns(&r->tape);
    if (rc != VRAM_OK || r->tape.failed)
        return VRAM_ENOMEM;
    if (r->brief || !g->few_turns)
        return rc;
    r->more_turns = 0;
    g->few_turns = false;
    return reel_write(r, g, m, stack);
}
#else
static int reel_try(struct reel *r, struct graph *g, const struct model *m, struct tape_stack stack)
{
    return reel_write(r, g, m, stack);
}
#endif

static bool reel_grow(struct reel *r, void *ptr_to_ptr, size_t *cap, size_t need, size_t size)
{
    void **ptr = ptr_to_ptr;
    return mem_grow(r->tape.mem, ptr, cap, need, size) == VRAM_OK;
}

static bool reel_renew(struct reel *r, void *ptr_to_ptr, size_t *cap, size_t need, size_t size)
{
    void **ptr = ptr_to_ptr;
    return (MODEL_IS_WHOLE ? mem_renew : mem_grow)(r->tape.mem, ptr, cap, need, size) == VRAM_OK;
}

static bool reel_note_earlier(struct reel *r, uint32_t code, uint32_t change)
{
    size_t n = r->earlier_count;
    if (!reel_grow(r, &r->earlier, &r->earlier_cap, n + 1, sizeof *r->earlier))
        return false;
    r->earlier[n] = (struct reel_earlier){code, change};
    r->earlier_count = n + 1;
    return true;
}

static void reel_note_shapes(struct reel *r)
{
    mem_zero(r->shapes, sizeof r->shapes);
    const struct storage *s = r->tape.storages + 1;
    for (const struct storage *end = r->tape.storages + r->tape.count; s < end; s++)
        if (s->home < HOME_NONE)
            r->shapes[s->shape] = true;
}

// Allocations and frees of some instructions, without anything else.
static bool reel_condense_part(struct reel *r, uint32_t begin, uint32_t end)
{
    const struct tape *t = &r->tape;
    uint32_t count = r->change_count;
    bool ok = true;
    for (uint32_t k = begin; k < end; k++) {
        uint32_t kind = t->code[k] & 3;
        if (kind >= TAPE_MOVE) {
            k += kind == TAPE_MOVE;
            continue;
        }
        const struct storage *s = &t->storages[t->code[k] >> 2];
        if (kind == TAPE_FREE && s->earlier)  // a tensor, never a workspace
            ok &= reel_note_earlier(r, k, count);
        if (s->category != VRAM_CAT_WORKSPACE)
            r->changes[count++] =
                (uint16_t)((s->shape * DT_COUNT + s->dtype) * 2 + (kind == TAPE_FREE));
    }
    r->change_count = count;
    return ok;
}

#ifndef VRAM_SMALL
// The turns of a segment that stand for more, and what lies before each. *begin: of what is left.
static bool reel_condense_turns(struct reel *r, const struct tape_segment *s, uint32_t *begin)
{
    const struct tape *t = &r->tape;
    bool ok = reel_grow(r, &r->loops, &r->loops_cap, t->turn_count, sizeof *r->loops);
    for (size_t i = 0; i + 1 < t->turn_count && ok; i++) {
        const struct tape_turn *m = &t->turns[i];
        if (m->turn != TAPE_MIDDLE || m->code < s->begin || m->code >= s->end)
            continue;
        ok = reel_condense_part(r, *begin, m->code);
        struct reel_loop *loop = &r->loops[r->loop_count++];
        loop->begin = r->change_count;
        ok = reel_condense_part(r, m->code, m[1].code) && ok;
        loop->end = r->change_count;
        *begin = m[1].code;
    }
    return ok;
}
#endif

static int reel_condense(struct reel *r)
{
    const struct tape *t = &r->tape;
    bool ok = true;
    r->earlier_count = r->change_count = 0;
    if (MODEL_IS_WHOLE)
        reel_note_shapes(r);
    if (!reel_renew(r, &r->changes, &r->changes_cap, t->code_count, sizeof *r->changes) ||
        !reel_renew(r, &r->ends, &r->ends_cap, t->segment_count, sizeof *r->ends))
        return VRAM_ENOMEM;
#ifndef VRAM_SMALL
    r->loop_count = 0;
#endif
    for (size_t i = 0; i < t->segment_count && ok; i++) {
        uint32_t begin = t->segments[i].begin;
#ifndef VRAM_SMALL
        ok = !r->brief || reel_condense_turns(r, &t->segments[i], &begin);
#endif
        ok = reel_condense_part(r, begin, t->segments[i].end) && ok;
        r->ends[i] = r->change_count;
    }
    return ok ? VRAM_OK : VRAM_ENOMEM;
}

// The kind of a storage; known: those that there are, by shape, format and whether it is fetched,
// one more than their number. Errors: r->failed.
static uint16_t reel_kind(struct reel *r, const struct storage *s, uint16_t *known)
{
    bool fetched = s->op == OP_X || s->op == OP_Y;
    uint16_t *kind = &known[(s->shape * DT_COUNT + s->dtype) * 2 + fetched];
    if (*kind == 0 && reel_grow(r, &r->kinds, &r->kinds_cap, r->kind_count + 1, sizeof *r->kinds)) {
        r->kinds[r->kind_count++] =
            (struct reel_kind){.shape = s->shape, .dtype = s->dtype, .fetched = fetched};
        *kind = (uint16_t)r->kind_count;
    }
    r->failed |= *kind == 0;
    return (uint16_t)(*kind - 1);
}

uint32_t reel_step(const struct reel *r, bool in_lane)
{
    return in_lane ? r->tape.slots_unit : r->tape.stack.period * LAYOUT_BLOCK_NUMBERS;
}

static struct reel_place reel_place(const struct reel *r, const struct storage *s, uint16_t kind)
{
    const struct tape *t = &r->tape;
    bool in_lane = s->home != HOME_PERSIST;
    struct reel_place at = {s->slot, kind, (uint16_t)(in_lane * REEL_UNITS + REEL_OUTSIDE)};
    if (s->unit < 0)
        return at;
    at.base += in_lane ? t->slots_global : SLOT_COUNT;
    if ((uint32_t)s->unit == t->stack.units)
        return at;
    at.base += in_lane ? t->slots_lead : t->stack.lead * LAYOUT_BLOCK_NUMBERS;
    at.base += (uint32_t)s->unit * reel_step(r, in_lane);
    at.part = (uint16_t)(in_lane * REEL_UNITS + (s->unit == 2 ? REEL_LAST : REEL_UNIT));
    return at;
}

static int reel_put_in_places(struct reel *r)
{
    uint16_t known[SHAPE_COUNT * DT_COUNT * 2] = {0};
    r->kind_count = 0;
    r->failed = !reel_renew(r, &r->places, &r->places_cap, r->tape.count, sizeof *r->places);
    for (size_t i = 1; i < r->tape.count && !r->failed; i++) {
        const struct storage *s = &r->tape.storages[i];
        uint16_t kind = reel_kind(r, s, known);
        r->places[i] = reel_place(r, s, kind);
        if (!r->failed && s->home < HOME_NONE)
            r->kinds[kind].times[s->unit == 1]++;
    }
    r->placed = !r->failed;
    return r->failed ? VRAM_ENOMEM : VRAM_OK;
}

// Three units are fewer, and each has numbers for its layers and their storages.
bool reel_folds(const struct tape_stack *s)
{
    enum { MOST = 64 };
    return s->units > 3 && s->lead <= MOST && s->period <= MOST;
}

static int reel_choose(struct reel *r, struct graph *g, const struct model *m)
{
    struct tape_stack stack = pass_stack(m);
    // A layer's input is held for five layers, or a buffer is.
    bool alike = !m->c.offload_activations && !compile_is_traced(m);
    if (!r->whole && alike && reel_folds(&stack)) {
        stack.units = 3;
        int rc = reel_try(r, g, m, stack);
        if (rc != VRAM_OK || r->tape.repeats)
            return rc;
    }
    int rc = reel_try(r, g, m, (struct tape_stack){0, (uint32_t)m->c.n_layer, 1});
    r->tape.repeats = false;
    return rc;
}

int reel_record(struct reel *r, struct graph *g, const struct model *m, const struct pass *p)
{
    r->pass = *p;
    r->placed = r->stretches.made = false;
    int rc = reel_choose(r, g, m);
    return rc == VRAM_OK ? reel_condense(r) : rc;
}

static int reel_copy_saved(struct reel *r, const struct reel *from)
{
    size_t n = from->saved_count;
    if (!reel_grow(r, &r->saved, &r->saved_cap, n, sizeof *r->saved))
        return VRAM_ENOMEM;
    mem_copy(r->saved, from->saved, n * sizeof *r->saved);
    r->saved_count = n;
    return VRAM_OK;
}

int reel_again(struct reel *r, const struct reel *first, const struct pass *p, bool *made)
{
    *made = tape_again(&r->tape, &first->tape);
    if (!*made)
        return r->tape.failed ? VRAM_ENOMEM : VRAM_OK;
    r->pass = *p;
    r->stack = first->stack;
    r->placed = r->failed = r->stretches.made = false;
    r->brief = first->brief;
    r->more_turns = first->more_turns;
    int rc = reel_copy_saved(r, first);
    return rc == VRAM_OK ? reel_condense(r) : rc;
}

void reel_sizes_make(struct reel_sizes *s, const uint64_t elements[SHAPE_COUNT],
                     const struct dims *d)
{
    s->most = 0;
    for (unsigned i = 0; i < SHAPE_COUNT; i++) {
        uint64_t whole = elements[i], share = dims_share_of(d, i, whole),
                 normed = d->norm_of_share ? share : whole;
        s->most = size_max(s->most, whole);
        if (MODEL_IS_WHOLE)
            s->each[i] = whole * 8;
        for (uint8_t dtype = 0; dtype < DT_COUNT; dtype++) {
            uint64_t n = dtype < DT_F32_SHARE || dtype > DT_NORM ? whole : share;
            if (dtype == DT_NORM)
                n = normed < d->normed ? normed : d->normed;
            int64_t bytes = (int64_t)(n << dtype_shift(dtype));
            s->change[(i * DT_COUNT + dtype) * 2] = bytes;
            s->change[(i * DT_COUNT + dtype) * 2 + 1] = -bytes;
        }
    }
    s->most *= 8;  // bytes of the widest format
}

bool reel_serves(const struct reel *r, const struct model *m)
{
    return r->tape.repeats || tape_stack_layers(&r->tape.stack) == m->c.n_layer;
}

void reel_aim(struct reel *r, const struct model *m)
{
    r->stack = r->tape.stack;
    if (r->tape.repeats)
        r->stack.units = ((uint32_t)m->c.n_layer - r->stack.lead) / r->stack.period;
}

static uint64_t reel_most(const struct reel *r, const struct reel_sizes *s)
{
    uint64_t most = 0;
    for (unsigned i = 0; i < SHAPE_COUNT; i++)
        most = r->shapes[i] && s->each[i] > most ? s->each[i] : most;
    return most;
}

bool reel_surely_fits(const struct reel *r, const struct reel_sizes *s)
{
    uint64_t most = MODEL_IS_WHOLE ? reel_most(r, s) : s->most;
    if (MODEL_IS_WHOLE && r->brief)
        most = size_mul(most, r->more_turns + 1);
    return size_ok(size_mul(most, size_mul(r->tape.count, r->stack.units)));
}

// Whether the tensors of the tape, each as often as the model has it, are bytes that can be
// counted.
static bool reel_can_be_summed(const struct reel *r, const struct reel_sizes *sizes)
{
    uint64_t total = 0;
    for (size_t i = 0; i < r->kind_count; i++) {
        const struct reel_kind *k = &r->kinds[i];
        uint64_t times = k->times[0] + k->times[1] * reel_times(r, 1);
        if (times)
            total = size_add(total, size_mul(times, reel_bytes(sizes, k->shape, k->dtype)));
    }
    return size_ok(total);
}

// Stretches are those of the sizes before.
static void reel_ask(struct reel *r, struct reel_kind *k, uint64_t bytes,
                     const struct allocator_config *config)
{
    uint64_t before = k->request.rounded;
    allocator_request(config, bytes, &k->request);
    if (MODEL_IS_WHOLE)
        r->stretches.made &= k->request.rounded == before;
}

int reel_fit(struct reel *r, const struct reel_sizes *sizes, const struct allocator_config *config)
{
    int rc = r->placed ? VRAM_OK : reel_put_in_places(r);
    for (size_t i = 0; i < r->kind_count && rc == VRAM_OK; i++) {
        struct reel_kind *k = &r->kinds[i];
        reel_ask(r, k, reel_bytes(sizes, k->shape, k->dtype), config);
    }
    return rc != VRAM_OK || reel_can_be_summed(r, sizes) ? rc : VRAM_EOVERFLOW;
}

void reel_fit_next(struct reel *r, uint64_t bytes, const struct allocator_config *config)
{
    for (size_t i = 0; i < r->kind_count; i++)
        if (r->kinds[i].fetched)
            reel_ask(r, &r->kinds[i], bytes, config);
}

static struct reel_rise reel_rise_on(struct reel_rise rise, const uint16_t *at, const uint16_t *end,
                                     const int64_t *change)
{
#ifndef VRAM_SMALL
#pragma GCC unroll 8
#endif
    for (; at < end; at++) {
        rise.net += change[*at];
        rise.peak = rise.net > rise.peak ? rise.net : rise.peak;
    }
    return rise;
}

// A rise as often as there is one, behind another.
static struct reel_rise reel_rise_again(struct reel_rise all, struct reel_rise one, uint64_t times)
{
    int64_t more = (int64_t)times - 1, last = one.net > 0 ? more * one.net : 0;  // the highest
    if (all.net + last + one.peak > all.peak)
        all.peak = all.net + last + one.peak;
    all.net += (more + 1) * one.net;
    return all;
}

// From one of the changes to another, with all turns of the loops between them.
static struct reel_rise reel_rise_turns(const struct reel *r, struct reel_rise rise, uint32_t begin,
                                        uint32_t end, const int64_t *change)
{
#ifndef VRAM_SMALL
    for (size_t i = 0; i < r->loop_count; i++) {
        const struct reel_loop *l = &r->loops[i];
        if (l->begin < begin || l->begin >= end)
            continue;
        struct reel_rise one = {0, 0};
        rise = reel_rise_on(rise, r->changes + begin, r->changes + l->begin, change);
        one = reel_rise_on(one, r->changes + l->begin, r->changes + l->end, change);
        rise = reel_rise_again(rise, one, (uint64_t)r->more_turns + 1);
        begin = l->end;
    }
#endif
    return reel_rise_on(rise, r->changes + begin, r->changes + end, change);
}

// From one of the changes to another, without those that a first pass does not have.
static struct reel_rise reel_segment_rise(const struct reel *r, uint32_t begin, uint32_t end,
                                          const int64_t *change, bool first)
{
    struct reel_rise rise = {0, 0};
    for (size_t i = 0; first && i < r->earlier_count; i++) {
        uint32_t at = r->earlier[i].change;
        if (at < begin || at >= end)
            continue;
        rise = reel_rise_turns(r, rise, begin, at, change);
        begin = at + 1;
    }
    return reel_rise_turns(r, rise, begin, end, change);
}

struct reel_rise reel_rise(const struct reel *r, const struct reel_sizes *sizes, unsigned parts)
{
    struct reel_rise all = {0, 0};
    uint32_t begin = 0;
    for (size_t i = 0; i < r->tape.segment_count; begin = r->ends[i++]) {
        if (!(parts & (r->tape.segments[i].backward ? REEL_BACKWARD : REEL_FORWARD)))
            continue;
        struct reel_rise one =
            reel_segment_rise(r, begin, r->ends[i], sizes->change, parts & REEL_FIRST);
        all = reel_rise_again(all, one, reel_times(r, r->tape.segments[i].unit));
    }
    return all;
}

uint64_t reel_saved_bytes(const struct reel *r, const struct reel_sizes *sizes)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < r->saved_count; i++) {
        const struct reel_saved *e = &r->saved[i];
        uint64_t count = e->count[0] + e->count[1] + e->count[2] * reel_times(r, 1) + e->count[3];
        sum = size_add(sum, size_mul(count, reel_bytes(sizes, e->shape, e->dtype)));
    }
    return sum;
}

uint32_t reel_kept(const struct reel *r, uint16_t slot)
{
    for (size_t i = r->tape.count; i-- > 1;) {
        const struct storage *s = &r->tape.storages[i];
        if (s->home == HOME_PERSIST && s->unit < 0 && s->slot == slot && s->refs > 0)
            return (uint32_t)i;
    }
    return TAPE_NONE;
}
