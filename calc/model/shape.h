// Sizes of all tensors that a model has, as one table: a trace refers to its rows, so that the same
// trace serves every batch size.

#ifndef CALC_SHAPE_H
#define CALC_SHAPE_H

#include <stdint.h>

#include "calc/model/model.h"
#include "calc/model/scratch.h"

enum shape {
#define SHAPE(id, elements) SHAPE_##id,
#include "calc/model/shapes.def"
    SHAPE_COUNT
};

// Its number as a trace holds it. The page has fewer shapes, and its module no room for wider ones.
#ifndef VRAM_SMALL
typedef uint16_t shape_id;
enum { SHAPE_BITS = 9 };
#else
typedef uint8_t shape_id;
enum { SHAPE_BITS = 8 };
#endif

#ifndef VRAM_SMALL
// A model whose rows are permuted by expert never gives all tokens to all experts: these are the
// same rows. As rows go into the products, each expert's up to a multiple of 8; in the
// order of tokens, with a row of zeros; their count. Where transformers divides experts: a GPU's
// rows, its tokens, the count of rows.
enum {
    SHAPE_GROUPED_U = SHAPE_EVERY_U,
    SHAPE_STACKED_U = SHAPE_EVERY_FF,
    SHAPE_ROWS = SHAPE_EVERY_FF2
};
// Where stages 1 and 2 of ZeRO gather nothing: what this GPU keeps of the gradients (partition.h),
// and what is sent at once; stage 3 makes no bucket in a pass, and has the latter as SHAPE_SENT.
// It gathers no weights in one byte either: of those that it keeps.
enum {
    SHAPE_PARTITION = SHAPE_ROOT_FIRST,
    SHAPE_FLUSHED = SHAPE_ROOT_LAST,
    SHAPE_RESIDENT = SHAPE_LAYER_SENT
};
#endif

// Number formats of tensors. LOW is the two-byte one of autocast. A SHARE is one GPU's part of a
// divided tensor.
enum dtype_id {
    DT_F32,
    DT_LOW,
    DT_I64,
    DT_BYTE,
    DT_F64,
    DT_F32_SHARE,
    DT_LOW_SHARE,
    DT_NORM,  // float64, of what DeepSpeed takes the norm of
#ifndef VRAM_SMALL
    DT_F32_HALF,  // half as many numbers
    DT_LOW_HALF,
#endif
    DT_COUNT
};

static inline uint32_t dtype_shift(uint8_t dtype)  // log2 of the bytes of an element
{
    static const uint8_t shift[DT_COUNT] = {2, 1, 3, 0, 3, 2, 1, 3,
#ifndef VRAM_SMALL
                                            1, 0
#endif
    };
    return shift[dtype];
}

// The dimensions of one GPU's part, in elements.
struct dims {
    uint64_t B, T, C, V, N;  // batch, sequence, width, vocabulary, tokens
#ifndef VRAM_SMALL
    uint64_t CE;  // width of the embedding
    // of a delta rule: widths of a key's and a value's head, of all keys and values, heads of
    // values, positions that the convolution sees, positions up to whole chunks, chunks
    uint64_t dk, dv, LK, LV, LH, LW, LT, chunks;
    uint64_t scored;     // positions of a sequence that have a label
    uint64_t labels;     // and whose label counts, of all sequences
    uint64_t pieces;     // chunks of torchtune's loss
    uint64_t linear[2];  // rows in a chunk of it, in a later one
    uint64_t turned;  // those that have angles: of each sequence where it is divided by the trainer
    uint64_t heads;   // chunks of the loss after the first that the head makes itself
#endif
#ifndef VRAM_SMALL
    uint64_t l;                // width of the way beside attention
    uint64_t L, P, VP;         // layers, width and rows of the embedding that each has of its own
    uint64_t GD, GKH, GQ, GK;  // D, KH, Q, K of layers without a window, where those are others
    uint64_t words;            // of the whole vocabulary
#endif
    uint64_t S;         // tokens of the residual stream: a part of them with sequence_parallel
    uint64_t H, KH, D;  // heads, key and value heads, width of a head
    uint64_t Q, K;      // H * D, KH * D
    uint64_t R, KR;     // rotated width of a head, of all keys
    uint64_t QA, KA;    // width of the latents
    uint64_t W, KW;  // all values; what a latent becomes: keys without the rotated part, and values
    uint64_t XS;     // width of the shared experts
    uint64_t F, X;   // feed-forward width, that of an expert
    uint64_t block;  // positions
    uint64_t E, A;   // experts, active ones
    uint64_t runs;   // of the experts' part: model_expert_runs
    uint64_t r;      // rank of adapters
    uint64_t parts_adapted,
        width_adapted;  // of q, k and v in one projection: model_adapted_parts, model_adapted_width
    uint64_t eye;       // 1 with DoRA
    uint64_t chunk;     // rows in a chunk of the loss
    uint64_t cache;     // positions in the key-value cache
    uint64_t tower;     // weights beside the language model
    uint64_t sent;      // numbers in DeepSpeed's bucket
    uint64_t normed;    // most numbers that DeepSpeed takes the norm of at once
    uint64_t seen;      // tokens in a row of a mask; none in the small module
    bool norm_of_share;
    uint64_t cp;     // GPUs that share a sequence
    uint64_t parts;  // GPUs that a SHARE is divided among
#ifndef VRAM_SMALL
    uint64_t ru;            // rank of adapters on gate and up of all experts
    uint64_t EH;            // experts that this GPU has
    uint64_t rows;          // of the experts' products
    uint64_t sorted;        // tokens with one of their experts each that this GPU sorts and sends
    uint64_t every[3];      // of SHAPE_EVERY_*
    uint64_t joined;        // matrices of the experts in one: gate and up, or all that are gathered
    uint64_t expert_parts;  // GPUs that a SHARE of experts is divided among
    uint64_t router_share;
    uint64_t expert_share, expert_whole;  // of a matrix of all of them: a SHARE, and as gathered
#endif
    struct scratch_card card;
};

void dims_make(struct dims *d, const struct model *m);

// What a SHARE has of a shape's elements.
#ifndef VRAM_SMALL
uint64_t dims_share_of(const struct dims *d, unsigned shape, uint64_t elements);
#else
static inline uint64_t dims_share_of(const struct dims *d, unsigned shape, uint64_t elements)
{
    (void)shape;
    return (elements + d->parts - 1) / d->parts;
}
#endif

// Elements of every shape. VRAM_EOVERFLOW if one of them does not fit.
int shape_fill(const struct dims *d, uint64_t elements[SHAPE_COUNT]);

#endif
