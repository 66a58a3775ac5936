// Owns tapes: storages with reference counts, instructions, and the check that layers are alike.

#include "calc/trace/tape.h"

// What is seldom needed is out of the way of what is called for each instruction, which looks first
// whether there is room. In the small module size counts more.
#ifdef VRAM_SMALL
#define TAPE_APART
#define TAPE_LOOKS false
#else
#define TAPE_APART __attribute__((noinline, cold))
#define TAPE_LOOKS true
#endif

void tape_init(struct tape *t, const struct vram_mem *mem)
{
    mem_zero(t, sizeof *t);
    t->mem = mem;
}

void tape_free(struct tape *t)
{
    if (!t->mem)
        return;
    mem_free(t->mem, t->storages, t->cap * sizeof *t->storages);
    mem_free(t->mem, t->code, t->code_cap * sizeof *t->code);
    mem_free(t->mem, t->segments, t->segment_cap * sizeof *t->segments);
    mem_free(t->mem, t->unit_slots, t->unit_slots_cap * sizeof *t->unit_slots);
    if (TAPE_LOOKS) {  // none in the small module
        mem_free(t->mem, t->left, t->left_cap * sizeof *t->left);
        mem_free(t->mem, t->turns, t->turns_cap * sizeof *t->turns);
    }
    tape_init(t, t->mem);
}

static inline bool tape_grow(struct tape *t, void *ptr_to_ptr, size_t *cap, size_t need,
                             size_t size)
{
    void **ptr = ptr_to_ptr;
    if (need <= *cap)
        return !t->failed;
    if (!t->failed && mem_grow(t->mem, ptr, cap, need, size) != VRAM_OK)
        t->failed = true;
    return !t->failed;
}

void tape_reset(struct tape *t, struct tape_stack stack)
{
    size_t slots = stack.units + 2;  // what lies before the units and outside of layers comes last
    t->failed = false;
    t->count = 1;  // storage 0 is none
    t->code_count = 0;
    t->segment_count = 0;
    t->open = INT64_MAX;
    if (TAPE_LOOKS)
        t->left_count = t->turn_count = t->turn = 0;
    t->stack = stack;
    t->repeats = false;
    t->slots_global = t->slots_lead = t->slots_unit = 0;
    t->allocations = 0;
    t->limit = UINT32_MAX;
    t->unit = TAPE_GLOBAL;
    t->sub = 0;
    t->backward = t->ahead = false;
    if (tape_grow(t, &t->unit_slots, &t->unit_slots_cap, slots, sizeof *t->unit_slots))
        mem_zero(t->unit_slots, slots * sizeof *t->unit_slots);
    if (tape_grow(t, &t->storages, &t->cap, 256, sizeof *t->storages))
        mem_zero(t->storages, sizeof *t->storages);
}

void tape_ahead(struct tape *t, int32_t unit, uint8_t sub)
{
    t->here = t->unit;
    t->here_sub = t->sub;
    t->ahead = true;
    t->unit = unit;
    t->sub = sub;
}

void tape_ahead_end(struct tape *t)
{
    t->unit = t->here;
    t->sub = t->here_sub;
    t->ahead = false;
}

// A unit in a direction, as one number.
static int64_t tape_part(int32_t unit, bool backward)
{
    return (int64_t)unit * 2 + backward;
}

static bool tape_is_open(const struct tape *t, int32_t unit)
{
    return t->open == tape_part(unit, t->backward);
}

// Room for an instruction of a unit: a new segment where the unit or the direction changes. Apart:
// there is room nearly always.
static TAPE_APART bool tape_room(struct tape *t, int32_t unit)
{
    if (!tape_is_open(t, unit)) {
        if (t->segment_count)
            t->segments[t->segment_count - 1].end = (uint32_t)t->code_count;
        if (!tape_grow(t, &t->segments, &t->segment_cap, t->segment_count + 1, sizeof *t->segments))
            return false;
        t->segments[t->segment_count++] =
            (struct tape_segment){(uint32_t)t->code_count, 0, unit, t->backward};
        t->open = tape_part(unit, t->backward);
    }
    return tape_grow(t, &t->code, &t->code_cap, t->code_count + 1, sizeof *t->code);
}

