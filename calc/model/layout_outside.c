// Owns the parameter tensors outside of the layers: embeddings, the last norm and the head, with
// their adapters and copies.

#include "calc/model/layout.h"

#include "calc/model/names.h"
#include "calc/model/preference.h"

static bool layout_targeted(const struct model *m, enum lora_targets_value target)
{
    return m->c.lora_rank > 0 && m->c.adapter != ADAPTER_IA3 &&
           (m->c.lora_targets & CONFIG_BIT(target));
}

static bool layout_saved(const struct model *m, enum modules_to_save_value module)
{
    return m->c.lora_rank > 0 && (m->c.modules_to_save & CONFIG_BIT(module));
}

// Of an adapter's matrices the one beside the embedding's width.
static shape_id layout_embedding_side(const struct model *m)
{
#ifndef VRAM_SMALL
    if (m->features & HAS_NARROW_EMBEDDING)
        return SHAPE_A_EMBED;
#endif
    (void)m;
    return SHAPE_A_C;
}

// PEFT's adapters of an embedding: A is as long as the vocabulary.
static void layout_embedding(struct layout *l, const struct model *m)
{
    uint64_t c = model_embedding_width(m), v = m->c.vocab_size, r = m->c.lora_rank;
    layout_before(l, r == 0, (struct layout_row){P_WTE, ROLE_WTE, PART_WEIGHT, SHAPE_W_WTE, v, c});
    if (layout_targeted(m, TARGET_EMBED)) {
        layout_before(l, layout_half_trained(m, PART_A),
                      (struct layout_row){P_WTE + LAYOUT_A, ROLE_WTE, PART_A, SHAPE_A_V, r, v});
        layout_before(l, layout_half_trained(m, PART_B),
                      (struct layout_row){P_WTE + LAYOUT_B, ROLE_WTE, PART_B,
                                          layout_embedding_side(m), c, r});
    }
    if (layout_saved(m, SAVE_EMBED))
        layout_before(l, true,
                      (struct layout_row){P_WTE_SAVED, ROLE_WTE, PART_WEIGHT, SHAPE_W_WTE, v, c});
}

// The last stage has a copy of a tied weight.
static void layout_head(struct layout *l, const struct model *m)
{
    uint64_t c = model_embedding_width(m), v = m->c.vocab_size, r = m->c.lora_rank;
    if (preference_scores(&m->c))  // beside adapters it is trained whole
        layout_after(l, true, (struct layout_row){P_HEAD, ROLE_HEAD, PART_WEIGHT, SHAPE_C, 1, c});
    else if (!m->c.tie_embeddings || !m->first)
        layout_after(l, r == 0,
                     (struct layout_row){P_HEAD, ROLE_HEAD, PART_WEIGHT, SHAPE_W_WTE, v, c});
    if ((m->features & HAS_HEAD_BIAS) && !preference_scores(&m->c))
        layout_after(
            l, r == 0,
            (struct layout_row){P_HEAD + LAYOUT_BIAS, ROLE_HEAD, PART_BIAS, SHAPE_B_V, v, 0});
    if (layout_targeted(m, TARGET_HEAD)) {
        layout_after(l, layout_half_trained(m, PART_A),
                     (struct layout_row){P_HEAD + LAYOUT_A, ROLE_HEAD, PART_A,
                                         layout_embedding_side(m), r, c});
        layout_after(l, layout_half_trained(m, PART_B),
                     (struct layout_row){P_HEAD + LAYOUT_B, ROLE_HEAD, PART_B, SHAPE_A_V, v, r});
    }
    if (layout_saved(m, SAVE_HEAD))
        layout_after(l, true,
                     (struct layout_row){P_HEAD_SAVED, ROLE_HEAD, PART_WEIGHT, SHAPE_W_WTE, v, c});
}

static void layout_embedding_norm(struct layout *l, const struct model *m)
{
    bool full = m->c.lora_rank == 0;
    uint64_t c = m->c.n_embd;
    layout_before(l, full,
                  (struct layout_row){P_EMBED_NORM, ROLE_EMBED_NORM, PART_WEIGHT, SHAPE_C, c, 0});
    layout_before(
        l, full, (struct layout_row){P_EMBED_NORM_BIAS, ROLE_EMBED_NORM, PART_BIAS, SHAPE_C, c, 0});
}

