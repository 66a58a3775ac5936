// The parameter tensors of a model in the order of registration: their names, shapes and numbers.
// The graph, the optimizer and the counts all read this one list.

#ifndef CALC_LAYOUT_H
#define CALC_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "calc/model/model.h"
#include "calc/model/shape.h"

// A linear layer has five numbers in a row: weight, bias, adapters A and B, and the vector of DoRA
// or IA3. So has the token embedding.
enum { LAYOUT_BIAS = 1, LAYOUT_A, LAYOUT_B, LAYOUT_VECTOR, LAYOUT_LINEAR };

// Numbers of parameters outside of the layers. SAVED: the trained copy of modules_to_save.
enum layout_global {
    P_WTE,
    P_HEAD = P_WTE + LAYOUT_LINEAR,
    P_WPE = P_HEAD + LAYOUT_LINEAR,
    P_LN_F,
    P_LN_F_BIAS,
    P_WTE_SAVED,
    P_HEAD_SAVED,
    P_ROOT_FLAT,  // no parameter: the gradients of all, in one
    P_TYPES,  // an encoder's kinds of tokens, the norm of its embeddings, the first layer of its
              // head
    P_EMBED_NORM,
    P_EMBED_NORM_BIAS,
    P_TRANSFORM,
    P_TOWER = P_TRANSFORM + LAYOUT_LINEAR,  // parts for images or sound, in one
#ifndef VRAM_SMALL
    P_TAIL_FLAT,   // as P_ROOT_FLAT, of a unit of the last norm and the head
    P_PROJECT_IN,  // from a narrow embedding to the stream, and back
    P_PROJECT_OUT = P_PROJECT_IN + LAYOUT_LINEAR,
    P_PROJECTED = P_PROJECT_OUT + LAYOUT_LINEAR - 1,  // the last of their numbers
    P_LAYER_EMBED,    // tokens for each layer, what the stream gives beside, and its norm
    P_LAYER_PROJECT,  // also a linear layer
    P_LAYER_NORM = P_LAYER_PROJECT + LAYOUT_LINEAR,
    P_STREAM_IN,  // of each stream but the first
    P_STREAM_OUT = P_STREAM_IN + (MODEL_STREAMS - 1) * LAYOUT_LINEAR,
    P_STREAM_LAST = P_STREAM_OUT + (MODEL_STREAMS - 1) * LAYOUT_LINEAR - 1,
#endif
    LAYOUT_GLOBAL_NUMBERS
};

// Numbers of parameters inside a layer.
enum layout_block {
    P_LN1,
    P_LN1_BIAS,
    P_LN2,
    P_LN2_BIAS,
    P_Q_NORM,
    P_K_NORM,
    P_POST_ATTN,
    P_POST_MLP,
    P_QKV,
    P_Q = P_QKV + LAYOUT_LINEAR,
    P_K = P_Q + LAYOUT_LINEAR,
    P_V = P_K + LAYOUT_LINEAR,
    P_O = P_V + LAYOUT_LINEAR,
    P_GATE = P_O + LAYOUT_LINEAR,
    P_UP = P_GATE + LAYOUT_LINEAR,  // also c_fc
    P_DOWN = P_UP + LAYOUT_LINEAR,  // also mlp.c_proj
    P_ROUTER = P_DOWN + LAYOUT_LINEAR,
    P_EXPERTS_UP = P_ROUTER + LAYOUT_LINEAR,  // of all experts: gate and up, and their biases
    P_EXPERTS_UP_BIAS,
#ifndef VRAM_SMALL
    P_EXPERTS_DOWN = P_EXPERTS_UP + LAYOUT_LINEAR,
    P_EXPERTS_DOWN_BIAS,
    P_SINKS = P_EXPERTS_DOWN + LAYOUT_LINEAR,
#else
    P_EXPERTS_DOWN,
    P_EXPERTS_DOWN_BIAS,
    P_SINKS,
#endif
    P_Q_A,  // queries' latent; P_Q is out of it
    P_KV_A = P_Q_A + LAYOUT_LINEAR,
    P_KV_B = P_KV_A + LAYOUT_LINEAR,
    P_SHARED_GATE = P_KV_B + LAYOUT_LINEAR,
    P_SHARED_UP = P_SHARED_GATE + LAYOUT_LINEAR,
    P_SHARED_DOWN = P_SHARED_UP + LAYOUT_LINEAR,
    P_SHARED_SHARE = P_SHARED_DOWN + LAYOUT_LINEAR,  // the gate of their sum
    P_Q_A_NORM = P_SHARED_SHARE + LAYOUT_LINEAR,
    P_KV_A_NORM,
    P_LAYER_FLAT,  // as P_ROOT_FLAT
#ifndef VRAM_SMALL
    P_DELTA_QKV,  // of a delta rule: projections, the convolution, a bias and a factor of decays, a
                  // norm
    P_DELTA_Z = P_DELTA_QKV + LAYOUT_LINEAR,
    P_DELTA_B = P_DELTA_Z + LAYOUT_LINEAR,
    P_DELTA_A = P_DELTA_B + LAYOUT_LINEAR,
    P_DELTA_OUT = P_DELTA_A + LAYOUT_LINEAR,
    P_DELTA_CONV = P_DELTA_OUT + LAYOUT_LINEAR,
    P_DELTA_DT,
    P_DELTA_LOG,
    P_DELTA_NORM,
    P_GLOBAL_Q,  // of attention whose heads are of a width of their own
    P_GLOBAL_K = P_GLOBAL_Q + LAYOUT_LINEAR,
    P_GLOBAL_V = P_GLOBAL_K + LAYOUT_LINEAR,
    P_GLOBAL_O = P_GLOBAL_V + LAYOUT_LINEAR,
    P_GLOBAL_Q_NORM = P_GLOBAL_O + LAYOUT_LINEAR,
    P_GLOBAL_K_NORM,
    P_INPUT_GATE,  // what the embedding of its own tokens gives to a layer
    P_INPUT_PROJECT = P_INPUT_GATE + LAYOUT_LINEAR,
    P_INPUT_NORM = P_INPUT_PROJECT + LAYOUT_LINEAR,
    P_WIDE_GATE,  // a feed-forward part of twice the width
    P_WIDE_UP = P_WIDE_GATE + LAYOUT_LINEAR,
    P_WIDE_DOWN = P_WIDE_UP + LAYOUT_LINEAR,
    P_ROUTER_SCALE = P_WIDE_DOWN + LAYOUT_LINEAR,  // of what the router gets, and of each expert
    P_EXPERT_SCALE,
    P_DENSE_POST,  // norms behind a dense part, and around the experts beside it
    P_EXPERTS_PRE,
    P_EXPERTS_POST,
    P_STREAM_ROUTER,  // how streams are mixed before and behind a layer
    P_STREAM_PREDICT = P_STREAM_ROUTER + LAYOUT_LINEAR,
    P_STREAM_CORRECT = P_STREAM_PREDICT + LAYOUT_LINEAR,
    P_STREAM_SCALE = P_STREAM_CORRECT + LAYOUT_LINEAR,
    P_STREAM_NORM,
    P_LAUREL_LEFT,  // a low-rank way beside attention
    P_LAUREL_RIGHT = P_LAUREL_LEFT + LAYOUT_LINEAR,
    P_LAUREL_NORM = P_LAUREL_RIGHT + LAYOUT_LINEAR,
    P_ALPHA_P,  // of xIELU: one number each
    P_ALPHA_N,
#endif
    P_KEYS,  // no parameters: what a model with use_cache returns of a layer
    P_VALUES,
    LAYOUT_BLOCK_NUMBERS
};

