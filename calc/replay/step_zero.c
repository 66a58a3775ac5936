// Owns the optimizer's step under DeepSpeed: norms in float64, this GPU's gradients as one tensor,
// the same in float32. SRC: DeepSpeed runtime/zero/stage_1_and_2.py (step, get_grad_norm_direct,
// flatten), stage3.py (step, get_grad_norm_direct, _prepare_fp32_grad_for_sub_group), utils.py
// (get_norm_dtype); traces llama_zero*, llama8b_zero* of tests/calc/truth/frameworks.

#include "calc/replay/step_zero.h"

#ifndef VRAM_SMALL
#include "calc/base/size.h"
#include "calc/model/precision.h"

enum zero_part {
    ZERO_MINE,
    ZERO_WHOLE,
    ZERO_NORM,
    ZERO_FLAT,
    ZERO_WIDE,
    ZERO_KEPT,
    ZERO_TEMP,
    ZERO_PARTS
};

struct zero_move {
    uint8_t part;
    bool goes;
};

// Whole gradients are there at a step's beginning where several micro-steps have added them up
// (stage 1): they are divided as they are sent.
static const struct zero_move zero_moves[] = {
    {ZERO_MINE, false}, {ZERO_WHOLE, true}, {ZERO_NORM, false}, {ZERO_NORM, true},
    {ZERO_FLAT, false}, {ZERO_WIDE, false}, {ZERO_FLAT, true},  {ZERO_MINE, true},
    {ZERO_KEPT, false}, {ZERO_TEMP, false}, {ZERO_TEMP, true},  {ZERO_WIDE, true}};
enum { ZERO_MOVES = sizeof zero_moves / sizeof *zero_moves };

// Stages 1 and 2 have the gradients of what this GPU updates in one tensor that the pass has left.
static bool zero_has_mine(const struct state *s)
{
    return s->m->c.parallel != PARALLEL_ZERO3;
}

static bool zero_adds_up(const struct state *s)
{
    return s->m->c.parallel == PARALLEL_ZERO1 && s->m->c.gradient_accumulation_steps > 1;
}

static void zero_bytes(const struct state *s, bool first, uint64_t bytes[ZERO_PARTS])
{
    const struct partition *p = &s->partition;
    uint64_t width = UINT64_C(1) << dtype_shift(precision_of(&s->m->c)->weight);
    uint64_t n = partition_step(s->m, p), each = p->part ? s->temp_peak / p->part : 0;
    bool narrow = width<4, several = p->pieces> 1;
    bytes[ZERO_MINE] = zero_has_mine(s) ? p->mine * width : 0;
    bytes[ZERO_WHOLE] = zero_adds_up(s) ? s->grad_bytes : 0;
    bytes[ZERO_NORM] = 8 * p->piece;
    bytes[ZERO_FLAT] = narrow && several ? width * n : 0;
    bytes[ZERO_WIDE] = narrow || several ? 4 * n : 0;
    bytes[ZERO_KEPT] = first ? s->optim_bytes - s->copy_bytes - s->sum_bytes : 0;
    bytes[ZERO_TEMP] = s->temps_together ? size_min(s->temp_peak, each * n) : s->temp_peak;
}

static int zero_move(struct player *p, struct zero_move m, uint64_t bytes)
{
    static const struct storage storages[ZERO_PARTS] = {
        [ZERO_MINE] = {.name = NAME(PARALLEL, BUCKET), .op = OP_BUCKET, .category = VRAM_CAT_GRAD},
        [ZERO_NORM] = {.name = NAME(CLIP, NORMS), .op = OP_TO_COPY, .category = VRAM_CAT_GRAD},
        [ZERO_FLAT] = {.name = NAME(PARALLEL, BUCKET), .op = OP_CAT, .category = VRAM_CAT_GRAD},
        [ZERO_WIDE] = {.name = NAME(PARALLEL, BUCKET), .op = OP_TO_COPY, .category = VRAM_CAT_GRAD},
        [ZERO_TEMP] = {.name = NAME(OPTIMIZER, TEMP), .op = OP_SQRT, .category = VRAM_CAT_OPTIM}};
    uint32_t slot = m.part == ZERO_MINE ? player_gradient(-1, P_ROOT_FLAT) : p->tape_base + m.part;
    return m.goes ? player_free(p, slot, &storages[m.part], bytes, -1)
                  : player_alloc(p, slot, &storages[m.part], bytes, -1);
}

// Whether a pass has done it already.
static bool zero_is_done(const struct state *s, struct zero_move m)
{
    return m.part == ZERO_MINE && !m.goes && !zero_adds_up(s);
}

int step_zero(struct player *p, const struct state *s, const struct step_rows *rows, bool first)
{
    uint64_t bytes[ZERO_PARTS];
    int rc = VRAM_OK;
    zero_bytes(s, first, bytes);
    for (unsigned i = 0; i < ZERO_MOVES && rc == VRAM_OK; i++) {
        struct zero_move m = zero_moves[i];
        if (bytes[m.part] && !zero_is_done(s, m))
            rc = m.part == ZERO_WHOLE  ? rows->zero_grad(p, s)
                 : m.part == ZERO_KEPT ? rows->keep(p, s)
                                       : zero_move(p, m, bytes[m.part]);
    }
    return rc;
}

uint64_t step_zero_rise(const struct state *s, bool first, int64_t *net)
{
    uint64_t bytes[ZERO_PARTS];
    int64_t live = 0, most = 0;
    zero_bytes(s, first, bytes);
    for (unsigned i = 0; i < ZERO_MOVES; i++) {
        int64_t change = (int64_t)bytes[zero_moves[i].part];
        live += zero_is_done(s, zero_moves[i]) ? 0 : zero_moves[i].goes ? -change : change;
        most = live > most ? live : most;
    }
    *net = live;
    return (uint64_t)most;
}
#endif