// SRC: transformers modeling_bert.py (BertEmbeddings, type_vocab_size of every published BERT).
static void layout_encoder_embedding(struct layout *l, const struct model *m)
{
    enum { KINDS = 2 };
    bool full = m->c.lora_rank == 0;
    uint64_t c = m->c.n_embd;
    struct layout_row types = {P_TYPES, ROLE_TYPES, PART_WEIGHT, SHAPE_TYPES, KINDS, c};
#ifndef VRAM_SMALL
    if (m->c.family == FAMILY_ROBERTA)
        types = (struct layout_row){P_TYPES, ROLE_TYPES, PART_WEIGHT, SHAPE_C, 1, c};
#endif
    if (model_has_kinds(m))
        layout_before(l, full, types);
    layout_embedding_norm(l, m);
}

// BertLMPredictionHead: its layers are called dense too, so that adapters of those get one.
static void layout_encoder_head(struct layout *l, const struct model *m)
{
    bool full = m->c.lora_rank == 0;
    uint64_t c = m->c.n_embd, r = m->c.lora_rank;
    layout_after(l, full,
                 (struct layout_row){P_HEAD + LAYOUT_BIAS, ROLE_HEAD, PART_BIAS, SHAPE_B_V,
                                     m->c.vocab_size, 0});
    layout_after(l, full,
                 (struct layout_row){P_TRANSFORM, ROLE_TRANSFORM, PART_WEIGHT, SHAPE_W_Q, c, c});
    layout_after(
        l, full,
        (struct layout_row){P_TRANSFORM + LAYOUT_BIAS, ROLE_TRANSFORM, PART_BIAS, SHAPE_C, c, 0});
    if (!layout_targeted(m, TARGET_O))
        return;
    layout_after(
        l, layout_half_trained(m, PART_A),
        (struct layout_row){P_TRANSFORM + LAYOUT_A, ROLE_TRANSFORM, PART_A, SHAPE_A_C, r, c});
    layout_after(
        l, layout_half_trained(m, PART_B),
        (struct layout_row){P_TRANSFORM + LAYOUT_B, ROLE_TRANSFORM, PART_B, SHAPE_A_C, c, r});
}

#ifndef VRAM_SMALL
// Of PEFT's all-linear, which is told from a list of names by the gate that OPT has not.
static void layout_projection_adapters(struct layout *l, const struct model *m, uint16_t number,
                                       uint8_t role)
{
    uint64_t c = m->c.n_embd, e = model_embedding_width(m), r = m->c.lora_rank;
    bool in = number == P_PROJECT_IN;
    void (*put)(struct layout *, bool, struct layout_row) = in ? layout_before : layout_after;
    if (!layout_targeted(m, TARGET_GATE))
        return;
    put(l, layout_half_trained(m, PART_A),
        (struct layout_row){(uint16_t)(number + LAYOUT_A), role, PART_A,
                            in ? SHAPE_A_EMBED : SHAPE_A_C, r, in ? e : c});
    put(l, layout_half_trained(m, PART_B),
        (struct layout_row){(uint16_t)(number + LAYOUT_B), role, PART_B,
                            in ? SHAPE_A_C : SHAPE_A_EMBED, in ? c : e, r});
}

// project_in, project_out. SRC: transformers models/opt/modeling_opt.py, OPTDecoder.__init__.
static void layout_projection(struct layout *l, const struct model *m, uint16_t number)
{
    bool in = number == P_PROJECT_IN;
    uint8_t role = in ? ROLE_PROJECT_IN : ROLE_PROJECT_OUT;
    uint64_t c = m->c.n_embd, e = model_embedding_width(m);
    struct layout_row row = {number, role, PART_WEIGHT, SHAPE_W_EMBED, in ? c : e, in ? e : c};
    if (!(m->features & HAS_NARROW_EMBEDDING) || e == c)
        return;
    if (in)
        layout_before(l, m->c.lora_rank == 0, row);
    else
        layout_after(l, m->c.lora_rank == 0, row);
    layout_projection_adapters(l, m, number, role);
}
#endif

