// Owns the loops of a reel: how many of their turns are recorded, and the tape of all.
#ifndef VRAM_SMALL

#include "calc/replay/reel.h"
#include "calc/trace/layers_delta.h"

uint32_t reel_more_turns(const struct reel *r, const struct model *m)
{
    uint64_t turns = r->whole || m->c.offload_activations ? 0 : delta_chunk_count(m);
    return turns > TAPE_TURNS + 1 ? (uint32_t)turns - TAPE_TURNS : 0;
}

int reel_unroll(struct reel *r, struct tape *spare)
{
    if (!r->brief)
        return VRAM_OK;
    if (!tape_unroll(spare, &r->tape, r->more_turns))
        return VRAM_ENOMEM;
    for (size_t i = 0; i < r->earlier_count; i++)
        r->earlier[i].code = tape_unrolled(&r->tape, r->earlier[i].code);
    struct tape brief = r->tape;
    r->tape = *spare;
    *spare = brief;
    r->brief = r->placed = r->stretches.made = false;
    return VRAM_OK;
}
#endif
