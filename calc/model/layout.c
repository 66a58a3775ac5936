// Owns the list of parameter tensors of a model: those of a layer, and all in the order in which
// its code registers them.

#include "calc/model/layout.h"

#include "calc/base/mem.h"
#include "calc/base/size.h"
#include "calc/model/names.h"
#include "calc/model/unsloth.h"

// Gemma's layers, which the small module does not have, are put by these, too.
#ifdef VRAM_SMALL
#define LAYOUT_APART static
#else
#define LAYOUT_APART
#endif

static void layout_put(struct layout_param *list, uint8_t *count, struct layout_row r, bool trained)
{
    list[(*count)++] = (struct layout_param){r.number, r.role,     r.part, r.shape, r.cols > 0,
                                             trained,  LAYERS_ALL, r.rows, r.cols};
}

void layout_before(struct layout *l, bool trained, struct layout_row r)
{
    layout_put(l->before, &l->before_count, r, trained);
}

void layout_after(struct layout *l, bool trained, struct layout_row r)
{
    layout_put(l->after, &l->after_count, r, trained);
}

void layout_block(struct layout *l, bool trained, struct layout_row r)
{
    layout_put(l->block, &l->block_count, r, trained);
    l->block[l->block_count - 1].layers = l->layers;
}

// Which members of lora_targets a linear layer answers to: one projection for q, k and v to any of
// the three.
static uint64_t layout_targets(uint16_t number)
{
    static const uint64_t targets[LAYOUT_BLOCK_NUMBERS] = {
        [P_QKV] = CONFIG_BIT(TARGET_Q) | CONFIG_BIT(TARGET_K) | CONFIG_BIT(TARGET_V),
        [P_Q] = CONFIG_BIT(TARGET_Q),
        [P_K] = CONFIG_BIT(TARGET_K),
        [P_V] = CONFIG_BIT(TARGET_V),
        [P_O] = CONFIG_BIT(TARGET_O),
        [P_GATE] = CONFIG_BIT(TARGET_GATE),
        [P_UP] = CONFIG_BIT(TARGET_UP),
        [P_DOWN] = CONFIG_BIT(TARGET_DOWN),
        [P_Q_A] = CONFIG_BIT(TARGET_Q),
        [P_KV_A] = CONFIG_BIT(TARGET_K) | CONFIG_BIT(TARGET_V),
        [P_KV_B] = CONFIG_BIT(TARGET_K) | CONFIG_BIT(TARGET_V),
#ifndef VRAM_SMALL
        [P_GLOBAL_Q] = CONFIG_BIT(TARGET_Q),
        [P_GLOBAL_K] = CONFIG_BIT(TARGET_K),
        [P_GLOBAL_V] = CONFIG_BIT(TARGET_V),
        [P_GLOBAL_O] = CONFIG_BIT(TARGET_O),
        [P_WIDE_GATE] = CONFIG_BIT(TARGET_GATE),
        [P_WIDE_UP] = CONFIG_BIT(TARGET_UP),
        [P_WIDE_DOWN] = CONFIG_BIT(TARGET_DOWN),
#endif
        [P_SHARED_GATE] = CONFIG_BIT(TARGET_GATE),
        [P_SHARED_UP] = CONFIG_BIT(TARGET_UP),
        [P_SHARED_DOWN] = CONFIG_BIT(TARGET_DOWN),
    };
    return targets[number];
}

static bool layout_adapted(const struct model *m, uint16_t number)
{
#ifndef VRAM_SMALL
    bool apart = (number >= P_DELTA_QKV && number <= P_DELTA_OUT) || number == P_INPUT_GATE ||
                 number == P_INPUT_PROJECT || number == P_ROUTER || number == P_SHARED_SHARE ||
                 (number >= P_STREAM_ROUTER && number <= P_LAUREL_RIGHT);
    if (apart)  // of every linear layer alone
        return m->c.lora_rank > 0 &&
               (m->c.lora_targets & CONFIG_SET_ALL_LINEAR) == CONFIG_SET_ALL_LINEAR;
    if (layout_unnamed(m, number))
        return false;
#endif
    return m->c.lora_rank > 0 && (m->c.lora_targets & layout_targets(number));
}