#ifndef VRAM_SMALL
// Of tokens for each layer. SRC: transformers models/gemma4/modeling_gemma4.py,
// Gemma4TextModel.__init__.
static void layout_layer_embedding(struct layout *l, const struct model *m)
{
    bool full = m->c.lora_rank == 0;
    uint64_t p = m->c.hidden_size_per_layer_input, all = m->c.n_layer * p, c = m->c.n_embd;
    uint64_t linear = CONFIG_SET_ALL_LINEAR, r = m->c.lora_rank;
    if (!p)
        return;
    layout_before(l, full,
                  (struct layout_row){P_LAYER_EMBED, ROLE_LAYER_EMBED, PART_WEIGHT,
                                      SHAPE_W_LAYER_EMBED, m->c.vocab_size_per_layer_input, all});
    layout_before(l, full,
                  (struct layout_row){P_LAYER_PROJECT, ROLE_LAYER_PROJECT, PART_WEIGHT,
                                      SHAPE_W_LAYER_PROJECT, all, c});
    if (r && m->c.adapter != ADAPTER_IA3 && (m->c.lora_targets & linear) == linear) {
        layout_before(l, layout_half_trained(m, PART_A),
                      (struct layout_row){P_LAYER_PROJECT + LAYOUT_A, ROLE_LAYER_PROJECT, PART_A,
                                          SHAPE_A_C, r, c});
        layout_before(l, layout_half_trained(m, PART_B),
                      (struct layout_row){P_LAYER_PROJECT + LAYOUT_B, ROLE_LAYER_PROJECT, PART_B,
                                          SHAPE_A_LAYER_INPUTS, all, r});
    }
    layout_before(l, layout_norm_trained(m),
                  (struct layout_row){P_LAYER_NORM, ROLE_LAYER_PROJECT, PART_WEIGHT,
                                      SHAPE_LAYER_WIDTH, p, 0});
}

// From the embedding to each stream but the first, or back: as wide as the stream. SRC:
// transformers models/gemma3n/modeling_gemma3n.py, Gemma3nTextModel.__init__.
static void layout_streams_ends(struct layout *l, const struct model *m)
{
    uint64_t c = m->c.n_embd, r = m->c.lora_rank, linear = CONFIG_SET_ALL_LINEAR;
    bool adapted = r && m->c.adapter != ADAPTER_IA3 && (m->c.lora_targets & linear) == linear;
    if (!model_has_streams(m))
        return;
    for (uint16_t n = P_STREAM_IN; n <= P_STREAM_LAST; n = (uint16_t)(n + LAYOUT_LINEAR)) {
        void (*put)(struct layout *, bool, struct layout_row) =
            n < P_STREAM_OUT ? layout_before : layout_after;
        put(l, r == 0, (struct layout_row){n, ROLE_STREAMS, PART_WEIGHT, SHAPE_W_SQUARE, c, c});
        if (!adapted)
            continue;
        put(l, layout_half_trained(m, PART_A),
            (struct layout_row){(uint16_t)(n + LAYOUT_A), ROLE_STREAMS, PART_A, SHAPE_A_C, r, c});
        put(l, layout_half_trained(m, PART_B),
            (struct layout_row){(uint16_t)(n + LAYOUT_B), ROLE_STREAMS, PART_B, SHAPE_A_C, c, r});
    }
}
#endif

void layout_outside(struct layout *l, const struct model *m)
{
    bool full = m->c.lora_rank == 0;
    uint64_t c = m->c.n_embd;
    if (m->first && m->c.tower_params)
        layout_before(l, false,
                      (struct layout_row){P_TOWER, ROLE_TOWER, PART_WEIGHT, SHAPE_TOWER,
                                          m->c.tower_params, 1});
    if (m->first)
        layout_embedding(l, m);
    if (m->first && (m->features & HAS_POSITIONS))
        layout_before(l, full,
                      (struct layout_row){P_WPE, ROLE_WPE, PART_WEIGHT, SHAPE_W_WPE,
                                          model_position_rows(m), c});
    bool encoder = m->features & HAS_ENCODER;
    if (m->first && encoder)
        layout_encoder_embedding(l, m);
    if (m->first && (m->features & HAS_ALIBI))
        layout_embedding_norm(l, m);
#ifndef VRAM_SMALL
    if (m->first)
        layout_projection(l, m, P_PROJECT_IN);
    if (m->first)
        layout_layer_embedding(l, m);
    layout_streams_ends(l, m);
    if (m->last)
        layout_projection(l, m, P_PROJECT_OUT);
#endif
    if (!m->last)
        return;
    if (encoder)
        layout_encoder_head(l, m);
    bool norm = !(m->features & HAS_NARROW_EMBEDDING) && !model_norms_bare(m);
    if (norm)
        layout_after(l, layout_norm_trained(m),
                     (struct layout_row){P_LN_F, ROLE_LN_F, PART_WEIGHT, SHAPE_C, c, 0});
    if (norm && layout_norm_bias(m))
        layout_after(l, full,
                     (struct layout_row){P_LN_F_BIAS, ROLE_LN_F, PART_BIAS, SHAPE_C, c, 0});
    layout_head(l, m);
}