// Which layers have a parameter.
// OWN: with keys and values of their own.
enum layout_layers {
    LAYERS_ALL,
    LAYERS_DENSE,
    LAYERS_SPARSE,
    LAYERS_DELTA,
    LAYERS_ATTENDING,
    LAYERS_DELTA_OWN,
    LAYERS_ATTENDING_OWN,
    LAYERS_OWN,
    LAYERS_SHARING
};

struct layout_param {
    uint16_t number;
    uint8_t role, part;
    shape_id shape;
    bool matrix;  // two or more dimensions: decayed
    bool trained;
    uint8_t layers;       // enum layout_layers
    uint64_t rows, cols;  // cols 0: a vector
};

enum { LAYOUT_ENDS = MODEL_IS_WHOLE ? 24 : 12 };
struct layout {
    struct layout_param before[LAYOUT_ENDS], block[LAYOUT_BLOCK_NUMBERS], after[LAYOUT_ENDS];
    uint8_t before_count, block_count, after_count;
    uint8_t layers;                               // of the parameters that are put now
    uint8_t block_index[LAYOUT_BLOCK_NUMBERS];    // by number, 255: not in this model
    uint8_t global_index[LAYOUT_GLOBAL_NUMBERS];  // into before, or LAYOUT_ENDS + into after; 255
};

// In how many layers a block's parameter is, and whether a layer has it.
uint64_t layout_times(const struct layout_param *p, const struct model *m);
bool layout_here(const struct layout_param *p, const struct model *m, uint64_t layer);

void layout_make(struct layout *l, const struct model *m);

// Whether a parameter is one of the model without adapters and modules_to_save. block: inside of a
// layer.
bool layout_is_base(const struct layout_param *p, bool block);

// Takes the others off.
void layout_strip(struct layout *l);

// The parameter of a number; NULL if the model has none. block: inside of a layer.
const struct layout_param *layout_find(const struct layout *l, bool block, uint16_t number);

// Of the files layout*.c alone: how a row is put before and after the layers, and who puts those.
struct layout_row {
    uint16_t number;
    uint8_t role, part;
    shape_id shape;
    uint64_t rows, cols;
};
void layout_before(struct layout *l, bool trained, struct layout_row r);
void layout_after(struct layout *l, bool trained, struct layout_row r);
void layout_block(struct layout *l, bool trained, struct layout_row r);
void layout_linear(struct layout *l, const struct model *m, struct layout_row r,
                   shape_id bias_shape);
void layout_attention(struct layout *l, const struct model *m);
void layout_mixers(struct layout *l, const struct model *m);
#ifndef VRAM_SMALL
void layout_norm(struct layout *l, const struct model *m, uint16_t number, uint8_t role);
void layout_mlp(struct layout *l, const struct model *m);
void layout_experts_grouped(struct layout *l, const struct model *m);
void layout_beside(struct layout *l, const struct model *m);
void layout_mlps(struct layout *l, const struct model *m);
void layout_layer_input(struct layout *l, const struct model *m);
void layout_streams(struct layout *l, const struct model *m);
// Adapters over parameters: of the router's weight, and of both tensors of experts. Whether a
// linear layer goes without because PEFT takes its name for a parameter's.
void layout_wrapped_router(struct layout *l, const struct model *m);
void layout_wrapped_experts(struct layout *l, const struct model *m);
bool layout_unnamed(const struct model *m, uint16_t number);
#endif
bool layout_norm_trained(const struct model *m);
bool layout_half_trained(const struct model *m, uint8_t part);  // PART_A, PART_B of an adapter
bool layout_norm_bias(const struct model *m);
void layout_outside(struct layout *l, const struct model *m);

#endif