// The delta rule's output has the shape of its gate the other way round.
static bool layout_turned(uint16_t number)
{
#ifndef VRAM_SMALL
    return number == P_DELTA_OUT || number == P_GLOBAL_O || number == P_INPUT_PROJECT ||
           number == P_LAUREL_RIGHT;
#else
    (void)number;
    return false;
#endif
}

// The shapes of an adapter's matrices by that of the weight: on the side of the input and on that
// of the output.
static shape_id layout_adapter_shape(shape_id weight_shape, bool output_side, uint16_t number)
{
    static const shape_id latent[SHAPE_COUNT][2] = {
        [SHAPE_W_Q_A] = {SHAPE_A_C, SHAPE_A_Q_LATENT},
        [SHAPE_W_Q_B] = {SHAPE_A_Q_LATENT, SHAPE_A_Q},
        [SHAPE_W_KV_A] = {SHAPE_A_C, SHAPE_A_KV_LATENT},
        [SHAPE_W_KV_B] = {SHAPE_A_KV_CORE, SHAPE_A_KV_WIDE},
        [SHAPE_W_VALUES] = {SHAPE_A_VALUES, SHAPE_A_C},
#ifndef VRAM_SMALL
        [SHAPE_W_Q_GATED] = {SHAPE_A_C, SHAPE_A_Q_GATED},
        [SHAPE_W_G_Q] = {SHAPE_A_C, SHAPE_A_G_Q},
        [SHAPE_W_G_KV] = {SHAPE_A_C, SHAPE_A_G_KV},
        [SHAPE_W_LAYER_INPUT] = {SHAPE_A_C, SHAPE_A_LAYER_INPUT},
        [SHAPE_W_LAUREL] = {SHAPE_A_C, SHAPE_A_LAUREL},
        [SHAPE_W_ROUTER] = {SHAPE_A_C, SHAPE_A_STREAM},
        [SHAPE_C] = {SHAPE_A_C, SHAPE_A_ONE},
        [SHAPE_W_STREAM] = {SHAPE_A_STREAM, SHAPE_A_STREAM},
        [SHAPE_W_STREAMS] = {SHAPE_A_STREAM, SHAPE_A_STREAMS},
        [SHAPE_W_DELTA_QKV] = {SHAPE_A_C, SHAPE_A_DELTA_QKV},
        [SHAPE_W_DELTA_QKVZ] = {SHAPE_A_C, SHAPE_A_DELTA_QKVZ},
        [SHAPE_W_DELTA_BA] = {SHAPE_A_C, SHAPE_A_DELTA_BA},
        [SHAPE_W_DELTA_V] = {SHAPE_A_C, SHAPE_A_DELTA_V},
        [SHAPE_W_DELTA_H] = {SHAPE_A_C, SHAPE_A_DELTA_H},
#endif
    };
    bool wide_in = number == P_O || number == P_DOWN ||
                   number == P_SHARED_DOWN;  // the inner width is on the input side
#ifndef VRAM_SMALL
    wide_in = wide_in || number == P_WIDE_DOWN;
#endif
    bool inner = output_side != wide_in;
    if (latent[weight_shape][0])
        return latent[weight_shape][layout_turned(number) ? !output_side : output_side];
    if (!inner)
        return SHAPE_A_C;
    return weight_shape == SHAPE_W_FF       ? SHAPE_A_FF
           : weight_shape == SHAPE_W_SHARED ? SHAPE_A_SHARED
           : weight_shape == SHAPE_W_FF2    ? SHAPE_A_FF2
           : weight_shape == SHAPE_W_KV     ? SHAPE_A_KV
           : weight_shape == SHAPE_W_QKV    ? SHAPE_A_QKV
                                            : SHAPE_A_Q;
}

// A vector as long as a linear layer's input or output.
static shape_id layout_vector_shape(shape_id adapter_shape)
{
    return adapter_shape == SHAPE_A_FF    ? SHAPE_B_FF
           : adapter_shape == SHAPE_A_KV  ? SHAPE_B_KV
           : adapter_shape == SHAPE_A_QKV ? SHAPE_B_QKV
           : adapter_shape == SHAPE_A_Q   ? SHAPE_B_Q
                                          : SHAPE_C;
}

