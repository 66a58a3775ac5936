// Owns the adapters over parameters in the list of tensors: a pair of matrices for all experts.
// SRC: peft 0.21 src/peft/tuners/lora/layer.py (ParamWrapper.update_layer).
#ifndef VRAM_SMALL

#include "calc/model/layout.h"
#include "calc/model/names.h"
#include "calc/model/wrapped.h"

struct wrapped_row {
    uint16_t number;
    uint8_t role;
    shape_id in_shape, out_shape;
    uint64_t rank, in, out;
};

static void layout_pair(struct layout *l, const struct model *m, struct wrapped_row r)
{
    if (r.rank == 0)
        return;
    layout_block(l, layout_half_trained(m, PART_A),
                 (struct layout_row){(uint16_t)(r.number + LAYOUT_A), r.role, PART_A, r.in_shape,
                                     r.rank, r.in});
    layout_block(l, layout_half_trained(m, PART_B),
                 (struct layout_row){(uint16_t)(r.number + LAYOUT_B), r.role, PART_B, r.out_shape,
                                     r.out, r.rank});
}

void layout_wrapped_router(struct layout *l, const struct model *m)
{
    layout_pair(l, m,
                (struct wrapped_row){P_ROUTER, ROLE_ROUTER, SHAPE_A_C, SHAPE_A_STREAM,
                                     wrapped_router_rank(&m->c), m->c.n_embd, m->c.n_expert});
}

void layout_wrapped_experts(struct layout *l, const struct model *m)
{
    uint64_t e = m->c.n_expert, c = m->c.n_embd, inner = m->c.expert_inner;
    layout_pair(l, m,
                (struct wrapped_row){P_EXPERTS_UP, ROLE_UP, SHAPE_A_EXPERTS_IN, SHAPE_A_EXPERTS_FF2,
                                     e * wrapped_up_rank(&m->c), c, 2 * inner});
    layout_pair(l, m,
                (struct wrapped_row){P_EXPERTS_DOWN, ROLE_MLP_PROJ, SHAPE_A_EXPERTS_FF,
                                     SHAPE_A_EXPERTS_OUT, e * wrapped_down_rank(&m->c), inner, c});
}

bool layout_unnamed(const struct model *m, uint16_t number)
{
    bool dense = number >= P_GATE && number < P_DOWN + LAYOUT_LINEAR;
    bool shared = number >= P_SHARED_GATE && number < P_SHARED_SHARE;
    return (dense || shared) && wrapped_by_names(&m->c);
}
#endif
