// Owns BERT for masked words: which variable of which function holds what, and until when.
// SRC: transformers src/transformers/models/bert/modeling_bert.py (BertEmbeddings, BertLayer,
// BertSelfOutput, BertOutput, BertPredictionHeadTransform, BertForMaskedLM); traces bert_* of
// tests/calc/truth/frameworks.

#include "calc/trace/block_encoder.h"

#include "calc/trace/attention.h"
#include "calc/trace/attention_exact.h"
#include "calc/trace/layers.h"
#include "calc/trace/layers_lora.h"
#include "calc/trace/linear.h"

static bool encoder_is_counted(const struct graph *g)
{
#ifndef VRAM_SMALL
    return g->m->c.family == FAMILY_ROBERTA;
#else
    (void)g;
    return false;
#endif
}

static uint32_t encoder_numbers(struct graph *g, uint8_t dtype)
{
    return graph_scratch(g, OP_MUL, ROLE_POSITIONS, PART_SELF, dtype, SHAPE_TOKENS);
}

// RoBERTa counts its positions along the words that are no padding. SRC: transformers
// models/roberta/modeling_roberta.py, RobertaEmbeddings.create_position_ids_from_input_ids.
static uint32_t encoder_positions(struct graph *g)
{
    uint32_t words = encoder_numbers(g, DT_BYTE), mask = encoder_numbers(g, DT_F32);
    tape_unref(g->t, words);
    uint32_t sum = encoder_numbers(g, DT_I64), narrow = encoder_numbers(g, DT_F32);
    tape_unref(g->t, sum);
    uint32_t masked = encoder_numbers(g, DT_F32);
    tape_unref(g->t, narrow);
    uint32_t wide = encoder_numbers(g, DT_I64), out = encoder_numbers(g, DT_I64);
    tape_unref(g->t, wide);
    tape_unref(g->t, mask);
    tape_unref(g->t, masked);
    return out;
}

// words + token_type_embeddings. Uses kinds up, but for RoBERTa's; *types stays a variable.
static struct value encoder_typed(struct graph *g, struct value words, uint32_t kinds,
                                  struct value *types)
{
    bool counted = encoder_is_counted(g);
    uint32_t whole =
        counted ? kinds : graph_scratch(g, OP_CLONE, ROLE_TYPES, PART_COPY, DT_I64, SHAPE_TOKENS);
    *types = layer_embedding(g, kinds, P_TYPES, SHAPE_U);
    tape_unref(g->t, whole);
    if (!counted)
        tape_unref(g->t, kinds);
    return layer_add(g, words, *types, ROLE_EMBED);
}

// word_embeddings + token_type_embeddings + position_embeddings, a norm, dropout. The kinds are a
// row gathered from a buffer, expanded over the sequences, of which the embedding makes a copy;
// positions are a view of a buffer. RoBERTa has both of each sequence, DistilBERT no kinds.
struct value encoder_embedding(struct graph *g, uint32_t ids, struct value local[3])
{
    bool counted = encoder_is_counted(g), typed = model_has_kinds(g->m);
    uint32_t positions = counted ? encoder_positions(g) : TAPE_NONE, kinds = TAPE_NONE;
    struct value types = graph_none();
    if (typed)
        kinds = graph_scratch(g, OP_INDEX, ROLE_TYPES, PART_SELF, DT_I64,
                              counted ? SHAPE_TOKENS : SHAPE_T);
    struct value words = lora_embed(g, ids, layer_embedding(g, ids, P_WTE, SHAPE_U));
    struct value both = typed ? encoder_typed(g, words, kinds, &types) : graph_copy(g, words);
    struct value places = layer_embedding(g, positions, P_WPE, counted ? SHAPE_U : SHAPE_TC);
    if (counted)
        tape_unref(g->t, positions);
    struct value sum = layer_add(g, both, places, ROLE_EMBED);
    graph_drop(g, both);
    struct value normed = layer_norm(g, sum, true, P_EMBED_NORM);
    graph_drop(g, sum);
    struct value x = layer_dropout(g, normed, ROLE_EMBED);
    graph_drop(g, normed);
    graph_drop(g, places);
    graph_drop(g, types);
    graph_drop(g, words);
    local[0] = graph_copy(g, x);
    return x;
}

// LayerNorm(dropout(dense(branch)) + x)
static struct value encoder_output(struct graph *g, struct value branch, struct value x,
                                   uint16_t dense, uint16_t norm)
{
    bool attends = dense == P_O;
    struct value wide = layer_linear(g, branch, dense, SHAPE_U);
    struct value dropped = attends && !model_has_kinds(g->m)
                               ? graph_copy(g, wide)
                               : layer_dropout(g, wide, attends ? ROLE_ATTN_DROP : ROLE_MLP_DROP);
    graph_drop(g, wide);
    struct value sum = layer_add(g, dropped, x, attends ? ROLE_RESID1 : ROLE_RESID2);
    struct value out = layer_norm(g, sum, false, norm);
    graph_drop(g, sum);
    graph_drop(g, dropped);
    return out;
}

static struct value encoder_attention(struct graph *g, struct value x)
{
    struct value q = layer_linear(g, x, P_Q, SHAPE_Q), k = layer_linear(g, x, P_K, SHAPE_KV),
                 v = layer_linear(g, x, P_V, SHAPE_KV);
    struct value y = card_attention(g, q, k, v);
    graph_drop(g, q);
    graph_drop(g, k);
    graph_drop(g, v);
    return y;
}

struct value block_encoder(struct graph *g, struct value x)
{
    struct value y = encoder_attention(g, x);
    struct value middle = encoder_output(g, y, x, P_O, P_LN1);
    graph_drop(g, y);
    struct value wide = layer_linear(g, middle, P_UP, SHAPE_FF);
    struct value active = layer_gelu(g, wide);
    graph_drop(g, wide);
    struct value out = encoder_output(g, active, middle, P_DOWN, P_LN2);
    graph_drop(g, active);
    graph_drop(g, middle);
    return out;
}

struct value encoder_loss(struct graph *g, struct value x, uint32_t targets, struct value *logits)
{
    struct value wide = layer_transform(g, x);
    struct value active = layer_gelu(g, wide);
    graph_drop(g, wide);
    struct value normed = layer_norm(g, active, true, P_LN_F);
    graph_drop(g, active);
    *logits = layer_head(g, normed);
    graph_drop(g, normed);
    return layer_cross_entropy(g, *logits, targets, false);
}