static void tape_emit(struct tape *t, enum tape_kind kind, uint32_t operand)
{
    int32_t unit = t->ahead ? t->here : t->unit;
    bool room = tape_is_open(t, unit) && t->code_count < t->code_cap;
    if ((TAPE_LOOKS && room) || tape_room(t, unit))
        t->code[t->code_count++] = operand << 2 | kind;
}

static TAPE_APART bool tape_more_storages(struct tape *t)
{
    t->failed |= t->count == TAPE_STORAGES;
    return tape_grow(t, &t->storages, &t->cap, t->count + 1, sizeof *t->storages);
}

void tape_expect(struct tape *t, size_t storages, size_t instructions)
{
    void *s = t->storages, *code = t->code;
    int rc = mem_renew(t->mem, &s, &t->cap, storages + storages / 2, sizeof *t->storages);
    t->storages = s;
    if (rc == VRAM_OK)
        rc = mem_renew(t->mem, &code, &t->code_cap, instructions + instructions / 2,
                       sizeof *t->code);
    t->code = code;
    t->failed |= rc != VRAM_OK;
    if (!t->failed)
        mem_zero(t->storages, sizeof *t->storages);
}

static inline uint32_t tape_storage(struct tape *t, const struct storage *s)
{
    bool room = t->count < t->cap && t->count != TAPE_STORAGES;
    if (!(TAPE_LOOKS && room) && !tape_more_storages(t))
        return TAPE_NONE;
    t->storages[t->count] = *s;
    return (uint32_t)t->count++;
}

uint32_t tape_alloc(struct tape *t, enum op op, uint16_t name, uint8_t category, uint8_t dtype,
                    shape_id shape)
{
    if (t->failed || t->allocations >= t->limit)
        return TAPE_NONE;
    uint32_t *next = &t->unit_slots[t->unit < 0 ? t->stack.units + 1 : (uint32_t)t->unit];
    uint32_t id = tape_storage(t, &(struct storage){.name = name,
                                                    .op = (uint8_t)op,
                                                    .category = category,
                                                    .dtype = dtype,
                                                    .shape = shape,
                                                    .home = HOME_TAPE,
                                                    .sub = t->sub,
                                                    .refs = 1,
                                                    .slot = (*next)++,
                                                    .unit = t->unit,
                                                    .made = t->allocations++});
    tape_emit(t, TAPE_ALLOC, id);
    return id;
}

uint32_t tape_existing(struct tape *t, uint16_t name, uint8_t category, uint8_t dtype,
                       shape_id shape, enum tape_home home, uint16_t slot)
{
    return tape_storage(t, &(struct storage){.name = name,
                                             .category = category,
                                             .dtype = dtype,
                                             .shape = shape,
                                             .home = (uint8_t)home,
                                             .sub = t->sub,
                                             .refs = 1,
                                             .slot = slot,
                                             .unit = t->unit});
}

void tape_earlier_goes(struct tape *t, uint16_t name, uint8_t category, uint8_t dtype,
                       shape_id shape, uint16_t slot)
{
    uint32_t storage = tape_existing(t, name, category, dtype, shape, HOME_PERSIST, slot);
    if (t->failed)
        return;
    t->storages[storage].earlier = true;
    tape_unref(t, storage);
}

void tape_ref(struct tape *t, uint32_t storage)
{
    if (!t->failed)
        t->storages[storage].refs++;
}

void tape_unref(struct tape *t, uint32_t storage)
{
    if (t->failed || storage == TAPE_NONE)
        return;
    struct storage *s = &t->storages[storage];
    if (--s->refs != 0 || s->home >= HOME_NONE)
        return;
    uint32_t with = s->with;
    tape_emit(t, TAPE_FREE, storage);
    tape_unref(t, with);
}

void tape_keep(struct tape *t, uint32_t storage, int32_t unit, uint16_t slot)
{
    if (t->failed)
        return;
    t->storages[storage].home = HOME_PERSIST;
    t->storages[storage].unit = unit;
    t->storages[storage].slot = slot;
}

