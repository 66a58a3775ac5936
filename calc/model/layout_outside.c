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

// PEFT's adapters of an embedding: A is as long as the vocabulary.
static void layout_embedding(struct layout *l, const struct model *m)
{
    uint64_t c = m->c.n_embd, v = m->c.vocab_size, r = m->c.lora_rank;
    layout_before(l, r == 0, (struct layout_row){P_WTE, ROLE_WTE, PART_WEIGHT, SHAPE_W_WTE, v, c});
    if (layout_targeted(m, TARGET_EMBED)) {
        layout_before(l, layout_half_trained(m, PART_A),
                      (struct layout_row){P_WTE + LAYOUT_A, ROLE_WTE, PART_A, SHAPE_A_V, r, v});
        layout_before(l, layout_half_trained(m, PART_B),
                      (struct layout_row){P_WTE + LAYOUT_B, ROLE_WTE, PART_B, SHAPE_A_C, c, r});
    }
    if (layout_saved(m, SAVE_EMBED))
        layout_before(l, true,
                      (struct layout_row){P_WTE_SAVED, ROLE_WTE, PART_WEIGHT, SHAPE_W_WTE, v, c});
}

// The last stage has a copy of a tied weight.
static void layout_head(struct layout *l, const struct model *m)
{
    uint64_t c = m->c.n_embd, v = m->c.vocab_size, r = m->c.lora_rank;
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
                     (struct layout_row){P_HEAD + LAYOUT_A, ROLE_HEAD, PART_A, SHAPE_A_C, r, c});
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
    layout_before(l, full,
                  (struct layout_row){P_TYPES, ROLE_TYPES, PART_WEIGHT, SHAPE_TYPES, KINDS, c});
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
    if (!m->last)
        return;
    if (encoder)
        layout_encoder_head(l, m);
    layout_after(l, layout_norm_trained(m),
                 (struct layout_row){P_LN_F, ROLE_LN_F, PART_WEIGHT, SHAPE_C, c, 0});
    if (layout_norm_bias(m))
        layout_after(l, full,
                     (struct layout_row){P_LN_F_BIAS, ROLE_LN_F, PART_BIAS, SHAPE_C, c, 0});
    layout_head(l, m);
}
