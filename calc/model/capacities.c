// What CUDA offers of a card's memory: the observations in capacities.def, and the rule for cards
// without one.

#include "calc/model/capacities.h"

#include "calc/base/text.h"

enum { MIB = 1048576, AMPERE = 80 };

struct capacity_row {
    const char *card;
    uint32_t offered_mib, seen, low_mib, high_mib;
};

static const struct capacity_row ROWS[] = {
#define CAPACITY(card, offered, seen, low, high) {card, offered, seen, low, high},
#include "calc/model/capacities.def"
#undef CAPACITY
};

enum { ROW_COUNT = sizeof ROWS / sizeof *ROWS };

// The row of the card whose place in gpus.def is `gpu`; NULL without an observation.
static const struct capacity_row *row_of(int32_t gpu)
{
    const struct vram_gpu *card = gpu < 0 ? NULL : vram_gpu_at((size_t)gpu);
    for (size_t i = 0; card && i < ROW_COUNT; i++)
        if (text_equal(card->name, text_len(card->name), ROWS[i].card))
            return &ROWS[i];
    return NULL;
}

static uint64_t total_mib(const struct vram_gpu *card)
{
    return card->memory_bytes / MIB;
}

// What nvidia-smi's total is more than CUDA's, by the observed cards that are like one: of the same
// compute capability, without a name (capability 0) from Ampere on, and of these those nearest in
// size.
struct likeness {
    uint64_t mib, distance;
    uint32_t capability;
    uint32_t reserves[ROW_COUNT];  // ascending
    size_t count;
};

static bool is_alike(const struct likeness *l, const struct vram_gpu *card)
{
    return l->capability ? card->compute_capability == l->capability
                         : card->compute_capability >= AMPERE;
}

static void add_reserve(struct likeness *l, uint32_t reserve)
{
    size_t at = l->count++;
    for (; at > 0 && l->reserves[at - 1] > reserve; at--)
        l->reserves[at] = l->reserves[at - 1];
    l->reserves[at] = reserve;
}

// The rows are in the order of gpus.def, so one walk meets both.
static void find_alike(struct likeness *l)
{
    const struct vram_gpu *card;
    const struct capacity_row *row = ROWS;
    for (size_t i = 0; row < ROWS + ROW_COUNT && (card = vram_gpu_at(i)) != NULL; i++) {
        if (!text_equal(card->name, text_len(card->name), row->card))
            continue;
        uint64_t mib = total_mib(card), distance = mib > l->mib ? mib - l->mib : l->mib - mib;
        uint32_t reserve = (uint32_t)mib - (row++)->offered_mib;
        if (!is_alike(l, card) || distance > l->distance)
            continue;
        if (distance < l->distance)
            l->count = 0;
        l->distance = distance;
        add_reserve(l, reserve);
    }
}

static uint64_t usual_reserve(uint64_t mib, uint32_t capability)
{
    struct likeness l = {.mib = mib, .distance = UINT64_MAX, .capability = capability};
    find_alike(&l);
    if (!l.count)
        return 0;
    return l.count % 2 ? l.reserves[l.count / 2]
                       : (l.reserves[l.count / 2 - 1] + l.reserves[l.count / 2] + 1) / 2;
}

static void set_mib(struct vram_capacity *out, uint64_t mib, uint64_t low, uint64_t high,
                    uint32_t basis)
{
    out->cuda_bytes = mib * MIB;
    out->cuda_low_bytes = low * MIB;
    out->cuda_high_bytes = high * MIB;
    out->basis = basis;
    out->seen = 0;
}

// On Linux. other_size: the memory was given, and is not that of the card.
static void on_linux(struct vram_capacity *out, int32_t gpu, uint64_t mib, bool other_size)
{
    const struct vram_gpu *card = gpu < 0 ? NULL : vram_gpu_at((size_t)gpu);
    const struct capacity_row *row = other_size ? NULL : row_of(gpu);
    if (row) {
        set_mib(out, row->offered_mib, row->low_mib, row->high_mib, VRAM_CAPACITY_OBSERVED);
        out->seen = row->seen;
    } else if (card && !card->compute_capability) {
        set_mib(out, mib, mib, mib, VRAM_CAPACITY_TOTAL);
    } else {
        uint64_t reserve = usual_reserve(mib, card ? card->compute_capability : 0);
        uint64_t left = mib > reserve ? mib - reserve : mib;
        set_mib(out, left, left, left, VRAM_CAPACITY_RULE);
    }
}

static void find(struct vram_capacity *out, int32_t gpu, uint64_t given_mib, uint64_t system)
{
    uint64_t own = gpu < 0 ? 0 : total_mib(vram_gpu_at((size_t)gpu)),
             mib = given_mib ? given_mib : own;
    *out = (struct vram_capacity){.total_bytes = mib * MIB};
    if (mib && system == SYSTEM_WINDOWS)
        set_mib(out, mib, mib, mib, VRAM_CAPACITY_TOTAL);
    else if (mib)
        on_linux(out, gpu, mib, mib != own);
}

void capacity_of(const struct vram_config *c, struct vram_capacity *out)
{
    find(out, c->gpu, c->gpu_memory, c->system);
    if (c->cuda_memory)
        set_mib(out, c->cuda_memory, c->cuda_memory, c->cuda_memory, VRAM_CAPACITY_GIVEN);
}

uint64_t capacity_left(const struct vram_config *c)
{
    struct vram_capacity total;
    capacity_of(c, &total);
    uint64_t mib = total.cuda_bytes / MIB;
    return mib > c->other_memory ? (mib - c->other_memory) * MIB : mib ? 1 : 0;
}

bool vram_gpu_capacity(const struct vram_gpu *card, const char *system, struct vram_capacity *out)
{
    bool windows = system && text_equal(system, text_len(system), "windows");
    if (system && !windows && !text_equal(system, text_len(system), "linux"))
        return false;
    const struct vram_gpu *at;
    for (size_t i = 0; out && (at = vram_gpu_at(i)) != NULL; i++)
        if (at == card) {
            find(out, (int32_t)i, 0, windows ? SYSTEM_WINDOWS : SYSTEM_LINUX);
            return true;
        }
    return false;
}
