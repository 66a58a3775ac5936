// The CUDA context by card, from the published figures in contexts.def, and NCCL's communicators
// from those of communicators.def.

#include "calc/model/contexts.h"

#include "calc/base/text.h"
#include "calc/model/experts.h"

enum { MIB = 1048576 };
enum loading { LAZY, EAGER, BARE };

// As in contexts.def; the small module has no sources.
static const struct row {
    const char *card;
    uint32_t loading;
    uint32_t low_mib, high_mib;
#ifndef VRAM_SMALL
    const char *source, *what;
#define SOURCED(source, what) source, what
#else
#define SOURCED(source, what)
#endif
} ROWS[] = {
#define CONTEXT(card, loading, low, high, source, what) \
    {card, loading, low, high, SOURCED(source, what)},
#include "calc/model/contexts.def"
#undef CONTEXT
};

struct communicator_row {
    const char *card;
    uint32_t from, to, mib, low_mib, high_mib;
};

static const struct communicator_row COMMUNICATORS[] = {
#define COMMUNICATOR(card, from, to, mib, low, high, source, what) {card, from, to, mib, low, high},
#include "calc/model/communicators.def"
#undef COMMUNICATOR
};

bool context_at(size_t index, struct context_row *out)
{
    if (index >= sizeof ROWS / sizeof *ROWS)
        return false;
    const struct row *r = &ROWS[index];
    *out = (struct context_row){
        r->card, r->loading == EAGER, r->loading == BARE, r->low_mib, r->high_mib, "", ""};
#ifndef VRAM_SMALL
    out->source = r->source;
    out->what = r->what;
#endif
    return true;
}

static void fill(struct vram_figure *out, uint64_t mib, uint64_t low, uint64_t high, message_id why)
{
    *out =
        (struct vram_figure){mib * MIB, low * MIB, high * MIB, VRAM_BASIS_RANGE, 0, 0, NULL, why};
}

// A card's own published figure is taken as it is, with the common range around it: drivers differ.
// One without PyTorch's kernels is the least that a process can have.
static const struct row *row_of_card(int32_t gpu)
{
    const struct vram_gpu *card = gpu < 0 ? NULL : vram_gpu_at((size_t)gpu);
    for (size_t i = 0; card && i < sizeof ROWS / sizeof *ROWS; i++)
        if (ROWS[i].loading != EAGER && ROWS[i].card[0] &&
            text_equal(card->name, text_len(card->name), ROWS[i].card))
            return &ROWS[i];
    return NULL;
}

// Adds a group's communicator.
static void add_group(const struct vram_config *c, uint64_t cards, struct vram_figure *out)
{
    const struct vram_gpu *card = c->gpu < 0 ? NULL : vram_gpu_at((size_t)c->gpu);
    for (size_t i = 0; card && i < sizeof COMMUNICATORS / sizeof *COMMUNICATORS; i++) {
        const struct communicator_row *r = &COMMUNICATORS[i];
        if (cards < r->from || (r->to && cards > r->to) ||
            !text_equal(card->name, text_len(card->name), r->card))
            continue;
        out->bytes += (uint64_t)r->mib * MIB;
        out->low += (uint64_t)r->low_mib * MIB;
        out->high += (uint64_t)r->high_mib * MIB;
        out->why = MESSAGE_why_context_communicators;
    }
}

static void of_context(const struct vram_config *c, struct vram_figure *out)
{
    const struct row *row = row_of_card(c->gpu);
    if (c->context_mib) {
        fill(out, c->context_mib, c->context_mib, c->context_mib, MESSAGE_why_context_given);
    } else if (row && row->loading == BARE && row->low_mib > CONTEXT_MIB) {
        fill(out, row->high_mib, row->low_mib, row->high_mib + CONTEXT_HIGH_MIB - CONTEXT_MIB,
             MESSAGE_why_context_bare);
    } else if (row && row->low_mib > CONTEXT_MIB) {
        fill(out, row->low_mib, CONTEXT_LOW_MIB, row->high_mib + CONTEXT_HIGH_MIB - CONTEXT_MIB,
             MESSAGE_why_context_card);
    } else {
        fill(out, CONTEXT_MIB, CONTEXT_LOW_MIB, CONTEXT_HIGH_MIB, MESSAGE_why_context_default);
    }
}

void context_figure(const struct vram_config *c, struct vram_figure *out)
{
    of_context(c, out);
    if (c->context_mib)
        return;
    add_group(c, c->n_gpu * c->context_parallel, out);
    add_group(c, c->context_parallel, out);
#ifndef VRAM_SMALL
    // of those that share all experts, and of those with the same ones
    if (c->expert_parallel > 1) {
        add_group(c, c->expert_parallel, out);
        add_group(c, c->n_gpu * model_sorting_ways(c) / c->expert_parallel, out);
    }
#endif
    add_group(c, c->tensor_parallel, out);
    add_group(c, c->pipeline_parallel, out);
}

uint32_t context_most_mib(void)
{
    uint32_t most = 0;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        most = ROWS[i].high_mib > most ? ROWS[i].high_mib : most;
    return most;
}