// IA3 scales the output, in the feed-forward part the input of the last projection.
// SRC: peft src/peft/utils/constants.py, TRANSFORMERS_MODELS_TO_IA3_FEEDFORWARD_MODULES_MAPPING.
static void layout_scale(struct layout *l, struct layout_row r)
{
    bool input = r.number == P_DOWN;
    shape_id shape = layout_vector_shape(layout_adapter_shape(r.shape, !input, r.number));
    layout_block(l, true,
                 (struct layout_row){(uint16_t)(r.number + LAYOUT_VECTOR), r.role, PART_VECTOR,
                                     shape, input ? r.cols : r.rows, 1});
}

// SRC: peft src/peft/optimizers/lorafa.py (create_lorafa_optimizer), tuners/lora/variants.py
// (MiCALinearVariant.init).
bool layout_half_trained(const struct model *m, uint8_t part)
{
    return m->c.adapter != (part == PART_A ? ADAPTER_LORA_FA : ADAPTER_MICA);
}

// Gemma 3n takes the weight of its correction and leaves the layer out, with its adapter. SRC:
// transformers models/gemma3n/modeling_gemma3n.py, Gemma3nTextAltUp.correct.
static bool layout_reached(uint16_t number)
{
#ifndef VRAM_SMALL
    return number != P_STREAM_CORRECT;
#else
    (void)number;
    return true;
#endif
}

static void layout_adapters(struct layout *l, const struct model *m, struct layout_row r)
{
    bool reached = layout_reached(r.number);
    bool a = reached && layout_half_trained(m, PART_A),
         b = reached && layout_half_trained(m, PART_B);
    shape_id in = layout_adapter_shape(r.shape, false, r.number),
             out = layout_adapter_shape(r.shape, true, r.number);
    if (r.number == P_QKV && model_has_trait(m, TRAIT_ADAPTERS_TOGETHER)) {
        layout_block(l, a,
                     (struct layout_row){P_QKV + LAYOUT_A, r.role, PART_A, SHAPE_A_PARTS_C,
                                         m->c.lora_rank * model_adapted_parts(&m->c), r.cols});
        layout_block(l, b,
                     (struct layout_row){P_QKV + LAYOUT_B, r.role, PART_B, SHAPE_A_PARTS,
                                         model_adapted_width(&m->c), m->c.lora_rank});
        return;
    }
    layout_block(l, a,
                 (struct layout_row){(uint16_t)(r.number + LAYOUT_A), r.role, PART_A, in,
                                     m->c.lora_rank, r.cols});
    layout_block(l, b,
                 (struct layout_row){(uint16_t)(r.number + LAYOUT_B), r.role, PART_B, out, r.rows,
                                     m->c.lora_rank});
    if (m->c.adapter == ADAPTER_DORA)
        layout_block(l, true,
                     (struct layout_row){(uint16_t)(r.number + LAYOUT_VECTOR), r.role, PART_VECTOR,
                                         layout_vector_shape(out), r.rows, 0});
}

// A linear layer of a block: weight, bias, and adapters where they are asked for.
void layout_linear(struct layout *l, const struct model *m, struct layout_row r,
                   shape_id bias_shape)
{
    bool full = m->c.lora_rank == 0;
    layout_block(l, full, r);
    if (bias_shape)
        layout_block(l, full,
                     (struct layout_row){(uint16_t)(r.number + LAYOUT_BIAS), r.role, PART_BIAS,
                                         bias_shape, r.rows, 0});
    if (!layout_adapted(m, r.number))
        return;
    if (m->c.adapter == ADAPTER_IA3)
        layout_scale(l, r);
    else
        layout_adapters(l, m, r);
}

// Unsloth's RMSNorm gives its weight no gradient. SRC: fms-acceleration
// kernels/unsloth/rms_layernorm.py, backward.
bool layout_norm_trained(const struct model *m)
{
    return m->c.lora_rank == 0 && !((m->features & HAS_RMS_NORM) && unsloth_norms(&m->c));
}

