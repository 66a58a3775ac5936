// Owns the tape of a pass that finds gradients: that of the first pass, and each gradient goes
// where that one leaves it.

#include "calc/trace/tape.h"

static bool tape_make_room(struct tape *t, const struct tape *from)
{
    const struct vram_mem *mem = t->mem;
    void *storages = t->storages, *code = t->code, *segments = t->segments;
    size_t instructions = from->code_count + from->left_count;
    int rc = mem_grow(mem, &storages, &t->cap, from->count, sizeof *t->storages);
    t->storages = storages;
    if (rc == VRAM_OK)
        rc = mem_grow(mem, &code, &t->code_cap, instructions, sizeof *t->code);
    t->code = code;
    if (rc == VRAM_OK)
        rc = mem_grow(mem, &segments, &t->segment_cap, from->segment_count, sizeof *t->segments);
    t->segments = segments;
    t->failed = rc != VRAM_OK;
    return !t->failed;
}

static void tape_free_left(struct tape *t, const struct tape *from)
{
    uint32_t done = 0;
    t->code_count = 0;
    for (size_t i = 0; i <= from->left_count; i++) {
        const struct tape_left *left = i < from->left_count ? &from->left[i] : NULL;
        uint32_t to = left ? left->at : (uint32_t)from->code_count;
        mem_copy(t->code + t->code_count, from->code + done, (to - done) * sizeof *t->code);
        t->code_count += to - done;
        done = to;
        if (!left)
            return;
        t->code[t->code_count++] = left->storage << 2 | TAPE_FREE;
        t->storages[left->storage].home = HOME_TAPE;
        t->storages[left->storage].slot = left->slot;
    }
}

// Each free is the last instruction of a segment so far: it belongs to the one before `at`.
static void tape_shift_segments(struct tape *t, const struct tape *from)
{
    uint32_t before = 0;
    t->segment_count = from->segment_count;
    for (size_t i = 0; i < from->segment_count; i++) {
        t->segments[i] = from->segments[i];
        t->segments[i].begin += before;
        while (before < from->left_count && from->left[before].at <= from->segments[i].end)
            before++;
        t->segments[i].end += before;
    }
}

// Turns, and the numbers that more of them go on with.
static bool tape_shift_turns(struct tape *t, const struct tape *from)
{
    void *turns = t->turns, *slots = t->unit_slots;
    size_t units = from->stack.units + 2;
    uint32_t before = 0;
    int rc = mem_grow(t->mem, &turns, &t->turns_cap, from->turn_count, sizeof *t->turns);
    t->turns = turns;
    if (rc == VRAM_OK)
        rc = mem_grow(t->mem, &slots, &t->unit_slots_cap, units, sizeof *t->unit_slots);
    t->unit_slots = slots;
    t->failed = rc != VRAM_OK;
    t->turn_count = t->failed ? 0 : from->turn_count;
    if (t->turn_count)
        mem_copy(t->unit_slots, from->unit_slots, units * sizeof *t->unit_slots);
    for (size_t i = 0; i < t->turn_count; i++) {
        while (before < from->left_count && from->left[before].at <= from->turns[i].code)
            before++;
        t->turns[i] = from->turns[i];
        t->turns[i].code += before;
    }
    return !t->failed;
}

bool tape_again(struct tape *to, const struct tape *from)
{
    to->failed = false;
    if (!from->left_alone || !tape_make_room(to, from) || !tape_shift_turns(to, from))
        return false;
    mem_copy(to->storages, from->storages, from->count * sizeof *to->storages);
    to->count = from->count;
    tape_free_left(to, from);
    tape_shift_segments(to, from);
    to->left_count = 0;
    to->stack = from->stack;
    to->repeats = from->repeats;
    to->slots_global = from->slots_global;
    to->slots_lead = from->slots_lead;
    to->slots_unit = from->slots_unit;
    to->allocations = from->allocations;
    return true;
}
