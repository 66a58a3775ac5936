// A training run of a GPT: config, weights, and a step whose every tensor is taken and freed by the
// step itself.
//
// Two ways to use memory. FRAMEWORK keeps and frees tensors in the order in which PyTorch's eager
// mode does under autocast; LEAN keeps only tensors that cannot be recomputed cheaply, and computes
// the loss in chunks. Both compute the same step.
#ifndef KERNELS_GPT_H
#define KERNELS_GPT_H

#include "kernels/step/ops.h"

#ifdef __cplusplus
extern "C" {
#endif

enum gpt_mode { GPT_FRAMEWORK, GPT_LEAN };
enum gpt_attention { GPT_TILED, GPT_MATRIX };  // O(T) memory, or the T x T matrices written out

struct gpt_config {
    int64_t batch_size, block_size, seq_len, n_layer, n_head, n_embd, vocab_size, accumulation;
    bool bias, checkpointing;
    double dropout;
    enum dtype dtype;  // matmuls: F16 or BF16 under autocast, F32 without; F64 in tests
    enum gpt_mode mode;
    enum gpt_attention attention;
    // Loss scaling for F16 and clipping to norm 1, as in nanoGPT's train.py; else neither.
    bool train_loop;
    // A temporary of each weight's size in the optimizer step, as foreach AdamW makes one.
    bool split_adamw;
    double lr, weight_decay;
    uint64_t seed;
};

// The weights of a layer, in the order in which they are made. X(SLOT, rows in C, columns in C or
// 0, is a bias)
#define GPT_LAYER_WEIGHTS \
    X(LN1, 1, 0, false) \
    X(LN1_BIAS, 1, 0, true) \
    X(QKV, 3, 1, false) \
    X(QKV_BIAS, 3, 0, true) \
    X(PROJ, 1, 1, false) \
    X(PROJ_BIAS, 1, 0, true) \
    X(LN2, 1, 0, false) \
    X(LN2_BIAS, 1, 0, true) \
    X(FC, 4, 1, false) \
    X(FC_BIAS, 4, 0, true) \
    X(OUT, 1, 4, false) \
    X(OUT_BIAS, 1, 0, true)

enum gpt_layer_weight {
#define X(id, rows, columns, is_bias) WEIGHT_##id,
    GPT_LAYER_WEIGHTS
#undef X
        LAYER_WEIGHTS
};

// Slots of struct gpt's arrays: the two tables, the layers, the last norm. A slot that the config
// lacks is NULL.
enum { SLOT_WTE, SLOT_WPE, SLOT_LAYERS };
#define SLOT_LAYER(layer, id) (SLOT_LAYERS + (layer)*LAYER_WEIGHTS + WEIGHT_##id)

// The tensors that a linear operation keeps for its backward pass.
struct linear_saved {
    tensor *input, *weight;  // in the type of the matmul
};

// The tensors that a block keeps. Members that the mode or the config does not need are NULL.
struct block_saved {
    tensor *x1, *mean1, *rstd1, *x2, *mean2, *rstd2;
    struct linear_saved qkv, proj, fc, out;
    tensor *qkv_out, *attention_out, *lse, *rng;
    tensor *q, *k, *v, *mask, *probabilities, *probabilities_low;  // with matrices
    tensor *hidden;                                                // input of GELU
    tensor *mask1, *mask2;                                         // of dropout
    uint64_t seed1, seed2;
};

struct gpt {
    struct gpt_config config;
    const struct gpt_ops *ops;
    struct pool pool;
    jmp_buf out_of_memory;

    int slots;
    tensor **weights, **gradients, **first_moments, **second_moments, **steps, **casts;
    tensor **mask_buffers;      // [n_layer], fp32 [block, block], with matrices only
    struct block_saved *saved;  // [n_layer]
    bool recording;             // true when the forward pass keeps tensors for the backward pass
    bool evaluating;            // dropout is off then
    // The training loop's tokens, targets, logits and loss, while an evaluation has its own.
    tensor *held[4];

    tensor *tokens, *targets;  // of the micro-step that comes next
    tensor *used_tokens, *used_targets;
    tensor *positions, *log_probabilities, *log_probabilities_full, *total_weight;
    tensor *x_last, *mean_last, *rstd_last, *dropout_mask;
    struct linear_saved head;
    tensor *logits, *loss;  // as the training loop's variables hold them
    // head_gradient waits for the embedding's gradient: the two share their weight.
    tensor *root_gradient, *head_gradient;
    tensor *last_gradient;  // of the last norm's output, made together with the loss in lean mode

    int64_t step_number, micro_number;
    int64_t updates;         // optimizer steps that were not left out, where the host counts them
    tensor *scale, *growth;  // of the loss, and steps since it changed; NULL without loss scaling
    // Room for the lists of an optimizer step: weights, moments, gradients, step counts.
    tensor **listed[5];
    bool *decays;
    char phase[32];  // "fwd:it0.m0", as the reference traces name it
    uint64_t random;
};

// Sizes that follow from the config.
int64_t gpt_tokens(const struct gpt_config *c);
uint64_t gpt_parameter_count(const struct gpt_config *c);
enum dtype gpt_master_type(const struct gpt_config *c);
// Returns NULL when the config can be run, else the reason why it cannot.
const char *gpt_config_error(const struct gpt_config *c);

enum gpt_status { GPT_OK, GPT_OUT_OF_MEMORY, GPT_HOST_MEMORY };

// Makes the weights (nearly normal, 0.02; residual projections divided by sqrt(2 L); norms one) and
// the first batch. On GPT_OUT_OF_MEMORY g->pool.wanted has the size. The allocator and the ops must
// outlive g. gpt_close after any result.
enum gpt_status gpt_open(struct gpt *g, const struct gpt_config *c, const struct gpt_ops *ops,
                         struct caching_allocator *allocator, struct pool_watcher watcher);
void gpt_close(struct gpt *g);
// One optimizer step of config.accumulation micro-steps on batches drawn by `batch`: it writes
// tokens and targets, each [B*T], for micro-step number n. *loss is that of the last micro-step, as
// train.py logs it; reading it is the one time that the host waits for the device, and with NULL it
// does not.
typedef void gpt_batch(void *ctx, int64_t n, int64_t *tokens, int64_t *targets);
enum gpt_status gpt_train_step(struct gpt *g, gpt_batch *batch, void *ctx, double *loss);
// The mean loss of `batches` batches without gradients, as nanoGPT's estimate_loss computes it
// while the training loop's variables are alive: before the first step train.py has drawn its first
// batch.
enum gpt_status gpt_evaluate(struct gpt *g, int64_t batches, gpt_batch *batch, void *ctx,
                             double *loss);

// Parts of the step, in files of their own. They jump to pool.out_of_memory when there is no room.
void gpt_forward(struct gpt *g);
void gpt_backward(struct gpt *g);
void gpt_update(struct gpt *g);

// Shared by those files.
tensor *gpt_cast(struct gpt *g, const tensor *in, enum dtype type, enum category category);
void gpt_block_forward(struct gpt *g, int layer, tensor **x, struct block_saved *saved);
void gpt_add_gradient(struct gpt *g, int slot, tensor *gradient);
struct attention_shape gpt_attention_shape(const struct gpt_config *c);
tensor *gpt_recorded(struct gpt *g, tensor *t);
tensor *gpt_low_weight(struct gpt *g, int slot);
tensor *gpt_make_scalar(struct gpt *g, double value);
double gpt_read_scalar(struct gpt *g, const tensor *t);
// True when the loss is scaled, as a training loop does for F16.
bool gpt_is_scaled(const struct gpt_config *c);
// True when a slot's weight has two dimensions: only those are decayed.
bool gpt_slot_is_matrix(int slot);
void gpt_drop_casts(struct gpt *g);
// True when softmax reads this type and writes fp32 itself, and its backward pass does the reverse.
bool gpt_softmax_widens(enum dtype type);
// Adds dx of a norm to *residual (or puts it there when that is NULL); frees *dy and the saved
// tensors.
void gpt_norm_backward(struct gpt *g, int slot, tensor **dy, tensor **x, tensor **mean,
                       tensor **rstd, tensor **residual);
// The gradient of a branch's end: *residual in the type of the matmuls, through dropout.
tensor *gpt_branch_gradient(struct gpt *g, tensor *residual, tensor **mask);
// Heads' outputs [N, C] from qkv [N, 3C]; keeps in *s the tensors that the backward pass needs in
// addition to qkv and the output.
tensor *gpt_attention_forward(struct gpt *g, tensor *qkv, struct block_saved *s);
void gpt_attention_backward(struct gpt *g, struct block_saved *s, tensor **dout, tensor **dqkv);
void gpt_lean_loss(struct gpt *g, tensor **y);
void gpt_lean_block_backward(struct gpt *g, int layer, tensor **residual);

#ifdef __cplusplus
}
#endif

#endif