bool layout_norm_bias(const struct model *m)
{
    return !(m->features & (HAS_RMS_NORM | HAS_CENTERED_NORM)) &&
           (m->c.bias || (m->features & (HAS_ALL_BIASES | HAS_NORM_BIASES)));
}

LAYOUT_APART void layout_norm(struct layout *l, const struct model *m, uint16_t number,
                              uint8_t role)
{
    bool full = layout_norm_trained(m);
    if (model_norms_bare(m))
        return;
    layout_block(l, full, (struct layout_row){number, role, PART_WEIGHT, SHAPE_C, m->c.n_embd, 0});
    if (layout_norm_bias(m))
        layout_block(l, full,
                     (struct layout_row){(uint16_t)(number + LAYOUT_BIAS), role, PART_BIAS, SHAPE_C,
                                         m->c.n_embd, 0});
}

// Two tensors for all experts, gate and up in one, with biases where the family has them.
LAYOUT_APART void layout_experts_grouped(struct layout *l, const struct model *m)
{
    bool full = m->c.lora_rank == 0, biases = m->features & HAS_SINKS;
    uint64_t e = m->c.n_expert, inner = m->c.expert_inner, c = m->c.n_embd;
    struct layout_row up = {P_EXPERTS_UP, ROLE_UP, PART_WEIGHT, SHAPE_W_EXPERTS2, 2 * e * inner, c};
    struct layout_row down = {P_EXPERTS_DOWN,  ROLE_MLP_PROJ, PART_WEIGHT,
                              SHAPE_W_EXPERTS, e * c,         inner};
    layout_block(l, full, up);
    if (biases)
        layout_block(l, full,
                     (struct layout_row){P_EXPERTS_UP_BIAS, ROLE_UP, PART_BIAS, SHAPE_EXPERTS_FF2,
                                         e, 2 * inner});
    layout_block(l, full, down);
    if (biases)
        layout_block(l, full,
                     (struct layout_row){P_EXPERTS_DOWN_BIAS, ROLE_MLP_PROJ, PART_BIAS,
                                         SHAPE_EXPERTS_C, e, c});
#ifndef VRAM_SMALL
    layout_wrapped_experts(l, m);
#endif
}

// The experts' matrices stand as one tensor of each kind, or as two.
static void layout_experts(struct layout *l, const struct model *m)
{
    bool full = m->c.lora_rank == 0;
    uint64_t rows = m->c.n_expert * m->c.expert_inner, c = m->c.n_embd;
    struct layout_row router = {P_ROUTER,       ROLE_ROUTER,   PART_WEIGHT,
                                SHAPE_W_ROUTER, m->c.n_expert, c};
#ifndef VRAM_SMALL
    if (m->c.family == FAMILY_HUNYUAN_MOE)  // a linear layer of its own
        layout_linear(l, m, router, 0);
    else
#endif
        layout_block(l, full, router);
    if (m->features & HAS_SINKS)
        layout_block(l, full,
                     (struct layout_row){P_ROUTER + LAYOUT_BIAS, ROLE_ROUTER, PART_BIAS,
                                         SHAPE_EXPERTS, m->c.n_expert, 0});
#ifndef VRAM_SMALL
    layout_wrapped_router(l, m);
#endif
    if (model_groups_experts(m)) {
        layout_experts_grouped(l, m);
        return;
    }
    layout_block(l, full,
                 (struct layout_row){P_GATE, ROLE_GATE, PART_WEIGHT, SHAPE_W_EXPERTS, rows, c});
    layout_block(l, full,
                 (struct layout_row){P_UP, ROLE_UP, PART_WEIGHT, SHAPE_W_EXPERTS, rows, c});
    layout_block(l, full,
                 (struct layout_row){P_DOWN, ROLE_MLP_PROJ, PART_WEIGHT, SHAPE_W_EXPERTS, rows, c});
}