static void tape_note_left(struct tape *t, uint32_t storage, int32_t unit)
{
    const struct storage *s = &t->storages[storage];
    bool goes_here = s->refs == 1 && s->with == TAPE_NONE && s->unit == unit;
    t->left_alone &= goes_here && !t->ahead && tape_is_open(t, t->unit);
    if (tape_grow(t, &t->left, &t->left_cap, t->left_count + 1, sizeof *t->left))
        t->left[t->left_count++] = (struct tape_left){(uint32_t)t->code_count, storage, s->slot};
}

void tape_leave(struct tape *t, uint32_t storage, int32_t unit, uint16_t slot)
{
    if (TAPE_LOOKS && !t->failed)
        tape_note_left(t, storage, unit);
    tape_keep(t, storage, unit, slot);
}

uint32_t tape_move(struct tape *t, uint32_t storage, int32_t unit, uint16_t slot)
{
    if (t->failed)
        return TAPE_NONE;
    struct storage s = t->storages[storage];
    s.home = HOME_PERSIST;
    s.unit = unit;
    s.slot = slot;
    s.refs = 1;
    uint32_t moved = tape_storage(t, &s);
    tape_emit(t, TAPE_MOVE, storage);
    tape_emit(t, TAPE_MOVE, moved);
    return moved;
}

void tape_workspace(struct tape *t, uint16_t which)
{
    if (!t->failed)
        tape_emit(t, TAPE_WORKSPACE, which);
}

static bool tape_same(const struct storage *a, const struct storage *b)
{
    return a->name == b->name && a->op == b->op && a->category == b->category &&
           a->dtype == b->dtype && a->shape == b->shape && a->home == b->home && a->sub == b->sub &&
           a->slot == b->slot && a->sent == b->sent && a->taken == b->taken &&
           a->stream == b->stream;
}

// The next storage of a unit from *at on, or the end.
static size_t tape_next(const struct tape *t, size_t at, int32_t unit)
{
    while (at < t->count && t->storages[at].unit != unit)
        at++;
    return at;
}

static bool tape_units_alike(const struct tape *t)
{
    size_t a = tape_next(t, 1, 0), b = tape_next(t, 1, 1), c = tape_next(t, 1, 2);
    while (a < t->count && b < t->count && c < t->count) {
        if (!tape_same(&t->storages[a], &t->storages[b]) ||
            !tape_same(&t->storages[b], &t->storages[c]))
            return false;
        a = tape_next(t, a + 1, 0);
        b = tape_next(t, b + 1, 1);
        c = tape_next(t, c + 1, 2);
    }
    return a == t->count && b == t->count && c == t->count;
}

// Nothing of what lies before the units goes in a segment, which would be played several times.
static bool tape_keeps_off(const struct tape *t, const struct tape_segment *s)
{
    if (TAPE_LOOKS && !t->stack.lead)
        return true;
    for (uint32_t i = s->begin; i < s->end; i++)
        if ((t->code[i] & 3) != TAPE_WORKSPACE &&
            t->storages[t->code[i] >> 2].unit == (int32_t)t->stack.units)
            return false;
    return true;
}

// The middle unit always is between the other two, in the direction of its pass.
static bool tape_order_plain(const struct tape *t)
{
    for (size_t i = 0; i < t->segment_count; i++) {
        const struct tape_segment *s = &t->segments[i];
        if (s->unit != 1)
            continue;
        if (i == 0 || i + 1 == t->segment_count)
            return false;
        if (s[-1].unit != (s->backward ? 2 : 0) || s[1].unit != (s->backward ? 0 : 2))
            return false;
        if (!tape_keeps_off(t, s))
            return false;
    }
    return true;
}

void tape_count_slots(struct tape *t)
{
    t->slots_unit = 0;
    t->slots_lead = t->unit_slots[t->stack.units];
    t->slots_global = t->unit_slots[t->stack.units + 1];
    for (uint32_t u = 0; u < t->stack.units; u++)
        if (t->unit_slots[u] > t->slots_unit)
            t->slots_unit = t->unit_slots[u];
}

void tape_finish(struct tape *t)
{
    if (t->failed)
        return;
    if (t->segment_count)
        t->segments[t->segment_count - 1].end = (uint32_t)t->code_count;
    tape_count_slots(t);
    t->repeats = t->stack.units == 3 && tape_units_alike(t) && tape_order_plain(t);
}