static void layout_shared(struct layout *l, const struct model *m)
{
    uint64_t c = m->c.n_embd, inner = m->c.n_shared_experts * m->c.expert_inner;
    layout_linear(
        l, m, (struct layout_row){P_SHARED_GATE, ROLE_GATE, PART_WEIGHT, SHAPE_W_SHARED, inner, c},
        0);
    layout_linear(
        l, m, (struct layout_row){P_SHARED_UP, ROLE_UP, PART_WEIGHT, SHAPE_W_SHARED, inner, c}, 0);
    layout_linear(
        l, m,
        (struct layout_row){P_SHARED_DOWN, ROLE_MLP_PROJ, PART_WEIGHT, SHAPE_W_SHARED, c, inner},
        0);
    if (m->features & HAS_SHARED_GATE)
        layout_linear(
            l, m, (struct layout_row){P_SHARED_SHARE, ROLE_ROUTER, PART_WEIGHT, SHAPE_C, 1, c}, 0);
}

LAYOUT_APART void layout_mlp(struct layout *l, const struct model *m)
{
    uint64_t c = m->c.n_embd, f = m->c.n_inner;
    bool all = m->c.bias || (m->features & HAS_ALL_BIASES);
    bool gate = m->features & HAS_GATE, fused = m->features & HAS_FUSED_GATE;
    if (gate && !fused)
        layout_linear(l, m, (struct layout_row){P_GATE, ROLE_GATE, PART_WEIGHT, SHAPE_W_FF, f, c},
                      all ? SHAPE_B_FF : 0);
    struct layout_row up = {P_UP, gate ? ROLE_UP : ROLE_FC, PART_WEIGHT, SHAPE_W_FF, f, c};
    if (fused)
        up = (struct layout_row){P_UP, ROLE_UP, PART_WEIGHT, SHAPE_W_FF2, 2 * f, c};
    layout_linear(l, m, up, all ? SHAPE_B_FF : 0);
    layout_linear(l, m, (struct layout_row){P_DOWN, ROLE_MLP_PROJ, PART_WEIGHT, SHAPE_W_FF, c, f},
                  all ? SHAPE_C : 0);
#ifndef VRAM_SMALL
    for (uint16_t i = P_ALPHA_P; i <= P_ALPHA_N && m->c.family == FAMILY_APERTUS; i++)
        layout_block(l, m->c.lora_rank == 0,
                     (struct layout_row){i, ROLE_ACT, PART_WEIGHT, SHAPE_ONE, 1, 0});
#endif
}

// Norms follow the branches: an encoder's, and those of OPT 350M.
static void layout_layer_encoder(struct layout *l, const struct model *m)
{
    layout_attention(l, m);
    layout_norm(l, m, P_LN1, ROLE_LN1);
    layout_mlp(l, m);
    layout_norm(l, m, P_LN2, ROLE_LN2);
}

static void layout_layer(struct layout *l, const struct model *m)
{
    if (m->features & (HAS_ENCODER | HAS_NARROW_EMBEDDING)) {
        layout_layer_encoder(l, m);
        return;
    }
    bool before = !(m->features & HAS_NO_PRE_NORM);
    if (before)
        layout_norm(l, m, P_LN1, ROLE_LN1);
    layout_mixers(l, m);
    if (m->features & HAS_POST_NORM)
        layout_norm(l, m, P_POST_ATTN, ROLE_POST_ATTN_NORM);
    if (before && !(m->features & HAS_SHARED_NORM))
        layout_norm(l, m, P_LN2, ROLE_LN2);
    bool some = m->features & HAS_SHARED_EXPERTS;
    l->layers = some && m->c.n_expert ? LAYERS_SPARSE : LAYERS_ALL;
#ifndef VRAM_SMALL
    if (m->features & HAS_GLOBAL_HEADS)
        layout_beside(l, m);
    else
#endif
        if (m->c.n_expert)
        layout_experts(l, m);
    if (m->c.n_shared_experts && m->c.n_expert)
        layout_shared(l, m);
    l->layers = m->c.n_expert ? LAYERS_DENSE : LAYERS_ALL;
#ifndef VRAM_SMALL
    if (m->features & HAS_GLOBAL_HEADS)
        layout_mlps(l, m);
    else
#endif
        if (!m->c.n_expert || model_dense_count(m))
        layout_mlp(l, m);
    l->layers = LAYERS_ALL;
    if (m->features & HAS_POST_NORM)
        layout_norm(l, m, P_POST_MLP, ROLE_POST_MLP_NORM);
#ifndef VRAM_SMALL
    layout_layer_input(l, m);
    layout_streams(l, m);
#endif
}

enum { LAYOUT_ABSENT = 255 };

static void layout_index(struct layout *l)
{
    for (unsigned i = 0; i < LAYOUT_BLOCK_NUMBERS; i++)
        l->block_index[i] = LAYOUT_ABSENT;
    for (unsigned i = 0; i < LAYOUT_GLOBAL_NUMBERS; i++)
        l->global_index[i] = LAYOUT_ABSENT;
    for (uint8_t i = 0; i < l->block_count; i++)
        l->block_index[l->block[i].number] = i;
    for (uint8_t i = 0; i < l->before_count; i++)
        l->global_index[l->before[i].number] = i;
    for (uint8_t i = 0; i < l->after_count; i++)
        l->global_index[l->after[i].number] = (uint8_t)(LAYOUT_ENDS + i);
}

#ifndef VRAM_SMALL
static uint64_t layout_count(const struct layout_param *p, const struct model *m)
{
    uint64_t found = 0;
    for (uint64_t layer = 0; layer < m->c.n_layer; layer++)
        found += layout_here(p, m, layer);
    return found;
}

static bool layout_of_kind(uint8_t layers, const struct model *m, uint64_t layer)
{
    bool own = !model_layer_shares(m, layer), first = model_layer_is_first(m, layer);
    bool kind = (layers == LAYERS_DELTA || layers == LAYERS_DELTA_OWN) == first;
    if (layers == LAYERS_OWN || layers == LAYERS_SHARING)
        return (layers == LAYERS_OWN) == own;
    return kind && (own || layers <= LAYERS_ATTENDING);
}
#endif

uint64_t layout_times(const struct layout_param *p, const struct model *m)
{
    uint64_t dense = model_dense_count(m);
#ifndef VRAM_SMALL
    if (p->layers >= LAYERS_DELTA)
        return layout_count(p, m);
#endif
    return p->layers == LAYERS_ALL     ? m->c.n_layer
           : p->layers == LAYERS_DENSE ? dense
                                       : m->c.n_layer - dense;
}

bool layout_here(const struct layout_param *p, const struct model *m, uint64_t layer)
{
#ifndef VRAM_SMALL
    if (p->layers >= LAYERS_DELTA)
        return layout_of_kind(p->layers, m, layer);
#endif
    return p->layers == LAYERS_ALL || (p->layers == LAYERS_DENSE) == model_layer_is_dense(m, layer);
}

void layout_make(struct layout *l, const struct model *m)
{
    mem_zero(l, sizeof *l);
    layout_outside(l, m);
    layout_layer(l, m);
    layout_index(l);
}

const struct layout_param *layout_find(const struct layout *l, bool block, uint16_t number)
{
    uint8_t i = block ? l->block_index[number] : l->global_index[number];
    if (i == LAYOUT_ABSENT)
        return NULL;
    if (block)
        return &l->block[i];
    return i < LAYOUT_ENDS ? &l->before[i] : &l->after[i - LAYOUT_ENDS];
}

bool layout_is_base(const struct layout_param *p, bool block)
{
    bool saved = !block && (p->number == P_WTE_SAVED || p->number == P_HEAD_SAVED);
    return p->part != PART_A && p->part != PART_B && p->part != PART_VECTOR && !saved;
}

void layout_strip(struct layout *l)
{
    for (unsigned i = 0; i < l->block_count; i++)
        if (!layout_is_base(&l->block[i], true))
            l->block_index[l->block[i].number] = LAYOUT_ABSENT;
    for (uint16_t i = 0; i < LAYOUT_GLOBAL_NUMBERS; i++) {
        const struct layout_param *p = layout_find(l, false, i);
        if (p && !layout_is_base(p, false))
            l->global_index[i] = LAYOUT_ABSENT;
    }
}
